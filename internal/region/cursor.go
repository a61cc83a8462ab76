package region

// A Cursor is a place in a walk of a set along a document. It is a small value;
// stepping allocates nothing once the set has seen the way, and costs one or two
// map look-ups. Every question is answered from memory after the first time.
// The zero Cursor is not usable; Set.Start makes one.
type Cursor struct {
	run *run
	at  *node
}

// Container is a kind of node that has letters below it.
type Container uint8

// The two containers of JSON.
const (
	Object Container = iota
	Array
)

// Start begins a walk at the root. With nil args it is static analysis: a
// parameter matches its symbol only, and a fresh segment its owner's. Otherwise
// it is run time: a parameter that args names matches that key only, and a fresh
// segment matches every fresh key, which is where an append to a log goes.
func (s *Set) Start(args Binding) Cursor {
	r := s.resolve(args)
	return Cursor{run: r, at: r.machine.root}
}

// Key steps to the member called name.
func (c Cursor) Key(name string) Cursor {
	l := Key(name)
	for i, value := range c.run.values {
		if value == name {
			l = Letter{Kind: valueLetter, Index: i}
		}
	}
	e := c.at.exits()
	if n := e.find(l); n != nil {
		return Cursor{c.run, n}
	}
	return Cursor{c.run, e.other[KeyLetter]}
}

// Index steps to array position i.
func (c Cursor) Index(i int) Cursor { return c.Step(Index(i)) }

// Step steps along l.
func (c Cursor) Step(l Letter) Cursor {
	switch l.Kind {
	case KeyLetter:
		return c.Key(l.Name)
	case FreshLetter:
		l = c.run.machine.freshLetter(l.Name)
	}
	return Cursor{c.run, c.at.exits().step(l)}
}

// Walk steps along the letters of w.
func (c Cursor) Walk(w Word) Cursor {
	for _, l := range w {
		c = c.Step(l)
	}
	return c
}

// In reports whether the word so far is in the set.
func (c Cursor) In() bool { return c.at.in }

// Interior reports whether one grant holds the word and everything below it.
func (c Cursor) Interior() bool { return c.at == c.at.machine.top }

// Live reports whether some word at or below this one is in the set. It is exact,
// exceptions included; a set for which that takes more than DefaultBudget search
// states counts as not live, so that nothing is shown by mistake.
func (c Cursor) Live() bool { return c.at.isLive() }

// CanHold reports whether some word of the set lies strictly below this one
// through a letter that a container of the given kind has: whether a projection
// shows such a container as spine (spec/semantics.md section 11.1). Exact as Live.
func (c Cursor) CanHold(kind Container) bool { return c.at.canHold(kind) }

// Whole reports whether every word at and below this one is in the set, be it by
// several grants together. It may answer false when that takes long to see, and
// is good for sharing subtrees, never for authority.
func (c Cursor) Whole() bool { return c.at.isWhole() }
