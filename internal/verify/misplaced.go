package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What a stage may write is compared with what it sees, and with what others touch,
// over the places that a state can have (spec/semantics.md section 8.2). An operation
// may lead elsewhere, if only for a moment: a member that no type has, added and removed
// again, leaves the state as it was, but tells that its parent is there. So every
// target must be a place of the type, unless it is inside of what the patch itself put
// there before, of which nothing is told that the actor did not write.

// misplaced finds targets that are no place of the type.
func (t *touched) misplaced() {
	for i := range t.v.effects {
		for _, w := range t.v.effects[i].Targets {
			if end := t.v.p.leaves(t.v.p.contract.State, w); end < len(w) && !t.v.wroteBefore(i, w) {
				t.once(t.v.p.notOfType(w[:end+1]))
			}
		}
	}
}

// wroteBefore reports whether an operation before the i-th wrote w or a place above it.
func (v *verification) wroteBefore(i int, w region.Word) bool {
	for _, e := range v.effects[:i] {
		for _, t := range e.Targets {
			if w.HasPrefix(t) {
				return true
			}
		}
	}
	return false
}

// leaves is how many letters of w lead from a value of a type to places that some value
// of the type has.
func (p *Program) leaves(id ir.TypeID, w region.Word) int {
	t := &p.contract.Types[id]
	if len(w) == 0 || t.Kind == ir.AnyType {
		return len(w)
	}
	if t.Kind == ir.UnionType {
		most := 0
		for _, alternative := range t.Alternatives {
			most = max(most, p.leaves(alternative, w))
		}
		return most
	}
	if below := p.typeBelow(t, w[0]); below != ir.NoType {
		return 1 + p.leaves(below, w[1:])
	}
	return 0
}

// typeBelow is where a letter leads from a value of a type without alternatives, NoType
// if nowhere.
func (p *Program) typeBelow(t *ir.Type, l region.Letter) ir.TypeID {
	isKey := l.Kind == region.KeyLetter
	switch form := formOfKind(t.Kind); {
	case t.Kind == ir.RecordType && isKey:
		if m, declared := t.Member(l.Name); declared {
			return m.Type
		}
		return t.Rest
	case form == objectForm && isKey, form != objectForm && form != scalarForm && !isKey:
		return t.Elem
	}
	return ir.NoType
}

// notOfType is the finding about a place that the type does not have.
func (p *Program) notOfType(w region.Word) finding {
	id := p.contract.State
	for _, l := range w[:len(w)-1] {
		id = p.below(id, l.Name)
	}
	if t := &p.contract.Types[id]; t.Kind == ir.RecordType && w[len(w)-1].Kind == region.KeyLetter {
		return p.unknownMember(t, p.types[id].text, w[len(w)-1].Name, w)
	}
	return say.noSuchPlace().about(w)
}
