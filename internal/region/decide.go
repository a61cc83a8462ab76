package region

// Overlap asks whether some word is in a (read in modeA) and in b (in modeB).
// Yes carries a shortest such word, unless o.VerdictOnly. Parameters are symbols
// that equal only themselves; see Conditions for when they meet. Cost: linear in
// the pairs of patterns without exceptions, else spec/semantics.md section 8.4.
func Overlap(a, b *Set, modeA, modeB Mode, o Options) Answer {
	if a.isSimple && b.isSimple && o.Shape == nil {
		met := simpleOverlap(a.simple, b.simple)
		if !met || o.VerdictOnly {
			return Answer{Verdict: verdict(met)}
		}
	}
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal:     func(s *search, p place) bool { return s.has(p.a, modeA, p.at) && s.has(p.b, modeB, p.at) },
		dead:     func(x, y *node) bool { return x.isBottom() || y.isBottom() },
		leftEnds: true, rightEnds: true,
	}
	return s.run()
}

// Within asks whether every word of a (in modeA) is in b (in modeB), whatever kind of
// value stands there: to be shown may depend on it. No carries a shortest word that is not.
func Within(a, b *Set, modeA, modeB Mode, o Options) Answer {
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal: func(s *search, p place) bool {
			return s.someValue(p.at, func(v value) bool { return p.a.shows(modeA, v) && !p.b.shows(modeB, v) })
		},
		dead:     func(x, y *node) bool { return x.isBottom() || y.isTop() },
		leftEnds: true,
	}
	return s.run().negated()
}

// Empty asks whether a (in the given mode) has no word. No carries a shortest one.
func Empty(a *Set, mode Mode, o Options) Answer {
	return Within(a, nothingSet, mode, mode, o)
}

var nothingSet = Compile(nil)

// Equal asks whether a and b (in the given mode) have the same words. No carries a
// shortest word that only one of them has.
func Equal(a, b *Set, mode Mode, o Options) Answer {
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal: func(s *search, p place) bool {
			return s.someValue(p.at, func(v value) bool { return p.a.shows(mode, v) != p.b.shows(mode, v) })
		},
		dead: func(x, y *node) bool {
			return x.isBottom() && y.isBottom() || x.isTop() && y.isTop()
		},
	}
	return s.run().negated()
}

func (n *node) isTop() bool    { return n == n.machine.top }
func (n *node) isBottom() bool { return n == n.machine.bottom }

// has reports whether the word that led to n, and to a node of the shape, is in the
// set, read in mode, for some value that may stand there.
func (s *search) has(n *node, mode Mode, at int) bool {
	if mode != Shown {
		return n.shows(mode, leaf)
	}
	return s.someValue(at, func(v value) bool { return n.shows(mode, v) })
}

// A value is what a node of a state is.
type value uint8

const (
	leaf value = iota
	object
	array
)

// someValue asks of what may stand at a node of the shape until is says yes.
func (s *search) someValue(at int, is func(value) bool) bool {
	mayObject, mayArray, mayLeaf := true, true, true
	if s.shape != nil {
		mayObject, mayArray, mayLeaf = s.shape.Values(at)
	}
	return mayLeaf && is(leaf) || mayObject && is(object) || mayArray && is(array)
}

// shows reports whether the word that led to n is in the set, read in mode, if v stands there.
func (n *node) shows(mode Mode, v value) bool {
	switch {
	case mode == Interior:
		return n.isTop()
	case n.in || mode == Plain:
		return n.in
	}
	return v == object && n.canHold(Object) || v == array && n.canHold(Array)
}

func verdict(yes bool) Verdict {
	if yes {
		return Yes
	}
	return No
}

// negated turns the answer to "is there a word that ..." into the answer to "is
// there none".
func (a Answer) negated() Answer {
	switch a.Verdict {
	case Yes:
		a.Verdict = No
	case No:
		a.Verdict = Yes
	}
	return a
}
