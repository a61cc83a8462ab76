package plan_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/plan"
)

// hall is a contract of phases, each with n stages and one that moves on; the i-th stage
// of a phase is what clauses makes of it.
func hall(phases, n int, clauses func(i int) string) string {
	var b strings.Builder
	b.WriteString("contract hall\nstate { m: map of { a: string  b: string } }\nphases {\n")
	for p := range phases {
		fmt.Fprintf(&b, "  p%d -> p%d\n", p, p+1)
	}
	fmt.Fprintf(&b, "  p%d\n}\n", phases)
	for p := range phases {
		for i := range n {
			fmt.Fprintf(&b, "stage s%dx%d(k%d in /m) { in p%d  %s }\n", p, i, i, p, strings.ReplaceAll(clauses(i), "{k}", fmt.Sprintf("{k%d}", i)))
		}
		fmt.Fprintf(&b, "stage on%d { in p%d  next p%d }\n", p, p, p+1)
	}
	return b.String()
}

func alike(i int) string {
	return "read /m/{k}/" + []string{"a", "b"}[i%2] + "  write /m/{k}/" + []string{"a", "b"}[i%2]
}

func crossing(i int) string { return "read /m/{k}  write /m/{k}/" + []string{"a", "b"}[i%2] }

func roles(i int) string {
	return fmt.Sprintf("by r%d  read /m/x%d  write /m/x%d  produce /m/x%d", i%3, i, i, i)
}

func apart(i int) string {
	return fmt.Sprintf("by r%d  read /m/x%d  write /m/x%d  produce /m/x%d", i, i, i, i)
}

// names are what stands in the nodes of a phase.
func names(p plan.PhaseNode) (out []string) {
	for _, s := range p.Stages {
		out = append(out, s.Name)
	}
	return out
}

func TestAGraphOfManyStagesIsDrawnInGroups(t *testing.T) {
	for _, x := range []struct {
		name, text string
		first      []string // the nodes of the first phase
	}{
		{"few are drawn one by one", hall(2, 3, alike), []string{"s0x0", "s0x1", "s0x2", "on0"}},
		{"those alike but for names of parameters", hall(4, 20, alike), []string{"s0x0 and 9 more", "s0x1 and 9 more", "on0"}},
		{"few, of which too many pairs conflict", hall(1, 40, alike), []string{"s0x0 and 19 more", "s0x1 and 19 more", "on0"}},
		{"groups that conflict with each other", hall(4, 20, crossing), []string{"s0x0 and 9 more", "s0x1 and 9 more", "on0"}},
		{"those of a role", hall(4, 20, roles), []string{"s0x0 and 6 more", "s0x1 and 6 more", "s0x2 and 5 more", "on0"}},
		{"those of a phase", hall(4, 20, apart), []string{"s0x0 and 19 more", "on0"}},
		{"those of a phase, in however many phases", hall(100, 3, apart), []string{"s0x0 and 2 more", "on0"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := compiled(t, x.text)
			whole := plan.Draw(footprint.Measured(c))
			g := whole.Fold(c)
			require.Equal(t, x.first, names(g.Phases[0]))
			requireSame(t, whole, g)
		})
	}
}

// requireSame holds that a graph in groups has every stage, and stands for every conflict,
// of the whole one.
func requireSame(t *testing.T, whole, g plan.Graph) {
	t.Helper()
	nodes, pairs := map[string]bool{}, map[plan.EdgeKind]int{}
	require.Len(t, g.Phases, len(whole.Phases))
	for i, p := range g.Phases {
		var drawn, all []string
		nodes[p.ID] = true
		for _, s := range p.Stages {
			nodes[s.ID] = true
			if len(s.Stages) == 0 {
				drawn = append(drawn, s.Name)
			}
			drawn = append(drawn, s.Stages...)
			pairs[plan.ConflictEdge] += s.Conflicts
			pairs[plan.ConditionEdge] += s.Conditions
		}
		for _, s := range whole.Phases[i].Stages {
			all = append(all, s.Name)
		}
		require.ElementsMatch(t, all, drawn)
	}
	for _, e := range g.Edges {
		require.True(t, nodes[e.From] && nodes[e.To], "%v", e)
		pairs[e.Kind] += max(e.Pairs, 1)
	}
	all := map[plan.EdgeKind]int{}
	for _, e := range whole.Edges {
		all[e.Kind]++
	}
	for _, kind := range []plan.EdgeKind{plan.MoveEdge, plan.ConflictEdge, plan.ConditionEdge} {
		require.Equal(t, all[kind], pairs[kind], "%s", kind)
	}
}

func TestManyFlowsJoinPhasesOrAreCounted(t *testing.T) {
	flows := func(phases int) (lines int, g plan.Graph) {
		c := compiled(t, hall(phases, 9, alike))
		g = plan.Draw(footprint.Measured(c)).Fold(c)
		for _, e := range g.Edges {
			if e.Kind == plan.FlowEdge {
				lines++
			}
		}
		return lines, g
	}
	lines, g := flows(10)
	require.Equal(t, 2*10*9, lines, "between groups of each two phases, both ways")
	require.Zero(t, g.FlowsLeftOut)
	lines, g = flows(12)
	require.Equal(t, 12*11, lines, "between each two phases, both ways")
	require.Zero(t, g.FlowsLeftOut)
	lines, g = flows(18)
	require.Zero(t, lines)
	require.Equal(t, 18*17, g.FlowsLeftOut)
}

func TestPicturesOfGroupsAreWellFormed(t *testing.T) {
	for _, text := range []string{hall(4, 20, alike), hall(10, 9, alike), hall(100, 3, apart)} {
		c := compiled(t, text)
		g := plan.Draw(footprint.Measured(c)).Fold(c)
		for _, format := range []string{"svg", "html", "dot", "mermaid", "json"} {
			got, err := g.Render(format)
			require.NoError(t, err)
			require.Less(t, len(got), 100_000, "%s", format)
			require.True(t, plan.IsDrawing(got), "%s", format)
			if format != "svg" {
				continue
			}
			d := xml.NewDecoder(bytes.NewReader(got))
			for err == nil {
				_, err = d.Token()
			}
			require.Equal(t, io.EOF, err)
		}
	}
}
