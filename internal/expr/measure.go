package expr

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A measure is a variable whose value is computed outside, as exact decimal text. It is
// read as a number of the state is.
type measure struct {
	name  string
	shape *shape
	over  region.Pattern
	count bool
	empty bool // it has no value when nothing matches
	int   bool
}

func measuresOf(c *ir.Contract, ss *shapes) []measure {
	var out []measure
	for _, m := range c.Measures {
		over := ss.at(c.State, m.Over.Segments)
		x := measure{
			name:  m.Name,
			over:  m.Over,
			count: m.Kind == ir.Count,
			empty: m.Kind == ir.Min || m.Kind == ir.Max,
		}
		x.int = x.count || over.is(kInt)
		x.shape = &shape{kinds: kNumber, cel: types.DoubleType}
		if x.int {
			x.shape = &shape{kinds: kInt, cel: types.IntType}
		}
		if x.count {
			x.over = ss.counted(c.State, m.Over)
		}
		if x.empty {
			x.shape.cel = types.NewOptionalType(x.shape.cel)
		}
		out = append(out, x)
	}
	return out
}

// counted is what as many nodes match as match p: a required member of a record is there
// exactly if the record is.
func (ss *shapes) counted(root ir.TypeID, p region.Pattern) region.Pattern {
	n := len(p.Segments)
	for ; n > 0 && p.Segments[n-1].Kind == region.KeyLiteral; n-- {
		if slices.ContainsFunc(p.Segments[:n], func(s region.Segment) bool { return s.Kind == region.AnyDepth }) {
			break
		}
		record := ss.at(root, p.Segments[:n-1])
		f, declared := record.members[p.Segments[n-1].Text]
		if !record.is(kRecord) || record.id == ir.NoType || !declared || f.optional {
			break
		}
	}
	return region.Pattern{Segments: p.Segments[:n]}
}

// value makes the CEL value of a measure's decimal text.
func (m *measure) value(literal string, present bool) ref.Val {
	if !present {
		if m.empty {
			return types.OptionalNone
		}
		return types.NewErr("no value")
	}
	v := numberValue(literal)
	if m.int {
		v = intValue(literal)
	}
	if m.empty && !types.IsError(v) {
		return types.OptionalOf(v)
	}
	return v
}

// at is the shape of every node that a pattern matches, anyShape where the types
// do not tell.
func (ss *shapes) at(root ir.TypeID, segments []region.Segment) *shape {
	s := ss.of(root)
	for _, segment := range segments {
		if s == nil {
			return anyShape
		}
		s = s.under(segment)
	}
	if s == nil {
		return anyShape
	}
	return s
}

// under is the shape of what a segment matches below s; nil if nothing can be there.
func (s *shape) under(segment region.Segment) *shape {
	switch segment.Kind {
	case region.Literal, region.KeyLiteral:
		if m, _, exists := s.member(segment.Text); exists {
			return m
		}
		return nil
	case region.AnyDepth:
		return anyShape
	case region.AnyIndex, region.IndexLiteral:
		return s.elem
	}
	return s.child()
}

// child is the shape of whatever lies directly below s; nil if nothing can.
func (s *shape) child() *shape {
	below := []*shape{s.rest, s.elem}
	for _, name := range s.memberNames() {
		below = append(below, s.members[name].shape)
	}
	return merge(below...)
}
