package footprint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

func TestTheIndexSaysOfEveryPairWhatComparingItSays(t *testing.T) {
	contracts, stages := 12, 12
	if testing.Short() || slow {
		contracts, stages = 3, 8
	}
	flagged, conflicting, all := 0, 0, 0
	for seed := range contracts {
		g := newGenerator(int64(seed))
		for range stages {
			g.stage(seed%2 == 0)
		}
		x, pairwise := footprint.New(g.c).Matrix(), footprint.New(g.c)
		for i := range stages {
			for j := range stages {
				want := pairwise.Commutation(&g.c.Stages[i], &g.c.Stages[j])
				require.Equal(t, want, x.Conflicts(i, j), "contract %d, stages %d and %d", seed, i, j)
				require.Equal(t, x.Flagged(i, j), x.Flagged(j, i))
				if _, carries := pairwise.Carries(&g.c.Stages[i], &g.c.Stages[j]); carries {
					require.True(t, pairwise.MayCarry(i)(j), "contract %d, stages %d and %d", seed, i, j)
				}
				all++
				if x.Flagged(i, j) {
					flagged++
				}
				if len(want) > 0 {
					conflicting++
				}
			}
		}
	}
	t.Logf("%d pairs, %d flagged, %d conflict", all, flagged, conflicting)
	require.Less(t, flagged, all*3/4, "most pairs are told apart by the index")
	require.Less(t, flagged-conflicting, all/10, "few flags are wrong")
}

func TestWithoutExceptionsTypesRulesAndParametersOfItsOwnEveryFlagIsAConflict(t *testing.T) {
	g := newGenerator(7)
	g.c.Types, g.c.State, g.c.Invariants = []ir.Type{{}, {Kind: ir.AnyType}}, 1, nil
	for range 25 {
		g.stage(false)
	}
	for i := range g.c.Stages {
		g.c.Stages[i].Params = nil // that one exists is read in a shallow pattern
	}
	x := footprint.New(g.c).Matrix()
	for i := range x.Len() {
		for j := range x.Len() {
			require.Equal(t, x.Flagged(i, j), len(x.Conflicts(i, j)) > 0, "stages %d and %d", i, j)
		}
	}
}

func TestAnAddedStageIsListedWithTheStagesItMayNotCommuteWith(t *testing.T) {
	c := compiled(t, `contract c
state { a: map of int  b: map of int  h: log of string }
stage one(k in /a) { read /a/{k}  write /a/{k} }
stage two { read /b/*  write /b/* }
stage log { write /h/- }
`)
	m := footprint.New(c)
	x := footprint.NewIndex(m)
	require.Equal(t, []int{0}, x.Add(c.Stage("one")), "two instances of it may write one entry")
	require.Equal(t, []int{1}, x.Add(c.Stage("two")))
	require.Empty(t, x.Add(c.Stage("log")), "appends commute")
	wide := &ir.Stage{Name: "wide", In: []string{"main"}, Read: region.Of("/**")}
	require.Equal(t, []int{0, 1, 2}, x.Add(wide), "but for views of what others write, and it writes nothing itself")
	require.Equal(t, []int{0, 3}, x.Row(0), "rows of earlier stages grow")
	require.Equal(t, footprint.ViewConflict, x.Conflicts(0, 3)[len(x.Conflicts(0, 3))-1].Kind)
	require.Same(t, wide, x.Stage(3))
}

func TestStagesWithoutACommonPhaseAreNeverFlaggedAndAMovingStageAlways(t *testing.T) {
	c := compiled(t, `contract c
state { a: int  b: int }
phases { p -> q  q }
stage one  { in p  read /a  write /a }
stage late { in q  read /a  write /a }
stage move { in p  next q }
stage calm { in p  read /b }
`)
	x := footprint.New(c).Matrix()
	require.Equal(t, []int{0, 2}, x.Row(0))
	require.Equal(t, []int{1}, x.Row(1))
	require.Equal(t, []int{0, 2, 3}, x.Row(2))
	require.Equal(t, []int{2}, x.Row(3))
}

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
