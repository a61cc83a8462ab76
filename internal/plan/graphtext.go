package plan

import (
	"fmt"
	"io"
	"strconv"
)

// Dot writes a graph in the language of Graphviz.
func (g Graph) Dot(w io.Writer) {
	fmt.Fprintf(w, "digraph %s {\n  compound=true\n  rankdir=LR\n  node [shape=box style=rounded fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\" fontsize=9]\n", quote(g.Contract))
	for _, p := range g.Phases {
		fmt.Fprintf(w, "  subgraph %s {\n    label=%s\n", quote("cluster "+p.ID), quote(p.title()))
		fmt.Fprintf(w, "    %s [shape=point style=invis]\n", quote(p.ID))
		for _, s := range p.Stages {
			shape := ""
			if s.Moves {
				shape = " style=\"rounded,bold\""
			}
			fmt.Fprintf(w, "    %s [label=%s%s]\n", quote(s.ID), quote(s.Name), shape)
		}
		fmt.Fprintln(w, "  }")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(w, "  %s -> %s [%s]\n", quote(e.From), quote(e.To), g.dotStyle(e))
	}
	fmt.Fprintln(w, "}")
}

func (g Graph) dotStyle(e Edge) string {
	label := "label=" + quote(e.Label)
	switch e.Kind {
	case ConflictEdge:
		return "dir=none color=red constraint=false " + label
	case ConditionEdge:
		return "dir=none color=orange style=dashed constraint=false " + label
	case FlowEdge:
		return "color=gray constraint=false tooltip=" + quote(e.Label)
	}
	ends := "lhead=" + quote("cluster "+e.To)
	if g.isPhase(e.From) {
		ends += " ltail=" + quote("cluster "+e.From)
	}
	return ends + " penwidth=2 " + label
}

func (g Graph) isPhase(id string) bool {
	for _, p := range g.Phases {
		if p.ID == id {
			return true
		}
	}
	return false
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
			fmt.Fprintf(w, "    %s(%s)\n", ids[s.ID], mermaidText(s.Name))
		}
		if len(p.Stages) == 0 {
			fmt.Fprintf(w, "    %sx[%s]\n", ids[p.ID], mermaidText("no stage"))
		}
		fmt.Fprintln(w, "  end")
	}
	for _, e := range g.Edges {
		label := ""
		if e.Label != "" {
			label = "|" + mermaidText(e.Label) + "|"
		}
		fmt.Fprintf(w, "  %s %s%s %s\n", ids[e.From], mermaidEdges[e.Kind], label, ids[e.To])
	}
}

var mermaidEdges = map[EdgeKind]string{MoveEdge: "==>", ConflictEdge: "x--x", ConditionEdge: "-.-", FlowEdge: "-->"}
