package verify

import (
	"strconv"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// A measure is a fold over the nodes that a pattern matches. At every wildcard of
// the pattern the container's fold is remembered (tree.Fold), so that the measure
// of the next version costs what was touched.
type measure struct {
	*ir.Measure
	folds []*tree.Fold[tally] // by segment; nil where nothing is gone through
}

func newMeasure(m *ir.Measure) measure {
	out := measure{Measure: m, folds: make([]*tree.Fold[tally], len(m.Over.Segments))}
	for i, s := range m.Over.Segments {
		if isWildcard(s) || s.Kind == region.AnyDepth {
			out.folds[i] = tree.NewFold(out.merge)
		}
	}
	return out
}

// A tally is what a measure knows of the nodes matched in some part of the state.
// What is no number does not count for sum, min and max.
type tally struct {
	count   int
	sum     decimal
	extreme *tree.Node // the first of the least or greatest
}

func (m *measure) merge(a, b tally) tally {
	switch m.Kind {
	case ir.Count:
		a.count += b.count
	case ir.Sum:
		a.sum = a.sum.plus(b.sum)
	default:
		a.extreme = further(m.Kind, a.extreme, b.extreme)
	}
	return a
}

func (m *measure) one(n *tree.Node) tally {
	switch {
	case m.Kind == ir.Count:
		return tally{count: 1}
	case n.Kind() != ir.Number:
		return tally{}
	case m.Kind == ir.Sum:
		return tally{sum: decimalOf(n.Text())}
	default:
		return tally{extreme: n}
	}
}

// tally folds what the segments from i on match at and below n.
func (m *measure) tally(n *tree.Node, i int) tally {
	if n == nil {
		return tally{}
	}
	if i == len(m.Over.Segments) {
		return m.one(n)
	}
	switch s := m.Over.Segments[i]; {
	case s.Kind == region.AnyDepth:
		return m.merge(m.tally(n, i+1), m.items(n, i, i))
	case !isWildcard(s):
		return m.tally(literalStep(n, s), i+1)
	case goesThrough(s, n):
		return m.items(n, i, i+1)
	default:
		return tally{}
	}
}

// items folds the items of n, for each of which the segments from next on are left.
func (m *measure) items(n *tree.Node, i, next int) tally {
	return m.folds[i].Of(n, func(_ string, child *tree.Node) (tally, bool) { return m.tally(child, next), true })
}

func (m *measure) value(state *tree.Node) measured {
	t := m.tally(state, 0)
	switch {
	case m.Kind == ir.Count:
		return measured{strconv.Itoa(t.count), true}
	case m.Kind == ir.Sum:
		return measured{t.sum.literal(), true}
	case t.extreme == nil:
		return measured{}
	default:
		return measured{t.extreme.Text(), true}
	}
}

func further(kind ir.MeasureKind, a, b *tree.Node) *tree.Node {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	if c := tree.CompareNumbers(b, a); kind == ir.Min && c < 0 || kind == ir.Max && c > 0 {
		return b
	}
	return a
}

// measures are the measures of one state, each computed at most once, when an
// expression asks for it. One verification runs on one goroutine.
type measures struct {
	p     *Program
	state *tree.Node
	known []measured // by place in p.measures
}

type measured struct {
	literal string
	present bool
}

// lookup is the value of a measure as expressions ask for it: its exact literal,
// or that there is none.
func (m *measures) lookup(name string) (literal string, present bool) {
	for i := range m.p.measures {
		if m.p.measures[i].Name != name {
			continue
		}
		if m.known == nil {
			m.known = make([]measured, len(m.p.measures))
		}
		v := &m.known[i]
		if v.literal == "" {
			*v = m.p.measures[i].value(m.state)
		}
		return v.literal, v.present
	}
	return "", false
}
