package verify

import (
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// The shape of a value is what its type makes of it beside its content: whether an
// array is a list, a set or a log, and the spelling of integers and literals. In every
// committed state all values have the shape of their types, so that it is a function of
// what the state's file says, and a state is the same whether it was imported or made
// by commits. Where a union decides by what it holds, a write at one place may change
// the shape at another: see reshapeUnion.

// shape returns n in the shape of type t. A patch's value comes as lists, and spelled
// as it pleases. Linear in the part of n whose type shapes anything.
func (p *Program) shape(n *tree.Node, t ir.TypeID) *tree.Node {
	return (&shaper{p: p}).shape(n, t)
}

// reshape is shape for a value that has another shape already. A set that comes to be a
// list or log has the order in which it is written. Where no alternative of a union fits, the value keeps the shape it has.
func (p *Program) reshape(n *tree.Node, t ir.TypeID) *tree.Node {
	return (&shaper{p: p, marked: true}).shape(n, t)
}

type shaper struct {
	p      *Program
	marked bool // the value may hold sets and logs where its new type has none
}

func (s *shaper) shape(n *tree.Node, id ir.TypeID) *tree.Node {
	if !s.changes(n, id) {
		return n
	}
	s.p.watch.step()
	settled := s.p.settle(id, n)
	t := &s.p.contract.Types[settled]
	if settled == ir.NoType && id != ir.NoType {
		return n
	}
	switch n.Kind() {
	case ir.Object:
		return s.items(n, settled)
	case ir.Array:
		items := s.items(n, settled)
		if items != n && items.Order() == tree.SetOrder {
			items = items.WithOrder(tree.ListOrder)
		}
		return inOrder(items, t.Kind)
	case ir.Number:
		return s.p.spelled(n, settled)
	default:
		return n
	}
}

// changes reports whether shaping can change n at all.
func (s *shaper) changes(n *tree.Node, id ir.TypeID) bool {
	return s.p.types[id].shaped || s.marked && (n.HoldsSet() || n.HoldsLog())
}

// items shapes what is in a container. For a value that was shaped before, the image is
// remembered, as what is shaped again and again is mostly the same.
func (s *shaper) items(n *tree.Node, id ir.TypeID) *tree.Node {
	if s.marked {
		return n.Map(&s.p.types[id], func(name string, child *tree.Node) tree.Image {
			return tree.Image{Node: s.shape(child, s.p.below(id, name))}
		}).Node
	}
	if n.Kind() == ir.Object {
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node { return s.shape(child, s.p.below(id, name)) })
	}
	return n.MapElements(func(_ int, child *tree.Node) *tree.Node { return s.shape(child, s.p.below(id, "")) })
}

// inOrder is an array as one of a type of kind k. A set whose elements were shaped may be
// no longer sorted, and so is made anew.
func inOrder(n *tree.Node, k ir.TypeKind) *tree.Node {
	switch k {
	case ir.SetType:
		return n.WithOrder(tree.SetOrder)
	case ir.LogType:
		return n.WithOrder(tree.LogOrder)
	default:
		return n.WithOrder(tree.ListOrder)
	}
}

// spelled is a number as its type spells it: an integer as digits, a literal as the
// contract has it. Other numbers keep their spelling.
func (p *Program) spelled(n *tree.Node, id ir.TypeID) *tree.Node {
	switch literal := p.literals[id]; {
	case literal != nil && literal.Text() != n.Text() && tree.Equal(literal, n):
		return literal
	case p.contract.Types[id].Kind == ir.IntType && strings.ContainsAny(n.Text(), ".eE"):
		if v, ok := n.Int64(); ok {
			return tree.NewInt(v)
		}
	}
	return n
}

// reshapeUnion gives the union at word w of root the shape of the alternative that it
// fits now, and all below it; nothing changes while it fits none. It costs what of the
// union is not as it was when last shaped.
func (p *Program) reshapeUnion(root *tree.Node, w region.Word) *tree.Node {
	id := p.contract.State
	for _, l := range w {
		id = p.below(id, l.Name)
	}
	n := tree.NodeAt(root, w)
	if n == nil {
		return root
	}
	if to := p.reshape(n, id); to != n {
		return tree.Put(root, w, to)
	}
	return root
}
