package region

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// The subset construction, as far as it is needed. A node is a subset of the
// automaton's states in its smallest form, and the steps out of it are found when a
// walk or a search first leaves it. All letters that no pattern names at a node lead to
// the same place, so a node has steps for the letters that are named, and one more for
// each kind of letter. What is found is kept for the life of the machine: nodes are
// equal iff they are the same pointer, and everything about a node is asked once.

// A machine is the deterministic reading of a set's automaton under one grouping
// of its parameters. Its nodes are the normalised subsets; they are made when a
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

// A node is a normalised subset: what a word has led to.
type node struct {
	machine            *machine
	set                subset // empty for top and bottom
	in                 bool
	out                atomic.Pointer[exits]
	reachable          memo
	universal          memo
	bindingIndependent memo
	holds              [2]memo // by Container
	derived            atomic.Pointer[any]
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

// node returns the node of set, which it normalises in place.
// The caller holds m.mu, except while m is being made.
func (m *machine) node(set bitset) *node {
	switch m.nfa.normalise(set) {
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
	t := newTransitions(m)
	set.each(t.leave)
	e := &exits{}
	t.eachLetter(func(l Letter, set bitset) {
		e.letters = append(e.letters, l)
		e.to = append(e.to, m.node(set))
	})
	key, index, fresh := m.node(t.anyKey), m.node(t.anyIndex), m.node(t.anyFresh)
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

// transitions are where the states of one subset lead: all letters of a kind
// through wildcards, and single letters in addition to that.
type transitions struct {
	machine                    *machine
	anyKey, anyIndex, anyFresh bitset
	steps                      []step
}

// A step leads along one letter to one state.
type step struct {
	on Letter
	to int
}

func newTransitions(m *machine) *transitions {
	size := len(m.nfa.states)
	return &transitions{machine: m, anyKey: newBitset(size), anyIndex: newBitset(size), anyFresh: newBitset(size)}
}

// leave adds the steps out of state s.
func (t *transitions) leave(s int) {
	from := &t.machine.nfa.states[s]
	if from.stays {
		t.enter(s, t.anyKey, t.anyIndex, t.anyFresh)
	}
	for _, e := range from.edges {
		t.follow(e)
	}
}

func (t *transitions) enter(to int, sets ...bitset) {
	for _, set := range sets {
		t.machine.nfa.enter(set, to)
	}
}

func (t *transitions) follow(e edge) {
	switch e.on.Kind {
	case Literal:
		t.add(Key(e.on.Text), e.to)
		if i, ok := asIndex(e.on.Text); ok {
			t.add(Index(i), e.to)
		}
	case KeyLiteral:
		t.add(Key(e.on.Text), e.to)
	case IndexLiteral:
		t.add(Index(e.on.Index), e.to)
	case AnySegment:
		t.enter(e.to, t.anyKey, t.anyIndex, t.anyFresh)
	case AnyKey:
		t.enter(e.to, t.anyKey, t.anyFresh)
	case AnyIndex:
		t.enter(e.to, t.anyIndex, t.anyFresh)
	case ParamSegment:
		t.add(t.machine.groups[e.on.Text].letter(e.on.Text), e.to)
	case FreshSegment:
		t.add(t.machine.freshLetter(e.on.Text), e.to)
	}
}

func (t *transitions) add(on Letter, to int) { t.steps = append(t.steps, step{on, to}) }

// letter is what a parameter in group g matches.
func (g group) letter(param string) Letter {
	switch {
	case !g.bound:
		return Param(param)
	case g.literal:
		return Key(g.name)
	default:
		return Letter{Kind: valueLetter, Index: g.number}
	}
}

// freshLetter is what owner's fresh segments match: without owners, any fresh key.
func (m *machine) freshLetter(owner string) Letter {
	if m.anyFresh {
		owner = ""
	}
	return Fresh(owner)
}

// eachLetter calls visit for every letter that has a step of its own, in the
// order of compareLetters, with the subset it leads to. The subset is visit's to
// change, but not to keep.
func (t *transitions) eachLetter(visit func(l Letter, set bitset)) {
	slices.SortFunc(t.steps, func(a, b step) int { return compareLetters(a.on, b.on) })
	scratch := newBitset(len(t.machine.nfa.states))
	for i := 0; i < len(t.steps); {
		l := t.steps[i].on
		copy(scratch, t.base(l.Kind))
		for ; i < len(t.steps) && t.steps[i].on == l; i++ {
			t.enter(t.steps[i].to, scratch)
		}
		visit(l, scratch)
	}
}

func (t *transitions) base(k LetterKind) bitset {
	switch k {
	case IndexLetter:
		return t.anyIndex
	case FreshLetter:
		return t.anyFresh
	default:
		return t.anyKey
	}
}

// compareLetters orders keys before parameters, fresh keys and indices, so that
// the most readable witness comes first.
func compareLetters(a, b Letter) int {
	return cmp.Or(cmp.Compare(letterRank(a.Kind), letterRank(b.Kind)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
}

func letterRank(k LetterKind) int {
	return [...]int{KeyLetter: 0, valueLetter: 1, ParamLetter: 2, FreshLetter: 3, IndexLetter: 4}[k]
}
