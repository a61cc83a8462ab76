package verify

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Rules: what a stage requires and ensures, invariants, guards.
//
// Before the patch runs, the require step asks what the stage requires. After the schema
// step, the last step asks what it ensures, the invariants that the commit can have
// changed, and the guard of the move. Of an invariant only that is asked which reads
// something that was written (spec/semantics.md section 6.1): where it was taken apart
// into families of rules, one per entry, the rules of the entries that were touched.
// CheckAll asks everything of a whole state, and the two agree.

// checkRequire is the require step, on the state before.
func (v *verification) checkRequire() []finding {
	if len(v.stage.require) == 0 {
		return nil
	}
	v.measuresBefore = measures{p: v.p, ctx: v.ctx, state: v.snapshot.State}
	in := &expr.Input{Before: v.snapshot.State, Role: v.proposal.Role, Actor: v.proposal.Actor, Now: v.proposal.Now, Values: v.values, Params: v.args, Phase: v.snapshot.Phase, Measure: v.measuresBefore.lookup}
	return v.conditions(ir.RequireGate, v.stage.require, in, &v.measuresBefore)
}

// conditions asks the conditions of the stage of a kind.
func (v *verification) conditions(kind ir.GateKind, all []rule, in *expr.Input, m *measures) (found []finding) {
	for i := range all {
		r := &all[i]
		room := v.costs.forRule(v.stage.seesGates(kind, nth(i)))
		if room.over() {
			continue
		}
		in.Budget, m.missed = room.budget, false
		if j := r.judge(v.ctx, in); j != holds && !m.follows(j) {
			found = append(found, v.unmetCondition(kind, r, i, room, j))
		}
	}
	return found
}

// unmetCondition is the finding that the i-th require or ensure of the stage does not hold.
// It is about the place that the condition reads, if that is one, or if one of them was
// written.
func (v *verification) unmetCondition(kind ir.GateKind, r *rule, i int, room ruleCost, j judgement) finding {
	f := room.because(messages.condition(v.stage.Stage, kind, i), j)
	f.reads = r.readsBound(v.args)
	if at := v.placeOf(f.reads); at != nil {
		f = f.about(at)
	}
	return f
}

// placeOf is the one place that a region is, or the one of its places at or below which
// the patch wrote; nil if there is not one.
func (v *verification) placeOf(r region.Region) region.Word {
	var places []region.Word
	for _, g := range r {
		for _, p := range g.Include {
			w, fixed := fixedWord(p)
			if !fixed {
				return nil
			}
			if !slices.ContainsFunc(places, func(q region.Word) bool { return slices.Equal(q, w) }) {
				places = append(places, w)
			}
		}
	}
	if len(places) > 1 {
		places = slices.DeleteFunc(places, func(w region.Word) bool {
			return !slices.ContainsFunc(v.targets, func(t region.Word) bool { return t.HasPrefix(w) || w.HasPrefix(t) })
		})
	}
	if len(places) != 1 {
		return nil
	}
	return places[0]
}

// fixedWord is the place that a pattern without wildcards stands for.
func fixedWord(p region.Pattern) (w region.Word, fixed bool) {
	for _, s := range p.Segments {
		switch s.Kind {
		case region.KeyLiteral, region.Literal:
			w = append(w, region.Key(s.Text))
		default:
			return nil, false
		}
	}
	return w, len(w) > 0
}

// checkRules is the last step: ensure, the invariants that the commit can have
// changed, and the guard of the move.
func (v *verification) checkRules() []finding {
	v.measuresAfter = measures{p: v.p, ctx: v.ctx, state: v.after}
	found := append(v.checkMeasures(), v.checkEnsure()...)
	found = append(found, v.checkChanges()...)
	found = append(found, v.checkInvariants()...)
	return append(found, v.checkGuard()...)
}

// unaffected are the findings of rules that read nothing of what types have something
// against: what the others come to may only follow from that.
func unaffected(rules, wrong []finding) []finding {
	return slices.DeleteFunc(rules, func(f finding) bool {
		if f.Code == EvaluationError {
			return true
		}
		reads := region.Compile(f.reads).Start(nil)
		return slices.ContainsFunc(wrong, func(w finding) bool { return w.at != nil && reads.Walk(w.at).Reachable() })
	})
}

func (v *verification) checkEnsure() []finding {
	if v.stage == nil || len(v.stage.ensure) == 0 {
		return nil
	}
	in := &expr.Input{Before: v.snapshot.State, After: v.after, Role: v.proposal.Role, Actor: v.proposal.Actor, Now: v.proposal.Now, Values: v.values, Params: v.args, Phase: v.phaseAfter(), Measure: v.measuresAfter.lookup}
	return v.conditions(ir.EnsureGate, v.stage.ensure, in, &v.measuresAfter)
}

// checkInvariants evaluates the invariants whose footprint meets a target, and
// those that read the phase if it moves (spec/semantics.md section 6.1).
func (v *verification) checkInvariants() []finding {
	r := ruleRun{
		p: v.p, ctx: v.ctx, before: v.snapshot.State, state: v.after,
		phase: v.phaseAfter(), measures: &v.measuresAfter,
	}
	moves := r.phase != v.snapshot.Phase
	for i := range v.p.invariants {
		inv := &v.p.invariants[i]
		if !r.begin(v.costs, v.stage == nil || v.stage.seesRule[i]) {
			continue
		}
		if moves && inv.Expr != nil && inv.Expr.ReadsPhase {
			r.all(inv)
		} else {
			r.touched(inv, v.targets)
		}
	}
	return r.found
}

// checkGuard evaluates the guard of the move on the state after the patch.
func (v *verification) checkGuard() []finding {
	guard := v.p.guards[move{v.snapshot.Phase, v.next}]
	if v.next == "" || guard == nil {
		return nil
	}
	room := v.costs.forRule(v.stage.seesGates(ir.GuardGate, v.next))
	if room.over() {
		return nil
	}
	in := &expr.Input{State: v.after, Role: v.proposal.Role, Actor: v.proposal.Actor, Now: v.proposal.Now, Phase: v.phaseAfter(), Measure: v.measuresAfter.lookup, Budget: room.budget}
	v.measuresAfter.missed = false
	j := guard.judge(v.ctx, in)
	if j == holds || v.measuresAfter.follows(j) {
		return nil
	}
	f := room.because(messages.guard(v.snapshot.Phase, v.next).of(ir.GuardGate, v.next), j)
	f.reads, f.Hint = guard.readsBound(nil), source(guard.source)
	return []finding{f}
}

// nth is the name of a stage's i-th expression of a kind.
func nth(i int) string { return strconv.Itoa(i + 1) }

// A ruleRun evaluates the invariants of one state in one phase.
type ruleRun struct {
	p        *Program
	ctx      context.Context
	before   *tree.Node // the state before the commit, nil if all of the state is new
	state    *tree.Node
	phase    string
	measures *measures
	in       *expr.Input // see input
	search   entrySearch // see eachTouched
	room     ruleCost    // of the rule that is asked
	collection
}

// input is what rules are evaluated on; an entry is set in it before.
func (r *ruleRun) input() *expr.Input {
	if r.in == nil {
		r.in = &expr.Input{State: r.state, Phase: r.phase, Measure: r.measures.lookup}
	}
	return r.in
}

// begin makes room for the next rule. Where others took all that there was, it is not
// asked: they were told of.
func (r *ruleRun) begin(c *costs, seen bool) bool {
	r.room = c.forRule(seen)
	r.input().Budget = r.room.budget
	if r.measures != nil {
		r.measures.missed = false
	}
	return !r.room.over()
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
	eachMatch(r.p.watch, r.state, inv.Each.Over, func(w region.Word, n *tree.Node) bool {
		r.entry(inv, w, n)
		return !r.room.over()
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
	j := holds
	eachMatch(r.p.watch, r.state, p.each.Over, func(w region.Word, n *tree.Node) bool {
		j = worse(j, r.judgeEntry(p, keyOf(p.each.Over, w), n))
		return !r.room.over()
	})
	return j
}

// judgeFold does so for a part that looks at nothing but its entries. After a commit only
// those that differ are asked, before which all held: what is remembered of the others may
// not decide what is counted.
func (r *ruleRun) judgeFold(p *part) judgement {
	if r.before != nil && p.key == "" {
		j := holds
		eachChange(r.before, r.state, p.fold.segments, func(_, n *tree.Node) {
			r.p.watch.tick()
			if n != nil {
				j = worse(j, r.judgeEntry(p, "", n))
			}
		})
		return j
	}
	return p.fold.of(r.state, func(name string, n *tree.Node) (judgement, bool) {
		return r.judgeEntry(p, name, n), true
	})
}

func (r *ruleRun) judgeEntry(p *part, name string, n *tree.Node) judgement {
	if r.room.over() {
		return exhausted
	}
	in := r.input()
	in.Entry = n
	if p.key != "" {
		in.Params = map[string]string{p.key: name}
	}
	return p.rule.judge(r.ctx, in)
}

// entry evaluates an invariant for one entry.
func (r *ruleRun) entry(inv *invariant, w region.Word, n *tree.Node) {
	one := &inv.parts[0]
	if r.room.over() {
		return
	}
	if j := r.judgeEntry(one, keyOf(inv.Each.Over, w), n); j != holds && !r.measures.follows(j) {
		w = r.located(w, n)
		r.add(r.room.because(messages.invariant(inv.Invariant), j), func(f finding) finding {
			if r.room.over() { // which entry it was says nothing
				f.reads = readsOf(inv.Expr)
				return f
			}
			f.reads = one.rule.readsBound(familyOf(inv.Each.Over, w))
			return f.about(w)
		})
	}
}

func (r *ruleRun) reportWhole(inv *invariant, j judgement) {
	if j == holds || r.measures.follows(j) {
		return
	}
	f := r.room.because(messages.invariant(inv.Invariant), j)
	f.reads = inv.whole
	r.add(f, asItIs)
}

// keyOf is what the last wildcard of a pattern stands for in a word that it matches.
func keyOf(over region.Pattern, w region.Word) string {
	for i := len(over.Segments) - 1; i >= 0; i-- {
		if isWildcard(over.Segments[i]) && i < len(w) {
			return w[i].Name
		}
	}
	return ""
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
	if inv.told != nil {
		inv.told(r.ctx, !bag.Repeats())
	}
	if !bag.Repeats() {
		return
	}
	seen := map[string]bool{}
	eachMatch(r.p.watch, r.state, inv.unique.over, func(w region.Word, n *tree.Node) bool {
		key, ok := inv.unique.key(n)
		if seen[key] && ok {
			r.add(messages.invariant(inv.Invariant), func(f finding) finding {
				f.reads = region.Region{{Include: inv.UniquePlaces()}}
				return f.about(w)
			})
		}
		seen[key] = seen[key] || ok
		return true
	})
}

// What a commit can have changed.

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
	r.eachTouched(one, targets, func(w region.Word, n *tree.Node) { r.entry(inv, w, n) })
}

func (r *ruleRun) judgeTouched(p *part, targets []region.Word) judgement {
	if meetsAny(p.outside, targets) {
		return r.judge(p)
	}
	j := holds
	if p.each != nil {
		r.eachTouched(p, targets, func(w region.Word, n *tree.Node) { j = worse(j, r.judgeEntry(p, keyOf(p.each.Over, w), n)) })
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

// eachTouched calls visit for the entries of a family that writes have touched, each
// entry once.
func (r *ruleRun) eachTouched(p *part, targets []region.Word, visit func(w region.Word, n *tree.Node)) {
	e := &r.search
	*e = entrySearch{ruleRun: r, part: p, visit: visit, done: e.done[:0]}
	for _, t := range targets {
		e.under(t)
	}
}

// An entrySearch finds touched entries. Of the written words none is a prefix of another, so
// that only writes inside of one entry can lead to it twice.
type entrySearch struct {
	*ruleRun
	part  *part
	visit func(w region.Word, n *tree.Node)
	done  []region.Word
}

// under finds the entries that a write of everything at and below t touched.
func (e *entrySearch) under(t region.Word) {
	over := e.part.each.Over.Segments
	depth := min(len(t), len(over))
	if fresh := slices.IndexFunc(t[:depth], isFresh); fresh >= 0 {
		e.appended(t[:fresh], over)
		return
	}
	if !matchesWord(over[:depth], t[:depth]) {
		return
	}
	if depth == len(over) {
		if n := tree.NodeAt(e.state, t[:depth]); n != nil && e.part.within.meets(t[depth:]) {
			e.once(t[:depth], n)
		}
		return
	}
	e.below(t, over[depth:])
}

// below finds all entries below w, except those that are still the very nodes they
// were.
func (e *entrySearch) below(w region.Word, rest []region.Segment) {
	n := tree.NodeAt(e.state, w)
	if n == nil {
		return
	}
	was := tree.NodeAt(e.before, w)
	if was == n {
		return
	}
	if len(rest) == 1 && rest[0].Kind == region.AnyKey && isObject(was) && isObject(n) {
		tree.ChangedMembers(was, n, func(name string, _, entry *tree.Node) bool {
			if entry != nil {
				e.visit(append(slices.Clone(w), region.Key(name)), entry)
			}
			return true
		})
		return
	}
	if len(rest) == 1 && goesThrough(rest[0], n) && isArray(was) && isArray(n) {
		e.elements(w, was, n)
		return
	}
	eachMatchBelow(e.p.watch, w, n, rest, func(entry region.Word, n *tree.Node) bool {
		if e.before == nil || tree.NodeAt(e.before, entry) != n {
			e.visit(entry, n)
		}
		return true
	})
}

// elements finds the elements of the array at w that it had not before; where they stand
// is not looked for.
func (e *entrySearch) elements(w region.Word, was, is *tree.Node) {
	tree.ChangedItems(was, is, func(_, entry *tree.Node) bool {
		if entry != nil {
			e.visit(append(slices.Clone(w), somewhere), entry)
		}
		return true
	})
}

// somewhere is the place of an element that was found by what it is.
var somewhere = region.Index(-1)

// located is the word of an entry n, also where it was found by what it is.
func (r *ruleRun) located(w region.Word, n *tree.Node) region.Word {
	if len(w) == 0 || w[len(w)-1] != somewhere {
		return w
	}
	out := slices.Clone(w)
	for i, element := range tree.NodeAt(r.state, w[:len(w)-1]).Elements() {
		if element == n {
			out[len(out)-1] = region.Index(i)
			break
		}
	}
	return out
}

func isArray(n *tree.Node) bool { return n != nil && n.Kind() == ir.Array }

func isObject(n *tree.Node) bool { return n != nil && n.Kind() == ir.Object }

// appended finds the entries in what was added to the set or log at w. A log only grew.
func (e *entrySearch) appended(w region.Word, over []region.Segment) {
	array := tree.NodeAt(e.state, w)
	if array == nil || !matchesWord(over[:len(w)], w) {
		return
	}
	first := 0
	if was := tree.NodeAt(e.before, w); len(over) == len(w)+1 && goesThrough(over[len(w)], array) && isArray(was) && array.Order() != tree.LogOrder {
		e.elements(w, was, array)
		return
	}
	if array.Order() == tree.LogOrder {
		first = tree.NodeAt(e.before, w).Len()
	}
	for i := first; i < array.Len(); i++ {
		if !over[len(w)].Matches(region.Index(i)) {
			continue
		}
		at := append(slices.Clone(w), region.Index(i))
		eachMatchBelow(e.p.watch, at, array.At(i), over[len(w)+1:], func(entry region.Word, n *tree.Node) bool {
			e.once(slices.Clone(entry), n)
			return true
		})
	}
}

// once visits an entry whose word stays as it is.
func (e *entrySearch) once(w region.Word, n *tree.Node) {
	for _, d := range e.done {
		if slices.Equal(d, w) {
			return
		}
	}
	e.done = append(e.done, w)
	e.visit(w, n)
}

// Invariants and rules, compiled.

// An invariant is a compiled ir.Invariant: an expression in parts, or the index of
// what is unique.
type invariant struct {
	*ir.Invariant
	whole  region.Region // what an expression about the whole state reads
	parts  []part
	unique *index
	told   func(ctx context.Context, held bool) // an observer; nil for none
}

// A part is a rule, or a family of rules, one per entry (spec/semantics.md section
// 6.1): what a rule reads inside its own entry is kept apart from what it reads
// elsewhere, so that a write into one entry asks for that entry's rule alone.
//
// An `each` invariant is one part. One about the whole state is as many as the
// compiler has taken it apart into.
type part struct {
	rule    rule
	each    *ir.Each                // of a family, else nil
	key     string                  // the parameter that is the entry's key, "" for none
	within  footprint               // of a family: what is read below the entry, relative to it
	outside footprint               // everything else that is read
	fold    *patternFold[judgement] // of a family whose rules look at nothing but their entries
}

func (p *Program) newInvariant(inv *ir.Invariant) (invariant, error) {
	out := invariant{Invariant: inv}
	if inv.Unique != nil {
		over, key := *inv.Unique, byValue
		var reads []region.Pattern
		for _, place := range inv.UniquePlaces() {
			reads = append(reads, p.unions.Whole(place)...)
		}
		if len(inv.Together) > 0 {
			over, key = byValues(inv.UniquePlaces())
		}
		out.unique = newIndex(over, reads, key)
		p.indexes = append(p.indexes, out.unique)
		return out, nil
	}
	rules := inv.Rules()
	if inv.Each != nil { // an entry that fails is named, whatever fails of it
		rules = []ir.Part{inv.AsOne()}
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
	if p.env.Local(*from) {
		fold := newPatternFold(scope.Each.Over, worse)
		out.fold = &fold
	}
	if !addressable(scope.Each.Over) {
		out.within, out.outside = newFootprint(nil), newFootprint(patternsRead(&from.Expr))
		return out, nil
	}
	within, elsewhere := p.env.EntryReads(*from)
	looked, outside := splitFamily(scope.Each.Over, elsewhere)
	out.within, out.outside = newFootprint(append(within, looked...)), newFootprint(outside)
	return out, nil
}

// addressable reports whether the entries that a pattern matches have paths of one
// form, so that it can be told which of them a write touches.
func addressable(over region.Pattern) bool {
	return !slices.ContainsFunc(over.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
}

// splitFamily separates the patterns that lead by the entry's own keys to what is below it,
// made relative to it, from the others, in which a family key may be any key.
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

// belowEntry cuts the entry's own path off p. Of an element of a list, set or log the path
// is not known by keys.
func belowEntry(over []region.Segment, p region.Pattern) (region.Pattern, bool) {
	if len(p.Segments) < len(over) {
		return p, false
	}
	family := 0
	for i, s := range over {
		switch {
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

// A rule is a compiled expression with its footprint.
type rule struct {
	source    *ir.Expr
	program   *expr.Program
	footprint footprint
	told      func(ctx context.Context, held bool) // an observer; nil for none
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
	j := r.evaluate(ctx, in)
	if r.told != nil {
		r.told(ctx, j == holds)
	}
	return j
}

func (r *rule) evaluate(ctx context.Context, in *expr.Input) judgement {
	value, err := r.program.Eval(ctx, in)
	if err == nil {
		if value {
			return holds
		}
		return fails
	}
	leaveIfEnded(ctx) // what interrupts an evaluation is no judgement
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

// A footprint is a set of paths a rule reads, ready to be asked whether a write
// meets it.
type footprint struct{ start region.Cursor }

func newFootprint(reads []region.Pattern) footprint {
	set := region.Compile(asRegion(region.Grant{Include: reads}))
	return footprint{start: set.Start(region.Binding{})}
}

// meets reports whether a write of everything at and below w changes something
// that is read (spec/semantics.md section 6.1).
func (f footprint) meets(w region.Word) bool { return f.start.Walk(w).Reachable() }

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
