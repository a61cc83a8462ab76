package certificate

import (
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/region"
)

// A segment of a pattern matches keys of objects, positions of arrays, or both. A
// part is what it matches of one of the two.
type part struct {
	kind partKind
	text string // the key or position, the parameter, or the owner of the entry
}

type partKind uint8

const (
	nothing   partKind = iota
	one                // the key or position text
	parameter          // the key that a parameter is bound to, or a family key stands for
	entry              // the position of a log entry that the run called text appends
	anything
)

// keys is what a segment matches of keys.
func keys(s region.Segment) part {
	switch s.Kind {
	case region.Literal, region.KeyLiteral:
		return part{one, s.Text}
	case region.ParamSegment:
		return part{parameter, s.Text}
	case region.AnySegment, region.AnyKey, region.AnyDepth:
		return part{kind: anything}
	}
	return part{}
}

// positions is what a segment matches of positions.
func positions(s region.Segment) part {
	switch s.Kind {
	case region.Literal:
		if n, err := strconv.Atoi(s.Text); err == nil && n >= 0 && strconv.Itoa(n) == s.Text {
			return part{one, s.Text}
		}
	case region.IndexLiteral:
		return part{one, strconv.Itoa(s.Index)}
	case region.FreshSegment:
		return part{entry, s.Text}
	case region.AnySegment, region.AnyIndex, region.AnyDepth:
		return part{kind: anything}
	}
	return part{}
}

// exclude reports whether no letter is matched by both segments, for any values of
// the parameters. A parameter is bound to a key, and not to one that is reserved.
func (k *checker) exclude(s, t region.Segment) bool {
	return k.excludeParts(keys(s), keys(t)) && k.excludeParts(positions(s), positions(t))
}

func (k *checker) excludeParts(x, y part) bool {
	if x.kind > y.kind {
		x, y = y, x
	}
	switch {
	case x.kind == nothing:
		return true
	case x.kind == one && y.kind == one, x.kind == entry && y.kind == entry:
		return x.text != y.text
	case x.kind == one && y.kind == parameter:
		return k.isReserved(y.text, x.text)
	}
	return false
}

// inside reports whether t matches every letter that s matches.
func inside(s, t region.Segment) bool {
	return insidePart(keys(s), keys(t)) && insidePart(positions(s), positions(t))
}

func insidePart(x, y part) bool { return x.kind == nothing || y.kind == anything || x == y }

func isFamily(s region.Segment) bool {
	return s.Kind == region.ParamSegment && strings.HasPrefix(s.Text, familyMark)
}

// familyMark starts the names of family keys, which stand for any key.
const familyMark = "@"
