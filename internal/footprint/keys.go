package footprint

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The key of an entry of a keyed list is what one of its fields holds. A view that shows
// the entry, if only on the way to something below, shows that field as a name; and a
// reference holds it.

// A KeyedList is where a state has a keyed list.
type KeyedList struct {
	Entry region.Pattern // any of its entries
	Key   region.Pattern // the field that holds an entry's key
	at    string
}

// KeyedLists lists the keyed lists of the contract's state.
func (m *Model) KeyedLists() []KeyedList {
	var out []KeyedList
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		if t.Kind == ir.KeyedType {
			entry := Extend(p, region.Segment{Kind: region.AnyKey})
			out = append(out, KeyedList{entry, Extend(entry, region.Segment{Kind: region.KeyLiteral, Text: t.KeyField}), p.String()})
		}
		return true
	})
	return out
}

// ShowsEntries reports whether a view of a region shows entries of a keyed list. Not
// knowing counts as showing.
func (m *Model) ShowsEntries(r region.Region, list KeyedList) bool {
	entry := region.Region{{Include: []region.Pattern{list.Entry}}}
	return len(r) > 0 && m.overlap(region.Compile(r), region.Compile(entry), region.Shown, region.Interior).Verdict != region.No
}

// KeysKnown is the key fields whose values a run knows without reading them: as the
// names of entries that its view shows, and from references that it sees or copies.
func (m *Model) KeysKnown(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, list := range m.KeyedLists() {
		if m.ShowsEntries(s.Read, list) || m.seesReference(s, list) {
			include = append(include, list.Key)
		}
	}
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}

// seesReference reports whether a stage sees or copies a reference to a keyed list.
func (m *Model) seesReference(s *ir.Stage, list KeyedList) bool {
	sees, found := region.Compile(region.Union(s.Read, s.Source)), false
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		if t.Kind == ir.RefType && t.Target.String() == list.at && !found {
			one := region.Compile(region.Region{{Include: []region.Pattern{p}}})
			found = m.overlap(sees, one, region.Plain, region.Plain).Verdict != region.No
		}
		return !found
	})
	return found
}
