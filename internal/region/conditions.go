package region

import (
	"maps"
	"slices"
	"strconv"
)

// When two regions with parameters meet is decided per pair of include patterns,
// each with the exceptions of its grant.
//
// Walking the two patterns in step collects the equalities that their segments need
// (spec/semantics.md section 9). Mostly these are enough: making more parameters equal
// takes no word away. Whether the two meet where they hold, on the paths that a Shape
// allows, is told by one search. With exceptions, with a "**" that something follows (it
// may need more, where a pattern is shallow or a Shape ends the words), or where a
// parameter may be a key that is named, the search runs once for every assignment, which
// is a way in which the parameters can be equal to each other: two have 2 ways, three 5,
// four 15. The assignments under which it found a word are then described by as few
// equalities as tell them from the others. With more than maxPartition parameters the exceptions are left out, which can
// only make the condition weaker.

// ConditionOptions tune Conditions. The zero value is the default.
type ConditionOptions struct {
	Options

	// OpenLiterals lets a parameter take a value that some pattern names. By
	// default such values are reserved, and a parameter never meets a literal.
	OpenLiterals bool
}

// Conditions says for which values of their parameters a (in modeA) and b (in
// modeB) meet. Parameters with the same name are the same one: Rename those of
// one side first if they are not. Fresh keys are told apart by Own.
func Conditions(a, b Region, modeA, modeB Mode, o ConditionOptions) Condition {
	cb := conditionBuilder{modeA: modeA, modeB: modeB, options: o}
	for _, g := range a {
		for _, h := range b {
			for _, p := range g.Include {
				for _, q := range h.Include {
					if cb.options.Meter.Spend(1); cb.options.Meter.IsSpent() {
						return Condition{Any: []Term{{}}, Inexact: true}
					}
					cb.pair(side{p, g.Except}, side{q, h.Except})
				}
			}
		}
	}
	return cb.condition()
}

// A side is one include pattern with the exceptions of its grant.
type side struct {
	include Pattern
	except  []Pattern
}

func (s side) region() Region {
	return Region{{Include: []Pattern{s.include}, Except: s.except}}
}

// A conditionBuilder collects the terms of a condition.
type conditionBuilder struct {
	modeA, modeB Mode
	options      ConditionOptions
	terms        []candidate
	known        termIndex // of all terms there were
	inexact      bool
}

// A candidate is a term with the two sides that meet under it, and a word in both if one
// is known.
type candidate struct {
	*knowledge
	a, b side
	word Word
}

// pair adds the terms under which two sides meet, by the cheapest of the ways at the head
// of this file that is enough.
func (cb *conditionBuilder) pair(a, b side) {
	if cb.modeA == Interior && a.include.Shallow || cb.modeB == Interior && b.include.Shallow {
		return
	}
	needed, ok := cb.meet(a.include, b.include)
	if !ok || cb.isImplied(needed) {
		return
	}
	a.except, b.except = cb.relevant(a, b.include, cb.modeB), cb.relevant(b, a.include, cb.modeA)
	deep := hasDepth(normal(a.include.Segments)) || hasDepth(normal(b.include.Segments))
	switch {
	case len(a.except)+len(b.except) > 0 || deep && (cb.options.Shape != nil || a.include.Shallow || b.include.Shallow):
		cb.searchEach(a, b, needed)
	case cb.options.Shape == nil:
		cb.add(needed, a, b, nil)
	case cb.options.OpenLiterals: // a shape tells keys and parameters apart
		cb.searchEach(a, b, needed)
	default:
		cb.searchOnce(a, b, needed)
	}
}

// meet walks p and q in step and returns the equalities they need to meet; ok is
// false if no values make them meet.
func (cb *conditionBuilder) meet(p, q Pattern) (needed []Equality, ok bool) {
	ps, qs := normal(p.Segments), normal(q.Segments)
	if tooDeep(p, ps, qs) || tooDeep(q, qs, ps) {
		return nil, false
	}
	ps, qs = beforeDepth(ps), beforeDepth(qs)
	for i := range min(len(ps), len(qs)) {
		e, ok := cb.equate(ps[i], qs[i])
		if !ok {
			return nil, false
		}
		needed = append(needed, e...)
	}
	if len(needed) > 1 {
		cb.options.Meter.Spend(len(needed))
		return withoutImplied(needed)
	}
	return needed, true
}

// tooDeep reports whether every word of qs is longer than those of the shallow
// pattern p.
func tooDeep(p Pattern, ps, qs []Segment) bool {
	return p.Shallow && !hasDepth(ps) && len(beforeDepth(qs)) > len(ps)
}

// equate is unify with parameters that may be equal to each other or, with
// OpenLiterals, to literals.
func (cb *conditionBuilder) equate(s, t Segment) ([]Equality, bool) {
	if s.Kind == ParamSegment && t.Kind == ParamSegment && s.Text != t.Text {
		return []Equality{{Left: s.Text, Right: t.Text}}, true
	}
	if cb.options.OpenLiterals {
		if s.Kind == ParamSegment && namesKey(t) {
			return []Equality{{Left: s.Text, Right: t.Text, Literal: true}}, true
		}
		if t.Kind == ParamSegment && namesKey(s) {
			return []Equality{{Left: t.Text, Right: s.Text, Literal: true}}, true
		}
	}
	_, ok := unify(s, t)
	return nil, ok
}

func namesKey(s Segment) bool { return s.Kind == Literal || s.Kind == KeyLiteral }

// relevant keeps the exceptions of a side that some word below its include may meet, and
// below the other's: unless places on the way to that one count, all words are there.
func (cb *conditionBuilder) relevant(s side, other Pattern, mode Mode) []Pattern {
	var kept []Pattern
	cb.options.Meter.Spend(len(s.except))
	for _, e := range s.except {
		if mode != Shown {
			if _, ok := cb.meet(closed(other), closed(e)); !ok {
				continue
			}
		}
		if _, ok := cb.meet(closed(s.include), closed(e)); ok {
			kept = append(kept, e)
		}
	}
	return kept
}

func closed(p Pattern) Pattern { return Pattern{Segments: p.Segments} }

// isImplied reports whether a term is there that is no stronger than what the next two
// patterns need: all terms they could add would be dropped.
func (cb *conditionBuilder) isImplied(needed []Equality) bool {
	known := knowing(needed)
	weaker := func(all []Equality) bool {
		cb.options.Meter.Spend(1 + len(all))
		return known.impliesAll(all)
	}
	if slices.ContainsFunc(cb.known.unequated, weaker) {
		return true
	}
	return slices.ContainsFunc(equated(needed), func(e equation) bool {
		cb.options.Meter.Spend(1)
		return slices.ContainsFunc(cb.known.byFirst[e], weaker)
	})
}

// add notes a term unless a weaker one is there, and drops those it is weaker than. word
// is one that both sides have where it holds, nil if none is known yet.
func (cb *conditionBuilder) add(all []Equality, a, b side, word Word) {
	if cb.isImplied(all) {
		return
	}
	if cb.known.mayImply(all) {
		cb.options.Meter.Spend(len(cb.terms) * (1 + len(all)))
		cb.terms = slices.DeleteFunc(cb.terms, func(t candidate) bool { return t.impliesAll(all) })
	}
	cb.known.add(all)
	cb.terms = append(cb.terms, candidate{knowing(all), a, b, word})
}

// A termIndex finds terms by what they equate, since a region of n parameters makes n*n
// terms with one like it. A term that was dropped may stay: a weaker one came instead.
type termIndex struct {
	byFirst   map[equation][][]Equality // by the first that a term says
	unequated [][]Equality              // terms that say none
	implied   map[equation]bool         // that follow from some term
}

// An equation is two operands that are equal, in order.
type equation [2]operand

func equationOf(x, y operand) equation {
	if y.name < x.name || y.name == x.name && x.literal {
		x, y = y, x
	}
	return equation{x, y}
}

// firstEquation is the first that a term says; ok is false if it says none.
func firstEquation(all []Equality) (first equation, ok bool) {
	for _, e := range all {
		if !e.Not && !e.isTrivial() {
			return equationOf(e.operands()), true
		}
	}
	return first, false
}

// equated lists the equations that follow from what all says.
func equated(all []Equality) (out []equation) {
	var operands []operand
	for _, e := range all {
		if !e.Not {
			x, y := e.operands()
			operands = append(operands, x, y)
		}
	}
	c, _ := classesOf(all)
	for i, x := range operands {
		for _, y := range operands[i+1:] {
			if e := equationOf(x, y); x != y && c.find(x) == c.find(y) && !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

func (x *termIndex) add(all []Equality) {
	if x.byFirst == nil {
		x.byFirst, x.implied = map[equation][][]Equality{}, map[equation]bool{}
	}
	if first, ok := firstEquation(all); ok {
		x.byFirst[first] = append(x.byFirst[first], all)
	} else {
		x.unequated = append(x.unequated, all)
	}
	for _, e := range equated(all) {
		x.implied[e] = true
	}
}

// mayImply reports whether some term may be stronger than one that says all.
func (x *termIndex) mayImply(all []Equality) bool {
	first, ok := firstEquation(all)
	return !ok || x.implied[first]
}

// searchOnce searches two sides without exceptions where what they need holds, and
// nothing more. Unknown counts as meeting.
func (cb *conditionBuilder) searchOnce(a, b side, needed []Equality) {
	needed = fewest(needed)
	answer := cb.shortest(a, b, needed)
	if answer.Verdict != No {
		cb.inexact = cb.inexact || answer.Verdict == Unknown
		cb.add(needed, a, b, answer.Witness)
	}
}

// fewest spells equalities of parameters in the one way in which describe does: of all
// that follow from them, in order, the first that the others do not imply.
func fewest(needed []Equality) []Equality {
	var params []string
	for _, e := range needed {
		params = append(params, e.Left, e.Right)
	}
	slices.Sort(params)
	params = slices.Compact(params)
	known, all := knowing(needed), []Equality(nil)
	for i, p := range params {
		for _, q := range params[i+1:] {
			if e := (Equality{Left: p, Right: q}); known.implies(e) {
				all = append(all, e)
			}
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if rest := slices.Delete(slices.Clone(all), i, i+1); knowing(rest).impliesAll(needed) {
			all = rest
		}
	}
	return all
}

// shortest searches two sides for a word that both have where some equalities hold.
func (cb *conditionBuilder) shortest(a, b side, all []Equality) Answer {
	merge := merger(all)
	x, y := Compile(a.region().each(merge)), Compile(b.region().each(merge))
	if cb.modeA == Shown && !cb.options.VerdictOnly { // better a place that is read than one on the way
		if found := Overlap(x, y, Plain, cb.modeB, cb.options.Options); found.Verdict == Yes {
			return found
		}
	}
	return Overlap(x, y, cb.modeA, cb.modeB, cb.options.Options)
}

// merger replaces parameters by the representative of their class.
func merger(all []Equality) func(Pattern) Pattern {
	c, _ := classesOf(all)
	return func(p Pattern) Pattern {
		return p.replace(func(s Segment) Segment {
			if s.Kind != ParamSegment {
				return s
			}
			if rep := c.find(operand{name: s.Text}); rep.literal {
				return Segment{Kind: KeyLiteral, Text: rep.name}
			} else {
				return Segment{Kind: ParamSegment, Text: rep.name}
			}
		})
	}
}

// An assignment is one way in which parameters are equal to each other and to literals,
// given as values: classes that are no literal have values of their own.
type assignment struct {
	args Binding
	met  bool // the sides meet under it
}

// maxPartition bounds the parameters of one pair of patterns, and maxAssignments their
// assignments, up to which every assignment is searched.
const (
	maxPartition   = 4
	maxAssignments = 4096
)

// searchEach decides the pair under every assignment and adds terms that describe those
// under which it meets. If there are too many assignments, it adds what is needed at least.
func (cb *conditionBuilder) searchEach(a, b side, needed []Equality) {
	regions := Union(a.region(), b.region())
	params := regions.Params()
	assignments, ok := cb.assignments(params, regions)
	if !ok {
		cb.inexact = true
		cb.add(needed, side{include: a.include}, side{include: b.include}, nil)
		return
	}
	for i := range assignments {
		assignments[i].met = cb.meetsUnder(&assignments[i], a, b, params)
	}
	for _, x := range assignments {
		if cb.options.Meter.IsSpent() {
			cb.inexact = true
			cb.add(needed, a, b, nil)
			return
		}
		if x.met {
			cb.add(cb.describe(x, assignments, params, cb.literals(regions)), a, b, nil)
		}
	}
}

// assignments lists all assignments of params; ok is false if there are too many.
func (cb *conditionBuilder) assignments(params []string, r Region) (all []assignment, ok bool) {
	if len(params) > maxPartition {
		return nil, false
	}
	keys := cb.literals(r)
	all = []assignment{{args: Binding{}}}
	for _, p := range params {
		var next []assignment
		for _, x := range all {
			for _, value := range x.choices(keys) {
				args := maps.Clone(x.args)
				args[p] = value
				next = append(next, assignment{args: args})
			}
		}
		if all = next; len(all) > maxAssignments {
			return nil, false
		}
	}
	return all, true
}

// choices are the values the next parameter may have: a new one, one that is in
// use, or a literal.
func (x *assignment) choices(keys []string) []string {
	used := slices.Sorted(maps.Values(x.args))
	used = slices.Compact(used)
	own := slices.DeleteFunc(slices.Clone(used), func(v string) bool { return v == "" || v[0] != '\xff' })
	return slices.Concat([]string{ownValue(len(own))}, own, keys)
}

// ownValue is the value of the i-th class of an assignment. No key looks like it, since
// keys are valid UTF-8.
func ownValue(i int) string { return "\xff" + strconv.Itoa(i) }

// literals are the keys that patterns of r name, if parameters may take them.
func (cb *conditionBuilder) literals(r Region) []string {
	if !cb.options.OpenLiterals {
		return nil
	}
	return slices.Sorted(maps.Keys(Compile(r).keys))
}

// meetsUnder runs the search under one assignment. Unknown counts as meeting.
func (cb *conditionBuilder) meetsUnder(x *assignment, a, b side, params []string) bool {
	merge := merger(equalities(x.args, params, nil))
	bind := func(p Pattern) Pattern { return merge(p.Bind(x.literalsOnly())) }
	o := cb.options.Options
	o.VerdictOnly = true
	answer := Overlap(Compile(a.region().each(bind)), Compile(b.region().each(bind)), cb.modeA, cb.modeB, o)
	cb.inexact = cb.inexact || answer.Verdict == Unknown
	return answer.Verdict != No
}

func (x *assignment) literalsOnly() Binding {
	args := maps.Clone(x.args)
	maps.DeleteFunc(args, func(_, value string) bool { return value != "" && value[0] == '\xff' })
	return args
}

// describe gives few equalities that hold under x and under no assignment that does not
// meet. Inequalities are dropped first, since most conditions need none. Once the meter
// is spent the rest stays, which tells more than is needed of x.
func (cb *conditionBuilder) describe(x assignment, assignments []assignment, params, keys []string) []Equality {
	all := equalities(x.args, params, keys)
	for i := len(all) - 1; i >= 0; i-- {
		if cb.options.Meter.Spend(len(assignments) + len(all)); cb.options.Meter.IsSpent() {
			break
		}
		shorter := slices.Delete(slices.Clone(all), i, i+1)
		if onlyMeeting(shorter, assignments) {
			all = shorter
		}
	}
	return all
}

func onlyMeeting(all []Equality, assignments []assignment) bool {
	for _, x := range assignments {
		if !x.met && allHold(all, x.args) {
			return false
		}
	}
	return true
}

// equalities lists what holds at args: first the equalities, then what differs.
func equalities(args Binding, params, keys []string) []Equality {
	var equal, differ []Equality
	note := func(e Equality) {
		if e.Not = !e.holds(args); e.Not {
			differ = append(differ, e)
		} else {
			equal = append(equal, e)
		}
	}
	for i, p := range params {
		for _, q := range params[i+1:] {
			note(Equality{Left: p, Right: q})
		}
		for _, k := range keys {
			note(Equality{Left: p, Right: k, Literal: true})
		}
	}
	return append(equal, differ...)
}

func (cb *conditionBuilder) condition() Condition {
	c := Condition{Inexact: cb.inexact}
	for _, t := range cb.terms {
		if t.word == nil && !cb.options.VerdictOnly {
			t.word = cb.shortest(t.a, t.b, t.all).Witness
		}
		c.Any = append(c.Any, Term{All: t.all, Witness: t.word})
	}
	return c
}
