package footprint

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An Index answers which of many stages may not commute, without comparing each
// with each other (spec/semantics.md section 8.5).
//
// What stages write is filed in one trie, what they read, take from or depend on in
// another; a stage that is added is looked up in both. Gates are filed in a third
// by what they read; two stages that touch a gate in common may not commute. All
// this goes by the include patterns alone, so what it flags is a conflict unless an
// exception, the state's type or a family's key says otherwise, and what it does
// not flag commutes. Conflicts decides a flagged pair exactly, once asked for it.
//
// An Index is not safe for concurrent use.
type Index struct {
	model   *Model
	stages  []*ir.Stage
	letters alphabet
	writes  trie // by what a stage writes
	parts   trie // by what else it touches
	gates   trie // by what a gate reads; its numbers are gates

	rows    []members          // by stage, those it may not commute with
	touched map[int]members    // by gate, the stages that touch it
	phases  map[string]members // by phase, its stages
	moving  members            // the stages that move the phase

	effects map[owned]Effect    // as far as asked for
	decided map[cell][]Conflict // likewise
}

type owned struct {
	stage int
	owner string
}

type cell struct{ a, b int }

// NewIndex makes an index of no stages. The contract's state gates and types must
// be complete.
func NewIndex(m *Model) *Index {
	x := &Index{
		model: m, touched: map[int]members{}, phases: map[string]members{},
		effects: map[owned]Effect{}, decided: map[cell][]Conflict{},
	}
	x.letters.numbers = map[region.Segment]symbol{}
	for _, t := range []*trie{&x.writes, &x.parts, &x.gates} {
		t.alphabet = &x.letters
	}
	for i, g := range m.gates() {
		for _, p := range g.Family() {
			x.gates.file(x.letters.path(anyMember(g, p)), i)
		}
	}
	return x
}

// anyMember replaces the family's keys by "any key", which meets literals too, and
// those that stand for entries of logs by "any position", which meets new entries.
func anyMember(g Gate, p region.Pattern) region.Pattern {
	entries := g.entryKeys()
	out := region.Pattern{Shallow: p.Shallow}
	for _, s := range p.Segments {
		switch {
		case s.Kind != region.ParamSegment || !isFamily(s.Text):
		case slices.Contains(entries, s.Text):
			s = region.Segment{Kind: region.AnyIndex}
		default:
			s = region.Segment{Kind: region.AnyKey}
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}

// Len is the number of stages.
func (x *Index) Len() int { return len(x.stages) }

// Stage is the i-th stage that was added.
func (x *Index) Stage(i int) *ir.Stage { return x.stages[i] }

// Add adds a stage, which gets the next number, and lists in ascending order the
// stages it may not commute with: earlier ones, and itself if two instances of it
// may not. It costs what the stage's patterns meet in the tries, whatever the number
// of stages that do not.
func (x *Index) Add(s *ir.Stage) []int {
	i := len(x.stages)
	x.stages = append(x.stages, s)
	x.letters.forget()
	row := newMembers(len(x.stages))
	writes := x.paths(x.model.elements(s.Write), x.model.elements(s.Blind))
	parts := x.paths(s.Source, s.Read, x.model.deciding(s.Read), x.model.local(s))
	writes = slices.DeleteFunc(writes, func(p path) bool { return p.shallow }) // it has no interior
	for _, p := range writes {
		x.writes.file(p, i)
	}
	for _, p := range parts {
		x.parts.file(p, i)
		x.writes.find(p, row)
	}
	gates := newMembers(len(x.model.gates()))
	for _, p := range writes {
		x.writes.find(p, row)
		x.parts.find(p, row)
		x.gates.find(p, gates)
	}
	x.shareGates(gates, i, &row)
	x.meetInPhases(s, i, &row)
	return x.enter(row, i)
}

func (x *Index) paths(regions ...region.Region) []path {
	out := make([]path, 0, 16)
	for _, r := range regions {
		for _, g := range r {
			for _, p := range g.Include {
				out = append(out, x.letters.path(p))
			}
		}
	}
	return out
}

// enter makes row that of stage i, and i a member of the rows it names.
func (x *Index) enter(row members, i int) []int {
	x.rows = append(x.rows, row)
	found := make([]int, 0, row.count())
	row.each(func(j int) {
		found = append(found, j)
		x.rows[j].add(i)
	})
	return found
}

// shareGates finds the stages that touch one of the gates that stage i touches.
func (x *Index) shareGates(gates members, i int, row *members) {
	gates.each(func(g int) {
		stages := x.touched[g]
		stages.add(i)
		x.touched[g] = stages
		row.join(stages)
	})
}

// meetInPhases leaves in row the stages that share a phase with s, and adds those
// that cannot commute with it because one of the two moves the phase.
func (x *Index) meetInPhases(s *ir.Stage, i int, row *members) {
	var together members
	for _, name := range s.In {
		phase := x.phases[name]
		phase.add(i)
		x.phases[name] = phase
		together.join(phase)
	}
	if len(s.Next) > 0 {
		x.moving.add(i)
		row.join(together)
	}
	row.joinBoth(x.moving, together)
	row.keep(together)
}

// Flagged reports whether stages i and j may not commute. False is certain. O(1).
func (x *Index) Flagged(i, j int) bool { return x.rows[i].has(j) }

// Row lists in ascending order the stages that stage i may not commute with.
func (x *Index) Row(i int) []int {
	var out []int
	x.rows[i].each(func(j int) { out = append(out, j) })
	return out
}

// Conflicts is what Model.Commutation says of stages i and j. The first time it is
// asked about a flagged pair it compares the two; an unflagged pair costs nothing.
// The result is shared by all callers.
func (x *Index) Conflicts(i, j int) []Conflict {
	if !x.Flagged(i, j) {
		return nil
	}
	c, known := x.decided[cell{i, j}]
	if !known {
		c = x.model.commutation(x.effect(i, OwnerA), x.effect(j, OwnerB))
		x.decided[cell{i, j}] = c
	}
	return c
}

func (x *Index) effect(i int, owner string) Effect {
	e, known := x.effects[owned{i, owner}]
	if !known {
		e = x.model.Effect(x.stages[i], owner)
		x.effects[owned{i, owner}] = e
	}
	return e
}

// A GateIndex finds the gates of a contract's state that a stage's commits may touch,
// without asking each: by the include patterns of what gates read and stages write, as
// an Index finds stages. It finds too much where an exception, a type or a key says
// otherwise, never too little.
//
// A GateIndex is not safe for concurrent use.
type GateIndex struct {
	model   *Model
	gates   []Gate
	letters alphabet
	reads   trie
	always  members // those that the tries do not tell of: what decides the kind of an array
	phased  members // those that a move may change
}

// NewGateIndex makes the index of some gates of the state.
func NewGateIndex(m *Model, gates []Gate) *GateIndex {
	x := &GateIndex{model: m, gates: gates, always: newMembers(len(gates)), phased: newMembers(len(gates))}
	x.letters.numbers = map[region.Segment]symbol{}
	x.reads.alphabet = &x.letters
	for i, g := range gates {
		for _, p := range slices.Concat(g.Family(), g.Reads, g.Removals) {
			x.reads.file(x.letters.path(anyMember(g, p)), i)
		}
		if len(g.contested) > 0 {
			x.always.add(i)
		}
		if g.Expr != nil && g.Expr.ReadsPhase {
			x.phased.add(i)
		}
	}
	x.letters.forget()
	return x
}

// Touched calls visit, in ascending order, with the numbers of the gates that commits of a
// stage may touch. It costs what the stage's patterns meet in the trie.
func (x *GateIndex) Touched(s *ir.Stage, visit func(i int)) {
	found := newMembers(len(x.gates))
	found.join(x.always)
	for _, r := range []region.Region{s.Write, s.Blind, x.model.elements(s.Write), x.model.elements(s.Blind)} {
		for _, p := range Includes(r) {
			x.reads.find(x.letters.path(p), found)
		}
	}
	x.letters.forget()
	if len(s.Next) > 0 {
		for _, i := range x.moved(s) {
			found.add(i)
		}
	}
	found.each(visit)
}

// moved lists the gates whose value a move of the stage can change.
func (x *GateIndex) moved(s *ir.Stage) (out []int) {
	x.phased.each(func(i int) {
		if x.gates[i].isMoved(s) {
			out = append(out, i)
		}
	})
	return out
}

// A trie files numbers under paths and finds those whose paths meet another one, for
// some values of the parameters on both sides. A path is a pattern up to its first
// AnyDepth, and that is all that matters unless a pattern has exceptions or is shallow
// (spec/semantics.md section 8.3); then a trie finds too much, never too little.
//
// A number is noted at the node where its path ends, "here", and at every node on the
// way, "below". A path meets those that end on its own way, since they cover it, and
// those that end below its own end, since it covers them.
type trie struct {
	alphabet *alphabet
	root     branch
	free     []branch // to take new nodes from
}

// A branch is a node of a trie. Its literals are looked up, the handful of other
// symbols are tried.
type branch struct {
	here, below filed
	literals    []symbol
	to          []*branch          // by position in literals
	named       map[symbol]*branch // the same by symbol, once there are many
	others      []limb
}

type limb struct {
	on symbol
	to *branch
}

// maxScanned is up to how many literals one is looked for without a map.
const maxScanned = 32

// file notes i under a path. Numbers must come in ascending order.
func (t *trie) file(p path, i int) {
	at := &t.root
	for _, s := range p.symbols {
		at.below.add(i)
		at = t.child(at, s)
	}
	if p.shallow {
		at.below.add(i) // nothing that goes on from here meets it
	} else {
		at.here.add(i)
	}
}

// child is where s leads from b, a new node if nowhere yet.
func (t *trie) child(b *branch, s symbol) *branch {
	literal := t.alphabet.isLiteral(s)
	if literal {
		if to := b.literal(s); to != nil {
			return to
		}
	} else {
		for _, l := range b.others {
			if l.on == s {
				return l.to
			}
		}
	}
	to := t.branch()
	if literal {
		b.name(s, to)
	} else {
		b.others = append(b.others, limb{s, to})
	}
	return to
}

func (t *trie) branch() *branch {
	if len(t.free) == 0 {
		t.free = make([]branch, 64)
	}
	b := &t.free[0]
	t.free = t.free[1:]
	return b
}

func (b *branch) name(s symbol, to *branch) {
	if b.literals == nil {
		b.literals, b.to = make([]symbol, 0, 4), make([]*branch, 0, 4)
	}
	b.literals, b.to = append(b.literals, s), append(b.to, to)
	switch {
	case b.named != nil:
		b.named[s] = to
	case len(b.literals) > maxScanned:
		b.named = make(map[symbol]*branch, 2*maxScanned)
		for i, l := range b.literals {
			b.named[l] = b.to[i]
		}
	}
}

// literal is where a literal leads, nil if nowhere.
func (b *branch) literal(s symbol) *branch {
	if b.named != nil {
		return b.named[s]
	}
	for i, l := range b.literals {
		if l == s {
			return b.to[i]
		}
	}
	return nil
}

// find adds to found, which must have room, what is filed under paths that p may
// meet. Two shallow paths are taken to miss each other.
func (t *trie) find(p path, found members) { t.findBelow(&t.root, p.symbols, p.shallow, found) }

func (t *trie) findBelow(b *branch, rest []symbol, shallow bool, found members) {
	b.here.addTo(found)
	if len(rest) == 0 {
		if !shallow {
			b.below.addTo(found)
		}
		return
	}
	s, rest := rest[0], rest[1:]
	if t.alphabet.isLiteral(s) {
		for _, l := range t.alphabet.alike[s] {
			if to := b.literal(l); to != nil {
				t.findBelow(to, rest, shallow, found)
			}
		}
	} else {
		for i, l := range b.literals {
			if t.alphabet.meet(s, l) {
				t.findBelow(b.to[i], rest, shallow, found)
			}
		}
	}
	for _, l := range b.others {
		if t.alphabet.meet(s, l.on) {
			t.findBelow(l.to, rest, shallow, found)
		}
	}
}

// An alphabet numbers the segments of an index, so that its tries compare numbers.
type alphabet struct {
	numbers  map[region.Segment]symbol
	segments []region.Segment
	alike    [][]symbol // by symbol of a literal, those that share a letter with it
	scratch  []symbol   // what paths are made from
}

// A symbol is the number of a segment.
type symbol int32

// A path is a pattern up to its first AnyDepth.
type path struct {
	symbols []symbol
	shallow bool // it stands for what it matches alone, not for what is below
}

// path numbers the segments of p. The parameters are all one, since any may be equal
// to another. The result is good until the next forget.
func (a *alphabet) path(p region.Pattern) path {
	out, start := path{shallow: p.Shallow}, len(a.scratch)
	for _, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			out.shallow = false
			break
		}
		if s.Kind == region.ParamSegment || s.Kind == region.FreshSegment {
			s.Text = ""
		}
		a.scratch = append(a.scratch, a.symbol(s))
	}
	out.symbols = a.scratch[start:len(a.scratch):len(a.scratch)]
	return out
}

// forget reuses the memory of all paths made so far.
func (a *alphabet) forget() { a.scratch = a.scratch[:0] }

func (a *alphabet) symbol(s region.Segment) symbol {
	n, known := a.numbers[s]
	if known {
		return n
	}
	n = symbol(len(a.segments))
	a.numbers[s] = n
	a.segments = append(a.segments, s)
	a.alike = append(a.alike, nil)
	if s.IsLiteral() {
		for _, l := range s.AppendAlike(nil) {
			if m, known := a.numbers[l]; known {
				a.note(n, m)
				if m != n {
					a.note(m, n)
				}
			}
		}
	}
	return n
}

func (a *alphabet) note(n, like symbol) { a.alike[n] = append(a.alike[n], like) }

// isLiteral reports whether the symbol is a literal's.
func (a *alphabet) isLiteral(n symbol) bool { return a.alike[n] != nil }

// meet reports whether two symbols may stand for one letter. Two fresh keys of
// different instances never do.
func (a *alphabet) meet(n, m symbol) bool {
	s := a.segments[n]
	return s.MayMeet(a.segments[m]) && (n != m || s.Kind != region.FreshSegment)
}

// members is a set of small numbers, those of stages or gates. It grows as needed.
type members []uint64

// newMembers is an empty set with room for numbers below n.
func newMembers(n int) members { return make(members, (n+63)/64) }

func (s *members) add(i int) {
	s.reach(i/64 + 1)
	(*s)[i/64] |= 1 << (i % 64)
}

// reach makes s at least words long.
func (s *members) reach(words int) {
	if n := words - len(*s); n > 0 {
		*s = append(*s, make(members, n)...)
	}
}

func (s members) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s members) has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// join adds the members of t.
func (s *members) join(t members) {
	s.reach(len(t))
	for i, word := range t {
		(*s)[i] |= word
	}
}

// joinBoth adds what t and u share.
func (s *members) joinBoth(t, u members) {
	n := min(len(t), len(u))
	s.reach(n)
	for i := range n {
		(*s)[i] |= t[i] & u[i]
	}
}

// keep drops what is not in t.
func (s members) keep(t members) {
	for i := range s {
		if i < len(t) {
			s[i] &= t[i]
		} else {
			s[i] = 0
		}
	}
}

// each calls f for every member in ascending order.
func (s members) each(f func(i int)) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// filed is a set that is filled in ascending order, and small nearly everywhere: a
// list while it is short, then a bitset.
type filed struct {
	few  []int32
	many members
}

// maxFew is up to how many members a list is kept.
const maxFew = 16

func (s *filed) add(i int) {
	switch {
	case s.many != nil:
		s.many.add(i)
	case len(s.few) > 0 && s.few[len(s.few)-1] == int32(i):
	case s.few == nil:
		s.few = append(make([]int32, 0, 4), int32(i))
	case len(s.few) < maxFew:
		s.few = append(s.few, int32(i))
	default:
		for _, j := range s.few {
			s.many.add(int(j))
		}
		s.many.add(i)
		s.few = nil
	}
}

// addTo adds the members of s to t, which must have room for them.
func (s *filed) addTo(t members) {
	for _, i := range s.few {
		t[i/64] |= 1 << (i % 64)
	}
	for i, word := range s.many {
		t[i] |= word
	}
}

// key is a text that only equal sets have.
func (s members) key() string {
	var out []byte
	for _, word := range s {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return string(out)
}
