package plan

import (
	"slices"
	"unicode/utf8"
)

// Phases stand in columns, by how many arrows they are from the initial phase; those
// of one column stand below each other. A phase is a box with its stages below each
// other. Conflicts are arcs at the right of the stages, flows curves between phases,
// moves arrows between boxes.

// A box is where something stands.
type box struct{ x, y, w, h int }

func (b box) right() int  { return b.x + b.w }
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
	margin      = 24
	legend      = 96 // height
	legendWidth = 1000
)

// A layout is the boxes of phases and stages, by id, and the size of the whole.
type layout struct {
	boxes map[string]box
	arcs  map[int]int // edge -> how far its arc reaches out
	w, h  int
}

func (g Graph) layout() layout {
	l := layout{boxes: map[string]box{}, arcs: map[int]int{}}
	x := margin
	for _, column := range g.columns() {
		y, width := margin, 0
		for _, i := range column {
			b := l.place(g, g.Phases[i], x, y)
			y, width = b.bottom()+rowGap, max(width, b.w)
		}
		x += width + columnGap
		l.h = max(l.h, y-rowGap+margin)
	}
	l.w = max(x-columnGap+margin, legendWidth)
	l.h += legend
	return l
}

// columns lists phases, by number, by their distance from the initial one. Those
// that cannot be reached stand last.
func (g Graph) columns() [][]int {
	next := map[string][]string{}
	for _, e := range g.Edges {
		if e.Kind == MoveEdge {
			from := g.phaseOf(e.From)
			next[from] = append(next[from], e.To)
		}
	}
	at := map[string]int{}
	var out [][]int
	frontier := []string{}
	if len(g.Phases) > 0 {
		frontier = append(frontier, g.Phases[0].ID)
	}
	for depth := 0; len(at) < len(g.Phases); depth++ {
		if len(frontier) == 0 {
			frontier = g.unplaced(at)
		}
		var column []int
		var following []string
		for i, p := range g.Phases {
			if _, known := at[p.ID]; !known && contains(frontier, p.ID) {
				at[p.ID] = depth
				column = append(column, i)
				following = append(following, next[p.ID]...)
			}
		}
		if len(column) > 0 {
			out = append(out, column)
		}
		frontier = following
		if len(column) == 0 {
			frontier = nil
		}
	}
	return out
}

func (g Graph) unplaced(at map[string]int) []string {
	var out []string
	for _, p := range g.Phases {
		if _, known := at[p.ID]; !known {
			out = append(out, p.ID)
		}
	}
	return out
}

// phaseOf is the phase that a node is, or lies in.
func (g Graph) phaseOf(id string) string {
	for _, p := range g.Phases {
		for _, s := range p.Stages {
			if s.ID == id {
				return p.ID
			}
		}
	}
	return id
}

// place puts a phase and its stages, as wide as the longest name and the arcs need.
func (l *layout) place(g Graph, p PhaseNode, x, y int) box {
	width := utf8.RuneCountInString(p.title()) * charWidth
	for _, s := range p.Stages {
		width = max(width, utf8.RuneCountInString(s.Name)*charWidth+2*padding)
	}
	for i, s := range p.Stages {
		l.boxes[s.ID] = box{x + padding, y + titleHeight + i*(stageHeight+stageGap), width, stageHeight}
	}
	b := box{x, y, width + 2*padding + l.arcSpace(g, p), titleHeight + len(p.Stages)*(stageHeight+stageGap) + padding - stageGap}
	if len(p.Stages) == 0 {
		b.h = titleHeight + padding
	}
	l.boxes[p.ID] = b
	return b
}

// arcSpace says how far the arc of every conflict of a phase reaches out, and gives the
// space they need. Arcs beside the same stages have lanes of their own, short ones the
// inner lanes; arcs that pass each other share one.
func (l *layout) arcSpace(g Graph, p PhaseNode) int {
	place := map[string]int{}
	for i, s := range p.Stages {
		place[s.ID] = i
	}
	var arcs []arcSpan
	for i, e := range g.Edges {
		from, inside := place[e.From]
		if to := place[e.To]; inside && (e.Kind == ConflictEdge || e.Kind == ConditionEdge) {
			arcs = append(arcs, arcSpan{i, min(from, to), max(from, to)})
		}
	}
	slices.SortStableFunc(arcs, func(a, b arcSpan) int { return a.length() - b.length() })
	var lanes [][]arcSpan
	for _, a := range arcs {
		n := slices.IndexFunc(lanes, func(lane []arcSpan) bool { return !slices.ContainsFunc(lane, a.overlaps) })
		if n < 0 {
			n, lanes = len(lanes), append(lanes, nil)
		}
		lanes[n] = append(lanes[n], a)
		l.arcs[a.edge] = padding + (n+1)*arcStep
	}
	if len(lanes) == 0 {
		return 0
	}
	return len(lanes)*arcStep + padding
}

// An arcSpan is the stages of a phase, by place, that a conflict's arc runs beside.
type arcSpan struct{ edge, first, last int }

func (a arcSpan) length() int { return a.last - a.first }

func (a arcSpan) overlaps(b arcSpan) bool { return a.first < b.last && b.first < a.last }

func contains(list []string, x string) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
