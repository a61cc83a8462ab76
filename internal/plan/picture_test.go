package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArcsBesideTheSameStagesKeepApart(t *testing.T) {
	g := Graph{Phases: []PhaseNode{{ID: "p", Name: "p"}}}
	for _, s := range []string{"a", "b", "c", "d", "e", "f"} {
		g.Phases[0].Stages = append(g.Phases[0].Stages, StageNode{ID: s, Name: s})
	}
	for _, ends := range [][2]string{{"a", "f"}, {"a", "b"}, {"c", "b"}, {"a", "c"}, {"d", "e"}, {"b", "d"}} {
		g.Edges = append(g.Edges, Edge{Kind: ConflictEdge, From: ends[0], To: ends[1]})
	}
	l := g.layout()
	lane := func(n int) int { return padding + n*arcStep }
	require.Equal(t, map[int]int{1: lane(1), 2: lane(1), 4: lane(1), 3: lane(2), 5: lane(3), 0: lane(4)}, l.arcs)
	require.Greater(t, l.boxes["p"].right(), l.boxes["a"].right()+lane(4))
}
