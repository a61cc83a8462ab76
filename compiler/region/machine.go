package region

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A machine is the deterministic reading of a set's automaton under one grouping
// of its parameters. Its nodes are the settled subsets; they are made when a
// walk or a search first reaches them.
type machine struct {
	nfa      *automaton
	groups   map[string]group // by parameter
	values   int              // groups that are no literals
	anyFresh bool             // a fresh segment matches every owner's letter

	top, bottom, root *node

	mu    sync.Mutex
	nodes map[string]*node
	count atomic.Int64
}

// A node is a settled subset: what a word has led to.
type node struct {
	machine *machine
	set     bitset // nil for top and bottom
	in      bool
	out     atomic.Pointer[exits]
	live    memo
	whole   memo
	holds   [2]memo // by Container
}

// exits are the steps out of a node. A letter that is not listed leads where the
// wildcards lead: otherKey, otherIndex or otherFresh.
type exits struct {
	keys    map[string]*node
	values  []*node // by group number
	indices map[int]*node
	params  map[string]*node // unbound parameters
	fresh   map[string]*node // by owner

	otherKey, otherIndex, otherFresh *node

	letters []Letter   // the listed keys, parameters, fresh keys and indices, in this order
	below   [2][]*node // by Container: where its letters lead, each node once
}

func newMachine(s *Set, groups []group, anyFresh bool) *machine {
	m := &machine{nfa: s.nfa, groups: map[string]group{}, anyFresh: anyFresh, nodes: map[string]*node{}}
	for i, g := range groups {
		m.groups[s.params[i]] = g
		if g.bound && !g.literal {
			m.values = max(m.values, g.number+1)
		}
	}
	m.top, m.bottom = m.constant(true), m.constant(false)
	m.root = m.node(m.nfa.start())
	return m
}

// constant makes a node that every letter leads back to.
func (m *machine) constant(in bool) *node {
	n := &node{machine: m, in: in}
	e := &exits{otherKey: n, otherIndex: n, otherFresh: n}
	e.values = slices.Repeat([]*node{n}, m.values)
	e.below = [2][]*node{{n}, {n}}
	n.out.Store(e)
	return n
}

// size is the number of nodes made so far.
func (m *machine) size() int { return int(m.count.Load()) }

// node returns the node of set, which it settles and takes over. The caller
// holds m.mu, except while m is being made.
func (m *machine) node(set bitset) *node {
	switch m.nfa.settle(set) {
	case interior:
		return m.top
	case nothing:
		return m.bottom
	}
	var buffer [128]byte
	key := set.appendKey(buffer[:0])
	if n := m.nodes[string(key)]; n != nil {
		return n
	}
	n := &node{machine: m, set: set, in: m.nfa.contains(set)}
	m.nodes[string(key)] = n
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
func (m *machine) expand(set bitset) *exits {
	f := newFan(m)
	set.each(f.leave)
	e := &exits{
		otherKey:   m.node(f.anyKey.clone()),
		otherIndex: m.node(f.anyIndex.clone()),
		otherFresh: m.node(f.otherFresh()),
		values:     make([]*node, m.values),
		keys:       targets(m, f.anyKey, f.keys),
		indices:    targets(m, f.anyIndex, f.indices),
		params:     targets(m, f.anyKey, f.params),
		fresh:      targets(m, f.anyFresh, f.fresh),
	}
	for i, extra := range f.values {
		if e.values[i] = e.otherKey; extra != nil {
			e.values[i] = m.node(f.anyKey.with(extra))
		}
	}
	e.list()
	return e
}

func targets[K comparable](m *machine, base bitset, extra map[K]bitset) map[K]*node {
	if len(extra) == 0 {
		return nil
	}
	out := make(map[K]*node, len(extra))
	for k, set := range extra {
		out[k] = m.node(base.with(set))
	}
	return out
}

// list fills letters and below, in an order that does not depend on maps.
func (e *exits) list() {
	object, array := newNodeList(e.otherKey), newNodeList(e.otherIndex)
	for _, name := range slices.Sorted(maps.Keys(e.keys)) {
		e.letters = append(e.letters, Key(name))
		object.add(e.keys[name])
	}
	for _, n := range e.values {
		object.add(n)
	}
	for _, name := range slices.Sorted(maps.Keys(e.params)) {
		e.letters = append(e.letters, Param(name))
		object.add(e.params[name])
	}
	for _, owner := range slices.Sorted(maps.Keys(e.fresh)) {
		e.letters = append(e.letters, Fresh(owner))
		array.add(e.fresh[owner])
	}
	for _, i := range slices.Sorted(maps.Keys(e.indices)) {
		e.letters = append(e.letters, Index(i))
		array.add(e.indices[i])
	}
	e.below = [2][]*node{Object: object.nodes, Array: array.nodes}
}

// A nodeList holds each node once, in order of arrival.
type nodeList struct {
	nodes []*node
	seen  map[*node]bool
}

func newNodeList(first *node) *nodeList {
	return &nodeList{nodes: []*node{first}, seen: map[*node]bool{first: true}}
}

func (l *nodeList) add(n *node) {
	if !l.seen[n] {
		l.seen[n] = true
		l.nodes = append(l.nodes, n)
	}
}
