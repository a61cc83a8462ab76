package verify

import (
	"context"
	"errors"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A rule is a compiled expression with its footprint.
type rule struct {
	source    *ir.Expr
	program   *expr.Program
	footprint footprint
}

func (p *Program) newRule(x *ir.Expr, scope expr.Scope) (rule, error) {
	program, err := p.env.Compile(*x, scope)
	if err != nil {
		return rule{}, err
	}
	return rule{source: x, program: program, footprint: newFootprint(patternsRead(x))}, nil
}

// A judgement is what became of evaluating a rule. An evaluation that fails counts
// as a rule that does not hold.
type judgement uint8

const (
	holds judgement = iota
	fails
	breaks    // it has no value
	exhausted // it needed more steps than allowed
)

// worse is what two rules together come to: what is false is false, whatever has no
// value beside it.
func worse(a, b judgement) judgement {
	switch {
	case a == fails || b == fails:
		return fails
	default:
		return max(a, b)
	}
}

// judge evaluates a rule.
func (r *rule) judge(ctx context.Context, in *expr.Input) judgement {
	value, err := r.program.Eval(ctx, in)
	if err != nil {
		leaveIfEnded(ctx) // what interrupts an evaluation is no judgement
	}
	switch {
	case err != nil:
		return failure(err)
	case value:
		return holds
	default:
		return fails
	}
}

func failure(err error) judgement {
	var failed *expr.EvalError
	if errors.As(err, &failed) && failed.Code == expr.CostExceeded {
		return exhausted
	}
	return breaks
}

// because turns the finding that a rule does not hold into what j found.
func (f finding) because(j judgement) finding {
	switch j {
	case breaks:
		return f.broken()
	case exhausted:
		return f.tooCostly()
	default:
		return f
	}
}

// readsBelow is the region that a rule over self reads if self stands at w.
func (r *rule) readsBelow(w region.Word) region.Region {
	prefix := patternOf(w)
	g := region.Grant{}
	for _, p := range patternsRead(r.source) {
		g.Include = append(g.Include, region.Pattern{
			Segments: append(append([]region.Segment{}, prefix.Segments...), p.Segments...), Shallow: p.Shallow,
		})
	}
	return asRegion(g)
}

// readsOf is the region that an expression without parameters reads.
func readsOf(x *ir.Expr) region.Region {
	return asRegion(region.Grant{Include: patternsRead(x)})
}

// readsBound is the region that a rule reads under a binding of its parameters.
func (r *rule) readsBound(args region.Binding) region.Region {
	g := region.Grant{}
	for _, p := range patternsRead(r.source) {
		g.Include = append(g.Include, p.Bind(args))
	}
	return asRegion(g)
}

func asRegion(g region.Grant) region.Region {
	if len(g.Include) == 0 {
		return nil
	}
	return region.Region{g}
}

func patternsRead(x *ir.Expr) []region.Pattern {
	out := make([]region.Pattern, len(x.Reads))
	for i := range x.Reads {
		out[i] = x.Reads[i].Pattern
	}
	return out
}

// A footprint is a set of paths a rule reads, ready to be asked whether a write
// meets it.
type footprint struct{ start region.Cursor }

func newFootprint(reads []region.Pattern) footprint {
	set := region.Compile(asRegion(region.Grant{Include: reads}))
	return footprint{start: set.Start(region.Binding{})}
}

// meets reports whether a write of everything at and below w changes something
// that is read (spec/semantics.md section 6.1).
func (f footprint) meets(w region.Word) bool { return f.start.Walk(w).Live() }

// patternOf is the pattern of exactly one place.
func patternOf(w region.Word) region.Pattern {
	out := region.Pattern{Segments: make([]region.Segment, len(w))}
	for i, l := range w {
		switch l.Kind {
		case region.IndexLetter:
			out.Segments[i] = region.Segment{Kind: region.IndexLiteral, Index: l.Index}
		case region.FreshLetter:
			out.Segments[i] = region.Segment{Kind: region.FreshSegment}
		default:
			out.Segments[i] = region.Segment{Kind: region.KeyLiteral, Text: l.Name}
		}
	}
	return out
}
