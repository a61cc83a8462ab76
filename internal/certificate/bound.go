package certificate

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// keeps reports whether a gate has bounds, and nothing that a stage writes adds one of
// the nodes whose number is bounded, or where it is bounded from below takes one away.
func (k *checker) keeps(s *ir.Stage, g gate) bool {
	for i := range g.bounds {
		if !k.keepsTo(s, &g.bounds[i]) {
			return false
		}
	}
	return len(g.bounds) > 0
}

func (k *checker) keepsTo(s *ir.Stage, b *ir.Bound) bool {
	for _, g := range s.Write {
		for _, p := range g.Include {
			if !k.besides(p, b.Of) && !oneWay(s, p, b) {
				return false
			}
		}
	}
	for _, g := range s.Blind {
		for _, p := range g.Include {
			if !b.Least && !k.besides(p, b.Of) {
				return false
			}
		}
	}
	return true
}

// besides reports whether what p covers lies below the counted nodes, or leads to none.
func (k *checker) besides(p, of region.Pattern) bool {
	if k.spend(1); k.spent() {
		return false
	}
	for i, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			return false
		}
		if i == len(of.Segments) {
			return true
		}
		counted := of.Segments[i]
		if counted.Kind == region.ParamSegment {
			counted = region.Segment{Kind: region.AnyKey}
		}
		if k.exclude(s, counted) {
			return true
		}
	}
	return false
}

// oneWay reports whether p is one counted node, which a commit of the stage can only
// take away (the key of a parameter that is there), or where the bound is from below
// only add (the key of one that is new, the next entry of a set or log).
func oneWay(s *ir.Stage, p region.Pattern, b *ir.Bound) bool {
	n := len(p.Segments) - 1
	if n+1 != len(b.Of.Segments) {
		return false
	}
	for _, segment := range p.Segments {
		if segment.Kind == region.AnyDepth {
			return false
		}
	}
	if p.Segments[n].Kind == region.FreshSegment {
		return b.Least
	}
	for _, q := range s.Params {
		isNew := q.Kind == ir.NewParam
		if p.Segments[n].Kind == region.ParamSegment && q.Name == p.Segments[n].Text && q.Kind != ir.DependentParam &&
			isNew == b.Least && q.Of.String() == (region.Pattern{Segments: p.Segments[:n]}).String() {
			return true
		}
	}
	return false
}

// rest is what a gate with bounds depends on beside how many nodes there are.
func (g gate) rest() []region.Pattern {
	var out []region.Pattern
	for _, b := range g.bounds {
		for _, p := range b.Rest {
			if !slices.ContainsFunc(out, func(q region.Pattern) bool { return q.Source() == p.Source() }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// boundReasons lists the ways to show a gate of a bound, "kept" only if all of it can be
// shown.
func (k *checker) boundReasons(g gate, writes []side, unless []Term) []string {
	for _, p := range g.rest() {
		for _, w := range writes {
			if k.spent() {
				return []string{reasonTouched}
			}
			l, found := side{include: p}, false
			for _, word := range candidates(l, w, unless) {
				found = found || k.apart(word, l, w, unless)
			}
			if !found {
				return []string{reasonTouched}
			}
		}
	}
	return []string{reasonKept, reasonTouched}
}
