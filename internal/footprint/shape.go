package footprint

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Shape answers which paths a state of the declared type can have. Its nodes
// are sets of types, since a union may step into several; node 0 is the state.
// It implements the region search's typing oracle, so that witnesses are paths
// which exist.
type Shape struct {
	contract *ir.Contract
	nodes    []TypeSet
	ids      map[string]int
	steps    map[step]reach                     // as far as asked for
	groups   map[int][][]string                 // likewise, by node
	members  map[ir.TypeID]map[string]ir.TypeID // likewise, of records
}

// A step is a letter that leaves a node, a reach where it leads, if anywhere.
type step struct {
	node   int
	letter region.Letter
}

type reach struct {
	node int
	ok   bool
}

// A TypeSet is an ordered set of types without unions: the alternatives stand
// for them.
type TypeSet []ir.TypeID

func NewShape(c *ir.Contract) *Shape {
	return &Shape{contract: c, ids: map[string]int{}, steps: map[step]reach{}, groups: map[int][][]string{}, members: map[ir.TypeID]map[string]ir.TypeID{}}
}

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
			out = s.member(out, id, l)
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
func (s *Shape) member(out TypeSet, id ir.TypeID, l region.Letter) TypeSet {
	t := s.contract.Type(id)
	if l.Kind == region.KeyLetter {
		if m, ok := s.named(id, t)[l.Name]; ok {
			return s.Expand(out, m)
		}
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

// named is the members of a record by name.
func (s *Shape) named(id ir.TypeID, t *ir.Type) map[string]ir.TypeID {
	out, known := s.members[id]
	if !known {
		out = make(map[string]ir.TypeID, len(t.Members))
		for _, m := range t.Members {
			out[m.Name] = m.Type
		}
		s.members[id] = out
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
			out = append(out, m.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// node numbers a set for the region search. Types of which values have nothing below
// them are all one, that of no type.
func (s *Shape) node(set TypeSet) int {
	all := len(set)
	set = slices.DeleteFunc(slices.Clone(set), func(id ir.TypeID) bool { return !s.isContainer(id) })
	if len(set) < all {
		set = slices.Insert(set, 0, ir.NoType)
	}
	key := fmt.Sprint(set)
	id, ok := s.ids[key]
	if !ok {
		id = len(s.nodes)
		s.ids[key] = id
		s.nodes = append(s.nodes, set)
	}
	return id
}

func (s *Shape) isContainer(id ir.TypeID) bool {
	object, array := s.Kinds(TypeSet{id})
	return object || array
}

// Step is the node reached from a node by a letter; ok is false if no state of
// the type has such a path.
func (s *Shape) Step(node int, l region.Letter) (next int, ok bool) {
	at := step{node, l}
	to, known := s.steps[at]
	if !known {
		if set := s.Letter(s.set(node), l); len(set) > 0 {
			to = reach{s.node(set), true}
		}
		s.steps[at] = to
	}
	return to.node, to.ok
}

// Keys tells which letters leave a node: the declared names, in groups that lead to
// one node, whether other keys may occur, and whether indices may.
func (s *Shape) Keys(node int) (groups [][]string, open, index bool) {
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
	groups, known := s.groups[node]
	if !known {
		groups = s.grouped(node, s.MemberNames(set))
		s.groups[node] = groups
	}
	return groups, open, index
}

// grouped puts names together that lead from a node to the same one.
func (s *Shape) grouped(node int, names []string) [][]string {
	var out [][]string
	at := map[int]int{} // by node, where in out
	for _, name := range names {
		next, _ := s.Step(node, region.Key(name))
		i, known := at[next]
		if !known {
			i = len(out)
			at[next], out = i, append(out, nil)
		}
		out[i] = append(out[i], name)
	}
	return out
}

// Values tells what values at a node may be.
func (s *Shape) Values(node int) (object, array, leaf bool) {
	set := s.set(node)
	object, array = s.Kinds(set)
	for _, id := range set {
		switch s.contract.Type(id).Kind {
		case ir.RecordType, ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType:
		default:
			leaf = true
		}
	}
	return object, array, leaf
}

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
