package replay_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/verify"
)

// inPhase lists the pairs of stages of a contract that may meet in a phase and do not
// move it.
func inPhase(c *ir.Contract, phase string, sum *shape) []footprint.Pair {
	return slices.DeleteFunc(pairsOf(c, sum), func(p footprint.Pair) bool {
		return len(p.A.Next)+len(p.B.Next) > 0 || !slices.Contains(p.A.In, phase) || !slices.Contains(p.B.In, phase)
	})
}

// onPhase is a course of a drawn contract on valid states of one of its phases; ok is
// false if there are none to be found.
func (m maker) onPhase(t *testing.T, c *ir.Contract, sum *shape) (co *course, ok bool) {
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	co = &course{maker: m, c: c, run: replay.NewRunner(p), reaches: map[string]reach{}, sum: sum}
	co.phase = c.Phases[m.Intn(len(c.Phases))].Name
	for i := range c.Stages {
		co.reaches[c.Stages[i].Name] = reachOf(&c.Stages[i])
	}
	for range statesPerCourse {
		n := m.valid(p, c, co.phase)
		if n == nil {
			sum.invalid++
			break
		}
		co.states = append(co.states, placed{n, string(p.Export(n, false)), places(n)})
	}
	return co, len(co.states) > 1
}

func TestCertifiedPairsOfDrawnContractsCommute(t *testing.T) {
	t.Parallel()
	const seed = 22
	m, sum := newMaker(seed), newShape()
	for enough := trials(); sum.trials < enough; {
		text, c := m.contract()
		sum.note(t, text)
		if co, ok := m.onPhase(t, c, sum); ok {
			co.text = text
			co.all(t, inPhase(c, co.phase, sum), 30)
		}
	}
	sum.log(t)
	t.Logf("certified pairs that have to do with each: %v", sum.constructs)
	require.Positive(t, sum.parted, "the generator makes nothing that parts")
	require.Greater(t, sum.accepted[2], sum.trials/20)
	for name := range drawnConstructs {
		inNone := name == "a choice of phases" // stages that move the phase are in no pair
		require.True(t, sum.constructs[name] > 0 || inNone || sum.trials < 100_000, name)
	}
}
