package footprint

import (
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

// Matrix is the index of all stages of the contract, in their order, made when it
// is first asked for.
func (m *Model) Matrix() *Index {
	if m.matrix == nil {
		m.matrix = NewIndex(m)
		for i := range m.Contract.Stages {
			m.matrix.Add(&m.Contract.Stages[i])
		}
	}
	return m.matrix
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
