package verify

import (
	"bytes"
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/runtime/tree"
)

// shape returns n with its arrays marked as type t has them: sets and logs. A
// patch's value comes unmarked. Linear in the part of n whose type has sets or logs.
func (p *Program) shape(n *tree.Node, t ir.TypeID) *tree.Node {
	return (&shaper{p: p}).shape(n, t)
}

// reshape is shape for a value copied from elsewhere in the state, whose arrays
// are marked as they were there. A set or log that comes to be a list is sorted,
// since its order has no meaning that could be carried over.
func (p *Program) reshape(n *tree.Node, t ir.TypeID) *tree.Node {
	return (&shaper{p: p, marked: true}).shape(n, t)
}

type shaper struct {
	p      *Program
	marked bool // the value may hold sets and logs where its new type has none
}

func (s *shaper) shape(n *tree.Node, id ir.TypeID) *tree.Node {
	if !s.marked && !s.p.types[id].ordered {
		return n
	}
	id = s.p.settle(id, n)
	t := &s.p.contract.Types[id]
	switch n.Kind() {
	case ir.Object:
		return s.members(n, id)
	case ir.Array:
		n = s.elements(n, t.Elem)
		switch t.Kind {
		case ir.SetType:
			return n.WithOrder(tree.SetOrder)
		case ir.LogType:
			return n.WithOrder(tree.LogOrder)
		default:
			return asList(n)
		}
	default:
		return n
	}
}

func (s *shaper) members(n *tree.Node, id ir.TypeID) *tree.Node {
	return n.MapMembers(func(name string, child *tree.Node) *tree.Node {
		return s.shape(child, s.p.below(id, name))
	})
}

func (s *shaper) elements(n *tree.Node, elem ir.TypeID) *tree.Node {
	return n.MapElements(func(_ int, child *tree.Node) *tree.Node { return s.shape(child, elem) })
}

// asList is an array as a list; one without an order of its own is sorted.
func asList(n *tree.Node) *tree.Node {
	if n.Order() == tree.ListOrder {
		return n
	}
	elements := make([]*tree.Node, 0, n.Len())
	for _, e := range n.Elements() {
		elements = append(elements, e)
	}
	slices.SortStableFunc(elements, func(a, b *tree.Node) int {
		return bytes.Compare(tree.AppendJSON(nil, a), tree.AppendJSON(nil, b))
	})
	return tree.NewArray(elements)
}
