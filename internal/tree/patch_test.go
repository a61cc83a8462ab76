package tree

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func problemsOf(t *testing.T, text string) []string {
	t.Helper()
	patch, problems := ParsePatch([]byte(text), DefaultPatchLimits)
	require.True(t, patch == nil || problems == nil)
	if n, err := Parse([]byte(text), DefaultPatchLimits.Limits); err == nil {
		_, same := PatchOf(n, DefaultPatchLimits)
		require.Equal(t, same, problems, "a patch read from text and from a value")
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("%d %s %q %s | %s", p.Index, p.Code, p.Path, p.Message, p.Hint))
	}
	return lines
}

func TestAllShapeProblemsOfAPatchAreReportedInOrder(t *testing.T) {
	require.Equal(t, []string{
		`0 patch_syntax "" an operation is an object, not a number | as in {"op": "replace", "path": "/a/b", "value": 1}`,
		`1 patch_syntax "/a" op is none of add, remove, replace, move, copy and test | did you mean "replace"?`,
		`2 patch_syntax "" the operation has no member op | it is add, remove, replace, move, copy or test`,
		`2 patch_syntax "" the operation has no member path | it is a JSON Pointer, with / before every name, as in /a/b`,
		`3 pointer_syntax "a/b" a JSON Pointer is empty or begins with / | write /a/b`,
		`3 patch_syntax "a/b" the add operation has no member value | write the value as the member value; null only if null is meant`,
		`4 patch_syntax "/a" the copy operation has no member from | it is the path of what is copied or moved; path is where it goes`,
		`5 pointer_syntax "/~" ~ in a JSON Pointer is followed by 0 or 1 | write ~ in a name as ~0, / as ~1`,
		`6 patch_syntax "" the whole document cannot be removed | remove what is below it, or replace it`,
		`7 patch_syntax "" the member path is a string, not null | a JSON Pointer is a text with / before every name, as in /a/b`,
		`8 patch_syntax "/a" the member op is a string, not a bool | `,
	}, problemsOf(t, `[1,
		{"op":"repalce","path":"/a","value":1},
		{},
		{"op":"add","path":"a/b"},
		{"op":"copy","path":"/a"},
		{"op":"move","path":"/a","from":"/~"},
		{"op":"remove","path":""},
		{"op":"test","path":null,"value":1},
		{"op":true,"path":"/a"},
		{"op":"add","path":"/fine","value":null}]`))
}

func TestAPatchThatIsNoArrayIsToldHowToBecomeOne(t *testing.T) {
	for text, want := range map[string]string{
		`"[{\"op\":\"remove\",\"path\":\"/a\"}]"`: `-1 patch_syntax "" a patch is an array of operations, not a string | the patch was sent as a JSON string; send the array itself`,
		`{"op":"remove","path":"/a"}`:             `-1 patch_syntax "" a patch is an array of operations, not an object | put the operation into an array: [{...}]`,
		`null`:                                    `-1 patch_syntax "" a patch is an array of operations, not null | send the array of operations, as in [{"op": "replace", "path": "/a/b", "value": 1}]; [] changes nothing`,
		"```json\n[]\n```":                        "-1 patch_syntax \"\" the patch: the text is not JSON: a Markdown code fence stands here (byte 0): ⟨here⟩ ```json[]``` | send what stands between the fences and nothing else",
		``:                                        `-1 patch_syntax "" the patch: the text is empty (byte 0) | [] is the patch that changes nothing`,
		`[{"op":"add","path":"/a","value":{"x":1,"x":2}}]`: `0 duplicate_key "" the patch: an object has two members of this name at /0/value/x (byte 40) | `,
		`[{"op":"add","path":"/a","value":1e5000}]`:        `0 limit_exceeded "" the patch: a number longer than 1024 characters or with an exponent beyond 1024 at /0/value (byte 39) | `,
	} {
		require.Equal(t, []string{want}, problemsOf(t, text), text)
	}
}

func TestTheLimitsOfAPatchHold(t *testing.T) {
	op := `{"op":"remove","path":"/a"}`
	limits := DefaultPatchLimits
	limits.MaxOps = 2
	_, problems := ParsePatch([]byte(`[`+op+`,`+op+`]`), limits)
	require.Empty(t, problems)
	_, problems = ParsePatch([]byte(`[`+op+`,`+op+`,`+op+`]`), limits)
	require.Len(t, problems, 1)
	require.Equal(t, CodeLimitExceeded, problems[0].Code)
	require.Equal(t, "limit_exceeded: the patch has more than 2 operations", problems[0].Error())
	_, problems = PatchOf(parsed(t, `[`+op+`]`), PatchLimits{Limits: Limits{MaxBytes: 10}})
	require.Equal(t, CodeLimitExceeded, problems[0].Code)
}

func TestAPatchWritesBackAsItWasRead(t *testing.T) {
	text := `[{"op":"add","path":"/a~1b","value":null},{"from":"/x","op":"move","path":"/y"},{"op":"remove","path":"/z"}]`
	require.Equal(t, text, patchOf(t, text).Node().String())
	require.Equal(t, `[{"from":"/a","op":"copy","path":"/b"}]`,
		patchOf(t, `[{"op":"copy","from":"/a","path":"/b","value":1,"comment":[]}]`).Node().String())
}

func TestMisspelledOperationsGetTheNearestName(t *testing.T) {
	for name, want := range map[string]string{
		"Replace": "replace", "ADD": "add", "remvoe": "remove", "tset": "test", "moves": "move",
		"copu": "copy",
	} {
		require.Equal(t, `did you mean "`+want+`"?`, nearestOp(name))
	}
	for name, want := range map[string]string{"set": changes, "Delete": removes, "append": appends, "x": removes, strings.Repeat("add", 20): changes} {
		require.Contains(t, nearestOp(name), want, name)
	}
}

// requireSameReading reads a patch both ways, and reports whether it was read in one pass.
func requireSameReading(t testing.TB, data []byte, limits PatchLimits) bool {
	t.Helper()
	if refuseOutright(data, limits.Limits) != nil {
		return false
	}
	got, problems := ParsePatch(data, limits)
	if bytes.TrimLeft(data, " \t\r\n")[0] != '[' {
		return false
	}
	want, wanted := parsePatch(data, limits)
	require.Equal(t, wanted, problems, "%s", data)
	require.Equal(t, len(want), len(got), "%s", data)
	for i := range want {
		require.Equal(t, want[i].Value == nil, got[i].Value == nil, "%s", data)
		require.Equal(t, want[i].Value.String(), got[i].Value.String(), "%s", data)
		require.Equal(t, want[i].Value.Weight(), got[i].Value.Weight(), "%s", data)
		a, b := want[i], got[i]
		a.Value, b.Value = nil, nil
		require.Equal(t, a, b, "%s", data)
	}
	s, ok := scanPatch(data, limits, nil)
	s.release()
	return ok
}

func TestAPatchIsTheSameHoweverItIsRead(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	texts := []string{
		`{"op":"add","path":"/a~1b/é/0","value":{"b":[1,-2.5e+3,"x",true,false,null],"a":{},"":[]}}`,
		`{ "path" : "/x" , "op" : "remove" }`, `{"op":"move","from":"/a","path":"/b/-"}`, `{"op":"copy","from":"","path":"/q"}`,
		`{"op":"test","path":"","value":"\u00e9\n\"\ud83d\udca9 é"}`, `{"op":"replace","path":"/n","value":12345678901234567890}`,
		`{"op":"replace","path":"/n","value":255}`, `{"op":"replace","path":"/n","value":0}`, `{"op":"replace","path":"/n","value":[[[256]]]}`,
		`{"op":"add","path":"/a","value":1,"why":"because"}`, `{"op":"add","path":"/a"}`, `{"op":"fly","path":"/a"}`, `{"op":"add","path":5,"value":1}`, `7`,
		`{"op":"add","path":"/a","value":{"k":1,"\u006b":2}}`, `{"op":"add","path":"/\ud800","value":1}`, `{"op":"add","path":"/a","path":"/b","value":1}`,
		`{"op":"add","path":"a","value":01}`, `{"op":"add","path":"/a","value":-0}`, `{"op":"add","path":"/a","value":1e9999}`,
	}
	inOnePass, other := 0, 0
	for round := range rounds(20_000) {
		limits := DefaultPatchLimits
		if round%4 == 0 {
			limits.MaxNodes, limits.MaxDepth, limits.MaxOps = r.Intn(20), r.Intn(5), r.Intn(4)
			limits.MaxTokens, limits.MaxPatchTokens, limits.MaxPointerBytes = r.Intn(4), r.Intn(8), r.Intn(12)
		}
		var parts []string
		for range r.Intn(5) {
			parts = append(parts, texts[min(r.Intn(len(texts)), r.Intn(len(texts)))])
		}
		data := []byte("[" + strings.Join(parts, ",\n") + "]")
		for range r.Intn(3) {
			at := r.Intn(len(data))
			switch r.Intn(3) {
			case 0:
				data[at] = "[]{}\",:0e\\ \x00\xff"[r.Intn(13)]
			case 1:
				data = slices.Delete(data, at, at+1)
			default:
				data = slices.Insert(data, at, "[]{}\",:1-. \xc3"[r.Intn(12)])
			}
			if len(data) == 0 {
				data = []byte("[")
			}
		}
		if requireSameReading(t, data, limits) {
			inOnePass++
		} else {
			other++
		}
	}
	require.Greater(t, inOnePass, rounds(20_000)/10)
	require.Greater(t, other, rounds(20_000)/10)
}
