package footprint

import (
	"iter"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
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
	effects []sides
	writes  trie // by what a stage writes
	parts   trie // by what else it touches
	gates   trie // by what a gate reads; its numbers are gates

	rows    []members          // by stage, those it may not commute with
	touched map[int]members    // by gate, the stages that touch it
	phases  map[string]members // by phase, its stages
	moving  members            // the stages that move the phase
	decided map[cell][]Conflict
}

// sides are the effects of a stage on either side of a pair.
type sides struct{ a, b Effect }

type cell struct{ a, b int }

// NewIndex makes an index of no stages. The contract's state gates and types must
// be complete.
func NewIndex(m *Model) *Index {
	x := &Index{model: m, touched: map[int]members{}, phases: map[string]members{}, decided: map[cell][]Conflict{}}
	for i, g := range m.gates() {
		for _, p := range g.Family() {
			x.gates.file(anyMember(g, p), i)
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

// anyMember replaces the family's keys by "any key", which meets literals too. Those
// that stand for positions of sets and logs meet nothing but each other.
func anyMember(g Gate, p region.Pattern) region.Pattern {
	keys := map[string]bool{ir.FamilyParam(0): true}
	n := 0
	for _, s := range g.Over.Segments {
		if isWildcard(s) {
			n++
			keys[ir.FamilyParam(n)] = s.Kind == region.AnyKey
		}
	}
	out := region.Pattern{Shallow: p.Shallow}
	for _, s := range p.Segments {
		if s.Kind == region.ParamSegment && keys[s.Text] {
			s = region.Segment{Kind: region.AnyKey}
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}

// Len is the number of stages.
func (x *Index) Len() int { return len(x.effects) }

// Stage is the i-th stage that was added.
func (x *Index) Stage(i int) *ir.Stage { return x.effects[i].a.Stage }

// Add adds a stage, which gets the next number, and lists in ascending order the
// stages it may not commute with: earlier ones, and itself if two instances of it
// may not. It costs what the stage's patterns meet in the tries, whatever the number
// of stages that do not.
func (x *Index) Add(s *ir.Stage) []int {
	i := len(x.effects)
	e := sides{x.model.Effect(s, OwnerA), x.model.Effect(s, OwnerB)}
	x.effects = append(x.effects, e)
	row := members{}
	x.file(e, i)
	x.lookUp(e, &row)
	x.shareGates(e, i, &row)
	x.meetInPhases(s, i, &row)
	x.rows = append(x.rows, row)
	var found []int
	row.each(func(j int) {
		found = append(found, j)
		x.rows[j].add(i)
	})
	return found
}

// file notes a stage as the side B of pairs to come, and of the pair with itself.
func (x *Index) file(e sides, i int) {
	for p := range writes(e.b) {
		x.writes.file(p, i)
	}
	for p := range parts(e.b) {
		x.parts.file(p, i)
	}
}

// lookUp finds the stages that e meets as side A.
func (x *Index) lookUp(e sides, row *members) {
	for p := range writes(e.a) {
		x.writes.find(p, row)
		x.parts.find(p, row)
	}
	for p := range parts(e.a) {
		x.writes.find(p, row)
	}
}

// writes are the patterns that an effect may write below. A shallow one has no
// interior.
func writes(e Effect) iter.Seq[region.Pattern] {
	return func(yield func(region.Pattern) bool) {
		for p := range includes(e.Write) {
			if !p.Shallow && !yield(p) {
				return
			}
		}
	}
}

// parts are the patterns of an effect that must not meet what others write. What is
// read is part of Source.
func parts(e Effect) iter.Seq[region.Pattern] {
	return func(yield func(region.Pattern) bool) {
		for _, r := range []region.Region{e.Source, e.Local} {
			for p := range includes(r) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func includes(r region.Region) iter.Seq[region.Pattern] {
	return func(yield func(region.Pattern) bool) {
		for _, g := range r {
			for _, p := range g.Include {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// shareGates finds the stages that touch a gate which e touches.
func (x *Index) shareGates(e sides, i int, row *members) {
	var touches members
	for p := range writes(e.a) {
		x.gates.find(p, &touches)
	}
	touches.each(func(g int) {
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
		c = x.model.commutation(x.effects[i].a, x.effects[j].b)
		x.decided[cell{i, j}] = c
	}
	return c
}
