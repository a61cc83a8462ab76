package check

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// A shape answers which paths a state of the declared type can have. Its nodes
// are sets of types, since a union may step into several; node 0 is the state.
// It implements the region search's typing oracle, so that witnesses are paths
// which exist.
type shape struct {
	contract *ir.Contract
	nodes    []typeSet
	ids      map[string]int
}

// A typeSet is an ordered set of types without unions: the alternatives stand
// for them.
type typeSet []ir.TypeID

func newShape(c *ir.Contract) *shape { return &shape{contract: c, ids: map[string]int{}} }

// root is the set of the state's own type.
func (s *shape) root() typeSet { return s.expand(nil, s.contract.State) }

// expand adds a type, or the alternatives of a union, to a set.
func (s *shape) expand(set typeSet, id ir.TypeID) typeSet {
	t := s.contract.Type(id)
	if t.Kind == ir.UnionType {
		for _, a := range t.Alternatives {
			set = s.expand(set, a)
		}
		return set
	}
	if i, found := slices.BinarySearch(set, id); !found {
		set = slices.Insert(set, i, id)
	}
	return set
}

// step is the set reached from set by a letter; empty if no state goes there.
func (s *shape) step(set typeSet, l region.Letter) typeSet {
	var out typeSet
	for _, id := range set {
		t := s.contract.Type(id)
		switch t.Kind {
		case ir.AnyType:
			out = s.expand(out, id)
		case ir.RecordType:
			if m, ok := t.Member(l.Name); ok && l.Kind == region.KeyLetter {
				out = s.expand(out, m.Type)
			} else if t.Rest != ir.NoType && isKey(l) {
				out = s.expand(out, t.Rest)
			}
		case ir.MapType, ir.KeyedType:
			if isKey(l) {
				out = s.expand(out, t.Elem)
			}
		case ir.ListType:
			if l.Kind == region.IndexLetter {
				out = s.expand(out, t.Elem)
			}
		case ir.SetType, ir.LogType:
			if l.Kind == region.IndexLetter || l.Kind == region.FreshLetter {
				out = s.expand(out, t.Elem)
			}
		}
	}
	return out
}

func isKey(l region.Letter) bool { return l.Kind == region.KeyLetter || l.Kind == region.ParamLetter }

// children is the set reached by any letter of the wanted kinds.
func (s *shape) children(set typeSet, keys, indices bool) typeSet {
	var out typeSet
	for _, id := range set {
		t := s.contract.Type(id)
		switch t.Kind {
		case ir.AnyType:
			out = s.expand(out, id)
		case ir.RecordType:
			if !keys {
				continue
			}
			for _, m := range t.Members {
				out = s.expand(out, m.Type)
			}
			if t.Rest != ir.NoType {
				out = s.expand(out, t.Rest)
			}
		case ir.MapType, ir.KeyedType:
			if keys {
				out = s.expand(out, t.Elem)
			}
		case ir.ListType, ir.SetType, ir.LogType:
			if indices {
				out = s.expand(out, t.Elem)
			}
		}
	}
	return out
}

// below is the set of everything reachable from set, set included.
func (s *shape) below(set typeSet) typeSet {
	out := slices.Clone(set)
	for frontier := set; len(frontier) > 0; {
		var next typeSet
		for _, id := range s.children(frontier, true, true) {
			if i, found := slices.BinarySearch(out, id); !found {
				out = slices.Insert(out, i, id)
				next = s.expand(next, id)
			}
		}
		frontier = next
	}
	return out
}

// kinds tells whether values of a set may be objects or arrays.
func (s *shape) kinds(set typeSet) (object, array bool) {
	for _, id := range set {
		switch s.contract.Type(id).Kind {
		case ir.AnyType:
			object, array = true, true
		case ir.RecordType, ir.MapType, ir.KeyedType:
			object = true
		case ir.ListType, ir.SetType, ir.LogType:
			array = true
		}
	}
	return object, array
}

// only reports whether every type of a non-empty set has one of the kinds.
func (s *shape) only(set typeSet, kinds ...ir.TypeKind) bool {
	for _, id := range set {
		if !slices.Contains(kinds, s.contract.Type(id).Kind) {
			return false
		}
	}
	return len(set) > 0
}

// memberNames lists the declared members that may stand below a set, in order.
func (s *shape) memberNames(set typeSet) []string {
	var out []string
	for _, id := range set {
		for _, m := range s.contract.Type(id).Members {
			if i, found := slices.BinarySearch(out, m.Name); !found {
				out = slices.Insert(out, i, m.Name)
			}
		}
	}
	return out
}

// node numbers a set for the region search.
func (s *shape) node(set typeSet) int {
	key := fmt.Sprint(set)
	id, ok := s.ids[key]
	if !ok {
		id = len(s.nodes)
		s.ids[key] = id
		s.nodes = append(s.nodes, set)
	}
	return id
}

// Step is the node reached from a node by a letter; ok is false if no state of
// the type has such a path.
func (s *shape) Step(node int, l region.Letter) (next int, ok bool) {
	set := s.step(s.set(node), l)
	if len(set) == 0 {
		return 0, false
	}
	return s.node(set), true
}

// Keys tells which letters leave a node: the declared names, whether other keys
// may occur, and whether indices may.
func (s *shape) Keys(node int) (names []string, open, index bool) {
	set := s.set(node)
	for _, id := range set {
		switch t := s.contract.Type(id); t.Kind {
		case ir.AnyType:
			open, index = true, true
		case ir.RecordType:
			open = open || t.Rest != ir.NoType
		case ir.MapType, ir.KeyedType:
			open = true
		case ir.ListType, ir.SetType, ir.LogType:
			index = true
		}
	}
	return s.memberNames(set), open, index
}

func (s *shape) set(node int) typeSet {
	if len(s.nodes) == 0 {
		s.node(s.root())
	}
	return s.nodes[node]
}
