package footprint

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Told is what a run's arguments tell its actor beside what the view shows: that the
// key of a parameter is there, and of a keyed list the field that holds it. Where a
// parameter is taken from is part of what the stage reads. That the key of a new
// member is free is one bit, as with a blind write, and is not counted.
func (m *Model) Told(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, p := range s.Params {
		if p.Kind == ir.ExistingParam {
			include = append(include, m.told(p)...)
		}
	}
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}

// told is the member that a parameter names, without what is in it.
func (m *Model) told(p ir.Param) []region.Pattern {
	member := Extend(p.Of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
	out := []region.Pattern{member}
	out[0].Shallow = true
	for _, id := range m.Shape.At(p.Of) {
		if t := m.Contract.Type(id); t.Kind == ir.KeyedType {
			out = append(out, Extend(member, region.Segment{Kind: region.KeyLiteral, Text: t.KeyField}))
		}
	}
	return out
}
