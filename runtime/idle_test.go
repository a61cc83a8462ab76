package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// bulky is a patch of about a megabyte that differs from those for other n; form has
// a text in it.
func bulky(form string, n int) []byte {
	return fmt.Appendf(nil, form, fmt.Sprint(n)+strings.Repeat("x", 1<<20))
}

const bulkyText = `[{"op":"replace","path":"/draft/text","value":"%s"}]`

// weight is how many bytes of an instance's log there are.
func weight(t testing.TB, st store.Store) (n int) {
	t.Helper()
	for _, r := range logOf(t, st) {
		n += len(r.Line) + len(r.Sealed)
	}
	return n
}

// replays checks that every decision of a log can be made again.
func replays(t testing.TB, in *runtime.Instance, st store.Store) {
	t.Helper()
	got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Nil(t, got.Different)
	head, err := runtime.CheckLog(ctx, st, "T-7", nil)
	require.NoError(t, err)
	require.Equal(t, in.Head(), head)
}

func TestWhoCannotSucceedFillsNoDisk(t *testing.T) {
	malformed, twisted := `[{"op":"replace","value":"%s"}]`, `{"patch":[{"op":"add","path":"/draft/refs/-","value":"%s"}],"next":"nowhere"}`
	for name, c := range map[string]struct {
		runtime.Proposal
		form string
		code verify.Code
	}{
		"a wrong role":                       {runtime.Proposal{Stage: "root", Role: "bot"}, bulkyText, verify.Unauthorised},
		"no role":                            {runtime.Proposal{Stage: "root"}, bulkyText, verify.Unauthorised},
		"a wrong phase":                      {runtime.Proposal{Stage: "decide", Role: "human"}, bulkyText, verify.PhaseViolation},
		"an argument that is no key":         {runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "nobody"}}, bulkyText, verify.ArgumentViolation},
		"a reserved argument":                {runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "reserved"}}, bulkyText, verify.ArgumentViolation},
		"no argument":                        {runtime.Proposal{Stage: "edit"}, bulkyText, verify.ArgumentViolation},
		"a key that is taken":                {runtime.Proposal{Stage: "enrol", Args: map[string]string{"id": "ann"}}, bulkyText, verify.ArgumentViolation},
		"a wrong role, malformed":            {runtime.Proposal{Stage: "root", Role: "bot"}, malformed, verify.PatchSyntax},
		"a wrong phase, another phase named": {runtime.Proposal{Stage: "decide", Role: "human"}, twisted, verify.PhaseViolation},
		"an old version":                     {runtime.Proposal{Stage: "draft", Base: 9}, bulkyText, verify.Stale},
		"an old version, malformed":          {runtime.Proposal{Stage: "draft", Base: 9}, malformed, verify.PatchSyntax},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t)
			for n := range 8 {
				p := c.Proposal
				p.Patch = bulky(c.form, n)
				rejects(t, proposeAs(t, in, p), c.code)
				asked := linesOf(t, in)[1+2*n]
				require.Nil(t, asked.Patch)
				require.Equal(t, 2<<20, asked.Size)
				require.Empty(t, asked.Seal)
			}
			require.Less(t, weight(t, st), 40_000)
			replays(t, in, st)
			replays(t, reopened(t, in, st), st)
		})
	}
}

func TestAfterTheLastTryNoPatchIsKept(t *testing.T) {
	in, st := begin(t)
	refused := `[{"op":"replace","path":"/ticket/id","value":"%s"}]`
	for n := range 3 {
		rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: bulky(refused, n)}), verify.WriteScopeViolation)
	}
	tried := weight(t, st)
	require.Less(t, tried, 3*(1<<20)+20_000, "a patch that is kept is kept once")
	for n := range 8 {
		rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: bulky(bulkyText, n)}), verify.AttemptsExhausted)
		rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: bulky(`[{"op":"%s"}]`, n)}), verify.PatchSyntax)
	}
	require.Less(t, weight(t, st)-tried, 50_000)
	replays(t, in, st)
}

func TestARepeatedPatchIsKeptOnce(t *testing.T) {
	in, st := begin(t, runtime.WithAttempts(0))
	for range 6 {
		proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: bulky(`[{"op":"replace","path":"/ticket/id","value":"%s"}]`, 1)})
	}
	rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: bulky(`[{"op":"replace","path":"/ticket/id","value":"%s"}]`, 1)}), verify.Repeat)
	require.Less(t, weight(t, st), 1<<20+30_000)
	replays(t, in, st)
}

func TestPatchesThatChangeNothingAreKeptUpToABudget(t *testing.T) {
	const budget = 3 << 20
	noop := `[{"op":"test","path":"/draft/refs","value":[]},{"op":"test","path":"/draft/text","value":null},{"op":"add","path":"/draft/text","value":null,"note":"%s"}]`
	in, st := begin(t, runtime.WithAttempts(0), runtime.WithIdlePatches(budget), runtime.WithSnapshotAfter(1))
	for n := range 12 {
		form := []string{noop, `[{"op":"replace","path":"/ticket/id","value":"%s"}]`, `["%s"]`}[n%3]
		proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: bulky(form, n)})
		if n%4 == 3 { // a commit begins all tries anew, and makes a snapshot; the budget stays
			commits(t, propose(t, in, fmt.Sprintf(`[{"op":"replace","path":"/draft/text","value":"%d"},{"op":"replace","path":"/draft/text","value":null}, {"op":"replace","path":"/draft/text","value":"%d"}]`, n, n)))
			commits(t, propose(t, in, `[{"op":"replace","path":"/draft/text","value":null}]`))
			again, err := runtime.Open(ctx, in.Contract(), st, "T-7", runtime.WithAttempts(0), runtime.WithIdlePatches(budget), runtime.WithSnapshotAfter(1))
			require.NoError(t, err)
			in = again
		}
	}
	kept := 0
	for _, r := range logOf(t, st) {
		var l traceLine
		require.NoError(t, json.Unmarshal(r.Line, &l))
		if l.Kind == trace.Proposal && l.Size > 1<<20 {
			kept += len(r.Sealed)
		}
	}
	require.Greater(t, kept, budget/2)
	require.LessOrEqual(t, kept, budget)
	replays(t, in, st)
}

func TestARetryWithAKeyFindsThePatchThatWasNotKept(t *testing.T) {
	in, st := begin(t, runtime.WithIdlePatches(0))
	p := runtime.Proposal{Stage: "draft", Key: "k", Patch: []byte(outside(1))}
	first := proposeAs(t, in, p)
	rejects(t, first, verify.WriteScopeViolation)
	require.Empty(t, logOf(t, st)[1].Sealed)
	require.Equal(t, first.OperatorVerdict, proposeAs(t, reopened(t, in, st), p).OperatorVerdict)
	p.Patch = []byte(outside(2))
	rejects(t, proposeAs(t, in, p), verify.Repeat)
	rejects(t, propose(t, in, outside(1)), verify.Repeat)
	replays(t, in, st)
}

// Without the patch, what was wrong with it is taken from the record; that somebody
// could not have succeeded is not.
func TestARecordCannotLeaveOutThePatchOfWhatTheContractAllows(t *testing.T) {
	for name, forge := range map[string]func(v *verify.Verdict){
		"a role that was right": func(v *verify.Verdict) {
			v.Violations[0].Code, v.Violations[0].Gate = verify.Unauthorised, verify.GatePhase
		},
		"a version that was current": func(v *verify.Verdict) { v.Violations[0].Code, v.Violations[0].Gate = verify.Stale, verify.GateStale },
		"tries that were left": func(v *verify.Verdict) {
			v.Violations[0].Code, v.Violations[0].Gate = verify.AttemptsExhausted, verify.GateStale
		},
		"a noop":                  func(v *verify.Verdict) { v.Verdict, v.Violations, v.Retryable = verify.Noop, nil, true },
		"another count of tries":  func(v *verify.Verdict) { v.Attempt = 2 },
		"a state that is another": func(v *verify.Verdict) { v.StateBefore = v.Contract },
		"a phase that is another": func(v *verify.Verdict) { v.PhaseAfter = "review" },
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t, runtime.WithIdlePatches(0))
			rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
			replays(t, in, st)
			log := rewritten(t, in, logOf(t, st), func(seq uint64, l *trace.Record, sealed []byte) []byte {
				if seq == 3 {
					var v verify.Verdict
					require.NoError(t, json.Unmarshal(l.Verdict, &v))
					forge(&v)
					text, err := json.Marshal(v)
					require.NoError(t, err)
					l.Verdict = text
				}
				return sealed
			})
			st2 := &givenStore{store.NewMemory(), log}
			_, err := runtime.CheckLog(ctx, st2, "T-7", nil)
			require.NoError(t, err, "the chain of the forged log holds")
			got, err := runtime.Replay(ctx, in.Contract(), st2, "T-7")
			require.NoError(t, err)
			require.NotNil(t, got.Different)
			require.Equal(t, uint64(3), got.Different.Seq)
		})
	}
}

func TestACommitWhosePatchIsMissingIsDamage(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	log := rewritten(t, in, logOf(t, st), func(seq uint64, l *trace.Record, sealed []byte) []byte {
		if seq == 2 {
			l.Digest, l.Seal = l.Seal, ""
			return nil
		}
		return sealed
	})
	_, err := runtime.Replay(ctx, in.Contract(), &givenStore{store.NewMemory(), log}, "T-7")
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, uint64(3), corrupt.Seq)
}

// rewritten is a log as somebody writes it anew who has the instance's key: each
// record may be changed, and all are sealed and chained again.
func rewritten(t testing.TB, in *runtime.Instance, log []store.Record, change func(seq uint64, l *trace.Record, sealed []byte) []byte) []store.Record {
	t.Helper()
	var out []store.Record
	head := trace.Start("T-7")
	for _, r := range log {
		l := recordOf(t, r.Line)
		sealed := change(r.Seq, l, bytes.Clone(r.Sealed))
		l.Seal = in.Key().Seal(sealed)
		var line []byte
		line, head = head.Seal(l)
		out = append(out, store.Record{Seq: r.Seq, Version: l.Version, Key: l.Key, Line: line, Sealed: sealed})
	}
	return out
}

// recordOf reads a line.
func recordOf(t testing.TB, line []byte) *trace.Record {
	t.Helper()
	r, err := trace.ReadRecord(line)
	require.NoError(t, err)
	return r
}
