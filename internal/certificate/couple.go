package certificate

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A couple is the two stages of a claim in the order in which it names them, with the
// runs that they are in the terms of their pair.
type couple struct {
	a, b       *ir.Stage
	runA, runB string
}

// equality is one of a parameter of the first stage and one of the second.
func (c couple) equality(a, b string) Equality { return Equality{c.runA + "." + a, c.runB + "." + b} }

// close adds to equalities what follows from them: parameters that are taken from one
// place are equal.
func (c couple) close(e equalities) equalities {
	for range c.a.Params {
		c.each(ir.DependentParam, func(a, b *ir.Param) {
			if c.onePlace(e, a.Of, b.Of) {
				e = append(e[:len(e):len(e)], c.equality(a.Name, b.Name))
			}
		})
	}
	return e
}

// bindsTwice is the container in which both runs create one key, if they do.
func (c couple) bindsTwice(e equalities) (container string, twice bool) {
	c.each(ir.NewParam, func(a, b *ir.Param) {
		if e.follows(c.equality(a.Name, b.Name)) && c.onePlace(e, a.Of, b.Of) {
			container, twice = a.Of.Source(), true
		}
	})
	return container, twice
}

func (c couple) each(kind ir.ParamKind, f func(a, b *ir.Param)) {
	for i := range c.a.Params {
		for j := range c.b.Params {
			if a, b := &c.a.Params[i], &c.b.Params[j]; a.Kind == kind && b.Kind == kind {
				f(a, b)
			}
		}
	}
}

// onePlace reports whether two patterns lead to one place if equalities hold.
func (c couple) onePlace(e equalities, a, b region.Pattern) bool {
	return slices.EqualFunc(a.Segments, b.Segments, func(s, t region.Segment) bool {
		if s.Kind == region.ParamSegment && t.Kind == region.ParamSegment {
			return e.follows(c.equality(s.Text, t.Text))
		}
		x, y := keys(s), keys(t)
		return x.kind == one && x == y
	})
}
