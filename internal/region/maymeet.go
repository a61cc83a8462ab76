package region

import "strconv"

// MayMeet reports whether some letter is matched by both segments, for some values
// of their parameters: two parameters may be equal, but a parameter is never a key
// that a pattern names (spec/semantics.md section 9). Neither may be AnyDepth. O(1).
func (s Segment) MayMeet(t Segment) bool {
	if s.Kind == ParamSegment && t.Kind == ParamSegment {
		return true
	}
	_, ok := unify(s, t)
	return ok
}

// IsLiteral reports whether s names a key or a position.
func (s Segment) IsLiteral() bool {
	return s.Kind == Literal || s.Kind == KeyLiteral || s.Kind == IndexLiteral
}

// AppendAlike appends the literal segments that share a letter with the literal s,
// itself first.
func (s Segment) AppendAlike(dst []Segment) []Segment {
	dst = append(dst, s)
	switch s.Kind {
	case KeyLiteral:
		dst = append(dst, Segment{Kind: Literal, Text: s.Text})
	case IndexLiteral:
		dst = append(dst, Segment{Kind: Literal, Text: strconv.Itoa(s.Index)})
	case Literal:
		dst = append(dst, Segment{Kind: KeyLiteral, Text: s.Text})
		if n, ok := asIndex(s.Text); ok {
			dst = append(dst, Segment{Kind: IndexLiteral, Index: n})
		}
	}
	return dst
}
