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
	members := map[string]*tree.Node{}
	if keys, only := c.OnlyKeys(); only {
		for _, name := range keys {
			p.member(members, name, n.Get(name), c)
		}
	} else {
		for name, child := range n.Members() {
			p.member(members, name, child, c)
		}
	}
	return tree.NewObject(members)
}

func (p *projection) member(members map[string]*tree.Node, name string, child *tree.Node, c region.Cursor) {
	p.word = append(p.word, region.Key(name))
	if shown := p.project(child, c.Key(name)); shown != nil {
		members[name] = shown
	}
	p.word = p.word[:len(p.word)-1]
}

// An element is one position of a projected array.
type element struct {
	shown  *tree.Node // null for a placeholder
	hidden bool
	below  []region.Word // placeholders inside, relative to the element
}

func (p *projection) array(n *tree.Node, c region.Cursor) *tree.Node {
	elements := make([]element, 0, n.Len())
	for i, child := range n.Elements() {
		elements = append(elements, projectElement(child, c.Index(i)))
	}
	if n.Order() == tree.SetOrder {
		sortEncoded(elements)
	}
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
	return tree.NewArray(nodes).WithOrder(n.Order())
}

// projectElement projects one element on its own, since its final position is not
// known yet.
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
