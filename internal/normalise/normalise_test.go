package normalise_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/patchoptic/poptic/internal/normalise"
	"github.com/stretchr/testify/require"
)

var everything = normalise.Allowed{Fence: true, Stringified: true}

const patch = `[{"op":"add","path":"/a","value":1}]`

func fenced(info, body string) string { return "```" + info + "\n" + body + "\n```" }

func TestWithoutLeniencyTheAnswerPassesThroughUntouched(t *testing.T) {
	for _, answer := range []string{patch, fenced("json", patch), `"[]"`, "", "prose"} {
		got, applied, err := normalise.Proposal([]byte(answer), normalise.Allowed{})
		require.NoError(t, err)
		require.Equal(t, answer, string(got))
		require.Empty(t, applied)
	}
}

// Rows 2C.42 and 2C.43 of the product's cases: fences, prose, several fences.
func TestRow2C42OneFenceAroundTheWholeAnswerIsUnwrapped(t *testing.T) {
	for _, answer := range []string{
		fenced("", patch), fenced("json", patch), "\n " + fenced("json", patch) + " \n",
		"~~~\n" + patch + "\n~~~", "````json\n" + patch + "\n````", strings.ReplaceAll(fenced("json", patch), "\n", "\r\n"),
	} {
		got, applied, err := normalise.Proposal([]byte(answer), normalise.Allowed{Fence: true})
		require.NoError(t, err)
		require.JSONEq(t, patch, string(got), answer)
		require.Equal(t, []string{normalise.Fence}, applied)
	}
}

func TestRow2C43TheOnlyJSONFenceAmongProseAndOtherFencesIsTaken(t *testing.T) {
	answer := "I looked at it.\n\n" + fenced("python", "print([1])") + "\n\nHere it is:\n" + fenced("", patch) + "\nDone."
	got, applied, err := normalise.Proposal([]byte(answer), normalise.Allowed{Fence: true})
	require.NoError(t, err)
	require.JSONEq(t, patch, string(got))
	require.Equal(t, []string{normalise.Fence}, applied)
}

func TestRow2C43TwoJSONFencesAreAmbiguous(t *testing.T) {
	answer := fenced("json", patch) + "\nor\n" + fenced("json", "[]")
	_, _, err := normalise.Proposal([]byte(answer), everything)
	var ambiguous *normalise.AmbiguousError
	require.ErrorAs(t, err, &ambiguous)
	require.Equal(t, 2, ambiguous.Candidates)
	require.ErrorContains(t, err, "ambiguous")
}

func TestRow2C43BracesInProseAreNotSearched(t *testing.T) {
	answer := "the patch is " + patch + " as asked"
	got, applied, err := normalise.Proposal([]byte(answer), everything)
	require.NoError(t, err)
	require.Equal(t, answer, string(got))
	require.Empty(t, applied)
}

func TestRow2C43ARawNewlineInAStringIsLeftForTheVerifier(t *testing.T) {
	broken := "[{\"op\":\"add\",\"path\":\"/a\",\"value\":\"two\nlines\"}]"
	got, applied, err := normalise.Proposal([]byte(fenced("json", broken)), everything)
	require.NoError(t, err)
	require.Equal(t, broken+"\n", string(got))
	require.Equal(t, []string{normalise.Fence}, applied)
}

func TestAFenceThatIsNeverClosedIsNotUnwrapped(t *testing.T) {
	answer := "```json\n" + patch
	got, applied, err := normalise.Proposal([]byte(answer), everything)
	require.NoError(t, err)
	require.Equal(t, answer, string(got))
	require.Empty(t, applied)
}

func TestAFenceInsideAJSONValueIsNotUnwrapped(t *testing.T) {
	value, _ := json.Marshal("see\n" + fenced("json", "[]") + "\n")
	answer := `[{"op":"add","path":"/a","value":` + string(value) + `}]`
	got, applied, err := normalise.Proposal([]byte(answer), everything)
	require.NoError(t, err)
	require.Equal(t, answer, string(got))
	require.Empty(t, applied)
}

// Row 2C.41: an object argument that arrives as a JSON string.
func TestRow2C41AStringifiedPatchIsDecodedOnce(t *testing.T) {
	once, _ := json.Marshal(patch)
	got, applied, err := normalise.Proposal(once, everything)
	require.NoError(t, err)
	require.Equal(t, patch, string(got))
	require.Equal(t, []string{normalise.Stringified}, applied)

	twice, _ := json.Marshal(string(once))
	got, applied, err = normalise.Proposal(twice, everything)
	require.NoError(t, err)
	require.Equal(t, string(twice), string(got), "a string in a string is not a patch given as a string")
	require.Empty(t, applied)
}

func TestRow2C41AStringifiedPatchMemberIsDecodedAndItsNeighboursStay(t *testing.T) {
	quoted, _ := json.Marshal(patch)
	got, applied, err := normalise.Proposal([]byte(`{"next" : "closed", "patch": `+string(quoted)+` }`), everything)
	require.NoError(t, err)
	require.Equal(t, `{"next" : "closed", "patch": `+patch+` }`, string(got))
	require.Equal(t, []string{normalise.Stringified}, applied)
}

func TestRow2C41AStringifiedValueIsNotDecoded(t *testing.T) {
	answer := `[{"op":"add","path":"/a","value":"{\"b\":1}"},{"patch":"[]"}]`
	got, applied, err := normalise.Proposal([]byte(answer), everything)
	require.NoError(t, err)
	require.Equal(t, answer, string(got))
	require.Empty(t, applied)
}

func TestAStringThatHoldsNoPatchStaysAString(t *testing.T) {
	for _, answer := range []string{`"hello"`, `"12"`, `"[1,"`, `"\ud800[]"`, `""`} {
		got, applied, err := normalise.Proposal([]byte(answer), everything)
		require.NoError(t, err)
		require.Equal(t, answer, string(got))
		require.Empty(t, applied)
	}
}

func TestBothLenienciesAreRecordedInTheirOrder(t *testing.T) {
	quoted, _ := json.Marshal(patch)
	got, applied, err := normalise.Proposal([]byte(fenced("json", string(quoted))), everything)
	require.NoError(t, err)
	require.Equal(t, patch, string(got))
	require.Equal(t, []string{normalise.Fence, normalise.Stringified}, applied)
}

func FuzzProposal(f *testing.F) {
	f.Add([]byte(fenced("json", patch)))
	f.Add([]byte(`{"patch":"[]"}`))
	f.Add([]byte("```\n```\n~~~~\n~~~\n~~~~"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		got, applied, err := normalise.Proposal(answer, everything)
		if err == nil && len(applied) == 0 {
			require.Equal(t, answer, got)
		}
		if json.Valid(answer) && err == nil && len(applied) > 0 {
			require.Equal(t, []string{normalise.Stringified}, applied)
		}
	})
}
