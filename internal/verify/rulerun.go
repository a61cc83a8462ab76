package verify

import (
	"context"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A ruleRun evaluates the invariants of one state in one phase.
type ruleRun struct {
	p        *Program
	ctx      context.Context
	before   *tree.Node // the state before the commit, nil if all of the state is new
	state    *tree.Node
	phase    string
	measures *measures
	in       *expr.Input // see input
	collection
}

// input is what rules are evaluated on; an entry is set in it before.
func (r *ruleRun) input() *expr.Input {
	if r.in == nil {
		r.in = &expr.Input{State: r.state, Phase: r.phase, Measure: r.measures.lookup}
	}
	return r.in
}

// all evaluates an invariant everywhere.
func (r *ruleRun) all(inv *invariant) {
	switch {
	case inv.Unique != nil:
		r.unique(inv)
	case inv.Each != nil:
		r.entries(inv)
	default:
		j := holds
		for i := range inv.parts {
			j = worse(j, r.judge(&inv.parts[i]))
		}
		r.reportWhole(inv, j)
	}
}

// entries evaluates an invariant for every entry. Only if one fails it is looked for.
func (r *ruleRun) entries(inv *invariant) {
	one := &inv.parts[0]
	if one.fold != nil && r.judgeFold(one) == holds {
		return
	}
	in := r.input()
	eachMatch(r.p.watch, r.state, inv.Each.Over, func(w region.Word, n *tree.Node) bool {
		r.entry(inv, in, w, n)
		return true
	})
}

// judge evaluates a part everywhere.
func (r *ruleRun) judge(p *part) judgement {
	if p.each == nil {
		return p.rule.judge(r.ctx, r.input())
	}
	if p.fold != nil {
		return r.judgeFold(p)
	}
	j, in := holds, r.input()
	eachMatch(r.p.watch, r.state, p.each.Over, func(w region.Word, n *tree.Node) bool {
		j = worse(j, r.judgeEntry(p, in, lastName(w), n))
		return true
	})
	return j
}

// judgeFold does so for a part that looks at nothing but its entries.
func (r *ruleRun) judgeFold(p *part) judgement {
	in := r.input()
	return p.fold.of(r.state, func(name string, n *tree.Node) (judgement, bool) {
		return r.judgeEntry(p, in, name, n), true
	})
}

func (r *ruleRun) judgeEntry(p *part, in *expr.Input, name string, n *tree.Node) judgement {
	in.Entry = n
	if p.key != "" {
		in.Params = map[string]string{p.key: name}
	}
	return p.rule.judge(r.ctx, in)
}

// entry evaluates an invariant for one entry.
func (r *ruleRun) entry(inv *invariant, in *expr.Input, w region.Word, n *tree.Node) {
	one := &inv.parts[0]
	if j := r.judgeEntry(one, in, lastName(w), n); j != holds {
		r.add(say.invariant(inv.Invariant).of(ir.InvariantGate, inv.Name).because(j), func(f finding) finding {
			f.reads = one.rule.readsBound(familyOf(inv.Each.Over, w))
			return f.about(w)
		})
	}
}

func (r *ruleRun) reportWhole(inv *invariant, j judgement) {
	if j == holds {
		return
	}
	f := say.invariant(inv.Invariant).of(ir.InvariantGate, inv.Name).because(j)
	f.reads = inv.whole
	r.add(f, asItIs)
}

func lastName(w region.Word) string {
	if len(w) == 0 {
		return ""
	}
	return w[len(w)-1].Name
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

// touched evaluates an invariant as far as the written words can change it, before
// which it held.
func (r *ruleRun) touched(inv *invariant, targets []region.Word) {
	switch {
	case inv.Unique != nil:
		if meetsAny(inv.unique.reads, targets) {
			r.unique(inv)
		}
	case inv.Each != nil:
		r.touchedEntries(inv, targets)
	default:
		j := holds
		for i := range inv.parts {
			j = worse(j, r.judgeTouched(&inv.parts[i], targets))
		}
		r.reportWhole(inv, j)
	}
}

func (r *ruleRun) touchedEntries(inv *invariant, targets []region.Word) {
	one := &inv.parts[0]
	if meetsAny(one.outside, targets) {
		r.entries(inv)
		return
	}
	in := r.input()
	r.eachTouched(one, targets, func(w region.Word, n *tree.Node) { r.entry(inv, in, w, n) })
}

func (r *ruleRun) judgeTouched(p *part, targets []region.Word) judgement {
	if meetsAny(p.outside, targets) {
		return r.judge(p)
	}
	j := holds
	if p.each != nil {
		in := r.input()
		r.eachTouched(p, targets, func(w region.Word, n *tree.Node) { j = worse(j, r.judgeEntry(p, in, lastName(w), n)) })
	}
	return j
}

func meetsAny(f footprint, targets []region.Word) bool {
	for _, t := range targets {
		if f.meets(t) {
			return true
		}
	}
	return false
}

// unique checks that the values a pattern matches differ from each other. The index
// tells whether they do; only if not, they are gone through for the second of two
// equal ones.
func (r *ruleRun) unique(inv *invariant) {
	bag := (*tree.Bag)(nil)
	if r.before == nil {
		bag = inv.unique.of(r.p.watch, r.state)
	} else {
		bag = inv.unique.next(r.p.watch, r.before, r.state)
	}
	if !bag.Repeats() {
		return
	}
	seen := map[tree.Digest]bool{}
	eachMatch(r.p.watch, r.state, *inv.Unique, func(w region.Word, n *tree.Node) bool {
		d := n.Digest()
		if seen[d] {
			r.add(say.invariant(inv.Invariant).of(ir.InvariantGate, inv.Name), func(f finding) finding {
				f.reads = region.Region{{Include: []region.Pattern{*inv.Unique}}}
				return f.about(w)
			})
		}
		seen[d] = true
		return true
	})
}
