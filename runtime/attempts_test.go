package runtime_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// outside is a patch that no stage but the root may make, one for each n.
func outside(n int) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/internal/margin","value":%d}]`, n)
}

const inside = `[{"op":"add","path":"/draft/refs/-","value":"r"}]`

func TestRow2D50EveryAttemptIsCountedAndRecordedAndTheLastOneEndsTheStep(t *testing.T) {
	in, _ := begin(t)
	for attempt := 1; attempt <= 3; attempt++ {
		v := propose(t, in, outside(attempt))
		rejects(t, v, verify.WriteScopeViolation)
		require.Equal(t, []int{attempt, 3}, []int{v.Attempt, v.MaxAttempts})
		require.Equal(t, attempt < 3, v.Retryable)
		require.Equal(t, []int{attempt, 3}, []int{v.Actor().Attempt, v.Actor().MaxAttempts})
		require.Equal(t, attempt < 3, v.Actor().Retryable)
		require.Equal(t, attempt, lastLine(t, in).Verdict.Attempt)
	}
	for range 2 {
		v := propose(t, in, inside)
		rejects(t, v, verify.AttemptsExhausted)
		require.Equal(t, verify.GateStale, v.Violations[0].Gate)
		require.False(t, v.Retryable)
		require.Equal(t, v.Violations, v.Actor().Violations)
	}
	require.Equal(t, uint64(0), in.Version())
	require.Len(t, linesOf(t, in), 1+2*5)
}

func TestAStageSaysHowManyAttemptsAStepHas(t *testing.T) {
	c := sampleIR(t)
	c.Stage("draft").Attempts = 1
	in := beginUnder(t, c, runtime.WithAttempts(7))
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	rejects(t, propose(t, in, outside(2)), verify.AttemptsExhausted)
	v := proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(outside(1))})
	require.Equal(t, 7, v.MaxAttempts)
}

func beginUnder(t *testing.T, c *ir.Contract, opts ...runtime.Option) *runtime.Instance {
	t.Helper()
	contract, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	in, err := runtime.Create(ctx, contract, store.NewMemory(), "T-7", []byte(sampleState), opts...)
	require.NoError(t, err)
	return in
}

func TestAttemptsWithoutEndAreCountedAllTheSame(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	for attempt := 1; attempt <= 200; attempt++ {
		v := propose(t, in, outside(attempt))
		rejects(t, v, verify.WriteScopeViolation)
		require.Equal(t, []int{attempt, 0}, []int{v.Attempt, v.MaxAttempts})
		require.True(t, v.Retryable)
	}
}

func TestARefusedProposalIsNotJudgedAgain(t *testing.T) {
	in, _ := begin(t)
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	v := propose(t, in, outside(1))
	rejects(t, v, verify.Repeat)
	require.Equal(t, verify.GateStale, v.Violations[0].Gate)
	require.True(t, v.Retryable, "another proposal may pass")
	require.Equal(t, 2, v.Attempt)
	require.False(t, propose(t, in, outside(1)).Retryable, "a repeat is an attempt")
	rejects(t, propose(t, in, outside(1)), verify.AttemptsExhausted)
}

func TestAnotherPatchAnotherNextOrAnotherStepAreNoRepeat(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	rejects(t, propose(t, in, outside(2)), verify.WriteScopeViolation)
	for _, p := range []runtime.Proposal{
		{Stage: "draft", Next: "review"}, {Stage: "draft", Role: "other"}, {Stage: "all"}, {Stage: "strict"},
		{Stage: "edit", Args: map[string]string{"c": "ann"}}, {Stage: "edit", Args: map[string]string{"c": "bob"}},
	} {
		p.Patch = []byte(outside(1))
		require.NotEqual(t, verify.Repeat, proposeAs(t, in, p).Violations[0].Code, "%+v", p)
	}
}

// The same patch with another phase to move to is another proposal: it is judged, and
// not refused as the one before.
func TestTheSamePatchWithAnotherPhaseIsNoRepeat(t *testing.T) {
	c := sampleIR(t)
	c.Stage("draft").Next = []string{"review", "open"}
	c.Phases[0].Arrows = append(c.Phases[0].Arrows, ir.Arrow{To: "open"})
	in := beginUnder(t, c, runtime.WithAttempts(0))
	for _, again := range []bool{false, true} {
		for _, next := range []string{"review", "open"} {
			v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Next: next, Patch: []byte(outside(1))})
			rejects(t, v, map[bool]verify.Code{false: verify.WriteScopeViolation, true: verify.Repeat}[again])
		}
	}
	again, err := runtime.Open(ctx, in.Contract(), in.Store(), "T-7", runtime.WithAttempts(0))
	require.NoError(t, err)
	rejects(t, proposeAs(t, again, runtime.Proposal{Stage: "draft", Next: "open", Patch: []byte(outside(2))}), verify.WriteScopeViolation)
	rejects(t, proposeAs(t, again, runtime.Proposal{Stage: "draft", Next: "review", Patch: []byte(outside(2))}), verify.WriteScopeViolation)
	rejects(t, proposeAs(t, again, runtime.Proposal{Stage: "draft", Next: "review", Patch: []byte(outside(1))}), verify.Repeat)
}

func TestACommitEndsTheCount(t *testing.T) {
	for name, accept := range map[string]func(in *runtime.Instance){
		"a commit": func(in *runtime.Instance) { commits(t, propose(t, in, inside)) },
		"a commit of another stage": func(in *runtime.Instance) {
			commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(inside)}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := begin(t)
			rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
			rejects(t, propose(t, in, outside(2)), verify.WriteScopeViolation)
			accept(in)
			v := propose(t, in, outside(1))
			rejects(t, v, verify.WriteScopeViolation)
			require.Equal(t, 1, v.Attempt)
		})
	}
}

// Whoever guesses could otherwise send one in between.
func TestANoopNeitherUsesATryNorGivesOneBack(t *testing.T) {
	in, st := begin(t)
	noop := func(in *runtime.Instance) {
		require.Equal(t, verify.Noop, propose(t, in, `[]`).Verdict)
		require.Equal(t, verify.Noop, proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[]`)}).Verdict)
	}
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	noop(in)
	v := propose(t, in, outside(2))
	require.Equal(t, 2, v.Attempt)
	require.True(t, v.Retryable)
	in = reopened(t, in, st)
	noop(in)
	rejects(t, propose(t, in, outside(1)), verify.Repeat)
	rejects(t, propose(t, in, outside(3)), verify.AttemptsExhausted)
	rejects(t, propose(t, in, `[]`), verify.AttemptsExhausted)
}

func TestBeingLateIsNoAttempt(t *testing.T) {
	in, _ := begin(t)
	commits(t, propose(t, in, inside))
	for range 5 {
		v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: 0, Patch: []byte(inside)})
		rejects(t, v, verify.Stale)
		require.Equal(t, 1, v.Attempt)
		require.True(t, v.Retryable)
	}
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	rejects(t, propose(t, in, outside(2)), verify.WriteScopeViolation)
	v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: 0, Patch: []byte(inside)})
	require.Equal(t, 3, v.Attempt)
	require.True(t, v.Retryable, "the third attempt is still there")
	commits(t, propose(t, in, inside))
}

func TestAttemptsSurviveARestart(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 30, 3)
	v := proposeAs(t, in, runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "ann"}, Base: in.Version(), Patch: []byte(outside(1))})
	rejects(t, v, verify.WriteScopeViolation)
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	for attempt, code := range []verify.Code{verify.Repeat, verify.WriteScopeViolation, verify.AttemptsExhausted} {
		v := proposeAs(t, again, runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "ann"}, Base: again.Version(), Patch: []byte(outside(1 + attempt))})
		if attempt == 0 {
			rejects(t, v, code)
		}
		require.Equal(t, attempt+2, v.Attempt)
	}
}

func TestAttemptsOfAnotherProcessCount(t *testing.T) {
	in, st := begin(t)
	other, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	rejects(t, propose(t, other, outside(1)), verify.Repeat)
	rejects(t, propose(t, in, outside(2)), verify.WriteScopeViolation)
	rejects(t, propose(t, other, inside), verify.AttemptsExhausted)
}

func TestConcurrentAttemptsAreCountedOneByOne(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(8))
	attempts := make([]int, 20)
	together(len(attempts), func(i int) {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(outside(i))})
		if err != nil {
			t.Error(err)
		}
		attempts[i] = v.Attempt
	})
	count := map[int]int{}
	for _, n := range attempts {
		count[n]++
	}
	for n := 1; n <= 8; n++ {
		require.Equal(t, 1, count[n], "attempt %d", n)
	}
	require.Equal(t, 12, count[9], "those that came after the last")
}

func TestAMalformedPatchIsAnAttempt(t *testing.T) {
	in, _ := begin(t)
	for _, patch := range []string{`[`, `{`, `"`} {
		rejects(t, propose(t, in, patch), verify.PatchSyntax)
	}
	rejects(t, propose(t, in, inside), verify.AttemptsExhausted)
}

func TestACancelledProposalIsNoAttempt(t *testing.T) {
	in, _ := begin(t)
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err := in.Propose(over, runtime.Proposal{Stage: "draft", Patch: []byte(outside(1))})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, propose(t, in, outside(1)).Attempt)
}

// spellings are texts that all read as one patch.
var spellings = []string{
	`[{"op":"replace","path":"/internal/margin","value":{"a":1,"b~/":[10,"é"]}}]`,
	` [ { "value" : { "b~/" : [ 10 , "\u00e9" ] , "a" : 1 } , "path" : "/internal/margin" , "op" : "replace" } ] `,
	"[{\"path\":\"/internal/margin\",\"op\":\"replace\",\n\"value\":{\"a\":1.0,\"b~/\":[1e1,\"é\"]}}]",
	`[{"op":"replace","path":"\/internal\/margin","note":"ignored","from":"/x","value":{"\u0061":1e0,"b~\/":[100e-1,"é"]}}]`,
	`{"patch":[{"op":"replace","path":"/internal/margin","value":{"a":1,"b~/":[10,"é"]}}]}`,
	`{"next":null,"patch":[{"op":"replace","path":"/internal/margin","value":{"b~/":[10.00,"é"],"a":1}}]}`,
}

// others read as patches that are like none of spellings, nor like each other.
var others = []string{
	`[{"op":"replace","path":"/internal/margin","value":{"a":1,"b~/":["é",10]}}]`,
	`[{"op":"replace","path":"/internal/margin","value":{"a":"1","b~/":[10,"é"]}}]`,
	`[{"op":"replace","path":"/internal/margin","value":{"a":1.0000001,"b~/":[10,"é"]}}]`,
	`[{"op":"replace","path":"/internal/margin","value":{"a":1,"b~/":[10,"e"]}}]`,
	`[{"op":"add","path":"/internal/margin","value":{"a":1,"b~/":[10,"é"]}}]`,
	`[{"op":"replace","path":"/internal~1margin","value":{"a":1,"b~/":[10,"é"]}}]`,
	`[{"op":"replace","path":"/internal/margin/","value":{"a":1,"b~/":[10,"é"]}}]`,
	`[{"op":"replace","path":"/internal","value":{"margin":{"a":1,"b~/":[10,"é"]}}}]`,
	`[{"op":"replace","path":"/internal/margin","value":{"a":1,"b~/":[10,"é"]}},{"op":"test","path":"/internal/margin","value":{"a":1,"b~/":[10,"é"]}}]`,
	`[{"op":"move","from":"/internal/margin","path":"/internal/a"}]`,
	`[{"op":"copy","from":"/internal/margin","path":"/internal/a"}]`,
	`[{"op":"move","from":"/internal","path":"/margin/internal/a"}]`,
	`[{"op":"remove","path":"/internal/margin"}]`,
	`[{"op":"remove","path":"/internal/margin"},{"op":"remove","path":"/internal/margin"}]`,
	`[]`,
}

func TestAProposalThatReadsAsARefusedOneIsARepeatHoweverItIsSpelled(t *testing.T) {
	for i, first := range spellings {
		in, st := begin(t, runtime.WithAttempts(0), runtime.WithIdlePatches(i%2<<20))
		rejects(t, propose(t, in, first), verify.WriteScopeViolation)
		for _, again := range spellings {
			rejects(t, propose(t, in, again), verify.Repeat)
		}
		in, err := runtime.Open(ctx, in.Contract(), st, "T-7", runtime.WithAttempts(0), runtime.WithIdlePatches(i%2<<20))
		require.NoError(t, err)
		for _, again := range spellings {
			rejects(t, propose(t, in, again), verify.Repeat)
		}
		for _, other := range others {
			if v := propose(t, in, other); v.Verdict == verify.Reject {
				require.NotEqual(t, verify.Repeat, v.Violations[0].Code, other)
			}
		}
		got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, got.Different)
	}
}

func TestOtherProposalsAreNoRepeatsOfEachOther(t *testing.T) {
	in, st := begin(t, runtime.WithAttempts(0))
	for range 2 {
		for _, other := range append(others, spellings[0]) {
			v := propose(t, in, other)
			if v.Verdict == verify.Reject {
				require.Equal(t, v.Attempt > len(others), v.Violations[0].Code == verify.Repeat, other)
			}
		}
	}
	got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Nil(t, got.Different)
}

// What cannot be read is compared byte by byte.
func TestTwoProposalsThatDoNotReadAreTheSameByTheirBytes(t *testing.T) {
	unread := []string{`[`, `[ `, `{"patch":[],"x":1}`, `{"x":1,"patch":[]}`, `{"patch":[]}x`, `[{"op":"nop"}]`, ``, ` `, `{"patch":[],"next":7}`, `[{"op":"remove","path":""}]`,
		`[{"op":"replace","path":"/draft/text","value":1e99999}]`}
	in, st := begin(t, runtime.WithAttempts(0))
	first := map[string]runtime.Verdict{}
	for i, patch := range unread {
		first[patch] = keyed(t, in, fmt.Sprint(i), patch)
		require.Equal(t, verify.Reject, first[patch].Verdict)
	}
	in = reopened(t, in, st)
	for i, patch := range unread {
		for _, other := range append(unread, `{"patch":[]}`, inside) {
			v := keyed(t, in, fmt.Sprint(i), other)
			if other == patch {
				sameVerdict(t, first[patch], v)
			} else if v.Verdict == verify.Reject {
				require.NotEqual(t, first[patch].OperatorVerdict, v.OperatorVerdict, "%s and %s", patch, other)
			}
		}
	}
	got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Nil(t, got.Different)
}

// Whoever is sent for a new view because of a stale proposal would be refused on that too.
func TestAfterTheLastTryALateProposalIsExhaustedAndNotStale(t *testing.T) {
	for name, last := range map[string]struct {
		p    runtime.Proposal
		code verify.Code
	}{
		"late":                       {runtime.Proposal{Patch: []byte(inside)}, verify.AttemptsExhausted},
		"of a version to come":       {runtime.Proposal{Patch: []byte(inside), Base: 99}, verify.AttemptsExhausted},
		"with a key that is taken":   {runtime.Proposal{Patch: []byte(outside(9)), Base: 1, Key: "k"}, verify.AttemptsExhausted},
		"late, and the key is taken": {runtime.Proposal{Patch: []byte(outside(9)), Key: "k"}, verify.AttemptsExhausted},
		"late, and no patch":         {runtime.Proposal{Patch: []byte(`{`)}, verify.PatchSyntax},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := begin(t)
			commits(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Key: "k", Patch: []byte(inside)}))
			for attempt := 1; attempt <= 3; attempt++ {
				p := last.p
				p.Stage, p.Base, p.Key, p.Patch = "draft", 0, "", []byte(inside)
				late := proposeAs(t, in, p)
				rejects(t, late, verify.Stale)
				require.True(t, late.Retryable, "there is a try left")
				rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: 1, Patch: []byte(outside(attempt))}), verify.WriteScopeViolation)
			}
			last.p.Stage = "draft"
			for range 2 {
				v := proposeAs(t, in, last.p)
				rejects(t, v, last.code)
				require.False(t, v.Retryable)
				require.False(t, v.Actor().Retryable)
				require.Greater(t, v.Attempt, v.MaxAttempts)
			}
			replayed, err := runtime.Replay(ctx, in.Contract(), in.Store(), "T-7")
			require.NoError(t, err)
			require.Nil(t, replayed.Different)
		})
	}
}

// Whoever can make many steps, by arguments or in many names, gets no try back by that.
func TestNoTryIsForgottenHoweverManyStepsWereRefused(t *testing.T) {
	for name, other := range map[string]func(n int) runtime.Proposal{
		"by other subjects": func(n int) runtime.Proposal {
			return runtime.Proposal{Stage: "draft", Principal: runtime.Principal{Subject: fmt.Sprint(n)}}
		},
		"by other arguments": func(n int) runtime.Proposal {
			return runtime.Proposal{Stage: "edit", Args: map[string]string{"c": fmt.Sprint(n)}, Principal: runtime.Principal{Subject: "mal"}}
		},
		"in other roles": func(n int) runtime.Proposal {
			return runtime.Proposal{Stage: "draft", Role: fmt.Sprint(n), Principal: runtime.Principal{Subject: "mal"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t)
			mal := func(in *runtime.Instance, p runtime.Proposal, patch string) runtime.Verdict {
				p.Principal, p.Patch = runtime.Principal{Subject: "mal"}, []byte(patch)
				return proposeAs(t, in, p)
			}
			first := runtime.Proposal{Stage: "draft"}
			for n := range 3 {
				mal(in, first, outside(n))
			}
			for n := range 10_100 {
				p := other(n)
				p.Patch = []byte(outside(n))
				require.Equal(t, verify.Reject, proposeAs(t, in, p).Verdict)
			}
			for _, in := range []*runtime.Instance{in, reopened(t, in, st)} {
				rejects(t, mal(in, first, inside), verify.AttemptsExhausted)
			}
			late := other(10_099)
			late.Patch = []byte(outside(-1))
			for range 3 {
				proposeAs(t, in, late)
			}
			late.Patch = []byte(outside(-2))
			v := proposeAs(t, in, late) // what does not bind is told so first
			require.Greater(t, v.Attempt, v.MaxAttempts)
			require.False(t, v.Retryable)
			got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
			require.NoError(t, err)
			require.Nil(t, got.Different)
			commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Principal: runtime.Principal{Subject: "ann"}, Patch: []byte(inside)}))
			require.Equal(t, 1, mal(in, runtime.Proposal{Stage: "draft", Base: 1}, outside(1)).Attempt)
		})
	}
}
