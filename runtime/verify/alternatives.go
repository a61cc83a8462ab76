package verify

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
)

// confusable reports whether two alternatives of a union have a place where one has a
// keyed list, which is an array in files only, and the other another array.
func confusable(types []ir.Type, union ir.TypeID) bool {
	a := alternatives{types: types, seen: map[string]bool{}}
	return a.confusable(a.expand(nil, union))
}

// alternatives walks what several types have at the same places.
type alternatives struct {
	types []ir.Type
	seen  map[string]bool
}

// expand adds a type to a set; of a union, its alternatives.
func (a *alternatives) expand(set []ir.TypeID, id ir.TypeID) []ir.TypeID {
	t := &a.types[id]
	if t.Kind != ir.UnionType {
		if id == ir.NoType || slices.Contains(set, id) {
			return set
		}
		return append(set, id)
	}
	for _, alt := range t.Alternatives {
		set = a.expand(set, alt)
	}
	return set
}

func (a *alternatives) confusable(set []ir.TypeID) bool {
	key := fmt.Sprint(set)
	if len(set) < 2 || a.seen[key] {
		return false
	}
	a.seen[key] = true
	fields, others := map[string]bool{}, false
	for _, id := range set {
		switch t := &a.types[id]; t.Kind {
		case ir.KeyedType:
			fields[t.KeyField] = true
		case ir.ListType, ir.SetType, ir.LogType, ir.AnyType:
			others = true
		}
	}
	if len(fields) > 1 || len(fields) == 1 && others {
		return true
	}
	return slices.ContainsFunc(a.below(set), a.confusable)
}

// below lists what the types of a set have one step further down: for each name that
// a record declares, and for all other members and elements together.
func (a *alternatives) below(set []ir.TypeID) [][]ir.TypeID {
	var items []ir.TypeID
	var names []string
	for _, id := range set {
		t := &a.types[id]
		items = a.expand(a.expand(items, t.Elem), t.Rest)
		if t.Kind == ir.AnyType {
			items = a.expand(items, id)
		}
		for _, m := range t.Members {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	out := [][]ir.TypeID{items}
	for _, name := range slices.Compact(names) {
		var at []ir.TypeID
		for _, id := range set {
			at = a.expand(at, a.member(id, name))
		}
		out = append(out, at)
	}
	return out
}

// member is the type of a member by name of what may have one.
func (a *alternatives) member(id ir.TypeID, name string) ir.TypeID {
	t := &a.types[id]
	switch t.Kind {
	case ir.AnyType:
		return id
	case ir.RecordType:
		if m, ok := t.Member(name); ok {
			return m.Type
		}
		return t.Rest
	case ir.MapType, ir.KeyedType:
		return t.Elem
	default:
		return ir.NoType
	}
}
