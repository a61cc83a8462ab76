package footprint

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// EachTyped visits every typed node of the state with its pattern, parents
// first; f tells whether to go below. A union is visited itself, then as each of
// its alternatives.
func (m *Model) EachTyped(f func(region.Pattern, *ir.Type) bool) {
	m.eachBelow(region.Pattern{}, m.Contract.State, f)
}

func (m *Model) eachBelow(p region.Pattern, id ir.TypeID, f func(region.Pattern, *ir.Type) bool) {
	t := m.Contract.Type(id)
	if !f(p, t) {
		return
	}
	below := func(kind region.SegmentKind, name string, child ir.TypeID) {
		m.eachBelow(Extend(p, region.Segment{Kind: kind, Text: name}), child, f)
	}
	switch t.Kind {
	case ir.UnionType:
		for _, a := range t.Alternatives {
			m.eachBelow(p, a, f)
		}
	case ir.RecordType:
		for _, m := range t.Members {
			below(region.KeyLiteral, m.Name, m.Type)
		}
		if t.Rest != ir.NoType {
			below(region.AnyKey, "", t.Rest)
		}
	case ir.MapType, ir.KeyedType:
		below(region.AnyKey, "", t.Elem)
	case ir.ListType, ir.SetType, ir.LogType:
		below(region.AnyIndex, "", t.Elem)
	}
}
