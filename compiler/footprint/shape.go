package footprint

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// A Shape answers which paths a state of the declared type can have. Its nodes
// are sets of types, since a union may step into several; node 0 is the state.
// It implements the region search's typing oracle, so that witnesses are paths
// which exist.
type Shape struct {
	contract *ir.Contract
	nodes    []TypeSet
	ids      map[string]int
}

// A TypeSet is an ordered set of types without unions: the alternatives stand
// for them.
type TypeSet []ir.TypeID

func NewShape(c *ir.Contract) *Shape { return &Shape{contract: c, ids: map[string]int{}} }

// Root is the set of the state's own type.
func (s *Shape) Root() TypeSet { return s.Expand(nil, s.contract.State) }

// Expand adds a type, or the alternatives of a union, to a set.
func (s *Shape) Expand(set TypeSet, id ir.TypeID) TypeSet {
	t := s.contract.Type(id)
	if t.Kind == ir.UnionType {
		for _, a := range t.Alternatives {
			set = s.Expand(set, a)
		}
		return set
	}
	if i, found := slices.BinarySearch(set, id); !found {
		set = slices.Insert(set, i, id)
	}
	return set
}

// Letter is the set reached from set by a letter; empty if no state goes there.
func (s *Shape) Letter(set TypeSet, l region.Letter) TypeSet {
	var out TypeSet
	for _, id := range set {
		t := s.contract.Type(id)
		switch t.Kind {
		case ir.AnyType:
			out = s.Expand(out, id)
		case ir.RecordType:
			out = s.member(out, t, l)
		case ir.MapType, ir.KeyedType:
			if isKey(l) {
				out = s.Expand(out, t.Elem)
			}
		case ir.ListType:
			if l.Kind == region.IndexLetter {
				out = s.Expand(out, t.Elem)
			}
		case ir.SetType, ir.LogType:
			if l.Kind == region.IndexLetter || l.Kind == region.FreshLetter {
				out = s.Expand(out, t.Elem)
			}
		}
	}
	return out
}

// member adds where a letter leads from a record. A parameter may be bound to any
// of its members.
func (s *Shape) member(out TypeSet, t *ir.Type, l region.Letter) TypeSet {
	if m, ok := t.Member(l.Name); ok && l.Kind == region.KeyLetter {
		return s.Expand(out, m.Type)
	}
	if l.Kind == region.ParamLetter {
		for _, m := range t.Members {
			out = s.Expand(out, m.Type)
		}
	}
	if t.Rest != ir.NoType && isKey(l) {
		out = s.Expand(out, t.Rest)
	}
	return out
}

func isKey(l region.Letter) bool { return l.Kind == region.KeyLetter || l.Kind == region.ParamLetter }

// Children is the set reached by any letter of the wanted kinds.
func (s *Shape) Children(set TypeSet, keys, indices bool) TypeSet {
	var out TypeSet
	for _, id := range set {
		t := s.contract.Type(id)
		switch t.Kind {
		case ir.AnyType:
			out = s.Expand(out, id)
		case ir.RecordType:
			if !keys {
				continue
			}
			for _, m := range t.Members {
				out = s.Expand(out, m.Type)
			}
			if t.Rest != ir.NoType {
				out = s.Expand(out, t.Rest)
			}
		case ir.MapType, ir.KeyedType:
			if keys {
				out = s.Expand(out, t.Elem)
			}
		case ir.ListType, ir.SetType, ir.LogType:
			if indices {
				out = s.Expand(out, t.Elem)
			}
		}
	}
	return out
}

// Below is the set of everything reachable from set, set included.
func (s *Shape) Below(set TypeSet) TypeSet {
	out := slices.Clone(set)
	for frontier := set; len(frontier) > 0; {
		var next TypeSet
		for _, id := range s.Children(frontier, true, true) {
			if i, found := slices.BinarySearch(out, id); !found {
				out = slices.Insert(out, i, id)
				next = s.Expand(next, id)
			}
		}
		frontier = next
	}
	return out
}

// Kinds tells whether values of a set may be objects or arrays.
func (s *Shape) Kinds(set TypeSet) (object, array bool) {
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

// Only reports whether every type of a non-empty set has one of the kinds.
func (s *Shape) Only(set TypeSet, kinds ...ir.TypeKind) bool {
	for _, id := range set {
		if !slices.Contains(kinds, s.contract.Type(id).Kind) {
			return false
		}
	}
	return len(set) > 0
}

// MemberNames lists the declared members that may stand below a set, in order.
func (s *Shape) MemberNames(set TypeSet) []string {
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
func (s *Shape) node(set TypeSet) int {
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
func (s *Shape) Step(node int, l region.Letter) (next int, ok bool) {
	set := s.Letter(s.set(node), l)
	if len(set) == 0 {
		return 0, false
	}
	return s.node(set), true
}

// Keys tells which letters leave a node: the declared names, whether other keys
// may occur, and whether indices may.
func (s *Shape) Keys(node int) (names []string, open, index bool) {
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
	return s.MemberNames(set), open, index
}

// Containers tells whether values at a node may be objects or arrays.
func (s *Shape) Containers(node int) (object, array bool) { return s.Kinds(s.set(node)) }

func (s *Shape) set(node int) TypeSet {
	if len(s.nodes) == 0 {
		s.node(s.Root())
	}
	return s.nodes[node]
}

// At is the set of types a typed pattern leads to.
func (s *Shape) At(p region.Pattern) TypeSet {
	at := s.Root()
	for _, seg := range p.Segments {
		at = s.segment(at, seg)
	}
	return at
}

func (s *Shape) segment(at TypeSet, seg region.Segment) TypeSet {
	switch seg.Kind {
	case region.AnyDepth:
		return s.Below(at)
	case region.AnySegment:
		return s.Children(at, true, true)
	case region.AnyKey:
		return s.Children(at, true, false)
	case region.AnyIndex:
		return s.Children(at, false, true)
	case region.IndexLiteral:
		return s.Letter(at, region.Index(seg.Index))
	case region.ParamSegment:
		return s.Letter(at, region.Param(seg.Text))
	case region.FreshSegment:
		return s.Letter(at, region.Fresh(""))
	}
	return s.Letter(at, region.Key(seg.Text))
}
