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
// parameter may be a key that is named, the search runs once for every way in which the
// parameters can be equal to each other: two have 2 ways, three 5, four 15. The ways on
// which it found a word are then described by as few equalities as tell them from the
// others. With more than maxPartition parameters the exceptions are left out, which can
// only make the condition weaker.

// maxPartition is up to how many parameters of one pair of patterns every
// partition is searched.
const maxPartition = 4

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
	w := weigher{modeA: modeA, modeB: modeB, options: o}
	for _, g := range a {
		for _, h := range b {
			for _, p := range g.Include {
				for _, q := range h.Include {
					if w.options.Meter.Spend(1); w.options.Meter.IsSpent() {
						return Condition{Any: []Term{{}}, Inexact: true}
					}
					w.pair(side{p, g.Except}, side{q, h.Except})
				}
			}
		}
	}
	return w.condition()
}

// A side is one include pattern with the exceptions of its grant.
type side struct {
	include Pattern
	except  []Pattern
}

func (s side) region() Region {
	return Region{{Include: []Pattern{s.include}, Except: s.except}}
}

// A weigher collects the terms of a condition.
type weigher struct {
	modeA, modeB Mode
	options      ConditionOptions
	terms        []candidate
	inexact      bool
}

// A candidate is a term with the two sides that meet under it, and a word in both if one
// is known.
type candidate struct {
	*knowledge
	a, b side
	word Word
}

func (w *weigher) pair(a, b side) {
	if w.modeA == Interior && a.include.Shallow || w.modeB == Interior && b.include.Shallow {
		return
	}
	needed, ok := w.meet(a.include, b.include)
	if !ok || w.isImplied(needed) {
		return
	}
	a.except, b.except = w.relevant(a, b.include, w.modeB), w.relevant(b, a.include, w.modeA)
	deep := hasDepth(normal(a.include.Segments)) || hasDepth(normal(b.include.Segments))
	switch {
	case len(a.except)+len(b.except) > 0 || deep && (w.options.Shape != nil || a.include.Shallow || b.include.Shallow):
		w.search(a, b, needed)
	case w.options.Shape == nil:
		w.add(needed, a, b, nil)
	case w.options.OpenLiterals: // a shape tells keys and parameters apart
		w.search(a, b, needed)
	default:
		w.once(a, b, needed)
	}
}

// isImplied reports whether a term is there that is no stronger than what the next two
// patterns need: all terms they could add would be dropped.
func (w *weigher) isImplied(needed []Equality) bool {
	w.options.Meter.Spend(len(w.terms) * (1 + len(needed)))
	known := knowing(needed)
	return slices.ContainsFunc(w.terms, func(t candidate) bool { return known.impliesAll(t.all) })
}

// once searches two sides without exceptions where what they need holds, and nothing
// more. Unknown counts as meeting.
func (w *weigher) once(a, b side, needed []Equality) {
	needed = fewest(needed)
	answer := w.shortest(a, b, needed)
	if answer.Verdict != No {
		w.inexact = w.inexact || answer.Verdict == Unknown
		w.add(needed, a, b, answer.Witness)
	}
}

// fewest spells equalities of parameters in the one way in which a description of worlds
// does: of all that follow from them, in order, the first that the others do not imply.
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

// relevant keeps the exceptions of a side that some word below its include may meet, and
// below the other's: unless places on the way to that one count, all words are there.
func (w *weigher) relevant(s side, other Pattern, mode Mode) []Pattern {
	var kept []Pattern
	w.options.Meter.Spend(len(s.except))
	for _, e := range s.except {
		if mode != Shown {
			if _, ok := w.meet(closed(other), closed(e)); !ok {
				continue
			}
		}
		if _, ok := w.meet(closed(s.include), closed(e)); ok {
			kept = append(kept, e)
		}
	}
	return kept
}

func closed(p Pattern) Pattern { return Pattern{Segments: p.Segments} }

// meet walks p and q in step and returns the equalities they need to meet; ok is
// false if no values make them meet.
func (w *weigher) meet(p, q Pattern) (needed []Equality, ok bool) {
	ps, qs := normal(p.Segments), normal(q.Segments)
	if tooDeep(p, ps, qs) || tooDeep(q, qs, ps) {
		return nil, false
	}
	ps, qs = beforeDepth(ps), beforeDepth(qs)
	for i := range min(len(ps), len(qs)) {
		e, ok := w.equate(ps[i], qs[i])
		if !ok {
			return nil, false
		}
		needed = append(needed, e...)
	}
	if len(needed) > 1 {
		w.options.Meter.Spend(len(needed))
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
func (w *weigher) equate(s, t Segment) ([]Equality, bool) {
	if s.Kind == ParamSegment && t.Kind == ParamSegment && s.Text != t.Text {
		return []Equality{{Left: s.Text, Right: t.Text}}, true
	}
	if w.options.OpenLiterals {
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

// add notes a term unless a weaker one is there, and drops those it is weaker than. word
// is one that both sides have where it holds, nil if none is known yet.
func (w *weigher) add(all []Equality, a, b side, word Word) {
	if w.isImplied(all) {
		return
	}
	kept := w.terms[:0]
	for _, t := range w.terms {
		if !t.impliesAll(all) {
			kept = append(kept, t)
		}
	}
	w.terms = append(kept, candidate{knowing(all), a, b, word})
}

func (w *weigher) condition() Condition {
	c := Condition{Inexact: w.inexact}
	for _, t := range w.terms {
		if t.word == nil && !w.options.VerdictOnly {
			t.word = w.shortest(t.a, t.b, t.all).Witness
		}
		c.Any = append(c.Any, Term{All: t.all, Witness: t.word})
	}
	return c
}

// shortest searches two sides for a word that both have where some equalities hold.
func (w *weigher) shortest(a, b side, all []Equality) Answer {
	merge := merger(all)
	x, y := Compile(a.region().each(merge)), Compile(b.region().each(merge))
	if w.modeA == Shown && !w.options.VerdictOnly { // better a place that is read than one on the way
		if found := Overlap(x, y, Plain, w.modeB, w.options.Options); found.Verdict == Yes {
			return found
		}
	}
	return Overlap(x, y, w.modeA, w.modeB, w.options.Options)
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

// A world is one way in which parameters are equal to each other and to literals,
// given as values: classes that are no literal have values of their own.
type world struct {
	args Binding
	met  bool // the sides meet in it
}

// maxWorlds bounds the worlds of one pair of patterns.
const maxWorlds = 4096

// search decides the pair in every world and adds terms that describe those in
// which it meets. If there are too many worlds, it adds what is needed at least.
func (w *weigher) search(a, b side, needed []Equality) {
	regions := Union(a.region(), b.region())
	params := regions.Params()
	worlds, ok := w.worlds(params, regions)
	if !ok {
		w.inexact = true
		w.add(needed, side{include: a.include}, side{include: b.include}, nil)
		return
	}
	for i := range worlds {
		worlds[i].met = w.meetIn(&worlds[i], a, b, params)
	}
	for _, x := range worlds {
		if w.options.Meter.IsSpent() {
			w.inexact = true
			w.add(needed, a, b, nil)
			return
		}
		if x.met {
			w.add(w.describe(x, worlds, params, literals(w, regions)), a, b, nil)
		}
	}
}

// meetIn runs the search in one world. Unknown counts as meeting.
func (w *weigher) meetIn(x *world, a, b side, params []string) bool {
	merge := merger(equalities(x.args, params, nil))
	bind := func(p Pattern) Pattern { return merge(p.Bind(x.literalsOnly())) }
	o := w.options.Options
	o.VerdictOnly = true
	answer := Overlap(Compile(a.region().each(bind)), Compile(b.region().each(bind)), w.modeA, w.modeB, o)
	w.inexact = w.inexact || answer.Verdict == Unknown
	return answer.Verdict != No
}

// ownValue is the value of the i-th class in a world. No key looks like it, since
// keys are valid UTF-8.
func ownValue(i int) string { return "\xff" + strconv.Itoa(i) }

func (x *world) literalsOnly() Binding {
	args := maps.Clone(x.args)
	maps.DeleteFunc(args, func(_, value string) bool { return value != "" && value[0] == '\xff' })
	return args
}

// worlds lists all worlds of params; ok is false if there are too many.
func (w *weigher) worlds(params []string, r Region) (all []world, ok bool) {
	if len(params) > maxPartition {
		return nil, false
	}
	keys := literals(w, r)
	all = []world{{args: Binding{}}}
	for _, p := range params {
		var next []world
		for _, x := range all {
			for _, value := range x.choices(keys) {
				args := maps.Clone(x.args)
				args[p] = value
				next = append(next, world{args: args})
			}
		}
		if all = next; len(all) > maxWorlds {
			return nil, false
		}
	}
	return all, true
}

// choices are the values the next parameter may have: a new one, one that is in
// use, or a literal.
func (x *world) choices(keys []string) []string {
	used := slices.Sorted(maps.Values(x.args))
	used = slices.Compact(used)
	own := slices.DeleteFunc(slices.Clone(used), func(v string) bool { return v == "" || v[0] != '\xff' })
	return slices.Concat([]string{ownValue(len(own))}, own, keys)
}

// literals are the keys that patterns of r name, if parameters may take them.
func literals(w *weigher, r Region) []string {
	if !w.options.OpenLiterals {
		return nil
	}
	return slices.Sorted(maps.Keys(Compile(r).keys))
}

// describe gives few equalities that hold in x and in no world that does not
// meet. Inequalities are dropped first, since most conditions need none. Once the meter
// is spent the rest stays, which tells more than is needed of x.
func (w *weigher) describe(x world, worlds []world, params, keys []string) []Equality {
	all := equalities(x.args, params, keys)
	for i := len(all) - 1; i >= 0; i-- {
		if w.options.Meter.Spend(len(worlds) + len(all)); w.options.Meter.IsSpent() {
			break
		}
		shorter := slices.Delete(slices.Clone(all), i, i+1)
		if onlyMeeting(shorter, worlds) {
			all = shorter
		}
	}
	return all
}

func onlyMeeting(all []Equality, worlds []world) bool {
	for _, x := range worlds {
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
