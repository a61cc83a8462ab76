package verify

import (
	"strconv"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// A measure is a fold over the nodes that a pattern matches.
type measure struct {
	*ir.Measure
	fold patternFold[tally]
}

func newMeasure(m *ir.Measure) measure {
	out := measure{Measure: m}
	out.fold = newPatternFold(m.Over, out.merge)
	return out
}

// A tally is what a measure knows of the nodes matched in some part of the state.
// What is no number does not count for sum, min and max.
type tally struct {
	count   int
	sum     decimal.Sum
	extreme *tree.Node // the first of the least or greatest
}

func (m *measure) merge(a, b tally) tally {
	switch m.Kind {
	case ir.Count:
		a.count += b.count
	case ir.Sum:
		a.sum = a.sum.Plus(b.sum)
	default:
		a.extreme = further(m.Kind, a.extreme, b.extreme)
	}
	return a
}

func (m *measure) one(_ string, n *tree.Node) (tally, bool) {
	switch {
	case m.Kind == ir.Count:
		return tally{count: 1}, true
	case n.Kind() != ir.Number:
		return tally{}, true
	case m.Kind == ir.Sum:
		return tally{sum: decimal.SumOf(n.Text())}, true
	default:
		return tally{extreme: n}, true
	}
}

func (m *measure) value(watch *watch, state *tree.Node) measured {
	t := m.fold.of(state, func(name string, n *tree.Node) (tally, bool) {
		watch.tick()
		return m.one(name, n)
	})
	switch {
	case m.Kind == ir.Count:
		return measured{strconv.Itoa(t.count), true}
	case m.Kind == ir.Sum:
		return measured{t.sum.String(), true}
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
			*v = m.p.measures[i].value(m.p.watch, m.state)
		}
		return v.literal, v.present
	}
	return "", false
}
