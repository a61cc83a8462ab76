package region

import (
	"slices"
	"strconv"
)

// SegmentKind tells which letters one segment of a pattern matches.
type SegmentKind uint8

// The segment kinds of semantics 3.1, plus the fresh key of semantics 6.5.
const (
	Literal      SegmentKind = iota // "a": the key a, and the index if a looks like one
	KeyLiteral                      // ":a": the key a only
	IndexLiteral                    // "[3]": the index 3 only
	AnySegment                      // "*": one letter of either kind
	AnyKey                          // ":*": one key
	AnyIndex                        // "[*]": one index
	AnyDepth                        // "**": any number of letters
	ParamSegment                    // "{p}": the key that p is bound to
	FreshSegment                    // "-": a key private to the stage instance
)

// A Segment is one step of a pattern.
type Segment struct {
	Kind  SegmentKind
	Text  string // the literal, or the parameter's name
	Index int    // for IndexLiteral
}

// A Pattern stands for the subtrees below every path it matches; a shallow one
// only for the nodes themselves: their kind or scalar value (semantics 3.2).
type Pattern struct {
	Segments []Segment
	Shallow  bool
}

// Matches reports whether s matches the letter l (spec/semantics.md section 3.1;
// for parameters and fresh keys sections 9 and 6.5). A parameter matches its own
// symbol only, and a wildcard matches every symbol that stands for a key. A fresh
// key meets wildcards of either kind, since a log is an array in files. AnyDepth
// matches every letter. O(1).
func (s Segment) Matches(l Letter) bool {
	switch s.Kind {
	case Literal:
		return l == Key(s.Text) || l.Kind == IndexLetter && literalIsIndex(s.Text, l.Index)
	case KeyLiteral:
		return l == Key(s.Text)
	case IndexLiteral:
		return l == Index(s.Index)
	case AnyKey:
		return l.Kind != IndexLetter
	case AnyIndex:
		return l.Kind == IndexLetter || l.Kind == FreshLetter
	case ParamSegment:
		return l == Param(s.Text)
	case FreshSegment:
		return l == Fresh(s.Text)
	default:
		return true
	}
}

func literalIsIndex(text string, index int) bool {
	n, ok := asIndex(text)
	return ok && n == index
}

// unify returns a segment that matches what both s and t match, false if no
// letter is matched by both. Neither may be AnyDepth. Two different parameters,
// or a parameter and a literal, do not unify.
func unify(s, t Segment) (Segment, bool) {
	if s == t {
		return s, true
	}
	if rank(s.Kind) > rank(t.Kind) {
		s, t = t, s
	}
	switch s.Kind {
	case AnySegment:
		return t, true
	case AnyKey:
		return narrow(t, KeyLiteral)
	case AnyIndex:
		return narrow(t, IndexLiteral)
	case Literal:
		return meetLiteral(s, t)
	default:
		return Segment{}, false
	}
}

// rank orders the kinds so that unify needs to look at the wider one only.
func rank(k SegmentKind) int {
	switch k {
	case AnySegment:
		return 0
	case AnyKey:
		return 1
	case AnyIndex:
		return 2
	case Literal:
		return 3
	default:
		return 4
	}
}

// narrow restricts t to keys (as = KeyLiteral) or to indices (as = IndexLiteral).
func narrow(t Segment, as SegmentKind) (Segment, bool) {
	switch t.Kind {
	case FreshSegment:
		return t, true
	case Literal:
		return typedLiteral(t.Text, as)
	case KeyLiteral, ParamSegment:
		return t, as == KeyLiteral
	case IndexLiteral:
		return t, as == IndexLiteral
	default:
		return Segment{}, false
	}
}

func typedLiteral(text string, as SegmentKind) (Segment, bool) {
	if as == KeyLiteral {
		return Segment{Kind: KeyLiteral, Text: text}, true
	}
	n, ok := asIndex(text)
	return Segment{Kind: IndexLiteral, Index: n}, ok
}

func meetLiteral(s, t Segment) (Segment, bool) {
	switch t.Kind {
	case KeyLiteral:
		return t, s.Text == t.Text
	case IndexLiteral:
		return t, literalIsIndex(s.Text, t.Index)
	default:
		return Segment{}, false
	}
}

// normal is segments without redundant AnyDepth: none repeated, none at the end
// (section 3.2). It shares segments when there is nothing to do.
func normal(segments []Segment) []Segment {
	redundant := func(i int) bool {
		return segments[i].Kind == AnyDepth && (i+1 == len(segments) || segments[i+1].Kind == AnyDepth)
	}
	first := 0
	for first < len(segments) && !redundant(first) {
		first++
	}
	if first == len(segments) {
		return segments
	}
	out := slices.Clone(segments[:first])
	for i := first; i < len(segments); i++ {
		if !redundant(i) {
			out = append(out, segments[i])
		}
	}
	for len(out) > 0 && out[len(out)-1].Kind == AnyDepth {
		out = out[:len(out)-1]
	}
	return out
}

func hasDepth(segments []Segment) bool {
	for _, s := range segments {
		if s.Kind == AnyDepth {
			return true
		}
	}
	return false
}

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

// MayMeet reports whether p and q, up to the first AnyDepth of either, leave it open that
// one has a path of the other, or one below. A parameter may meet a key that a pattern
// names: it is because the pattern names the key that the parameter is never bound to it
// (semantics section 9).
func (p Pattern) MayMeet(q Pattern) bool {
	for i := range min(len(p.Segments), len(q.Segments)) {
		s, t := p.Segments[i], q.Segments[i]
		switch {
		case s.Kind == AnyDepth || t.Kind == AnyDepth:
			return true
		case s.Kind == ParamSegment && t.IsLiteral(), t.Kind == ParamSegment && s.IsLiteral():
		case !s.MayMeet(t):
			return false
		}
	}
	return true
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

// beforeDepth is segments up to the first AnyDepth.
func beforeDepth(segments []Segment) []Segment {
	for i, s := range segments {
		if s.Kind == AnyDepth {
			return segments[:i]
		}
	}
	return segments
}
