package region

// An outcome is what a subset says about the word that reached it, and about all
// words below.
type outcome uint8

const (
	undecided outcome = iota // look at the subset
	nothing                  // no word at or below is in the set
	interior                 // one clause holds every word at and below
)

// settle rewrites set to its smallest equal (see the page in automaton.go) and
// tells what is certain about it.
func (a *automaton) settle(set bitset) outcome {
	out := nothing
	a.eachClause(set, func(c *clause) (stop bool) {
		switch c.settle(a, set) {
		case interior:
			out = interior
		case undecided:
			out = undecided
		}
		return out == interior
	})
	return out
}

// eachClause visits in order the clauses that the subset has states of, until visit says
// so; a visit may change the states of its clause.
func (a *automaton) eachClause(set bitset, visit func(*clause) (stop bool)) {
	for i := 0; ; {
		s := set.next(i)
		if s < 0 {
			return
		}
		if s == 0 { // no state
			i = 1
			continue
		}
		c := &a.clauses[a.of[s]]
		if visit(c) {
			return
		}
		i = c.states.hi
	}
}

func (c *clause) settle(a *automaton, set bitset) outcome {
	if !set.anyIn(c.states) {
		return nothing
	}
	whole := true
	for i := range c.require {
		u := &c.require[i]
		u.settle(a, set)
		if !set.anyIn(u.states) {
			set.clear(c.states)
			return nothing
		}
		whole = whole && set.has(u.accepted)
	}
	c.except.settle(a, set)
	switch {
	case c.except.accepted != 0 && set.has(c.except.accepted):
		set.clear(c.states)
		return nothing
	case whole && !set.anyIn(c.except.states):
		return interior
	}
	return undecided
}

func (u *union) settle(a *automaton, set bitset) {
	for _, m := range u.minimal {
		if set.has(m.accept) {
			set.clear(m.states)
			set.add(m.hit)
		}
	}
	if u.accepted != 0 && (set.has(u.accepted) || set.meetsIn(a.accepts, u.states)) {
		set.clear(u.states)
		set.add(u.accepted)
	}
}

// holds reports whether the word that reached the settled subset is in the union.
func (u *union) holds(a *automaton, set bitset) bool {
	return u.accepted != 0 && (set.has(u.accepted) || set.meetsIn(a.shallow, u.states))
}

// contains reports whether the word that reached the settled subset is in the set.
func (a *automaton) contains(set bitset) bool {
	in := false
	a.eachClause(set, func(c *clause) bool {
		in = c.contains(a, set)
		return in
	})
	return in
}

func (c *clause) contains(a *automaton, set bitset) bool {
	for i := range c.require {
		if !c.require[i].holds(a, set) {
			return false
		}
	}
	return !c.except.holds(a, set)
}
