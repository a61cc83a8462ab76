package verify

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A measure is a fold over the nodes that a pattern matches. With a condition it goes over
// the entries of which that is asked, and rest leads from one of them to what counts.
type measure struct {
	*ir.Measure
	fold  patternFold[tally]
	where *rule
	rest  region.Pattern
	all   region.Region // what a measure with a condition reads
	reads footprint     // the same
}

func (p *Program) newMeasure(m *ir.Measure) (measure, error) {
	out := measure{Measure: m}
	over := m.Over
	if m.Where != nil {
		r, err := p.newRule(m.Where, expr.Scope{Vars: ir.SelfVars, Self: m.Entry})
		if err != nil {
			return out, fmt.Errorf("measure %s: %w", m.Name, err)
		}
		out.where = &r
		over, out.rest.Segments, _ = ir.EntryOf(m.Over)
		all := region.Grant{Include: []region.Pattern{m.Over, {Segments: over.Segments, Shallow: true}}}
		for _, read := range patternsRead(m.Where) {
			all.Include = append(all.Include, region.Pattern{Segments: slices.Concat(over.Segments, read.Segments), Shallow: read.Shallow})
		}
		out.all, out.reads = asRegion(all), newFootprint(all.Include)
	}
	out.fold = newPatternFold(over, out.merge)
	return out, nil
}

// A tally is what a measure knows of the nodes matched in some part of the state.
// What is no number does not count for sum, min and max.
type tally struct {
	count   int
	sum     decimal.Sum
	extreme *tree.Node // the first of the least or greatest
	broken  bool       // the condition has no value for some entry
}

func (m *measure) merge(a, b tally) tally {
	a.broken = a.broken || b.broken
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

// one is what a node that matches comes to.
func (m *measure) one(n *tree.Node) tally {
	switch {
	case n == nil:
		return tally{}
	case m.Kind == ir.Count:
		return tally{count: 1}
	case n.Kind() != ir.Number:
		return tally{}
	case m.Kind == ir.Sum:
		return tally{sum: decimal.SumOf(n.Text())}
	default:
		return tally{extreme: n}
	}
}

// entry is what an entry comes to that the condition is asked of.
func (m *measure) entry(ctx context.Context, n *tree.Node) tally {
	switch m.where.judge(ctx, &expr.Input{Self: n}) {
	case holds:
		return m.one(nodeAtPattern(n, m.rest))
	case fails:
		return tally{}
	default:
		return tally{broken: true}
	}
}

func (m *measure) value(ctx context.Context, watch *watch, state *tree.Node) measured {
	t := m.fold.of(state, func(_ string, n *tree.Node) (tally, bool) {
		watch.tick()
		if m.where != nil {
			return m.entry(ctx, n), true
		}
		return m.one(n), true
	})
	switch {
	case t.broken:
		return measured{"", true}
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
	p       *Program
	ctx     context.Context
	state   *tree.Node
	known   []measured // by place in p.measures
	missing []bool     // likewise; nil if none is
	missed  bool       // one that is missing was asked for
}

// without leaves the i-th measure without a value: to compute it would cost too much, as
// was told.
func (m *measures) without(i int) {
	if m.missing == nil {
		m.missing = make([]bool, len(m.p.measures))
	}
	m.missing[i] = true
}

// follows reports whether what a rule came to only follows from a measure's having been left
// without a value. missed must have been reset before the rule was asked.
func (m *measures) follows(j judgement) bool { return m.missed && j == breaks }

type measured struct {
	literal string
	present bool
}

// lookup is the value of a measure as expressions ask for it: its exact literal,
// or that there is none; no literal where its condition has no value.
func (m *measures) lookup(name string) (literal string, present bool) {
	for i := range m.p.measures {
		if m.p.measures[i].Name != name {
			continue
		}
		if m.missing != nil && m.missing[i] {
			m.missed = true
			return "", true
		}
		if m.known == nil {
			m.known = make([]measured, len(m.p.measures))
		}
		v := &m.known[i]
		if v.literal == "" {
			*v = m.p.measures[i].value(m.ctx, m.p.watch, m.state)
		}
		return v.literal, v.present
	}
	return "", false
}

// MeasuresOf computes the measures of a state, which must be one of the contract, as
// expr.Input asks for them. It is for one goroutine.
func (p *Program) MeasuresOf(ctx context.Context, n *tree.Node) func(name string) (literal string, present bool) {
	return (&measures{p: p, ctx: ctx, state: n}).lookup
}
