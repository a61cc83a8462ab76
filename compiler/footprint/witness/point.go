package witness

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
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
				if pt := s.values(w, p.Shallow); len(pt) > 1 {
					out = append(out, pt)
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

// visit finds the places of a pattern in the scene's state: leaf is called for
// what the whole pattern matches, many for containers that a wildcard ranges over.
func (s *scene) visit(w region.Word, rest []region.Segment, leaf, many func(region.Word)) {
	if len(rest) == 0 {
		leaf(w)
		return
	}
	seg, rest := rest[0], rest[1:]
	switch seg.Kind {
	case region.AnyDepth:
		s.visit(w, rest, leaf, many)
	case region.AnyKey, region.AnyIndex, region.AnySegment:
		many(w)
		at, _ := get(s.state, w)
		for i, l := range lettersOf(at) {
			if i == maxMatches {
				break
			}
			s.visit(longer(w, l), rest, leaf, many)
		}
	default:
		s.visit(longer(w, s.letter(w, seg)), rest, leaf, many)
	}
}

// lettersOf lists the steps below a value.
func lettersOf(v any) []region.Letter {
	var out []region.Letter
	for _, key := range keysOf(v) {
		out = append(out, region.Key(key))
	}
	if a, ok := v.([]any); ok {
		for i := range a {
			out = append(out, region.Index(i))
		}
	}
	return out
}

// letter is the step that a segment without wildcard takes below w.
func (s *scene) letter(w region.Word, seg region.Segment) region.Letter {
	switch seg.Kind {
	case region.IndexLiteral:
		return region.Index(seg.Index)
	case region.FreshSegment:
		return region.Fresh(seg.Text)
	case region.ParamSegment:
		return s.bound(w, seg.Text)
	}
	return region.Key(seg.Text)
}

// bound is the step that a parameter or a family key stands for. A family key
// that nothing fixes is the first there is.
func (s *scene) bound(w region.Word, name string) region.Letter {
	if key, ok := s.keys[name]; ok {
		return region.Key(key)
	}
	return s.first(w)
}

// first is the first step below w, or else one that can be made.
func (s *scene) first(w region.Word) region.Letter {
	at, _ := get(s.state, w)
	if ls := lettersOf(at); len(ls) > 0 {
		return ls[0]
	}
	if object, array := s.shape.Kinds(s.at(w)); array && !object {
		return region.Index(0)
	}
	return region.Key(s.newKey(w, s.taken()))
}

// values varies the value at w, and whether it is there.
func (s *scene) values(w region.Word, shallow bool) point {
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
			elements = append(elements, s.maker.values(t.Elem)...)
		case t.Kind == ir.AnyType:
			elements = append(elements, s.maker.values(id)...)
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
