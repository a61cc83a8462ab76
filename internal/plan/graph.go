package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
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

	// FlowsLeftOut counts the pairs of phases whose flows a graph in groups leaves out.
	FlowsLeftOut int `json:"flows_left_out,omitempty"`
}

// A PhaseNode is a phase with a node for each stage that runs in it.
type PhaseNode struct {
	ID     string      `json:"id"`
	Name   string      `json:"name"`
	Start  bool        `json:"start,omitempty"`
	End    bool        `json:"end,omitempty"`
	Stages []StageNode `json:"stages"`
}

// A StageNode is a stage in one phase, or a group of them.
type StageNode struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Moves bool   `json:"moves,omitempty"` // it moves the phase

	Stages     []string `json:"stages,omitempty"`     // of a group
	Conflicts  int      `json:"conflicts,omitempty"`  // pairs in the group that do not commute
	Conditions int      `json:"conditions,omitempty"` // pairs that do not for some parameters
}

// An EdgeKind is what an edge means.
type EdgeKind string

// The kinds of edges.
const (
	MoveEdge      EdgeKind = "move"      // from a stage, or for the host from a phase, to a phase
	ConflictEdge  EdgeKind = "conflict"  // between two stages of a phase that do not commute
	ConditionEdge EdgeKind = "condition" // between two that do not for some parameters
	FlowEdge      EdgeKind = "flow"      // from a stage that writes to one that sees it; from phase to phase where there are many
)

// An Edge joins two nodes by their ids.
type Edge struct {
	Kind  EdgeKind `json:"kind"`
	From  string   `json:"from"`
	To    string   `json:"to"`
	Label string   `json:"label,omitempty"`
	Pairs int      `json:"pairs,omitempty"` // how many it stands for, if several; Label is of one of them
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
			label = "when " + strings.Join(strings.Fields(a.Guard.Source), " ")
		}
		if a.ByHost {
			g.Edges = append(g.Edges, Edge{Kind: MoveEdge, From: p.Name, To: a.To, Label: strings.TrimSpace("by host " + label)})
		}
		for _, i := range stages {
			if s := &c.Stages[i]; slices.Contains(s.Next, a.To) {
				g.Edges = append(g.Edges, Edge{Kind: MoveEdge, From: nodeID(p.Name, s.Name), To: a.To, Label: label})
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
			g.Edges = append(g.Edges, Edge{Kind: ConflictEdge, From: from, To: to, Label: r.Why[0]})
		case r.Answer == Unless:
			g.Edges = append(g.Edges, Edge{Kind: ConditionEdge, From: from, To: to, Label: strings.Join(r.Unless, ", or ")})
		}
	}
}

// flows joins the first stages of the contract, as long as not more than MaxPairs pairs of
// them may share something.
func (g *Graph) flows(m *footprint.Model) {
	stages := m.Contract.Stages
	may := make([]func(to int) bool, len(stages))
	n, pairs := 0, 0
	for i := range stages {
		may[i] = m.MayCarry(i)
		for j := range i {
			if may[i](j) || may[j](i) {
				pairs++
			}
		}
		if pairs <= MaxPairs {
			n = i + 1
			continue
		}
		g.LeftOut += pairs - MaxPairs
		pairs = MaxPairs
	}
	for i := range n {
		for j := range n {
			if i == j || !may[i](j) {
				continue
			}
			if path, ok := m.Carries(&stages[i], &stages[j]); ok {
				from, to := nodeID(stages[i].In[0], stages[i].Name), nodeID(stages[j].In[0], stages[j].Name)
				g.Edges = append(g.Edges, Edge{Kind: FlowEdge, From: from, To: to, Label: footprint.PathText(path)})
			}
		}
	}
}

// pairsOf counts the pairs of n stages, each with itself included.
func pairsOf(n int) int { return n * (n + 1) / 2 }

// Render gives a graph in one of the formats dot, mermaid, svg, html and json.
func (g Graph) Render(format string) ([]byte, error) {
	var b bytes.Buffer
	switch format {
	case "dot":
		g.Dot(&b)
	case "mermaid":
		g.Mermaid(&b)
	case "svg":
		g.SVG(&b)
	case "html":
		g.HTML(&b)
	case "json":
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err := e.Encode(g)
		return b.Bytes(), err
	default:
		return nil, fmt.Errorf("there is no format %q for graphs", format)
	}
	return b.Bytes(), nil
}

// drawn is how the formats other than json begin.
var drawn = regexp.MustCompile(`\A(digraph "[^"\n]*" \{\n  compound=true\n|flowchart LR\n  subgraph p0\[|<svg [^>]*>\n<title>contract |<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>contract )`)

// IsDrawing reports whether data looks like what Render gives, of any graph in any
// format.
func IsDrawing(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var g Graph
	return drawn.Match(data) || d.Decode(&g) == nil && g.Contract != "" && g.Phases != nil
}

// Dot writes a graph in the language of Graphviz.
func (g Graph) Dot(w io.Writer) {
	phases := g.phaseIDs()
	fmt.Fprintf(w, "digraph %s {\n  compound=true\n  rankdir=LR\n  node [shape=box style=rounded fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\" fontsize=9]\n", quote(g.Contract))
	for _, p := range g.Phases {
		fmt.Fprintf(w, "  subgraph %s {\n    label=%s\n", quote("cluster "+p.ID), quote(p.title()))
		fmt.Fprintf(w, "    %s [shape=point style=invis]\n", quote(p.ID))
		for _, s := range p.Stages {
			shape := ""
			if s.Moves {
				shape = " style=\"rounded,bold\""
			}
			if len(s.Stages) > 0 {
				shape += " tooltip=" + quote(s.title())
			}
			fmt.Fprintf(w, "    %s [label=%s%s]\n", quote(s.ID), quote(s.label()), shape)
		}
		fmt.Fprintln(w, "  }")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(w, "  %s -> %s [%s]\n", quote(e.From), quote(e.To), e.dotStyle(phases))
	}
	fmt.Fprintln(w, "}")
}

func (e Edge) dotStyle(phases map[string]bool) string {
	label := "label=" + quote(e.text())
	switch e.Kind {
	case ConflictEdge:
		return "dir=none color=red constraint=false " + label
	case ConditionEdge:
		return "dir=none color=orange style=dashed constraint=false " + label
	}
	ends := ""
	if phases[e.To] {
		ends = "lhead=" + quote("cluster "+e.To) + " "
	}
	if phases[e.From] {
		ends += "ltail=" + quote("cluster "+e.From) + " "
	}
	if e.Kind == FlowEdge {
		return ends + "color=gray constraint=false tooltip=" + quote(e.text())
	}
	return ends + "penwidth=2 " + label
}

// text is what stands at an edge: its label, and how many pairs it stands for.
func (e Edge) text() string {
	if e.Pairs == 0 {
		return e.Label
	}
	return strings.TrimSpace(fmt.Sprintf("%s (1 of %d)", e.Label, e.Pairs))
}

func (g Graph) phaseIDs() map[string]bool {
	out := make(map[string]bool, len(g.Phases))
	for _, p := range g.Phases {
		out[p.ID] = true
	}
	return out
}

func (p PhaseNode) title() string {
	switch {
	case p.Start:
		return p.Name + " (start)"
	case p.End:
		return p.Name + " (end)"
	}
	return p.Name
}

func quote(s string) string { return strconv.Quote(s) }

// Mermaid writes a graph as a flowchart: thick arrows move the phase, crossed lines
// are conflicts, dotted lines hold under the condition at them, thin arrows are
// flows.
func (g Graph) Mermaid(w io.Writer) {
	ids := map[string]string{}
	fmt.Fprintln(w, "flowchart LR")
	for i, p := range g.Phases {
		ids[p.ID] = fmt.Sprintf("p%d", i)
		fmt.Fprintf(w, "  subgraph %s[%s]\n", ids[p.ID], mermaidText(p.title()))
		for j, s := range p.Stages {
			ids[s.ID] = fmt.Sprintf("p%ds%d", i, j)
			fmt.Fprintf(w, "    %s(%s)\n", ids[s.ID], mermaidText(s.label()))
		}
		if len(p.Stages) == 0 {
			fmt.Fprintf(w, "    %sx[%s]\n", ids[p.ID], mermaidText("no stage"))
		}
		fmt.Fprintln(w, "  end")
	}
	for _, e := range g.Edges {
		label := ""
		if text := e.text(); text != "" {
			label = "|" + mermaidText(text) + "|"
		}
		fmt.Fprintf(w, "  %s %s%s %s\n", ids[e.From], mermaidEdges[e.Kind], label, ids[e.To])
	}
}

var mermaidEdges = map[EdgeKind]string{MoveEdge: "==>", ConflictEdge: "x--x", ConditionEdge: "-.-", FlowEdge: "-->"}

// mermaidText quotes a label.
func mermaidText(s string) string {
	return `"` + strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(s) + `"`
}

func (e Edge) title() string {
	switch e.Kind {
	case ConditionEdge:
		return e.From + " and " + e.To + " commute unless " + e.text()
	case ConflictEdge:
		return e.From + " and " + e.To + " do not commute: " + e.text()
	case FlowEdge:
		return e.From + " writes " + e.text() + ", which " + e.To + " sees"
	}
	return e.From + " moves to " + e.To + " " + e.text()
}
