package footprint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
)

func TestTheIndexOfGatesFindsEveryGateThatAStageTouches(t *testing.T) {
	touched, found, all := 0, 0, 0
	for seed := range 12 {
		g := newGenerator(int64(seed))
		for range 8 {
			g.stage(seed%2 == 0)
		}
		m := footprint.New(g.c)
		gates := m.StateGates()
		x := footprint.NewGateIndex(m, gates)
		for i := range g.c.Stages {
			s := &g.c.Stages[i]
			listed := map[int]bool{}
			x.Touched(s, func(i int) { listed[i] = true })
			for j, gate := range gates {
				uses := m.Touched(gate, s)
				require.True(t, listed[j] || len(uses) == 0, "contract %d, stage %d, gate %d", seed, i, j)
				all++
				if listed[j] {
					found++
				}
				if len(uses) > 0 {
					touched++
				}
			}
		}
	}
	t.Logf("%d pairs, %d found, %d touched", all, found, touched)
	require.Less(t, found, all, "some are told apart by the index")
	require.Positive(t, touched)
}
