package runtime_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

func TestEveryViewProposalAndDecisionIsOneLine(t *testing.T) {
	in, _ := begin(t)
	_, err := in.View(ctx, runtime.Request{Stage: "draft", Role: "bot"})
	require.NoError(t, err)
	proposeAs(t, in, runtime.Proposal{Stage: "draft", Role: "bot", Key: "k-1", Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"r"}]`)})
	proposeAs(t, in, runtime.Proposal{Stage: "draft", Role: "bot", Base: 1, Patch: []byte(`[{"op":"remove","path":"/ticket"}]`)})
	_, err = in.Advance(ctx, "closed", "host")
	require.NoError(t, err)
	lines := linesOf(t, in)
	var kinds []trace.Kind
	var versions []uint64
	for i, l := range lines {
		require.Equal(t, uint64(i+1), l.Seq)
		require.Equal(t, "2023-11-14T22:13:20Z", l.Time)
		kinds, versions = append(kinds, l.Kind), append(versions, l.Version)
	}
	require.Equal(t, []trace.Kind{trace.Create, trace.View, trace.Proposal, trace.Decision, trace.Proposal, trace.Decision, trace.Advance, trace.Decision}, kinds)
	require.Equal(t, []uint64{0, 0, 0, 1, 1, 1, 1, 2}, versions)
	require.Equal(t, []string{"draft", "bot", "k-1"}, []string{lines[2].Stage, lines[2].Role, lines[2].Key})
	require.Equal(t, `[{"op":"add","path":"/draft/refs/-","value":"r"}]`, string(lines[2].Patch))
	require.Equal(t, 1024, lines[2].Size)
	require.Equal(t, uint64(1), *lines[4].Base)
	require.Equal(t, []verify.Decision{verify.Commit, verify.Reject, verify.Commit},
		[]verify.Decision{lines[3].Verdict.Verdict, lines[5].Verdict.Verdict, lines[7].Verdict.Verdict})
}

func TestAPatchThatCannotBeReadIsRecordedBySizeAndSeal(t *testing.T) {
	in, st := begin(t)
	text := `[{"op":"add","path":"/draft/text","value":`
	rejects(t, propose(t, in, text), verify.PatchSyntax)
	asked := linesOf(t, in)[1]
	require.Nil(t, asked.Patch)
	require.Equal(t, 1024, asked.Size)
	require.NotEmpty(t, asked.Seal)
	for r, err := range st.Read(ctx, "T-7", 2, 0) {
		require.NoError(t, err)
		require.Equal(t, text, string(r.Sealed))
		break
	}
}

func TestAnEmptyPatchIsRecordedAsOne(t *testing.T) {
	in, _ := begin(t)
	propose(t, in, ` [ ] `)
	require.Equal(t, `[]`, string(linesOf(t, in)[1].Patch))
}

func TestAPatchThatIsTooLongIsNotKept(t *testing.T) {
	limits := runtime.DefaultLimits()
	limits.Patch.MaxBytes = 100
	contract, err := runtime.LoadWithin(compiledSample(t), limits)
	require.NoError(t, err)
	st := store.NewMemory()
	in, err := runtime.Create(ctx, contract, st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	long := `[{"op":"add","path":"/draft/text","value":"` + strings.Repeat("x", 100) + `"}]`
	rejects(t, propose(t, in, long), verify.LimitExceeded)
	require.Equal(t, 1024, linesOf(t, in)[1].Size)
	for r, err := range st.Read(ctx, "T-7", 2, 0) {
		require.NoError(t, err)
		require.Empty(t, r.Sealed)
	}
}

func TestRow2C38OldValuesComeFromTheStateBetweenTheOperations(t *testing.T) {
	in, _ := begin(t)
	v := proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[
		{"op":"add","path":"/draft/refs/-","value":"first"},
		{"op":"replace","path":"/draft/refs/0","value":"second"},
		{"op":"add","path":"/draft/refs/0","value":"third"},
		{"op":"remove","path":"/draft/refs/1"},
		{"op":"replace","path":"/draft/text","value":"one"},
		{"op":"replace","path":"/draft/text","value":"two"},
		{"op":"test","path":"/draft/text","value":"two"},
		{"op":"copy","from":"/draft/text","path":"/ticket/id"},
		{"op":"move","from":"/ticket/tags/0","path":"/ticket/id"},
		{"op":"add","path":"/items/new","value":{"id":"new","count":1}}]`)})
	commits(t, v)
	type old struct {
		op    int
		path  string
		value string
	}
	var got []old
	for _, o := range lastLine(t, in).Old {
		got = append(got, old{o.Op, o.Path, string(o.Value)})
	}
	require.Equal(t, []old{
		{1, "/draft/refs/0", `"first"`},
		{3, "/draft/refs/1", `"second"`},
		{4, "/draft/text", `null`},
		{5, "/draft/text", `"one"`},
		{7, "/ticket/id", `"T-7"`},
		{8, "/ticket/tags/0", `"a"`}, {8, "/ticket/id", `"two"`},
	}, got)
}

func TestOldSecretsAndLongOldValuesAreReplaced(t *testing.T) {
	in, _ := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[
		{"op":"remove","path":"/customers/ann"},
		{"op":"replace","path":"/draft/text","value":"` + strings.Repeat("long", 200) + `"}]`)}))
	last := lastLine(t, in)
	require.Regexp(t, `^\{"card":"hmac-sha256:[0-9a-f]{64}","name":"Ann"\}$`, string(last.Old[0].Value))
	require.Equal(t, []string{"/old/0/value/card"}, last.Redacted)
	commits(t, propose(t, in, `[{"op":"remove","path":"/draft/text"},{"op":"add","path":"/draft/text","value":null}]`))
	last = lastLine(t, in)
	require.Regexp(t, `^"hmac-sha256:`, string(last.Old[0].Value))
	require.Equal(t, []string{"/old/0/value"}, last.Redacted)
}

func TestAnAuditorCanFollowASecretWithoutKnowingIt(t *testing.T) {
	in, _ := begin(t)
	for _, card := range []string{"1", "2", "1"} {
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(`[{"op":"add","path":"/customers/bob/card","value":"` + card + `"}]`)}))
	}
	var digests []string
	for _, l := range linesOf(t, in) {
		if l.Kind == trace.Proposal {
			require.Equal(t, []string{"/patch/0/value"}, l.Redacted)
			digests = append(digests, string(l.Patch))
		}
	}
	require.Equal(t, digests[0], digests[2])
	require.NotEqual(t, digests[0], digests[1])
}

// Row 2B.18 asks for the same of watched changes, of which the engine has none: the
// only thing it sends to a stage is a view.
func TestRow2B18AndRow2B24AViewHoldsNothingOfWhatIsHidden(t *testing.T) {
	in, _ := begin(t)
	for _, stage := range []string{"draft", "blind", "strict", "hand_in"} {
		view, err := in.View(ctx, runtime.Request{Stage: stage})
		require.NoError(t, err)
		for _, hidden := range []string{"internal", "margin", "0.31", "tok-", "**"} {
			require.NotContains(t, string(view.Value), hidden)
		}
	}
}

func TestAnActorIsToldOfAHiddenGateOnlyThatItRefused(t *testing.T) {
	in, _ := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Patch: []byte(`[{"op":"replace","path":"/draft/refs","value":["CANARY-BROKEN"]}]`)}))
	v := proposeAs(t, in, runtime.Proposal{Stage: "blind", Base: 1, Patch: []byte(`[{"op":"replace","path":"/draft/text","value":"x"}]`)})
	rejects(t, v, verify.EvaluationError)
	require.Equal(t, []verify.Code{verify.Refused}, codes(v.Actor().Violations))
	require.NotContains(t, traceOf(t, in), `"refused"`, "the trace has the operator's rendering")
}

func codes(violations []runtime.Violation) (all []verify.Code) {
	for _, v := range violations {
		all = append(all, v.Code)
	}
	return all
}

func TestATraceWithALineChangedIsFoundOutThere(t *testing.T) {
	in, _ := begin(t)
	wander(t, in, 10, 7)
	lines := slices.Collect(strings.Lines(traceOf(t, in)))
	for i := range lines {
		changed := slices.Clone(lines)
		changed[i] = strings.Replace(changed[i], `"instance":"T-7"`, `"instance":"T-8"`, 1)
		_, err := trace.Verify(strings.NewReader(strings.Join(changed, "")))
		var broken *trace.BrokenError
		require.ErrorAs(t, err, &broken)
		require.Equal(t, i+1, broken.Line)
	}
}

func TestALogUnderANameThatNoInstanceCanHaveIsNotChecked(t *testing.T) {
	in, st := begin(t)
	wander(t, in, 3, 1)
	for _, id := range []string{"", "a\nb", "a\xff", strings.Repeat("a", 256)} {
		log := &givenStore{store.NewMemory(), logOf(t, st)}
		head, err := runtime.CheckLog(ctx, log, id, nil)
		require.ErrorAs(t, err, new(*runtime.IDError), "%q", id)
		require.Zero(t, head.Seq)
		require.ErrorAs(t, runtime.CheckSnapshots(ctx, log, id), new(*runtime.IDError), "%q", id)
	}
}
