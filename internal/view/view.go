// Package view computes what a region shows of a state (spec/semantics.md section
// 11). Project is the entry point; it takes the region as a cursor, so that one
// walk over the state steps both at once.
package view

import (
	"bytes"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
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
// what the entry costs. Where it says the same of every entry, what is shown of them
// is remembered by the chunks of root, and shared with the views of the versions
// after it; then a view costs what changed since one was made.
func Project(root *tree.Node, c region.Cursor) (view *tree.Node, placeholders []region.Word) {
	return ProjectStepwise(root, c, func() {})
}

// ProjectStepwise is Project, which calls step for every node it looks at: a step that
// panics ends it.
func ProjectStepwise(root *tree.Node, c region.Cursor, step func()) (view *tree.Node, placeholders []region.Word) {
	image := projector{step}.project(root, c)
	return image.Node, image.Hidden
}

// A projector is one projection.
type projector struct{ step func() }

// project is what is shown of n, without a node for nothing. What is hidden is given
// relative to n.
func (p projector) project(n *tree.Node, c region.Cursor) tree.Image {
	p.step()
	if n == nil {
		return tree.Image{}
	}
	switch at := planOf(c); n.Kind() {
	case ir.Object:
		return p.object(n, c, at)
	case ir.Array:
		return p.array(n, c, at)
	default:
		if at.in {
			return tree.Image{Node: n}
		}
		return tree.Image{}
	}
}

func (p projector) object(n *tree.Node, c region.Cursor, at *plan) tree.Image {
	switch at.object {
	case whole:
		return tree.Image{Node: n}
	case bare:
		return tree.Image{Node: tree.NewObject(nil)}
	case byKeys:
		return p.lookedUp(n, c, at)
	case alike:
		if image, ok := p.record(n, c, at); ok {
			return image
		}
		return n.Map(at.same, func(name string, child *tree.Node) tree.Image { return p.entry(child, c.Key(name)) })
	case each:
		return p.members(n, c)
	default:
		return tree.Image{}
	}
}

func (p projector) members(n *tree.Node, c region.Cursor) tree.Image {
	var hidden []region.Word
	shown := n.MapMembers(func(name string, child *tree.Node) *tree.Node {
		image := p.project(child, c.Key(name))
		hidden = appendBelow(hidden, region.Key(name), image.Hidden)
		return image.Node
	})
	return tree.Image{Node: shown, Hidden: hidden}
}

// lookedUp projects the members that are there of a known few.
func (p projector) lookedUp(n *tree.Node, c region.Cursor, at *plan) tree.Image {
	if len(at.keys) == 1 {
		name := at.keys[0].Of(c)
		image := p.entry(n.Get(name), c.Key(name))
		if image.Node == nil {
			return tree.Image{Node: tree.NewObject(nil)}
		}
		return tree.Image{Node: tree.NewObjectOf(name, image.Node), Hidden: appendBelow(nil, region.Key(name), image.Hidden)}
	}
	keys := make([]string, len(at.keys))
	for i, k := range at.keys {
		keys[i] = k.Of(c)
	}
	slices.Sort(keys)
	names, nodes := keys[:0], make([]*tree.Node, 0, len(keys))
	var hidden []region.Word
	for _, name := range keys {
		image := p.entry(n.Get(name), c.Key(name))
		if image.Node != nil {
			names, nodes = append(names, name), append(nodes, image.Node)
			hidden = appendBelow(hidden, region.Key(name), image.Hidden)
		}
	}
	return tree.Image{Node: tree.NewSortedObject(names, nodes), Hidden: hidden}
}

// record projects an object of a few members whose names were met before: it goes through
// those that may be shown alone. ok is whether it did.
func (p projector) record(n *tree.Node, c region.Cursor, at *plan) (shown tree.Image, ok bool) {
	names, nodes := n.FewMembers()
	if len(names) == 0 {
		return tree.Image{}, false
	}
	chosen := at.choice(names, c)
	if chosen == nil {
		return tree.Image{}, false
	}
	kept, same := make([]*tree.Node, 0, len(chosen.at)), len(chosen.at) == len(nodes)
	keptNames := chosen.names
	for j, i := range chosen.at {
		image := p.project(nodes[i], c.On(chosen.to[j]))
		if image.Node == nil {
			if len(keptNames) == len(chosen.names) {
				keptNames = slices.Clone(chosen.names)
			}
			keptNames = slices.Delete(keptNames, len(kept), len(kept)+1)
			continue
		}
		same = same && image.Node == nodes[i]
		kept, shown.Hidden = append(kept, image.Node), appendBelow(shown.Hidden, region.Key(names[i]), image.Hidden)
	}
	if shown.Node = n; !same || len(kept) < len(nodes) {
		shown.Node = tree.NewSortedObject(keptNames, kept)
	}
	return shown, true
}

// entry projects what is one of many. What is shown of a small object is remembered by it:
// the next view shows the same again, whether of it alone or of all, and knows its digest.
func (p projector) entry(n *tree.Node, c region.Cursor) tree.Image {
	if n == nil || n.Kind() != ir.Object || n.Weight() < fewValues {
		return p.project(n, c)
	}
	at := planOf(c)
	if at.object != alike {
		return p.project(n, c)
	}
	if known, ok := at.entries.Get(n); ok {
		return tree.Image{Node: known}
	}
	image := p.project(n, c)
	if len(image.Hidden) == 0 && image.Node != nil {
		at.entries.Put(n, image.Node)
	}
	return image
}

// fewValues is how many values an object holds that is not worth remembering.
const fewValues = 4

// appendBelow appends words that begin at l.
func appendBelow(all []region.Word, l region.Letter, below []region.Word) []region.Word {
	for _, w := range below {
		all = append(all, append(region.Word{l}, w...))
	}
	return all
}

func (p projector) array(n *tree.Node, c region.Cursor, at *plan) tree.Image {
	fixed := at.same != nil
	switch {
	case at.array == whole:
		return tree.Image{Node: n}
	case at.array == hidden:
		return tree.Image{}
	case n.Order() == tree.SetOrder && fixed:
		return n.Remembered(ofSet{at.same}, func() any { return p.set(n, c) }).(tree.Image)
	case n.Order() == tree.SetOrder:
		return p.set(n, c)
	case fixed:
		return n.Map(at.same, func(_ string, child *tree.Node) tree.Image { return p.position(child, c.Index(0)) })
	}
	var hidden []region.Word
	shown := n.MapElements(func(i int, child *tree.Node) *tree.Node {
		image := p.position(child, c.Index(i))
		hidden = appendBelow(hidden, region.Index(i), image.Hidden)
		return image.Node
	})
	return tree.Image{Node: shown, Hidden: hidden}
}

// ofSet is the key of what is shown of a set, which is not what is shown of a list.
type ofSet struct{ walk any }

// position projects one element, which is there even if nothing of it is shown.
func (p projector) position(child *tree.Node, c region.Cursor) tree.Image {
	if image := p.entry(child, c); image.Node != nil {
		return image
	}
	return tree.Image{Node: tree.NewNull(), Hidden: []region.Word{{}}}
}

// An element is one position of a projected set.
type element struct {
	shown  *tree.Node // null for a placeholder
	hidden bool
	below  []region.Word // placeholders inside, relative to the element
}

// set projects a set, whose elements get their positions only when all are known.
func (p projector) set(n *tree.Node, c region.Cursor) tree.Image {
	elements := make([]element, 0, n.Len())
	for i, child := range n.Elements() {
		image := p.project(child, c.Index(i))
		if image.Node == nil {
			elements = append(elements, element{shown: tree.NewNull(), hidden: true})
			continue
		}
		elements = append(elements, element{shown: image.Node, below: image.Hidden})
	}
	sortEncoded(elements)
	nodes := make([]*tree.Node, len(elements))
	var hidden []region.Word
	for i, e := range elements {
		nodes[i] = e.shown
		if e.hidden {
			hidden = append(hidden, region.Word{region.Index(i)})
		}
		hidden = appendBelow(hidden, region.Index(i), e.below)
	}
	return tree.Image{Node: tree.NewArray(nodes).WithOrder(tree.SetOrder), Hidden: hidden}
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
