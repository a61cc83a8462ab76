package plan

import (
	"fmt"
	"html"
	"io"
)

// The colours of the picture.
const (
	ink       = "#1f2933"
	faint     = "#9aa5b1"
	phaseFill = "#f5f7fa"
	stageFill = "#ffffff"
	moveInk   = "#2563eb"
	conflict  = "#dc2626"
	condition = "#d97706"
	flowInk   = "#7b8794"
)

// SVG writes a graph as a picture of its own; a browser shows what is at an edge when
// the pointer rests on it.
func (g Graph) SVG(w io.Writer) {
	l := g.layout()
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n", l.w, l.h, l.w, l.h)
	fmt.Fprintf(w, "<title>%s</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", html.EscapeString("contract "+g.Contract), l.w, l.h)
	io.WriteString(w, "<defs>\n")
	arrowHead(w, "move", moveInk)
	arrowHead(w, "flow", flowInk)
	io.WriteString(w, "</defs>\n")
	for _, p := range g.Phases {
		p.svg(w, l)
	}
	g.edges(w, l, func(e Edge) bool { return e.Kind == FlowEdge })
	for _, p := range g.Phases {
		p.stagesSVG(w, l)
	}
	g.edges(w, l, func(e Edge) bool { return e.Kind != FlowEdge })
	svgLegend(w, l)
	io.WriteString(w, "</svg>\n")
}

func arrowHead(w io.Writer, id, color string) {
	fmt.Fprintf(w, `<marker id="%s" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="%s"/></marker>`+"\n", id, color)
}

func (p PhaseNode) svg(w io.Writer, l layout) {
	b := l.boxes[p.ID]
	fmt.Fprintf(w, `<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", b.x, b.y, b.w, b.h, phaseFill, faint)
	text(w, b.x+padding, b.y+20, "bold", p.title())
}

// stagesSVG draws the stages of a phase, over the flows.
func (p PhaseNode) stagesSVG(w io.Writer, l layout) {
	for _, s := range p.Stages {
		b, stroke := l.boxes[s.ID], ink
		if s.Moves {
			stroke = moveInk
		}
		fmt.Fprintf(w, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="%s"/>`+"\n", b.x, b.y, b.w, b.h, stageFill, stroke)
		text(w, b.x+padding, b.middle()+4, "normal", s.Name)
	}
}

func text(w io.Writer, x, y int, weight, s string) {
	fmt.Fprintf(w, `<text x="%d" y="%d" font-weight="%s" fill="%s">%s</text>`+"\n", x, y, weight, ink, html.EscapeString(s))
}

func (g Graph) edges(w io.Writer, l layout, wanted func(Edge) bool) {
	for i, e := range g.Edges {
		if wanted(e) {
			g.edge(w, l, i, e)
		}
	}
}

func (g Graph) edge(w io.Writer, l layout, i int, e Edge) {
	from, to := l.boxes[e.From], l.boxes[e.To]
	switch e.Kind {
	case ConflictEdge:
		stroke(w, arc(from, to, l.arcs[i]), conflict, "", e)
	case ConditionEdge:
		stroke(w, arc(from, to, l.arcs[i]), condition, `stroke-dasharray="4 3"`, e)
	case FlowEdge:
		if from.x != to.x {
			stroke(w, curve(from, to), flowInk, `stroke-opacity="0.45" marker-end="url(#flow)"`, e)
		}
	default:
		stroke(w, move(from, to), moveInk, `stroke-width="2" marker-end="url(#move)"`, e)
	}
}

// stroke draws a line; what it means is its title.
func stroke(w io.Writer, path, color, style string, e Edge) {
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" %s><title>%s</title></path>`+"\n", path, color, style, html.EscapeString(e.title()))
}

func (e Edge) title() string {
	switch e.Kind {
	case ConditionEdge:
		return e.From + " and " + e.To + " commute unless " + e.Label
	case ConflictEdge:
		return e.From + " and " + e.To + " do not commute: " + e.Label
	case FlowEdge:
		return e.From + " writes " + e.Label + ", which " + e.To + " sees"
	}
	return e.From + " moves to " + e.To + " " + e.Label
}

// arc joins two stages of a phase at their right.
func arc(a, b box, reach int) string {
	x := a.right() + reach
	return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", a.right(), a.middle(), x, a.middle(), x, b.middle(), b.right(), b.middle())
}

// curve joins two stages of different columns, from the side that faces the other.
func curve(a, b box) string {
	if a.x < b.x {
		return bend(a.right(), a.middle(), b.x, b.middle())
	}
	return bend(a.x, a.middle(), b.right(), b.middle())
}

func bend(x1, y1, x2, y2 int) string {
	middle := (x1 + x2) / 2
	return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, middle, y1, middle, y2, x2, y2)
}

// move leads from a stage or phase into a phase: forward into its left side, back
// from below into its bottom, and within a column into its top or bottom.
func move(a, b box) string {
	switch {
	case a.right() < b.x:
		return bend(a.right(), a.middle(), b.x, b.y+titleHeight/2)
	case a.x > b.right():
		y := max(a.bottom(), b.bottom()) + rowGap
		return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", a.x+a.w/2, a.bottom(), a.x+a.w/2, y, b.x+b.w/2, y, b.x+b.w/2, b.bottom())
	case a.y < b.y:
		return fmt.Sprintf("M%d %d L%d %d", a.x+a.w/2, a.bottom(), a.x+a.w/2, b.y)
	}
	return fmt.Sprintf("M%d %d L%d %d", a.x+a.w/2, a.y, a.x+a.w/2, b.bottom())
}

func svgLegend(w io.Writer, l layout) {
	x, y := margin, l.h-margin
	for _, entry := range []struct {
		kind EdgeKind
		text string
	}{
		{MoveEdge, "moves the phase"}, {ConflictEdge, "do not commute"},
		{ConditionEdge, "do not commute for some arguments"}, {FlowEdge, "what one writes the other sees"},
	} {
		line := fmt.Sprintf("M%d %d L%d %d", x, y, x+30, y)
		style := map[EdgeKind]string{MoveEdge: `stroke-width="2" marker-end="url(#move)"`, ConditionEdge: `stroke-dasharray="4 3"`, FlowEdge: `marker-end="url(#flow)"`}[entry.kind]
		color := map[EdgeKind]string{MoveEdge: moveInk, ConflictEdge: conflict, ConditionEdge: condition, FlowEdge: flowInk}[entry.kind]
		fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" %s/>`+"\n", line, color, style)
		text(w, x+38, y+4, "normal", entry.text)
		x += 70 + len(entry.text)*charWidth
	}
}
