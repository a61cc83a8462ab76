package witness

import (
	"github.com/patchoptic/poptic/internal/region"
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
