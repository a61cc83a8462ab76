package plan

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// A Graph is a contract as a picture: phases hold stages, and edges say how phases
// follow each other, which stages do not commute, and where information goes.
type Graph struct {
	Contract string      `json:"contract"`
	Phases   []PhaseNode `json:"phases"`
	Edges    []Edge      `json:"edges"`
	LeftOut  int         `json:"pairs_left_out,omitempty"` // of stages, whose conflicts and flows are not drawn
}

// A PhaseNode is a phase with a node for each stage that runs in it.
type PhaseNode struct {
	ID     string      `json:"id"`
	Name   string      `json:"name"`
	Start  bool        `json:"start,omitempty"`
	End    bool        `json:"end,omitempty"`
	Stages []StageNode `json:"stages"`
}

// A StageNode is a stage in one phase.
type StageNode struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Moves bool   `json:"moves,omitempty"` // it moves the phase
}

// An EdgeKind is what an edge means.
type EdgeKind string

// The kinds of edges.
const (
	MoveEdge      EdgeKind = "move"      // from a stage, or for the host from a phase, to a phase
	ConflictEdge  EdgeKind = "conflict"  // between two stages of a phase that do not commute
	ConditionEdge EdgeKind = "condition" // between two that do not for some parameters
	FlowEdge      EdgeKind = "flow"      // from a stage that writes to one that sees it
)

// An Edge joins two nodes by their ids.
type Edge struct {
	Kind  EdgeKind `json:"kind"`
	From  string   `json:"from"`
	To    string   `json:"to"`
	Label string   `json:"label,omitempty"`
}

// Draw makes the graph of a contract. A stage that runs in several phases has a node
// in each; flows join its first. Stages and flows beyond MaxPairs pairs are left out,
// and counted.
func Draw(m *footprint.Model) Graph {
	g := Graph{Contract: m.Contract.Name, Phases: []PhaseNode{}, Edges: []Edge{}}
	relations := Relations(m)
	for i, p := range m.Contract.Phases {
		g.Phases = append(g.Phases, phaseNode(m.Contract, p, relations[i], i == 0))
	}
	at := stagesByPhase(m)
	for i, p := range m.Contract.Phases {
		g.moves(m.Contract, p, at[p.Name])
		g.conflicts(p.Name, relations[i])
	}
	for _, p := range relations {
		g.LeftOut += pairsOf(len(p.Stages)+len(p.LeftOut)) - pairsOf(len(p.Stages))
	}
	g.flows(m)
	return g
}

func phaseNode(c *ir.Contract, p ir.Phase, r Phase, start bool) PhaseNode {
	out := PhaseNode{ID: p.Name, Name: p.Name, Start: start, End: len(p.Arrows) == 0, Stages: []StageNode{}}
	for _, s := range slices.Concat(r.Stages, r.LeftOut, r.Movers) {
		out.Stages = append(out.Stages, StageNode{ID: nodeID(p.Name, s), Name: s, Moves: len(out.Stages) >= len(r.Stages)+len(r.LeftOut)})
	}
	return out
}

func nodeID(phase, stage string) string { return phase + "/" + stage }

func (g *Graph) moves(c *ir.Contract, p ir.Phase, stages []int) {
	for _, a := range p.Arrows {
		label := ""
		if a.Guard != nil {
			label = "when " + folded(a.Guard.Source)
		}
		if a.ByHost {
			g.Edges = append(g.Edges, Edge{MoveEdge, p.Name, a.To, strings.TrimSpace("by host " + label)})
		}
		for _, i := range stages {
			if s := &c.Stages[i]; slices.Contains(s.Next, a.To) {
				g.Edges = append(g.Edges, Edge{MoveEdge, nodeID(p.Name, s.Name), a.To, label})
			}
		}
	}
}

func (g *Graph) conflicts(phase string, p Phase) {
	for _, r := range p.Relations {
		from, to := nodeID(phase, r.A), nodeID(phase, r.B)
		switch {
		case r.A == r.B:
		case r.Answer == No:
			g.Edges = append(g.Edges, Edge{ConflictEdge, from, to, r.Why[0]})
		case r.Answer == Unless:
			g.Edges = append(g.Edges, Edge{ConditionEdge, from, to, strings.Join(r.Unless, ", or ")})
		}
	}
}

// flows joins the first stages of the contract, as many as have MaxPairs pairs.
func (g *Graph) flows(m *footprint.Model) {
	stages, n := m.Contract.Stages, 0
	for n < len(stages) && pairsOf(n+1) <= MaxPairs {
		n++
	}
	g.LeftOut += pairsOf(len(stages)) - pairsOf(n)
	for i := range n {
		for j := range n {
			if i == j {
				continue
			}
			if path, ok := m.Carries(&stages[i], &stages[j]); ok {
				from, to := nodeID(stages[i].In[0], stages[i].Name), nodeID(stages[j].In[0], stages[j].Name)
				g.Edges = append(g.Edges, Edge{FlowEdge, from, to, footprint.PathText(path)})
			}
		}
	}
}

// pairsOf counts the pairs of n stages, each with itself included.
func pairsOf(n int) int { return n * (n + 1) / 2 }
