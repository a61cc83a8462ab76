package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

func backtested(t testing.TB, st store.Store, to *runtime.Contract, under ...*runtime.Contract) []runtime.Rejudged {
	t.Helper()
	var all []runtime.Rejudged
	require.NoError(t, runtime.Backtest(ctx, to, st, "T-7", func(r runtime.Rejudged) error {
		all = append(all, r)
		return nil
	}, under...))
	return all
}

func counted(all []runtime.Rejudged) map[runtime.Answer]int {
	counts := map[runtime.Answer]int{}
	for _, r := range all {
		counts[r.Answer]++
	}
	return counts
}

func TestUnderItsOwnContractEveryDecisionComesOutTheSame(t *testing.T) {
	for seed := range int64(8) {
		in, st := busy(t, 120, seed)
		decisions := 0
		for _, l := range linesOf(t, in) {
			if l.Kind == trace.Decision {
				decisions++
			}
		}
		for _, to := range []*runtime.Contract{in.Contract(), otherContract(t, nil)} { // another digest, and the same rules
			for _, under := range [][]*runtime.Contract{nil, {in.Contract()}} {
				all := backtested(t, st, to, under...)
				require.Equal(t, map[runtime.Answer]int{runtime.AnswerSame: decisions}, counted(all), "seed %d", seed)
			}
		}
	}
}

// withoutRule is the sample contract without one of its invariants.
func withoutRule(t testing.TB, name string) *runtime.Contract {
	return otherContract(t, func(c *ir.Contract) {
		c.Invariants = slices.DeleteFunc(c.Invariants, func(v ir.Invariant) bool { return v.Name == name })
		for i := range c.Stages {
			c.Stages[i].Gates = slices.DeleteFunc(c.Stages[i].Gates, func(g ir.Gate) bool { return g.Name == name })
		}
	})
}

// referring is a history of proposals that add and remove references, of which a rule admits three.
func referring(t testing.TB, contract *runtime.Contract, n int, seed int64) (*runtime.Instance, *store.Memory) {
	t.Helper()
	st := store.NewMemory()
	in, err := runtime.Create(ctx, contract, st, "T-7", []byte(sampleState), runtime.WithClock(fixedClock), runtime.WithAttempts(0))
	require.NoError(t, err)
	random := rand.New(rand.NewSource(seed))
	edits := []string{
		`[{"op":"add","path":"/draft/refs/-","value":"r%d"}]`, `[{"op":"add","path":"/draft/refs/-","value":"r%[1]d"},{"op":"add","path":"/draft/refs/0","value":"s%[1]d"}]`,
		`[{"op":"remove","path":"/draft/refs/0"}]`, `[{"op":"replace","path":"/draft/refs","value":["%d"]}]`, `[{"op":"replace","path":"/draft/text","value":"%d"}]`,
		`[{"op":"replace","path":"/ticket/status","value":"no%d"}]`, `[{"op":"add","path":"/draft/refs","value":["a","b","c","d","%d"]},{"op":"replace","path":"/draft/text","value":1}]`,
	}
	for i := range n {
		patch := edits[random.Intn(len(edits))]
		if strings.Contains(patch, "%") {
			patch = fmt.Sprintf(patch, i)
		}
		if _, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(patch)}); err != nil {
			require.NoError(t, err)
		}
	}
	return in, st
}

func TestARuleThatIsGoneAllowsExactlyWhatItAloneRefused(t *testing.T) {
	allowed := 0
	for seed := range int64(6) {
		in, st := referring(t, sampleContract(t), 80, seed)
		all := backtested(t, st, withoutRule(t, "few_refs"), in.Contract())
		i := 0
		for _, l := range linesOf(t, in) {
			if l.Kind != trace.Decision {
				continue
			}
			want := runtime.AnswerSame
			if l.Verdict.Verdict == verify.Reject && !slices.ContainsFunc(l.Verdict.Violations, func(v verify.Violation) bool { return v.Rule != "invariant few_refs" }) {
				want = runtime.AnswerAllowed
				require.Equal(t, "invariant few_refs", all[i].Why.Rule)
				allowed++
			}
			require.Equal(t, want, all[i].Answer, "record %d", l.Seq)
			require.Equal(t, l.Seq, all[i].Seq)
			i++
		}
		require.Len(t, all, i)
	}
	require.Greater(t, allowed, 20)
}

func TestARuleThatIsNewRefusesExactlyWhatBreaksIt(t *testing.T) {
	counts := map[runtime.Answer]int{}
	for seed := range int64(6) {
		was := withoutRule(t, "few_refs")
		in, st := referring(t, was, 80, seed)
		refs := func(version uint64) int {
			past, err := runtime.At(ctx, was, st, "T-7", version)
			require.NoError(t, err)
			var state struct{ Draft struct{ Refs []string } }
			require.NoError(t, json.Unmarshal(past.State, &state))
			return len(state.Draft.Refs)
		}
		all := backtested(t, st, sampleContract(t))
		i := 0
		for _, l := range linesOf(t, in) {
			if l.Kind != trace.Decision {
				continue
			}
			want := runtime.AnswerSame
			switch {
			case refs(l.Verdict.VersionBefore) > 3:
				want = runtime.AnswerState
			case refs(l.Verdict.VersionAfter) > 3:
				want = runtime.AnswerRefused
			}
			require.Equal(t, want, all[i].Answer, "record %d", l.Seq)
			if want != runtime.AnswerSame {
				require.Equal(t, []any{"invariant few_refs", "at most three references"}, []any{all[i].Why.Rule, all[i].Why.Message})
			}
			counts[want]++
			i++
		}
	}
	require.Greater(t, counts[runtime.AnswerRefused], 5)
	require.Greater(t, counts[runtime.AnswerState], 5)
	require.Greater(t, counts[runtime.AnswerSame], 50)
}

func TestWhatIsGoneFromAContractIsSaid(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	commits(t, propose(t, in, `[{"op":"replace","path":"/draft/text","value":"more"}]`))
	for _, x := range []struct {
		want   runtime.Answer
		change func(c *ir.Contract)
	}{
		{runtime.AnswerStage, func(c *ir.Contract) {
			c.Stages = slices.DeleteFunc(c.Stages, func(s ir.Stage) bool { return s.Name == "draft" })
		}},
		{runtime.AnswerPhase, func(c *ir.Contract) {
			c.Phases = slices.DeleteFunc(c.Phases, func(p ir.Phase) bool { return p.Name == "open" })
			for i := range c.Stages {
				c.Stages[i].In = []string{"review"}
			}
		}},
		{runtime.AnswerState, func(c *ir.Contract) {
			for i := range c.Types {
				if c.Types[i].Kind == ir.IntType {
					c.Types[i].Kind = ir.StringType
				}
			}
		}},
		{runtime.AnswerRefused, func(c *ir.Contract) {
			for i := range c.Stages {
				c.Stages[i].In = []string{"review"}
			}
		}},
	} {
		all := backtested(t, st, otherContract(t, x.change), in.Contract())
		require.Equal(t, map[runtime.Answer]int{x.want: 2}, counted(all))
		require.Equal(t, "draft", all[0].Stage)
	}
}

func TestDecisionsOfAMigratedInstanceAreJudgedAgain(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	second, third := otherContract(t, nil), withoutRule(t, "few_refs")
	next := migrates(t, in, second, runtime.Migration{})
	commits(t, propose(t, next, `[{"op":"replace","path":"/draft/text","value":"more"}]`))
	rejects(t, propose(t, next, `[{"op":"replace","path":"/draft/refs","value":["a","b","c","d"]}]`), verify.InvariantViolation)
	for _, under := range [][]*runtime.Contract{nil, {in.Contract()}, {second}, {second, in.Contract()}} {
		all := backtested(t, st, third, under...)
		require.Equal(t, map[runtime.Answer]int{runtime.AnswerSame: 2, runtime.AnswerAllowed: 1}, counted(all))
	}
}

func TestAContractThatCannotStandInForAnotherIsRefused(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	other := otherContract(t, func(c *ir.Contract) {
		for i := range c.Types {
			if c.Types[i].Kind == ir.IntType {
				c.Types[i].Kind = ir.StringType
			}
		}
	})
	err := runtime.Backtest(ctx, other, st, "T-7", func(runtime.Rejudged) error { return nil })
	var mismatch *runtime.ContractMismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, in.Contract().Digest(), mismatch.Have)

	enough := errors.New("enough")
	require.ErrorIs(t, runtime.Backtest(ctx, in.Contract(), st, "T-7", func(runtime.Rejudged) error { return enough }), enough)
	require.ErrorIs(t, runtime.Backtest(ctx, in.Contract(), st, "no", func(runtime.Rejudged) error { return nil }), store.ErrNotFound)
}

func TestAnAnswerShowsNoSecret(t *testing.T) {
	in, st := begin(t)
	rejects(t, propose(t, in, `[{"op":"add","path":"/internal/token/CANARY","value":"x"}]`), verify.WriteScopeViolation)
	rejects(t, propose(t, in, `[{"op":"add","path":"/customers/ann/card/CANARY","value":"x"}]`), verify.WriteScopeViolation)
	to := otherContract(t, func(c *ir.Contract) { c.Stages[0].In = []string{"review"} })
	for _, r := range backtested(t, st, to, in.Contract()) {
		require.NotContains(t, fmt.Sprintf("%+v", r.Why), "CANARY")
	}
}
