package region

import (
	"encoding/binary"
	"math/bits"
)

// The automaton of a set (spec/semantics.md section 8.1).
//
// Every union of patterns becomes a trie over segments. Read as a
// nondeterministic automaton, one letter may follow several edges of a node: the
// literal, the wildcard, the parameter. An AnyDepth is a child reached without a
// letter that steps to itself on every letter. Because wildcards, typed and
// untyped literals are children of their own, no two kinds of edge clash.
//
// The subset reached by a word answers everything, kept small by three rewrites
// (clause.normalise). Patterns are closed, so a union that accepts accepts for good:
// its states give way to the one state "accepted". An exception that accepts
// kills its clause for good, and so does a required union with no state left.
// Every trie node reaches acceptance, so "no state left" is exactly "dead".
//
// Shallow patterns are not closed. One without AnyDepth is matched by words of
// one length only, so its node simply counts while it is in the subset. One with
// AnyDepth counts at the first match on the way down (section 3.2); it gets a
// trie of its own whose states give way to "matched", which no letter leaves.

// A clause is a grant after compilation: the intersection of unions, minus one
// union. Grants have one required union; IntersectSets makes more.
type clause struct {
	require []union
	except  union
	states  span
}

// A union is a trie, or none if states is empty.
type union struct {
	states   span
	accepted int // the state that stands for "accepted for good"
	root     int
	tries    []trie
}

// A trie is that of one shallow pattern with an AnyDepth: once accept is in the subset,
// matched stands for it.
type trie struct {
	states                span
	root, accept, matched int
}

// A state is one trie node.
type state struct {
	edges []edge
	depth int  // the child behind an AnyDepth, 0 for none
	stays bool // steps to itself on every letter
}

type edge struct {
	on Segment
	to int
}

// An automaton is all clauses of a set over one numbering of states. State 0 is
// no state.
type automaton struct {
	states  []state
	accepts bitset // trie nodes that end a closed pattern
	shallow bitset // states that count while they are in the subset
	clauses []clause
	of      []int32 // by state, its clause; -1 for state 0
}

// A builder makes an automaton.
type builder struct {
	states           []state
	children         map[childKey]int
	accepts, shallow []int
}

func (b *builder) state() int {
	b.states = append(b.states, state{})
	return len(b.states) - 1
}

type childKey struct {
	node int
	on   Segment
}

// build makes the automaton of clauses given as pattern lists.
func build(sources []source) *automaton {
	b := &builder{children: map[childKey]int{}}
	b.state()
	a := &automaton{of: []int32{-1}}
	for i, s := range sources {
		a.clauses = append(a.clauses, b.clause(s))
		for len(a.of) < len(b.states) {
			a.of = append(a.of, int32(i))
		}
	}
	a.states = b.states
	a.accepts, a.shallow = b.bits(b.accepts), b.bits(b.shallow)
	return a
}

func (b *builder) bits(states []int) bitset {
	set := newBitset(len(b.states))
	for _, s := range states {
		set.add(s)
	}
	return set
}

func (b *builder) clause(s source) clause {
	c := clause{states: span{lo: len(b.states)}}
	for _, ps := range s.require {
		c.require = append(c.require, b.union(ps))
	}
	c.except = b.union(s.except)
	c.states.hi = len(b.states)
	return c
}

func (b *builder) union(ps []Pattern) union {
	u := union{states: span{lo: len(b.states)}}
	if len(ps) > 0 {
		u.accepted = b.state()
		b.states[u.accepted].stays = true
		u.root = b.state()
		for _, p := range ps {
			if !p.isMinimal() {
				b.end(b.insert(u.root, p.Segments), p.Shallow)
			}
		}
		for _, p := range ps {
			if p.isMinimal() {
				u.tries = append(u.tries, b.trie(p))
			}
		}
	}
	u.states.hi = len(b.states)
	return u
}

func (b *builder) end(node int, shallow bool) {
	if shallow {
		b.shallow = append(b.shallow, node)
	} else {
		b.accepts = append(b.accepts, node)
	}
}

func (b *builder) trie(p Pattern) trie {
	t := trie{states: span{lo: len(b.states)}, root: b.state(), matched: b.state()}
	t.accept = b.insert(t.root, p.Segments)
	b.end(t.matched, true)
	t.states.hi = len(b.states)
	return t
}

// insert adds the path of segments below node and returns its end.
func (b *builder) insert(node int, segments []Segment) int {
	for _, s := range normal(segments) {
		if s.Kind == AnyDepth {
			node = b.loop(node)
		} else {
			node = b.child(node, s)
		}
	}
	return node
}

func (b *builder) loop(node int) int {
	if b.states[node].depth == 0 {
		n := b.state()
		b.states[n].stays = true
		b.states[node].depth = n
	}
	return b.states[node].depth
}

func (b *builder) child(node int, on Segment) int {
	key := childKey{node, on}
	if n, ok := b.children[key]; ok {
		return n
	}
	n := b.state()
	b.children[key] = n
	b.states[node].edges = append(b.states[node].edges, edge{on, n})
	return n
}

// enter adds state s and what is reached from it without a letter.
func (a *automaton) enter(set bitset, s int) {
	set.add(s)
	if d := a.states[s].depth; d != 0 {
		set.add(d)
	}
}

// start is the subset reached by the empty word.
func (a *automaton) start() bitset {
	set := newBitset(len(a.states))
	for _, c := range a.clauses {
		for _, u := range append(c.require[:len(c.require):len(c.require)], c.except) {
			if u.states.lo < u.states.hi {
				a.enter(set, u.root)
			}
			for _, t := range u.tries {
				a.enter(set, t.root)
			}
		}
	}
	return set
}

// An outcome is what a subset says about the word that reached it, and about all
// words below.
type outcome uint8

const (
	undecided outcome = iota // look at the subset
	nothing                  // no word at or below is in the set
	interior                 // one clause holds every word at and below
)

// normalise rewrites set to its smallest equal (see the head of this file) and
// tells what is certain about it.
func (a *automaton) normalise(set bitset) outcome {
	out := nothing
	a.eachClause(set, func(c *clause) (stop bool) {
		switch c.normalise(a, set) {
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

func (c *clause) normalise(a *automaton, set bitset) outcome {
	if !set.anyIn(c.states) {
		return nothing
	}
	whole := true
	for i := range c.require {
		u := &c.require[i]
		u.normalise(a, set)
		if !set.anyIn(u.states) {
			set.clear(c.states)
			return nothing
		}
		whole = whole && set.has(u.accepted)
	}
	c.except.normalise(a, set)
	switch {
	case c.except.accepted != 0 && set.has(c.except.accepted):
		set.clear(c.states)
		return nothing
	case whole && !set.anyIn(c.except.states):
		return interior
	}
	return undecided
}

func (u *union) normalise(a *automaton, set bitset) {
	for _, t := range u.tries {
		if set.has(t.accept) {
			set.clear(t.states)
			set.add(t.matched)
		}
	}
	if u.accepted != 0 && (set.has(u.accepted) || set.meetsIn(a.accepts, u.states)) {
		set.clear(u.states)
		set.add(u.accepted)
	}
}

// holds reports whether the word that reached the normalised subset is in the union.
func (u *union) holds(a *automaton, set bitset) bool {
	return u.accepted != 0 && (set.has(u.accepted) || set.meetsIn(a.shallow, u.states))
}

// contains reports whether the word that reached the normalised subset is in the set.
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

// A bitset is a set of automaton states; its length is fixed at creation.
type bitset []uint64

func newBitset(states int) bitset { return make(bitset, (states+63)/64) }

func (b bitset) add(i int) { b[i/64] |= 1 << (i % 64) }

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// A span is the states from lo up to and without hi.
type span struct{ lo, hi int }

// mask gives the bits of word w of a bitset that lie in s.
func (s span) mask(w int) uint64 {
	m := ^uint64(0)
	if s.lo > w*64 {
		m <<= s.lo - w*64
	}
	if s.hi < (w+1)*64 {
		m &= 1<<(s.hi-w*64) - 1
	}
	return m
}

// anyIn reports whether b has a state of s.
func (b bitset) anyIn(s span) bool {
	for w := s.lo / 64; w*64 < s.hi; w++ {
		if b[w]&s.mask(w) != 0 {
			return true
		}
	}
	return false
}

// meetsIn reports whether b and c share a state of s.
func (b bitset) meetsIn(c bitset, s span) bool {
	for w := s.lo / 64; w*64 < s.hi; w++ {
		if b[w]&c[w]&s.mask(w) != 0 {
			return true
		}
	}
	return false
}

// clear removes the states of s.
func (b bitset) clear(s span) {
	for w := s.lo / 64; w*64 < s.hi; w++ {
		b[w] &^= s.mask(w)
	}
}

// each calls f for every state in ascending order.
func (b bitset) each(f func(state int)) {
	for w, word := range b {
		for word != 0 {
			f(w*64 + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
}

// next is the first state from i on, -1 if there is none.
func (b bitset) next(i int) int {
	if i >= len(b)*64 {
		return -1
	}
	w := i / 64
	if word := b[w] >> (i % 64); word != 0 {
		return i + bits.TrailingZeros64(word)
	}
	for w++; w < len(b); w++ {
		if b[w] != 0 {
			return w*64 + bits.TrailingZeros64(b[w])
		}
	}
	return -1
}

// A subset lists states in ascending order, four bytes each. Subsets are small nearly
// everywhere, and there may be as many as there are states.
type subset string

// appendSubset appends the subset of the states of b to a buffer.
func (b bitset) appendSubset(buffer []byte) []byte {
	b.each(func(state int) { buffer = binary.LittleEndian.AppendUint32(buffer, uint32(state)) })
	return buffer
}

// each calls f for every state in ascending order.
func (s subset) each(f func(state int)) {
	for i := 0; i < len(s); i += 4 {
		f(int(uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24))
	}
}
