package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

// beyondRegions are the pairs of the desk that do commute, for reasons that
// footprints do not have: a ticket's customer exists, so it is none that is new, and
// a largest value is within a bound if every value is.
var beyondRegions = []string{"answer and enrol", "stock and stock"}

func TestEveryPairOfTheDeskThatMayNotCommuteIsShownNotTo(t *testing.T) {
	c := desk(t)
	run := replay.New(replay.Options{})
	var left []string
	shown := 0
	for _, pair := range pairsOf(c, &shape{}) {
		claim := ir.Claim{Kind: ir.Commutes, Stages: []string{pair.A.Name, pair.B.Name}}
		if _, proved := footprint.New(c).Decide(claim, nil).(footprint.Proved); proved {
			continue
		}
		if anyShown(t, run, pair, c) {
			shown++
		} else {
			left = append(left, pair.A.Name+" and "+pair.B.Name)
		}
	}
	require.Equal(t, beyondRegions, left)
	require.Greater(t, shown, 80)
}

func anyShown(t *testing.T, run footprint.Replayer, pair footprint.Pair, c *ir.Contract) bool {
	for _, conflict := range pair.Conflicts {
		example, err := run(c, pair, conflict)
		require.NoError(t, err)
		if example != nil {
			return true
		}
	}
	return false
}
