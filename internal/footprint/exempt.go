package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// ExemptParent recognises an append to a log and a path below a new key.
func (m *Model) ExemptParent(s *ir.Stage, p region.Pattern) (region.Pattern, bool) {
	for i, seg := range p.Segments {
		parent := Prefix(p, i)
		if seg.Kind == region.FreshSegment && m.Shape.Only(m.Shape.At(parent), ir.LogType) {
			return parent, true
		}
		if seg.Kind == region.ParamSegment && slices.ContainsFunc(s.Params, func(q ir.Param) bool {
			return q.Name == seg.Text && q.Kind == ir.NewParam && q.Of.String() == parent.String()
		}) {
			return parent, true
		}
	}
	return region.Pattern{}, false
}

// OwnEntry reports whether p lies in what a commit of the stage adds as new: below a
// new key, a log entry, or a blind grant. The actor knows all of it.
func (m *Model) OwnEntry(s *ir.Stage, p region.Pattern) bool {
	if _, exempt := m.ExemptParent(s, p); exempt {
		return true
	}
	return slices.ContainsFunc(Includes(s.Blind), func(b region.Pattern) bool {
		return len(b.Segments) <= len(p.Segments) && slices.EqualFunc(b.Segments, p.Segments[:len(b.Segments)], adds)
	})
}

// adds reports whether a segment of a blind grant leads to what a segment of a
// footprint reads: a wildcard only to the member it adds.
func adds(blind, read region.Segment) bool {
	if isWildcard(blind) {
		return read.Kind == region.ParamSegment && read.Text == newMember
	}
	return blind == read
}

// WithoutExempt leaves out the exempt patterns of an authority.
func (m *Model) WithoutExempt(s *ir.Stage, w region.Region) region.Region {
	var out region.Region
	for _, g := range w {
		include := slices.DeleteFunc(slices.Clone(g.Include), func(p region.Pattern) bool {
			_, exempt := m.ExemptParent(s, p)
			return exempt
		})
		if len(include) > 0 {
			out = append(out, region.Grant{Include: include, Except: g.Except})
		}
	}
	return out
}

func Includes(r region.Region) []region.Pattern {
	var out []region.Pattern
	for _, g := range r {
		out = append(out, g.Include...)
	}
	return out
}
