package view

import (
	"bytes"
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// Project is the part of root that a region shows, c being the start of a walk of
// the region; nil if root itself has nothing to show.
//
// A node is shown if its word is in the region, or if it is a container of a kind
// that can hold a word of the region below: the spine, shown even when empty.
// Hidden members are left out. Arrays keep all positions; an element with nothing
// to show is a null, and its word is listed in placeholders, because a null may
// also be what is there. The elements of a set have no positions of their own: they
// come sorted, as a set is encoded, and placeholders count in that order. Arrays
// keep their tree.Order.
//
// Subtrees that are shown whole are shared with root. Where the region goes on by
// certain keys only, those are looked up, so that one entry of a wide object costs
// what the entry costs.
func Project(root *tree.Node, c region.Cursor) (view *tree.Node, placeholders []region.Word) {
	p := projection{}
	view = p.project(root, c)
	return view, p.placeholders
}

type projection struct {
	word         region.Word
	placeholders []region.Word
}

// project is what is shown of n, nil for nothing.
func (p *projection) project(n *tree.Node, c region.Cursor) *tree.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind() == ir.Object:
		if c.Whole() {
			return n
		}
		if c.In() || c.CanHold(region.Object) {
			return p.object(n, c)
		}
	case n.Kind() == ir.Array:
		if c.Whole() {
			return n
		}
		if c.In() || c.CanHold(region.Array) {
			return p.array(n, c)
		}
	case c.In():
		return n
	}
	return nil
}

func (p *projection) object(n *tree.Node, c region.Cursor) *tree.Node {
	if !c.CanHold(region.Object) {
		return tree.NewObject(nil)
	}
	keys, only := c.OnlyKeys()
	if !only {
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node { return p.at(region.Key(name), child, c) })
	}
	shown := tree.NewObject(nil)
	for _, name := range keys {
		if child := n.Get(name); child != nil {
			shown = shown.With(name, p.at(region.Key(name), child, c))
		}
	}
	return shown
}

// at projects the child that l leads to; c is where its parent is.
func (p *projection) at(l region.Letter, child *tree.Node, c region.Cursor) *tree.Node {
	p.word = append(p.word, l)
	shown := p.project(child, c.Step(l))
	p.word = p.word[:len(p.word)-1]
	return shown
}

func (p *projection) array(n *tree.Node, c region.Cursor) *tree.Node {
	if n.Order() == tree.SetOrder {
		return p.set(n, c)
	}
	return n.MapElements(func(i int, child *tree.Node) *tree.Node {
		if shown := p.at(region.Index(i), child, c); shown != nil {
			return shown
		}
		p.placeholders = append(p.placeholders, append(slices.Clone(p.word), region.Index(i)))
		return tree.NewNull()
	})
}

// An element is one position of a projected set.
type element struct {
	shown  *tree.Node // null for a placeholder
	hidden bool
	below  []region.Word // placeholders inside, relative to the element
}

// set projects a set, whose elements get their positions only when all are known.
func (p *projection) set(n *tree.Node, c region.Cursor) *tree.Node {
	elements := make([]element, 0, n.Len())
	for i, child := range n.Elements() {
		elements = append(elements, projectElement(child, c.Index(i)))
	}
	sortEncoded(elements)
	nodes := make([]*tree.Node, len(elements))
	for i, e := range elements {
		nodes[i] = e.shown
		at := append(slices.Clone(p.word), region.Index(i))
		if e.hidden {
			p.placeholders = append(p.placeholders, at)
		}
		for _, w := range e.below {
			p.placeholders = append(p.placeholders, append(slices.Clone(at), w...))
		}
	}
	return tree.NewArray(nodes).WithOrder(tree.SetOrder)
}

// projectElement projects one element of a set on its own.
func projectElement(n *tree.Node, c region.Cursor) element {
	p := projection{}
	shown := p.project(n, c)
	if shown == nil {
		return element{shown: tree.NewNull(), hidden: true}
	}
	return element{shown: shown, below: p.placeholders}
}

// sortEncoded puts elements in the order in which a set is written; placeholders
// come before nulls that are there.
func sortEncoded(elements []element) {
	slices.SortStableFunc(elements, func(a, b element) int {
		if c := bytes.Compare(tree.AppendJSON(nil, a.shown), tree.AppendJSON(nil, b.shown)); c != 0 {
			return c
		}
		if a.hidden == b.hidden {
			return slices.CompareFunc(a.below, b.below, compareWords)
		}
		if a.hidden {
			return -1
		}
		return 1
	})
}

func compareWords(a, b region.Word) int {
	return bytes.Compare([]byte(a.Pointer()), []byte(b.Pointer()))
}
