package witness

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// crowd varies how many entries a container has: up to three more, or so many
// that a number of the rules is reached.
func (s *scene) crowd(w region.Word) point {
	out := point{same}
	for _, n := range slices.Concat([]int{1, 2, 3}, s.hints.sizes(maxCrowd)) {
		out = append(out, func(state any) any { return s.add(state, w, n) })
	}
	return out
}

const maxCrowd = 64

// add adds n entries to the container at w, which differ where they can.
func (s *scene) add(state any, w region.Word, n int) any {
	at, _ := get(state, w)
	var elements []any
	for _, id := range s.at(w) {
		switch t := s.contract.Type(id); {
		case t.Elem != ir.NoType:
			elements = append(elements, s.values(t.Elem)...)
		case t.Kind == ir.AnyType:
			elements = append(elements, s.values(id)...)
		}
	}
	if len(elements) == 0 {
		return state
	}
	switch at := at.(type) {
	case object:
		taken := slices.Concat(keysOf(at), s.taken())
		for i := range n {
			key := s.newKey(w, taken)
			taken = append(taken, key)
			at[key] = s.named(longer(w, region.Key(key)), copyOf(elements[i%len(elements)]))
		}
	case []any:
		for i := range n {
			at = append(at, copyOf(elements[(len(at)+i)%len(elements)]))
		}
		return set(state, w, at)
	}
	return state
}
