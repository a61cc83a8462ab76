package region

import (
	"sync"
	"sync/atomic"
)

// A machine is the deterministic reading of a set's automaton under one grouping
// of its parameters. Its nodes are the settled subsets; they are made when a
// walk or a search first reaches them.
type machine struct {
	nfa      *automaton
	groups   map[string]group // by parameter
	anyFresh bool             // a fresh segment matches every owner's letter

	top, bottom, root *node

	mu    sync.Mutex
	nodes map[subset]*node
	count atomic.Int64
}

// A node is a settled subset: what a word has led to.
type node struct {
	machine *machine
	set     subset // empty for top and bottom
	in      bool
	out     atomic.Pointer[exits]
	live    memo
	whole   memo
	fixed   memo
	holds   [2]memo // by Container
}

// exits are the steps out of a node: letters that lead somewhere of their own, in
// the order of compareLetters, and where all other letters of each kind lead.
type exits struct {
	letters []Letter
	to      []*node
	places  map[Letter]int // in letters; nil while they are few
	other   [4]*node       // by LetterKind
	closed  bool           // all other letters lead to bottom
}

// valueLetter stands, inside a machine, for the keys that parameters are bound
// to: Letter.Index is the group's number.
const valueLetter LetterKind = 4

// fewLetters is up to how many letters are looked through one by one.
const fewLetters = 8

func newMachine(s *Set, groups []group, anyFresh bool) *machine {
	m := &machine{nfa: s.nfa, groups: map[string]group{}, anyFresh: anyFresh, nodes: map[subset]*node{}}
	for i, g := range groups {
		m.groups[s.params[i]] = g
	}
	m.top, m.bottom = m.constant(true), m.constant(false)
	m.root = m.node(m.nfa.start())
	return m
}

// constant makes a node that every letter leads back to.
func (m *machine) constant(in bool) *node {
	n := &node{machine: m, in: in}
	n.out.Store(&exits{other: [4]*node{n, n, n, n}})
	return n
}

// size is the number of nodes made so far.
func (m *machine) size() int { return int(m.count.Load()) }

// node returns the node of set, which it settles in place.
// The caller holds m.mu, except while m is being made.
func (m *machine) node(set bitset) *node {
	switch m.nfa.settle(set) {
	case interior:
		return m.top
	case nothing:
		return m.bottom
	}
	var buffer [128]byte
	key := set.appendSubset(buffer[:0])
	if n := m.nodes[subset(key)]; n != nil {
		return n
	}
	n := &node{machine: m, set: subset(key), in: m.nfa.contains(set)}
	m.nodes[n.set] = n
	m.count.Add(1)
	return n
}

// exits returns the steps out of n.
func (n *node) exits() *exits {
	if e := n.out.Load(); e != nil {
		return e
	}
	n.machine.mu.Lock()
	defer n.machine.mu.Unlock()
	if e := n.out.Load(); e != nil {
		return e
	}
	e := n.machine.expand(n.set)
	n.out.Store(e)
	return e
}

// expand computes the steps out of a subset.
func (m *machine) expand(set subset) *exits {
	f := newFan(m)
	set.each(f.leave)
	e := &exits{}
	f.eachLetter(func(l Letter, set bitset) {
		e.letters = append(e.letters, l)
		e.to = append(e.to, m.node(set))
	})
	key, index, fresh := m.node(f.anyKey), m.node(f.anyIndex), m.node(f.anyFresh)
	e.other = [4]*node{KeyLetter: key, IndexLetter: index, ParamLetter: key, FreshLetter: fresh}
	e.closed = key == m.bottom && index == m.bottom && fresh == m.bottom
	if len(e.letters) > fewLetters {
		e.places = make(map[Letter]int, len(e.letters))
		for i, l := range e.letters {
			e.places[l] = i
		}
	}
	return e
}

// find returns where l leads if it is one of e.letters, else nil.
func (e *exits) find(l Letter) *node {
	if e.places != nil {
		if i, ok := e.places[l]; ok {
			return e.to[i]
		}
		return nil
	}
	for i := range e.letters {
		if e.letters[i] == l {
			return e.to[i]
		}
	}
	return nil
}

// step returns where l leads.
func (e *exits) step(l Letter) *node {
	if n := e.find(l); n != nil {
		return n
	}
	return e.other[l.Kind]
}

// below lists where the letters of a container of the given kind lead, in a fixed
// order; a node may occur more than once. A fresh key is a position of an array.
func (e *exits) below(kind Container) []*node {
	isArray := kind == Array
	out := []*node{e.other[KeyLetter]}
	if isArray {
		out[0] = e.other[IndexLetter]
	}
	for i, l := range e.letters {
		if isArray == (l.Kind == IndexLetter || l.Kind == FreshLetter) {
			out = append(out, e.to[i])
		}
	}
	return out
}
