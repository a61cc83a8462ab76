package region

import "sync/atomic"

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

// Reachable reports whether some word at or below this one is in the set. It is exact,
// exceptions included; a set for which that takes more than DefaultBudget search
// states counts as having none, so that nothing is shown by mistake.
func (c Cursor) Reachable() bool { return c.at.isReachable() }

// CanHold reports whether some word of the set lies strictly below this one
// through a letter that a container of the given kind has: whether a projection
// shows such a container as spine (spec/semantics.md section 11.1). Exact as Reachable.
func (c Cursor) CanHold(kind Container) bool { return c.at.canHold(kind) }

// OnlyKeys lists the keys through which words of the set lie strictly below this
// one, if they are a known few; only is false if any key may lead to some. A
// projection then looks these keys up instead of going through all members. The
// order is fixed, names before values; a key that is bound to several parameters is
// listed once.
func (c Cursor) OnlyKeys() (keys []KeyOf, only bool) {
	e := c.at.exits()
	if e.other[KeyLetter].isReachable() {
		return nil, false
	}
	for i, l := range e.letters {
		if !e.to[i].isReachable() {
			continue
		}
		switch l.Kind {
		case KeyLetter:
			keys = append(keys, KeyOf{Name: l.Name})
		case valueLetter:
			keys = append(keys, KeyOf{value: l.Index + 1})
		}
	}
	return keys, true
}

// Named lists the keys that lead somewhere of their own from here, and reports whether
// positions in an array do: all other keys, and all other positions, lead to one place.
func (c Cursor) Named() (keys []string, positions bool) {
	for _, l := range c.at.exits().letters {
		switch l.Kind {
		case KeyLetter:
			keys = append(keys, l.Name)
		case IndexLetter:
			positions = true
		}
	}
	return append(keys, c.run.values...), positions
}

// Universal reports whether every word at and below this one is in the set, be it by
// several grants together. It may answer false when that takes long to see, and
// is good for sharing subtrees, never for authority.
func (c Cursor) Universal() bool { return c.at.isUniversal() }

// A Place is where a walk is, whatever the values of its parameters are. It belongs to
// the set.
type Place struct{ at *node }

// Place is where c is.
func (c Cursor) Place() Place { return Place{c.at} }

// On is the walk of c, at another place that some walk of the same set and grouping led to.
func (c Cursor) On(p Place) Cursor { return Cursor{c.run, p.at} }

// Derived is what compute makes of the place, remembered for as long as the place is. It
// must not depend on the values of parameters, and is always asked for by the same compute.
func (c Cursor) Derived(compute func(Cursor) any) any {
	if known := c.at.derived.Load(); known != nil {
		return *known
	}
	made := compute(c)
	c.at.derived.Store(&made)
	return made
}

// A KeyOf is a key through which a walk goes on: a name, or the value of a parameter.
type KeyOf struct {
	Name  string
	value int // of the run, counted from 1
}

// Of is the key itself, on the walk c.
func (k KeyOf) Of(c Cursor) string {
	if k.value > 0 {
		return c.run.values[k.value-1]
	}
	return k.Name
}

// BindingIndependent identifies where the walk is, if what the set holds below does not
// depend on the binding and not on the positions in arrays: walks with equal identities,
// of any binding, then go on alike, and so does every Index. The identity is a pointer
// that belongs to the set. ok may be false where it takes long to see.
func (c Cursor) BindingIndependent() (identity any, ok bool) {
	return c.at, c.at.isBindingIndependent()
}

// What lies below a node is asked by searching from it: whether a node in the set is
// reachable, whether every reachable node is, whether none depends on the binding.
// Exceptions may take away every word that the includes let one hope for, so it takes a
// search, whose result is then remembered.
//
// What is remembered must not depend on what was asked before, or two views of
// equal states might differ. Therefore a search reads no answers of others, and
// its budget is checked between levels only: whatever it finds out about the
// nodes it passes is then what their own search would find out.

// universalBudget bounds the searches of Cursor.Universal and BindingIndependent, which
// may give up early.
const universalBudget = 256

func (n *node) isReachable() bool {
	if answer, known := n.reachable.get(); known {
		return answer
	}
	found, path := n.reach(DefaultBudget, func(x *node) bool { return x.in })
	for _, x := range path {
		x.reachable.set(found == Yes)
	}
	return found == Yes
}

func (n *node) isUniversal() bool {
	if answer, known := n.universal.get(); known {
		return answer
	}
	found, path := n.reach(universalBudget, func(x *node) bool { return !x.in })
	for _, x := range path {
		x.universal.set(found == No)
	}
	return found == No
}

// isBindingIndependent reports whether no letter of a parameter's value and no single
// index leads anywhere of its own from any node that can be reached.
func (n *node) isBindingIndependent() bool {
	if answer, known := n.bindingIndependent.get(); known {
		return answer
	}
	found, path := n.reach(universalBudget, (*node).tellsApart)
	for _, x := range path {
		x.bindingIndependent.set(found == No)
	}
	return found == No
}

// tellsApart reports whether single values of parameters or positions lead on from n.
func (n *node) tellsApart() bool {
	for _, l := range n.exits().letters {
		if l.Kind == valueLetter || l.Kind == IndexLetter {
			return true
		}
	}
	return false
}

func (n *node) canHold(kind Container) bool {
	if answer, known := n.holds[kind].get(); known {
		return answer
	}
	answer := false
	for _, child := range n.exits().below(kind) {
		answer = answer || child.isReachable()
	}
	n.holds[kind].set(answer)
	return answer
}

// reach searches breadth-first for a node with the goal. It returns the nodes
// the answer is also true of: for Yes the way there, for No all that were
// reached, for Unknown n alone.
func (n *node) reach(budget int, goal func(*node) bool) (Verdict, []*node) {
	if goal(n) {
		return Yes, []*node{n}
	}
	cameFrom := map[*node]*node{n: nil}
	all := []*node{n}
	for level := all; len(level) > 0; {
		first := len(all)
		for _, from := range level {
			for _, to := range from.children() {
				if _, seen := cameFrom[to]; seen {
					continue
				}
				cameFrom[to] = from
				all = append(all, to)
				if goal(to) {
					return Yes, wayTo(to, cameFrom)
				}
			}
		}
		if level = all[first:]; len(all) > budget {
			return Unknown, []*node{n}
		}
	}
	return No, all
}

func wayTo(n *node, cameFrom map[*node]*node) []*node {
	var way []*node
	for ; n != nil; n = cameFrom[n] {
		way = append(way, n)
	}
	return way
}

func (n *node) children() []*node {
	e := n.exits()
	return append(e.below(Object), e.below(Array)...)
}

// A memo remembers a yes or no.
type memo struct{ value atomic.Uint32 }

func (m *memo) get() (answer, known bool) {
	v := m.value.Load()
	return v == 1, v != 0
}

func (m *memo) set(answer bool) {
	if answer {
		m.value.Store(1)
	} else {
		m.value.Store(2)
	}
}
