package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A graph that nobody can read as a whole is drawn in groups. Stages of one phase are put
// together that are alike: same roles, same moves, and clauses that differ in the names of
// parameters only. If that leaves too much, it is those that have roles and moves in
// common, and at last all that stay in the phase, and all that leave it. An edge between
// groups stands for those between their stages.

// Limits of what is drawn stage by stage.
const (
	MaxDrawn = 64  // stages; one counts in each phase that it runs in
	maxLines = 256 // pairs of stages that do not commute
)

// Fold gives a graph with its stages in groups, if it has more than MaxDrawn stages or
// more than maxLines conflicts; else the graph itself. Flows beyond maxLines join phases.
func (g Graph) Fold(c *ir.Contract) Graph {
	if g.isReadable() {
		return g
	}
	stages := make(map[string]*ir.Stage, len(c.Stages))
	for i := range c.Stages {
		stages[c.Stages[i].Name] = &c.Stages[i]
	}
	var out Graph
	for _, alike := range []func(*ir.Stage) string{
		authority,
		func(s *ir.Stage) string { return fmt.Sprintf("%q %q", s.By, s.Next) },
		func(s *ir.Stage) string { return fmt.Sprint(len(s.Next) > 0) },
	} {
		if out = g.grouped(stages, alike); out.isReadable() {
			break
		}
	}
	if out.count(FlowEdge) > maxLines {
		out = out.joinPhases()
	}
	return out
}

func (g Graph) isReadable() bool {
	nodes := 0
	for _, p := range g.Phases {
		nodes += len(p.Stages)
	}
	return nodes <= MaxDrawn && g.count(ConflictEdge, ConditionEdge) <= maxLines
}

func (g Graph) count(kinds ...EdgeKind) (n int) {
	for _, e := range g.Edges {
		if slices.Contains(kinds, e.Kind) {
			n++
		}
	}
	return n
}

// authority is what a stage may do and where, in a text that only stages have that may do
// the same, up to the names of their parameters.
func authority(s *ir.Stage) string {
	number := map[string]string{}
	for i, p := range s.Params {
		number[p.Name] = fmt.Sprint(i)
	}
	renamed := func(name string) string { return number[name] }
	text, _ := json.Marshal([]any{s.By, s.Next, s.Attempts})
	var b strings.Builder
	b.Write(text)
	for _, p := range s.Params {
		fmt.Fprintf(&b, " %s %s", p.Kind, p.Of.Rename(renamed))
		if p.Where != nil {
			fmt.Fprintf(&b, " %q", p.Where.Source)
		}
	}
	for _, v := range s.Values {
		fmt.Fprintf(&b, " %s: %d", v.Name, v.Type)
	}
	for _, r := range []region.Region{s.Read, s.Write, s.Blind, s.Source} {
		fmt.Fprintf(&b, "\n%v", r.Rename(renamed))
	}
	fmt.Fprintf(&b, "\n%v", s.Rights)
	for _, x := range slices.Concat(s.Require, s.Ensure) {
		fmt.Fprintf(&b, "\n%q", x.Source)
	}
	fmt.Fprintf(&b, "\n%v", region.Region{{Include: s.Produce}}.Rename(renamed))
	return b.String()
}

// grouped puts the stages of each phase together that are alike.
func (g Graph) grouped(stages map[string]*ir.Stage, alike func(*ir.Stage) string) Graph {
	out := Graph{Contract: g.Contract, Phases: []PhaseNode{}, LeftOut: g.LeftOut}
	to := map[string]string{} // node -> the node it is drawn in
	at := map[string]*StageNode{}
	for _, p := range g.Phases {
		groups, members := map[string]int{}, [][]StageNode{}
		for _, s := range p.Stages {
			key := alike(stages[s.Name])
			i, known := groups[key]
			if !known {
				i = len(members)
				groups[key], members = i, append(members, nil)
			}
			members[i] = append(members[i], s)
		}
		p.Stages = make([]StageNode, len(members))
		for i, all := range members {
			p.Stages[i] = group(all)
			at[p.Stages[i].ID] = &p.Stages[i]
			for _, s := range all {
				to[s.ID] = p.Stages[i].ID
			}
		}
		out.Phases = append(out.Phases, p)
	}
	inside := map[string]map[EdgeKind]int{}
	out.Edges = joined(g.Edges, to, func(node string, kind EdgeKind) {
		if inside[node] == nil {
			inside[node] = map[EdgeKind]int{}
		}
		inside[node][kind]++
	})
	for node, n := range inside {
		at[node].Conflicts, at[node].Conditions = n[ConflictEdge], n[ConditionEdge]
	}
	return out
}

// group is the node of some stages of a phase.
func group(all []StageNode) StageNode {
	out := all[0]
	if len(all) == 1 {
		return out
	}
	for _, s := range all {
		out.Stages = append(out.Stages, s.Name)
	}
	out.Name = fmt.Sprintf("%s and %d more", all[0].Name, len(all)-1)
	return out
}

// joined is edges between the nodes that theirs are drawn in, each once, with how many it
// stands for. Those within one node are counted by inside instead.
func joined(edges []Edge, to map[string]string, inside func(node string, kind EdgeKind)) []Edge {
	type ends struct {
		kind     EdgeKind
		from, to string
	}
	out, known := []Edge{}, map[ends]int{}
	for _, e := range edges {
		if node, drawn := to[e.From]; drawn {
			e.From = node
		}
		if node, drawn := to[e.To]; drawn {
			e.To = node
		}
		if e.From == e.To && e.Kind != MoveEdge {
			inside(e.From, e.Kind)
			continue
		}
		key := ends{e.Kind, e.From, e.To}
		if e.From > e.To && (e.Kind == ConflictEdge || e.Kind == ConditionEdge) {
			key.from, key.to = e.To, e.From
		}
		i, again := known[key]
		if !again {
			known[key] = len(out)
			out = append(out, e)
			continue
		}
		out[i].Pairs = max(out[i].Pairs, 1) + max(e.Pairs, 1)
	}
	return out
}

// joinPhases has flows lead from phase to phase; those within one are left out.
func (g Graph) joinPhases() Graph {
	phases := map[string]string{}
	for _, p := range g.Phases {
		for _, s := range p.Stages {
			phases[s.ID] = p.ID
		}
	}
	var flows, others []Edge
	for _, e := range g.Edges {
		if e.Kind == FlowEdge {
			flows = append(flows, e)
		} else {
			others = append(others, e)
		}
	}
	flows = joined(flows, phases, func(string, EdgeKind) {})
	if len(flows) > maxLines {
		g.FlowsLeftOut = len(flows)
		flows = nil
	}
	g.Edges = append(others, flows...)
	return g
}

// label is what stands at a node: of a group, also how many of its pairs do not commute.
func (s StageNode) label() string {
	text := ""
	switch {
	case s.Conflicts > 0 && s.Conditions > 0:
		text = fmt.Sprintf(" (%s conflict, %d for some arguments)", pairs(s.Conflicts), s.Conditions)
	case s.Conflicts > 0:
		text = fmt.Sprintf(" (%s conflict)", pairs(s.Conflicts))
	case s.Conditions > 0:
		text = fmt.Sprintf(" (%s for some arguments)", pairs(s.Conditions))
	}
	return s.Name + text
}

func pairs(n int) string {
	if n == 1 {
		return "1 pair"
	}
	return fmt.Sprintf("%d pairs", n)
}

// title is which stages a group has.
func (s StageNode) title() string { return strings.Join(s.Stages, ", ") }
