package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

var ctx = context.Background()

// fixedClock is a clock that stands still.
func fixedClock() time.Time { return time.Unix(1_700_000_000, 0) }

// begin creates an instance of the sample contract in an empty memory store.
func begin(t testing.TB, opts ...runtime.Option) (*runtime.Instance, *store.Memory) {
	t.Helper()
	st := store.NewMemory()
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState), append([]runtime.Option{runtime.WithClock(fixedClock)}, opts...)...)
	require.NoError(t, err)
	return in, st
}

// propose proposes a patch on the current version in the stage "draft".
func propose(t testing.TB, in *runtime.Instance, patch string) runtime.Verdict {
	t.Helper()
	return proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(patch)})
}

func proposeAs(t testing.TB, in *runtime.Instance, p runtime.Proposal) runtime.Verdict {
	t.Helper()
	v, err := in.Propose(ctx, p)
	require.NoError(t, err)
	return v
}

func commits(t testing.TB, v runtime.Verdict) {
	t.Helper()
	require.Equal(t, verify.Commit, v.Verdict, "%+v", v.Violations)
}

func rejects(t testing.TB, v runtime.Verdict, code verify.Code) {
	t.Helper()
	require.Equal(t, verify.Reject, v.Verdict)
	require.Equal(t, code, v.Violations[0].Code, "%+v", v.Violations)
}

func stateOf(t testing.TB, in *runtime.Instance) string {
	t.Helper()
	state, err := in.State(ctx)
	require.NoError(t, err)
	return string(state)
}

// traceOf is the instance's trace, whose chain must hold and end where the
// instance does.
func traceOf(t testing.TB, in *runtime.Instance) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, in.Trace(ctx, &out))
	text := out.String()
	head, err := trace.Verify(strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, in.Head(), head)
	return text
}

// A traceLine is what tests look at in a line of a trace.
type traceLine struct {
	Seq     uint64
	Kind    trace.Kind
	Version uint64
	Time    string
	Stage   string
	Role    string
	Args    map[string]string
	Phase   string
	Base    *uint64
	Key     string
	View    string
	State   string
	Patch   json.RawMessage
	Size    int
	Verdict *verify.Verdict
	Old     []struct {
		Op    int
		Path  string
		Value json.RawMessage
	}
	Redacted []string
	Seal     string
}

func linesOf(t testing.TB, in *runtime.Instance) (lines []traceLine) {
	t.Helper()
	for text := range strings.Lines(traceOf(t, in)) {
		var l traceLine
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	return lines
}

func lastLine(t testing.TB, in *runtime.Instance) traceLine {
	t.Helper()
	lines := linesOf(t, in)
	return lines[len(lines)-1]
}

func TestLoadTellsWhyBytesAreNoContract(t *testing.T) {
	compiled := ir.Encode(sampleIR(t))
	changed := bytes.Replace(compiled, []byte("desk"), []byte("disk"), 1)
	_, rest, _ := bytes.Cut(compiled, fmt.Appendf(nil, "poptic-contract %d ", ir.Version))
	form := func(number int) []byte { return append(fmt.Appendf(nil, "poptic-contract %d ", number), rest...) }
	for name, c := range map[string]struct {
		data []byte
		code string
	}{
		"nothing":                     {nil, "not_compiled"},
		"source text":                 {[]byte("contract desk\n"), "not_compiled"},
		"cut in line 1":               {compiled[:20], "truncated"},
		"cut in body":                 {compiled[:len(compiled)-40], "truncated"},
		"changed":                     {changed, "digest_mismatch"},
		"newer form":                  {form(ir.DecimalVersion + 1), "version_unsupported"},
		"much newer":                  {form(ir.DecimalVersion + 10), "version_unsupported"},
		"without what makes its form": {form(ir.DecimalVersion), "malformed"},
		"older form":                  {form(ir.Version - 1), "version_unsupported"},
	} {
		_, err := runtime.Load(c.data)
		var codec *ir.CodecError
		require.ErrorAs(t, err, &codec, name)
		require.Equal(t, c.code, codec.Code, name)
	}
}

func TestLoadTellsWhichPartDoesNotCompile(t *testing.T) {
	c := sampleIR(t)
	c.Invariants[0].Expr.Source = "state.nowhere"
	_, err := runtime.Load(ir.Encode(c))
	require.ErrorContains(t, err, "few_refs")
}

func TestAnInstanceBeginsInTheFirstPhaseAtVersionZero(t *testing.T) {
	in, _ := begin(t)
	require.Equal(t, uint64(0), in.Version())
	require.Equal(t, "open", in.Phase())
	require.Equal(t, "T-7", in.ID())
	require.JSONEq(t, strings.Replace(sampleState, `[{"id": "i2", "count": 2}, {"id": "i1", "count": 1}]`, `[{"id": "i1", "count": 1}, {"id": "i2", "count": 2}]`, 1),
		strings.Replace(stateOf(t, in), `["x","y"]`, `["y","x"]`, 1))
}

func TestAnIDIsGivenOnce(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, `[{"op":"replace","path":"/draft/text","value":"x"}]`))
	_, err := runtime.Create(ctx, in.Contract(), st, "T-7", []byte(sampleState))
	require.ErrorIs(t, err, store.ErrExists)
	require.Equal(t, uint64(1), in.Version())
}

func TestIDsThatCannotBeWrittenAreRefused(t *testing.T) {
	for _, id := range []string{"", strings.Repeat("x", 256), "a\nb", "a\x00", "\xff"} {
		_, err := runtime.Create(ctx, sampleContract(t), store.NewMemory(), id, []byte(sampleState))
		var bad *runtime.IDError
		require.ErrorAs(t, err, &bad)
		_, err = runtime.Open(ctx, sampleContract(t), store.NewMemory(), id)
		require.ErrorAs(t, err, &bad)
	}
}

func TestAStateThatDoesNotFitBeginsNothing(t *testing.T) {
	contract, st := sampleContract(t), store.NewMemory()
	_, err := runtime.Create(ctx, contract, st, "a", []byte(strings.Replace(sampleState, `"T-7"`, `7`, 1)))
	var misfit *runtime.StateError
	require.ErrorAs(t, err, &misfit)
	_, err = runtime.Create(ctx, contract, st, "a", []byte(strings.Replace(sampleState, `0.31`, `1.31`, 1)))
	var invalid *runtime.InvalidStateError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, verify.InvariantViolation, invalid.Violations[0].Code)
	_, err = runtime.Open(ctx, contract, st, "a")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestACommitMovesTheVersionAndOnlyThatAndWhatItSays(t *testing.T) {
	in, _ := begin(t)
	before := in.StateDigest()
	v := propose(t, in, `[{"op":"replace","path":"/draft/text","value":"hello"}]`)
	commits(t, v)
	require.Equal(t, uint64(0), v.VersionBefore)
	require.Equal(t, uint64(1), v.VersionAfter)
	require.Equal(t, before, v.StateBefore)
	require.Equal(t, in.StateDigest(), v.StateAfter)
	require.NotEqual(t, before, v.StateAfter)
	require.Equal(t, uint64(1), in.Version())
	require.Contains(t, stateOf(t, in), `"text":"hello"`)
}

func TestANoopIsRecordedAndLeavesTheVersion(t *testing.T) {
	in, _ := begin(t)
	v := propose(t, in, `[{"op":"replace","path":"/draft/text","value":null}]`)
	require.Equal(t, verify.Noop, v.Verdict)
	require.Equal(t, uint64(0), in.Version())
	require.Equal(t, verify.Noop, lastLine(t, in).Verdict.Verdict)
}

func TestARejectLeavesStateVersionAndPhaseAsTheyWere(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	state, digest := stateOf(t, in), in.StateDigest()
	for _, p := range everyRejection() {
		p.Base = 0
		v := proposeAs(t, in, p.Proposal)
		require.Equal(t, verify.Reject, v.Verdict)
		require.Equal(t, v.StateBefore, v.StateAfter)
		require.Equal(t, v.VersionBefore, v.VersionAfter)
		require.Equal(t, v.PhaseBefore, v.PhaseAfter)
		require.Equal(t, state, stateOf(t, in))
		require.Equal(t, digest, in.StateDigest())
		require.Equal(t, uint64(0), in.Version())
		require.Equal(t, "open", in.Phase())
	}
}

func TestABaseThatIsNotTheCurrentVersionIsStale(t *testing.T) {
	in, _ := begin(t)
	commits(t, propose(t, in, `[{"op":"replace","path":"/draft/text","value":"a"}]`))
	for _, base := range []uint64{0, 2, 1 << 60} {
		v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: base, Patch: []byte(`[{"op":"replace","path":"/draft/text","value":"b"}]`)})
		rejects(t, v, verify.Stale)
		require.Equal(t, verify.GateStale, v.Violations[0].Gate)
		require.True(t, v.Retryable)
		require.Equal(t, v.Violations, v.Actor().Violations)
	}
	require.Contains(t, stateOf(t, in), `"text":"a"`)
}

func TestStaleComesAfterFormatAndPhaseAndBeforeScope(t *testing.T) {
	in, _ := begin(t)
	for _, c := range []struct {
		p    runtime.Proposal
		code verify.Code
	}{
		{runtime.Proposal{Stage: "draft", Patch: []byte(`{}`)}, verify.PatchSyntax},
		{runtime.Proposal{Stage: "root", Role: "bot", Patch: []byte(`[]`)}, verify.Unauthorised},
		{runtime.Proposal{Stage: "strict", Patch: []byte(`[]`)}, verify.Stale},
		{runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"remove","path":"/internal"}]`)}, verify.Stale},
	} {
		c.p.Base = 9
		rejects(t, proposeAs(t, in, c.p), c.code)
	}
}

func TestAStageMovesThePhaseInItsOwnCommit(t *testing.T) {
	in, _ := begin(t)
	v := proposeAs(t, in, runtime.Proposal{Stage: "hand_in", Patch: []byte(`[]`)})
	commits(t, v)
	require.Equal(t, "review", in.Phase())
	require.Equal(t, uint64(1), in.Version())
	require.Equal(t, v.StateBefore, v.StateAfter)
	rejects(t, propose(t, in, `[]`), verify.PhaseViolation)
}

func TestTheHostAdvancesAlongItsOwnEdgesOnly(t *testing.T) {
	in, _ := begin(t)
	v, err := in.Advance(ctx, "review", "host")
	require.NoError(t, err)
	rejects(t, v, verify.TransitionViolation)
	v, err = in.Advance(ctx, "nowhere", "host")
	require.NoError(t, err)
	rejects(t, v, verify.TransitionViolation)
	require.Equal(t, "open", in.Phase())
	v, err = in.Advance(ctx, "closed", "host")
	require.NoError(t, err)
	commits(t, v)
	require.Equal(t, "closed", in.Phase())
	require.Equal(t, uint64(1), in.Version())
	lines := linesOf(t, in)
	asked := lines[len(lines)-2]
	require.Equal(t, []any{trace.Advance, "closed", "host"}, []any{asked.Kind, asked.Phase, asked.Role})
}

func TestUnknownStagesAndArgumentsAreErrorsAndAreNotRecorded(t *testing.T) {
	in, _ := begin(t)
	_, err := in.Propose(ctx, runtime.Proposal{Stage: "drft", Patch: []byte(`[]`)})
	var stage *runtime.UnknownStageError
	require.ErrorAs(t, err, &stage)
	require.Equal(t, "draft", stage.Nearest)
	_, err = in.View(ctx, runtime.Request{Stage: "edit", Args: map[string]string{"cc": "ann"}})
	var argument *runtime.UnknownArgumentError
	require.ErrorAs(t, err, &argument)
	require.Len(t, linesOf(t, in), 1)
}

func TestAViewShowsItsRegionAndTheVersionToProposeOn(t *testing.T) {
	in, _ := begin(t)
	view, err := in.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(t, err)
	require.JSONEq(t, `{"ticket":{"id":"T-7","status":"open","tags":["a","b","c"]},"draft":{"text":null,"refs":[]}}`, string(view.Value))
	require.Equal(t, uint64(0), view.Version)
	require.Equal(t, "open", view.Phase)
	require.Equal(t, in.Contract().Digest(), view.Contract)
	require.Equal(t, "Draft a reply.", view.Task)
	require.Equal(t, in.Key().View(view.Digest), lastLine(t, in).View)
	v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: view.Version, Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"r"}]`)})
	commits(t, v)
	require.Equal(t, view.Digest, v.Actor().ViewDigest)
}

func TestAViewOutsideOfItsPhaseRoleOrArgumentsCarriesAVerdictAndNoData(t *testing.T) {
	in, _ := begin(t)
	for _, c := range []struct {
		request runtime.Request
		code    verify.Code
	}{
		{runtime.Request{Stage: "decide", Role: "human"}, verify.PhaseViolation},
		{runtime.Request{Stage: "root", Role: "bot"}, verify.Unauthorised},
		{runtime.Request{Stage: "edit", Args: map[string]string{"c": "nobody"}}, verify.ArgumentViolation},
		{runtime.Request{Stage: "edit"}, verify.ArgumentViolation},
	} {
		view, err := in.View(ctx, c.request)
		var refused *runtime.ViewRefusedError
		require.ErrorAs(t, err, &refused)
		require.Zero(t, view)
		rejects(t, refused.Verdict, c.code)
		require.Equal(t, refused.Verdict.Violations, refused.Verdict.Actor().Violations)
		for _, v := range refused.Verdict.Violations {
			for _, told := range []string{string(v.Code), string(v.Gate), v.Message, v.Hint} {
				require.ErrorContains(t, err, told)
			}
		}
		last := lastLine(t, in)
		require.Equal(t, trace.View, last.Kind)
		require.Equal(t, c.code, last.Verdict.Violations[0].Code)
		require.Empty(t, last.View)
	}
}

func TestTheTwoRenderingsOfAVerdictDiffer(t *testing.T) {
	in, _ := begin(t)
	v := propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"r"}]`)
	operator, err := json.Marshal(v)
	require.NoError(t, err)
	actor, err := json.Marshal(v.Actor())
	require.NoError(t, err)
	for _, name := range []string{"version_before", "version_after", "state_before", "state_after"} {
		require.Contains(t, string(operator), `"`+name+`"`)
		require.NotContains(t, string(actor), `"`+name+`"`)
	}
	require.NotContains(t, string(operator), "view_digest")
	require.Contains(t, string(actor), `"view_digest"`)
}

func TestACancelledCallChangesNothing(t *testing.T) {
	in, _ := begin(t)
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err := in.Propose(over, runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"r"}]`)})
	require.ErrorIs(t, err, context.Canceled)
	_, err = in.View(over, runtime.Request{Stage: "draft"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = in.Advance(over, "closed", "")
	require.ErrorIs(t, err, context.Canceled)
	_, err = in.State(over)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, linesOf(t, in), 1)
	commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"r"}]`))
}
