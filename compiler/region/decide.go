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
		goal: func(s *search, p place) bool { return s.has(p.a, modeA, p.at) && s.has(p.b, modeB, p.at) },
		dead: func(x, y *node) bool { return x.isBottom() || y.isBottom() },
	}
	return s.run()
}

// Within asks whether every word of a (in modeA) is in b (in modeB). No carries a
// shortest word that is not.
func Within(a, b *Set, modeA, modeB Mode, o Options) Answer {
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal: func(s *search, p place) bool { return s.has(p.a, modeA, p.at) && !s.has(p.b, modeB, p.at) },
		dead: func(x, y *node) bool { return x.isBottom() || y.isTop() },
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
		goal: func(s *search, p place) bool { return s.has(p.a, mode, p.at) != s.has(p.b, mode, p.at) },
		dead: func(x, y *node) bool {
			return x.isBottom() && y.isBottom() || x.isTop() && y.isTop()
		},
	}
	return s.run().negated()
}

func (n *node) isTop() bool    { return n == n.machine.top }
func (n *node) isBottom() bool { return n == n.machine.bottom }

// has reports whether the word that led to n, and to a node of the shape, is in the
// set, read in mode.
func (s *search) has(n *node, mode Mode, at int) bool {
	switch mode {
	case Interior:
		return n.isTop()
	case Shown:
		object, array := true, true
		if s.shape != nil {
			object, array = s.shape.Containers(at)
		}
		return n.in || object && n.canHold(Object) || array && n.canHold(Array)
	}
	return n.in
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
