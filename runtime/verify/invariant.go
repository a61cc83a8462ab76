package verify

import (
	"context"

	"github.com/patchoptic/poptic/compiler/expr"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// An invariant is a compiled ir.Invariant. One over entries is a family of rules,
// one per entry (spec/semantics.md section 6.1): what a rule reads inside its own
// entry is kept apart from what it reads elsewhere, so that a write into one entry
// asks for that entry's rule alone.
type invariant struct {
	*ir.Invariant
	rule    rule      // of an expression
	within  footprint // of a family: what is read below the entry, relative to it
	outside footprint // everything else that is read
}

func (p *Program) newInvariant(inv *ir.Invariant) (invariant, error) {
	out := invariant{Invariant: inv}
	if inv.Unique != nil {
		out.outside = newFootprint([]region.Pattern{*inv.Unique})
		return out, nil
	}
	scope := expr.Scope{Vars: ir.StateVars}
	reads := patternsRead(inv.Expr)
	if inv.Each != nil {
		scope = expr.Scope{Vars: ir.EachVars, Each: inv.Each}
		within, outside := splitFamily(inv.Each.Over, reads)
		out.within, reads = newFootprint(within), outside
	}
	out.outside = newFootprint(reads)
	var err error
	out.rule, err = p.newRule(inv.Expr, scope)
	return out, err
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

// A ruleRun evaluates the invariants of one state in one phase.
type ruleRun struct {
	p        *Program
	ctx      context.Context
	before   *tree.Node // the state before the commit, nil if all of the state is new
	state    *tree.Node
	phase    string
	measures *measures
	found    []finding
}

func (r *ruleRun) input() *expr.Input {
	return &expr.Input{State: r.state, Phase: r.phase, Measure: r.measures.lookup}
}

// all evaluates an invariant everywhere.
func (r *ruleRun) all(inv *invariant) {
	switch {
	case inv.Unique != nil:
		r.unique(inv)
	case inv.Each != nil:
		in := r.input()
		eachMatch(r.state, inv.Each.Over, func(w region.Word, n *tree.Node) bool {
			r.entry(inv, in, w, n)
			return true
		})
	default:
		if j := inv.rule.judge(r.ctx, r.input()); j != holds {
			f := say.invariant(inv.Invariant).of(ir.InvariantGate, inv.Name).because(j)
			f.reads = inv.rule.readsBound(nil)
			r.found = append(r.found, f)
		}
	}
}

// entry evaluates an invariant for one entry.
func (r *ruleRun) entry(inv *invariant, in *expr.Input, w region.Word, n *tree.Node) {
	in.Entry = n
	if j := inv.rule.judge(r.ctx, in); j != holds {
		f := say.invariant(inv.Invariant).of(ir.InvariantGate, inv.Name).because(j)
		f.reads = inv.rule.readsBound(familyOf(inv.Each.Over, w))
		r.found = append(r.found, f.about(w))
	}
}

// familyOf binds the family keys of the entry at w.
func familyOf(over region.Pattern, w region.Word) region.Binding {
	args := region.Binding{}
	for i, s := range over.Segments {
		if i < len(w) && isWildcard(s) {
			args[ir.FamilyParam(len(args)+1)] = w[i].Name
		}
	}
	return args
}

// touched evaluates an invariant as far as the written words can change it.
func (r *ruleRun) touched(inv *invariant, targets []region.Word) {
	for _, t := range targets {
		if inv.outside.meets(t) {
			r.all(inv)
			return
		}
	}
	if inv.Each == nil {
		return
	}
	e := entries{ruleRun: r, inv: inv, in: r.input()}
	for _, t := range targets {
		e.under(t)
	}
}

// unique checks that the values a pattern matches differ from each other. It
// reports the second of two equal ones.
func (r *ruleRun) unique(inv *invariant) {
	seen := map[tree.Digest]bool{}
	eachMatch(r.state, *inv.Unique, func(w region.Word, n *tree.Node) bool {
		d := n.Digest()
		if seen[d] {
			f := say.invariant(inv.Invariant).of(ir.InvariantGate, inv.Name).about(w)
			f.reads = region.Region{{Include: []region.Pattern{*inv.Unique}}}
			r.found = append(r.found, f)
		}
		seen[d] = true
		return true
	})
}
