package witness

import (
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A point is where states of a search differ. The first option changes nothing.
type point []func(state any) any

func same(state any) any { return state }

// presence lets the node at w be there or not.
func presence(w region.Word) point {
	return point{same, func(state any) any { return unset(state, w) }}
}

// points lists where a state may be varied as far as some patterns read it.
func (s *scene) points(reads []region.Pattern) []point {
	var out []point
	seen := map[string]bool{}
	for _, p := range reads {
		s.visit(nil, p.Segments, func(w region.Word) {
			if key := w.Pointer(); !seen[key] {
				seen[key] = true
				if pt := s.vary(w, p.Shallow); len(pt) > 1 {
					out = append(out, pt)
				}
				if _, array := s.shape.Kinds(s.at(w)); p.Shallow && array {
					out = append(out, s.crowd(w)) // its length is read
				}
			}
		}, func(w region.Word) {
			if key := w.Pointer() + "/*"; !seen[key] {
				seen[key] = true
				out = append(out, s.crowd(w))
			}
		})
	}
	return out[:min(len(out), maxPoints)]
}

// maxPoints bounds the places that are varied together, maxMatches the nodes that
// one wildcard stands for.
const (
	maxPoints  = 14
	maxMatches = 3
)

// vary varies the value at w, and whether it is there.
func (s *scene) vary(w region.Word, shallow bool) point {
	out := point{same}
	now, there := get(s.state, w)
	object, array := s.shape.Kinds(s.at(w))
	if !shallow || !object && !array {
		for _, v := range s.valuesAt(w) {
			if !there || !equal(v, now) {
				out = append(out, func(state any) any { return s.put(state, w, v) })
			}
		}
	}
	if there && s.mayLack(w) {
		out = append(out, func(state any) any { return unset(state, w) })
	}
	return out
}

// put writes a value at w if its parent is there.
func (s *scene) put(state any, w region.Word, v any) any {
	if len(w) > 0 {
		if _, there := get(state, w[:len(w)-1]); !there {
			return state
		}
	}
	return set(state, w, s.named(w, copyOf(v)))
}

// named makes an entry of a keyed list carry the key it stands under.
func (s *scene) named(w region.Word, v any) any {
	if n := len(w); n > 0 && w[n-1].Kind == region.KeyLetter {
		for _, id := range s.at(w[:n-1]) {
			v = s.keyed(s.contract.Type(id), v, w[n-1].Name)
		}
	}
	return v
}

// mayLack reports whether states without the node at w can fit the type.
func (s *scene) mayLack(w region.Word) bool {
	if len(w) == 0 || w[len(w)-1].Kind != region.KeyLetter {
		return false
	}
	return slices.ContainsFunc(s.at(w[:len(w)-1]), func(id ir.TypeID) bool {
		t := s.contract.Type(id)
		member, declared := t.Member(w[len(w)-1].Name)
		return t.Kind != ir.RecordType || !declared || member.Optional
	})
}

// taken lists the keys that mean something in the scene.
func (s *scene) taken() []string {
	var out []string
	for _, key := range s.keys {
		out = append(out, key)
	}
	for _, side := range sidesOf(s.pair) {
		for i := range side.stage.Params {
			out = append(out, side.stage.Params[i].Reserved...)
		}
	}
	return out
}

// owned is a pattern of a side, with its parameters and fresh keys marked so.
func (d side) owned(p region.Pattern) region.Pattern {
	return p.Own(d.owner).Rename(func(name string) string { return footprint.OwnedParam(d.owner, name) })
}
