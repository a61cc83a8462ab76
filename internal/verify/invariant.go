package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An invariant is a compiled ir.Invariant: an expression in parts, or the index of
// what is unique.
type invariant struct {
	*ir.Invariant
	whole  region.Region // what an expression about the whole state reads
	parts  []part
	unique *index
}

// A part is a rule, or a family of rules, one per entry (spec/semantics.md section
// 6.1): what a rule reads inside its own entry is kept apart from what it reads
// elsewhere, so that a write into one entry asks for that entry's rule alone.
//
// An `each` invariant is one part. One about the whole state is as many as the
// compiler has taken it apart into.
type part struct {
	rule    rule
	each    *ir.Each         // of a family, else nil
	key     string           // the parameter that is the entry's key, "" for none
	within  footprint        // of a family: what is read below the entry, relative to it
	outside footprint        // everything else that is read
	fold    *over[judgement] // of a family whose rules look at nothing but their entries
}

func (p *Program) newInvariant(inv *ir.Invariant) (invariant, error) {
	out := invariant{Invariant: inv}
	if inv.Unique != nil {
		out.unique = newIndex(*inv.Unique, p.unions.Whole(*inv.Unique), byValue)
		p.indexes = append(p.indexes, out.unique)
		return out, nil
	}
	rules := inv.Rules()
	if inv.Each != nil { // an entry that fails is named, whatever fails of it
		rules = []ir.Part{{Each: inv.Each, Expr: *inv.Expr}}
	}
	out.whole = readsOf(inv.Expr)
	for i := range rules {
		one, err := p.newPart(&rules[i])
		if err != nil {
			return out, err
		}
		out.parts = append(out.parts, one)
	}
	return out, nil
}

// newPart compiles a rule about the state as such, or a family.
func (p *Program) newPart(from *ir.Part) (part, error) {
	scope := expr.PartScope(*from)
	r, err := p.newRule(&from.Expr, scope)
	out := part{rule: r, each: scope.Each, key: from.Key}
	if scope.Each == nil || err != nil {
		out.outside = newFootprint(patternsRead(&from.Expr))
		return out, err
	}
	within, outside := splitFamily(scope.Each.Over, patternsRead(&from.Expr))
	if p.env.Local(*from) {
		fold := newOver(scope.Each.Over, worse)
		out.fold = &fold
		if addressable(scope.Each.Over) {
			within, outside = append(within, relative(scope.Each.Over, outside)...), nil
		}
	}
	out.within, out.outside = newFootprint(within), newFootprint(outside)
	return out, nil
}

// addressable reports whether the entries that a pattern matches have paths of one
// form, so that it can be told which of them a write touches.
func addressable(over region.Pattern) bool {
	return !slices.ContainsFunc(over.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
}

// relative cuts the entry's own path off patterns that lie below it. One that is
// shorter says no more than that anything may be read: then that is all of the entry.
func relative(over region.Pattern, reads []region.Pattern) []region.Pattern {
	var out []region.Pattern
	for _, p := range reads {
		below := region.Pattern{Shallow: p.Shallow}
		if n := len(over.Segments); len(p.Segments) >= n {
			below.Segments = p.Segments[n:]
		} else {
			below.Shallow = false
		}
		out = append(out, below)
	}
	return out
}

// splitFamily separates the patterns below the bound entry, made relative to it,
// from the others, in which a family key may be any key.
func splitFamily(over region.Pattern, reads []region.Pattern) (within, outside []region.Pattern) {
	for _, p := range reads {
		if rest, ok := belowEntry(over.Segments, p); ok {
			within = append(within, rest)
			continue
		}
		outside = append(outside, anyFamily(p))
	}
	return within, outside
}

// belowEntry cuts the entry's own path off p. An entry found by "any depth" has no
// path of one form, so nothing is known to lie below it.
func belowEntry(over []region.Segment, p region.Pattern) (region.Pattern, bool) {
	if len(p.Segments) < len(over) {
		return p, false
	}
	family := 0
	for i, s := range over {
		switch {
		case s.Kind == region.AnyDepth:
			return p, false
		case isWildcard(s):
			family++
			if p.Segments[i] != (region.Segment{Kind: region.ParamSegment, Text: ir.FamilyParam(family)}) {
				return p, false
			}
		case p.Segments[i] != s:
			return p, false
		}
	}
	return region.Pattern{Segments: p.Segments[len(over):], Shallow: p.Shallow}, family > 0 || len(over) == 0
}

func isWildcard(s region.Segment) bool {
	return s.Kind == region.AnySegment || s.Kind == region.AnyKey || s.Kind == region.AnyIndex
}

func anyFamily(p region.Pattern) region.Pattern {
	out := region.Pattern{Shallow: p.Shallow}
	for _, s := range p.Segments {
		if s.Kind == region.ParamSegment {
			s = region.Segment{Kind: region.AnySegment}
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}
