package verify

import (
	"context"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Rules about what commits change. One is asked of a commit that writes where it reads, if
// what stands there, or below the last place before a wildcard, comes to be another; one
// over entries, of each entry that is there before and after, by itself. It holds of no
// state: neither loading a state nor a move of the phase asks it.

// A change is a compiled rule about changes.
type change struct {
	*ir.Invariant
	part
	places []region.Pattern                     // the places that must differ for it to be asked, relative to the entry if there is one
	told   func(ctx context.Context, held bool) // an observer; nil for none
}

func (p *Program) newChange(inv *ir.Invariant) (change, error) {
	r, err := p.newRule(inv.Expr, expr.RuleScope(inv))
	out := change{Invariant: inv, part: part{rule: r, each: inv.Each}}
	reads := patternsRead(inv.Expr)
	if inv.Each == nil {
		out.outside = newFootprint(reads)
	} else {
		out.key = inv.Each.Key
		var outside []region.Pattern
		reads, outside = splitFamily(inv.Each.Over, reads)
		if len(outside) > 0 { // all of the entry
			reads = append(reads, region.Pattern{})
		}
		out.within = newFootprint(reads)
	}
	for _, read := range reads {
		out.places = append(out.places, beforeWildcards(read))
	}
	return out, err
}

// beforeWildcards is the last place before the first wildcard of a pattern.
func beforeWildcards(p region.Pattern) region.Pattern {
	for i, s := range p.Segments {
		if s.Kind != region.KeyLiteral && s.Kind != region.Literal {
			return region.Pattern{Segments: p.Segments[:i]}
		}
	}
	return region.Pattern{Segments: p.Segments}
}

// checkChanges asks the rules about changes of which the commit can have changed what they
// read.
func (v *verification) checkChanges() []finding {
	if v.stage == nil || len(v.p.changes) == 0 {
		return nil
	}
	r := ruleRun{p: v.p, ctx: v.ctx, before: v.snapshot.State, state: v.after}
	r.in = &expr.Input{Role: v.proposal.Role, Actor: v.proposal.Actor, Now: v.proposal.Now}
	for i := range v.p.changes {
		c := &v.p.changes[i]
		if !r.begin(v.costs, v.stage.seesChange[i]) {
			continue
		}
		if c.Each == nil {
			if meetsAny(c.outside, v.targets) {
				r.change(c, v.placeOf(c.rule.readsBound(nil)), r.before, r.state)
			}
			continue
		}
		r.eachTouched(&c.part, v.targets, func(w region.Word, after *tree.Node) {
			if before := tree.NodeAt(r.before, w); before != nil {
				r.change(c, w, before, after)
			}
		})
	}
	return r.found
}

// change asks a rule of a state, or of the entry at w, that was before and is after. Of a
// state w is the place to be told of, if there is one.
func (r *ruleRun) change(c *change, w region.Word, before, after *tree.Node) {
	if r.room.over() {
		return
	}
	in := r.input()
	in.Before, in.After, in.Entry = before, after, after
	if c.key != "" {
		in.Params = map[string]string{c.key: keyOf(c.Each.Over, w)}
	}
	j := c.rule.judge(r.ctx, in)
	if c.told != nil && c.differs(before, after) {
		c.told(r.ctx, j == holds)
	}
	if j == holds || !c.differs(before, after) && !r.room.over() {
		return
	}
	r.add(r.room.because(messages.invariant(c.Invariant), j), func(f finding) finding {
		if r.room.over() { // which entry it was says nothing
			f.reads = readsOf(c.Expr)
			return f
		}
		if c.Each == nil {
			f.reads = c.rule.readsBound(nil)
			if w == nil {
				return f
			}
			return f.about(w)
		}
		f.reads = c.rule.readsBound(familyOf(c.Each.Over, w))
		return f.about(w)
	})
}

// differs reports whether one of the places is not what it was.
func (c *change) differs(before, after *tree.Node) bool {
	for _, p := range c.places {
		a, b := nodeAtPattern(before, p), nodeAtPattern(after, p)
		if (a == nil) != (b == nil) || a != nil && !tree.Equal(a, b) {
			return true
		}
	}
	return false
}
