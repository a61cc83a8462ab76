package plan

import (
	"fmt"
	"html"
	"io"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// The picture of a graph, as SVG and on a page of its own.
//
// Phases stand in columns, by how many arrows they are from the initial phase; those
// of one column stand below each other, and columns that would be far to the right below
// those before. A phase is a box with its stages below each
// other. Conflicts are arcs at the right of the stages, flows curves between phases,
// moves arrows between boxes.

// HTML writes a page that needs nothing else: the picture, and below it every edge in
// words.
func (g Graph) HTML(w io.Writer) {
	title := html.EscapeString("contract " + g.Contract)
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<h1>%s</h1>\n<div class=\"picture\">\n", title, pageStyle, title)
	g.SVG(w)
	io.WriteString(w, "</div>\n")
	for _, part := range []struct {
		kind  EdgeKind
		title string
	}{{MoveEdge, "Moves"}, {ConflictEdge, "Stages that do not commute"}, {ConditionEdge, "Stages that commute for some arguments"}, {FlowEdge, "Flows"}} {
		g.list(w, part.kind, part.title)
	}
	io.WriteString(w, "</body>\n</html>\n")
}

func (g Graph) list(w io.Writer, kind EdgeKind, title string) {
	open := false
	for _, e := range g.Edges {
		if e.Kind != kind {
			continue
		}
		if !open {
			fmt.Fprintf(w, "<h2>%s</h2>\n<ul>\n", title)
			open = true
		}
		fmt.Fprintf(w, "<li>%s</li>\n", html.EscapeString(e.title()))
	}
	if open {
		io.WriteString(w, "</ul>\n")
	}
}

const pageStyle = "body{font-family:Helvetica,Arial,sans-serif;color:#1f2933;margin:2rem}.picture{overflow-x:auto}path:hover{stroke-width:4}li{margin:.2rem 0}"

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

// A box is where something stands.
type box struct{ x, y, w, h int }

func (b box) right() int { return b.x + b.w }

func (b box) bottom() int { return b.y + b.h }

func (b box) middle() int { return b.y + b.h/2 }

// Sizes of the picture, in pixels.
const (
	charWidth   = 7
	titleHeight = 30
	stageHeight = 26
	stageGap    = 10
	padding     = 14
	arcStep     = 9   // how far conflict arcs stand apart
	columnGap   = 130 // between phases, where moves and flows run
	rowGap      = 40
	rowWidth    = 2000 // beyond it the next columns stand below
	margin      = 24
	legend      = 96 // height
	legendWidth = 1000
)

// A layout is the boxes of phases and stages, by id, and the size of the whole.
type layout struct {
	boxes  map[string]box
	phases map[string]int // node -> the number of its phase
	arcs   map[int]int    // edge -> how far its arc reaches out
	w, h   int
}

// layout places the columns beside each other, and below where they would not be in sight
// of the first.
func (g Graph) layout() layout {
	l := layout{boxes: map[string]box{}, phases: g.phaseNumbers(), arcs: map[int]int{}}
	conflicts := g.conflictsByPhase(l.phases)
	x, top, height := margin, margin, 0
	for _, column := range g.columns(l.phases) {
		y, width := top, 0
		for _, i := range column {
			b := l.place(g, g.Phases[i], conflicts[i], x, y)
			y, width = b.bottom()+rowGap, max(width, b.w)
		}
		if x > margin && x+width > rowWidth { // it does not fit: once more, below
			x, top, height = margin, top+height+rowGap, 0
			y = top
			for _, i := range column {
				y = l.place(g, g.Phases[i], conflicts[i], x, y).bottom() + rowGap
			}
		}
		height = max(height, y-top)
		l.w, l.h = max(l.w, x+width), max(l.h, y-rowGap+margin)
		x += width + columnGap
	}
	l.w = max(l.w+margin, legendWidth)
	l.h += legend
	return l
}

// conflictsByPhase lists for each phase, by number, its edges that are drawn as arcs.
func (g Graph) conflictsByPhase(phases map[string]int) [][]int {
	out := make([][]int, len(g.Phases))
	for i, e := range g.Edges {
		if e.Kind == ConflictEdge || e.Kind == ConditionEdge {
			out[phases[e.From]] = append(out[phases[e.From]], i)
		}
	}
	return out
}

// phaseNumbers is the phase that each node is, or lies in.
func (g Graph) phaseNumbers() map[string]int {
	out := map[string]int{}
	for i, p := range g.Phases {
		for _, s := range p.Stages {
			out[s.ID] = i
		}
	}
	for i, p := range g.Phases {
		out[p.ID] = i
	}
	return out
}

// columns lists phases, by number, by their distance from the initial one. Those
// that cannot be reached stand last.
func (g Graph) columns(phases map[string]int) [][]int {
	next := make([][]int, len(g.Phases))
	for _, e := range g.Edges {
		if e.Kind == MoveEdge {
			from := phases[e.From]
			next[from] = append(next[from], phases[e.To])
		}
	}
	var out [][]int
	placed := make([]bool, len(g.Phases))
	walk := func(frontier []int) {
		for len(frontier) > 0 {
			slices.Sort(frontier)
			var column, following []int
			for _, i := range slices.Compact(frontier) {
				if !placed[i] {
					placed[i] = true
					column = append(column, i)
					following = append(following, next[i]...)
				}
			}
			if frontier = following; len(column) > 0 {
				out = append(out, column)
			}
		}
	}
	all := make([]int, len(g.Phases))
	for i := range all {
		all[i] = i
	}
	walk(slices.Clone(all[:min(1, len(all))]))
	walk(all)
	return out
}

// place puts a phase and its stages, as wide as the longest name and the arcs need.
func (l *layout) place(g Graph, p PhaseNode, conflicts []int, x, y int) box {
	width := utf8.RuneCountInString(p.title()) * charWidth
	for _, s := range p.Stages {
		width = max(width, utf8.RuneCountInString(s.label())*charWidth+2*padding)
	}
	for i, s := range p.Stages {
		l.boxes[s.ID] = box{x + padding, y + titleHeight + i*(stageHeight+stageGap), width, stageHeight}
	}
	b := box{x, y, width + 2*padding + l.arcSpace(g, p, conflicts), titleHeight + len(p.Stages)*(stageHeight+stageGap) + padding - stageGap}
	if len(p.Stages) == 0 {
		b.h = titleHeight + padding
	}
	l.boxes[p.ID] = b
	return b
}

// arcSpace says how far the arc of every conflict of a phase reaches out, and gives the
// space they need. Arcs beside the same stages have lanes of their own, short ones the
// inner lanes; arcs that pass each other share one.
func (l *layout) arcSpace(g Graph, p PhaseNode, conflicts []int) int {
	place := map[string]int{}
	for i, s := range p.Stages {
		place[s.ID] = i
	}
	var arcs []arcSpan
	for _, i := range conflicts {
		from, to := place[g.Edges[i].From], place[g.Edges[i].To]
		arcs = append(arcs, arcSpan{i, min(from, to), max(from, to)})
	}
	slices.SortStableFunc(arcs, func(a, b arcSpan) int { return a.length() - b.length() })
	taken := make([]lanes, len(p.Stages)) // by stage, the lanes of arcs from it, or one above it, to one below
	most := 0
	for _, a := range arcs {
		var beside lanes
		for i := a.first; i < a.last; i++ {
			beside.join(taken[i])
		}
		n := beside.free()
		for i := a.first; i < a.last; i++ {
			taken[i].add(n)
		}
		l.arcs[a.edge], most = padding+(n+1)*arcStep, max(most, n+1)
	}
	if most == 0 {
		return 0
	}
	return most*arcStep + padding
}

// lanes is a set of lanes, by number.
type lanes []uint64

func (s *lanes) add(n int) {
	for len(*s) <= n/64 {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s *lanes) join(t lanes) {
	for len(*s) < len(t) {
		*s = append(*s, 0)
	}
	for i, word := range t {
		(*s)[i] |= word
	}
}

// free is the first lane that is not in the set.
func (s lanes) free() int {
	for i, word := range s {
		if word != math.MaxUint64 {
			return i*64 + bits.TrailingZeros64(^word)
		}
	}
	return len(s) * 64
}

// An arcSpan is the stages of a phase, by place, that a conflict's arc runs beside.
type arcSpan struct{ edge, first, last int }

func (a arcSpan) length() int { return a.last - a.first }

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
		fmt.Fprintf(w, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="%s"%s`+"\n", b.x, b.y, b.w, b.h, stageFill, stroke, s.names())
		text(w, b.x+padding, b.middle()+4, "normal", s.label())
	}
}

// names ends the box of a stage; that of a group has the names of its stages as its title.
func (s StageNode) names() string {
	if len(s.Stages) == 0 {
		return "/>"
	}
	return " stroke-width=\"2\"><title>" + html.EscapeString(s.title()) + "</title></rect>"
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
		if l.phases[e.From] != l.phases[e.To] {
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

// arc joins two stages of a phase at their right.
func arc(a, b box, reach int) string {
	x := a.right() + reach
	return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", a.right(), a.middle(), x, a.middle(), x, b.middle(), b.right(), b.middle())
}

// curve joins two stages of different phases, from the side that faces the other, or on
// the left of those that stand below each other.
func curve(a, b box) string {
	if a.x < b.right() && b.x < a.right() {
		return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", a.x, a.middle(), a.x-margin, a.middle(), b.x-margin, b.middle(), b.x, b.middle())
	}
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
// from below into its bottom, within a column into its top or bottom, and into a row below
// from above.
func move(a, b box) string {
	switch {
	case a.x > b.right() && a.bottom() < b.y:
		y := b.y - rowGap/2
		return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", a.x+a.w/2, a.bottom(), a.x+a.w/2, y, b.x+b.w/2, y-rowGap, b.x+b.w/2, b.y)
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
