package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// CannotFail reports whether no commit of a stage can make a gate fail that holds. To
// whoever may run the stage it tells nothing.
func (m *Model) CannotFail(g Gate, s *ir.Stage) bool {
	return g.Kind == ir.InvariantGate && len(s.Next) == 0 && m.keeps(&g, m.Effect(s, OwnerA))
}

// keeps reports whether no commit of an effect can make a gate fail that holds: the gate
// bounds how many nodes there are, and the stage adds none, or takes none away, and
// touches nothing else that the gate depends on (spec/semantics.md theorem 11).
func (m *Model) keeps(g *Gate, e Effect) bool {
	return len(g.Bounds) > 0 && !slices.ContainsFunc(g.Bounds, func(b ir.Bound) bool { return !m.keepsTo(b, e) })
}

func (m *Model) keepsTo(b ir.Bound, e Effect) bool {
	one := func(p region.Pattern) bool { return apart(p, b.Of) || isOneWay(e.Stage, p, b.Of, b.Least) }
	blind := func(p region.Pattern) bool { return apart(p, b.Of) || b.Least }
	return !slices.ContainsFunc(Includes(e.Stage.Write), func(p region.Pattern) bool { return !one(p) }) &&
		!slices.ContainsFunc(Includes(e.Stage.Blind), func(p region.Pattern) bool { return !blind(p) }) &&
		m.touch(b.Rest, e.Write).Never()
}

// apart reports whether writes into p change nothing about which nodes of exist.
func apart(p, of region.Pattern) bool {
	for i, s := range p.Segments {
		switch {
		case s.Kind == region.AnyDepth:
			return false
		case i == len(of.Segments):
			return true // it lies below them
		case !s.MayMeet(widest(of.Segments[i])):
			return true
		}
	}
	return false
}

// widest is a segment with any key for that of a family.
func widest(s region.Segment) region.Segment {
	if s.Kind == region.ParamSegment {
		return region.Segment{Kind: region.AnyKey}
	}
	return s
}

// isOneWay reports whether p is the place of one of the nodes, and of one that a
// commit can only add (a key that is new, the next entry of a set or log) where none
// may be taken away, or only take away (a key that is there) where none may be added.
func isOneWay(s *ir.Stage, p, of region.Pattern, least bool) bool {
	n := len(of.Segments)
	if len(p.Segments) != n || slices.ContainsFunc(p.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth }) {
		return false
	}
	last := p.Segments[n-1]
	if last.Kind == region.FreshSegment {
		return least
	}
	kind := ir.ExistingParam
	if least {
		kind = ir.NewParam
	}
	return last.Kind == region.ParamSegment && slices.ContainsFunc(s.Params, func(q ir.Param) bool {
		return q.Name == last.Text && q.Kind == kind && q.Of.String() == Prefix(p, n-1).String()
	})
}
