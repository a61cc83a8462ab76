package region

// When two regions with parameters meet is decided per pair of include patterns,
// each with the exceptions of its grant.
//
// Without exceptions, walking the two patterns in step collects the equalities
// that their segments need (spec/semantics.md section 9). With exceptions, or
// where the walk is not enough, the search runs once for every way in which the
// parameters can be equal to each other: two have 2 ways, three 5, four 15. The
// ways on which it found a word are then described by as few equalities as tell
// them from the others. With more than maxPartition parameters the exceptions are
// left out, which can only make the condition weaker.

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

// A candidate is a term with the two sides that meet under it.
type candidate struct {
	*knowledge
	a, b side
}

func (w *weigher) pair(a, b side) {
	if w.modeA == Interior && a.include.Shallow || w.modeB == Interior && b.include.Shallow {
		return
	}
	needed, ok := w.meet(a.include, b.include)
	if !ok {
		return
	}
	a.except, b.except = w.relevant(a, b.include, w.modeB), w.relevant(b, a.include, w.modeA)
	if len(a.except)+len(b.except) > 0 || !w.walkSuffices(a.include, b.include) {
		w.search(a, b, needed)
		return
	}
	w.add(needed, a, b)
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

// walkSuffices reports whether meet decides p and q.
func (w *weigher) walkSuffices(p, q Pattern) bool {
	if w.options.Shape != nil {
		return false
	}
	return !p.Shallow && !q.Shallow || !hasDepth(normal(p.Segments)) && !hasDepth(normal(q.Segments))
}

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

// add notes a term unless a weaker one is there, and drops those it is weaker than.
func (w *weigher) add(all []Equality, a, b side) {
	w.options.Meter.Spend(len(w.terms) * (1 + len(all)))
	known := knowing(all)
	kept := w.terms[:0]
	for _, t := range w.terms {
		if known.impliesAll(t.all) {
			return
		}
		if !t.impliesAll(all) {
			kept = append(kept, t)
		}
	}
	w.terms = append(kept, candidate{known, a, b})
}

func (w *weigher) condition() Condition {
	c := Condition{Inexact: w.inexact}
	for _, t := range w.terms {
		c.Any = append(c.Any, Term{All: t.all, Witness: w.witness(t)})
	}
	return c
}

func (w *weigher) witness(t candidate) Word {
	if w.options.VerdictOnly {
		return nil
	}
	merge := merger(t.all)
	a, b := t.a.region().each(merge), t.b.region().each(merge)
	if w.modeA == Shown { // better a place that is read than one on the way
		plain := *w
		plain.modeA = Plain
		if found := plain.overlap(a, b); found.Verdict == Yes {
			return found.Witness
		}
	}
	return w.overlap(a, b).Witness
}

func (w *weigher) overlap(a, b Region) Answer {
	return Overlap(Compile(a), Compile(b), w.modeA, w.modeB, w.options.Options)
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
