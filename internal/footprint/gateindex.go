package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

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
