package footprint

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Where one alternative of a union has a list (which is what arrays in "any" are) and
// another a set or log, what else the union holds decides what the array is. That is
// told by what may be done with the array, and by the digest of a view of it. A stage
// that sees the array without a commit that touches the union learns it all the same, so
// the union's gate counts as one that it triggers.

// contested lists the places in a union, relative to it, that are arrays of several kinds.
func (m *Model) contested(union *ir.Type) []region.Pattern {
	if !m.isAmbiguous(union) {
		return nil
	}
	var out []region.Pattern
	kinds := map[string]ir.TypeKind{}
	for _, id := range union.Alternatives {
		m.eachBelow(region.Pattern{}, id, func(p region.Pattern, t *ir.Type) bool {
			kind, array := arrayKind(t)
			if other, known := kinds[p.String()]; array && known && other != kind {
				out = append(out, p)
			}
			if array {
				kinds[p.String()] = kind
			}
			return true
		})
	}
	return out
}

func arrayKind(t *ir.Type) (kind ir.TypeKind, array bool) {
	switch t.Kind {
	case ir.AnyType:
		return ir.ListType, true
	case ir.ListType, ir.SetType, ir.LogType:
		return t.Kind, true
	}
	return "", false
}

// usesContested reports whether a stage sees or takes from an array of which a member of
// the gate's family decides what it is.
func (m *Model) usesContested(g Gate, s *ir.Stage, keys map[string]region.Segment) bool {
	if len(g.contested) == 0 {
		return false
	}
	uses := region.Compile(region.Union(s.Read, s.Source))
	for _, below := range g.contested {
		at := substitute(join(m.familyOf(g.Over), below), g.withEntries(keys, region.Segment{Kind: region.AnyIndex}))
		array := region.Compile(region.Region{{Include: []region.Pattern{at}}})
		if m.overlap(uses, array, region.Shown, region.Interior).Verdict != region.No {
			return true
		}
	}
	return false
}
