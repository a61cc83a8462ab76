package tree

import (
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Remapping: making another container out of every container, remembered by chunk.
//
// Chunks end where the names say, or the count. A mapping that keeps every item
// therefore keeps the shape, and the image of a chunk is a chunk that can stand in
// any version that has the original. Where items are left out, chunks may end
// elsewhere; then the images of the leaves are remembered as they are, and the
// container is built of them anew, which moves pointers and nothing else.

// An Image is what a mapping makes of a value.
type Image struct {
	Node   *Node         // nil: the item is left out
	Hidden []region.Word // places at and below the value that the mapping took note of
}

// Map is the image of the container n under a mapping that key identifies (a
// pointer, which is kept for as long as n is). item makes the image of one item, by
// its name, "" in an array; it must make the same of the same item every time. In an
// array no item may be left out. n itself is the image if nothing changes. After an
// edit it costs O(log n) and as many calls of item as one chunk has items, if
// items are neither left out nor taken note of; else also as many steps as there
// are of the first, or of the second.
func (n *Node) Map(key any, item func(name string, child *Node) Image) Image {
	if n.isEmpty() {
		return Image{Node: n}
	}
	m := mapChunk(n.root, key, item, n.root.weight >= heavy)
	return Image{Node: m.container(n), Hidden: m.collect(n.root, 0, nil)}
}

// A mapped is the image of a chunk.
type mapped struct {
	same *chunk    // of the same shape; nil if an item is left out
	kids []*mapped // of an inner chunk
	kept run       // of a leaf from which items are left out: the others

	hidden []region.Word // of a leaf; the first letter of each counts from the leaf's start
	hides  bool          // something is hidden here or in a kid

	whole atomic.Pointer[Node] // the image of the container that this is the root of
}

func mapChunk(c *chunk, key any, item func(string, *Node) Image, remembers bool) *mapped {
	if !remembers {
		return newMapped(c, key, item)
	}
	if known, ok := c.memos.get(key); ok {
		return known.(*mapped)
	}
	m := newMapped(c, key, item)
	c.memos.put(key, m)
	return m
}

func newMapped(c *chunk, key any, item func(string, *Node) Image) *mapped {
	if c.height == 0 {
		return mapLeaf(c, item)
	}
	m := &mapped{same: c, kids: make([]*mapped, len(c.kids))}
	kids := make([]*chunk, len(c.kids))
	changed := false
	for i, kid := range c.kids {
		to := mapChunk(kid, key, item, true)
		m.kids[i], kids[i] = to, to.same
		m.hides = m.hides || to.hides
		changed = changed || to.same != kid
		if to.same == nil {
			m.same = nil
		}
	}
	if m.same != nil && changed {
		m.same = c.like(run{names: c.names, kids: kids, keyed: c.names != nil, height: c.height})
	}
	return m
}

func mapLeaf(c *chunk, item func(string, *Node) Image) *mapped {
	m := &mapped{same: c}
	nodes, left, changed := make([]*Node, len(c.nodes)), 0, false
	for i, child := range c.nodes {
		to := item(c.name(i), child)
		nodes[i] = to.Node
		changed = changed || to.Node != child
		if to.Node == nil {
			left++
		}
		for _, w := range to.Hidden {
			m.hidden = append(m.hidden, append(region.Word{c.letter(i)}, w...))
		}
	}
	m.hides = len(m.hidden) > 0
	switch {
	case left > 0:
		m.same, m.kept = nil, c.keep(nodes)
	case changed:
		m.same = c.like(run{names: c.names, nodes: nodes, keyed: c.names != nil})
	}
	return m
}

// like makes a chunk with the items of r and the shape of c.
func (c *chunk) like(r run) *chunk { return r.chunk(c.level) }

// keep is the items whose image is not nil.
func (c *chunk) keep(images []*Node) run {
	r := run{keyed: c.names != nil, nodes: make([]*Node, 0, len(images))}
	if r.keyed {
		r.names = make([]string, 0, len(images))
	}
	for i, to := range images {
		if to == nil {
			continue
		}
		r.nodes = append(r.nodes, to)
		if r.keyed {
			r.names = append(r.names, c.names[i])
		}
	}
	return r
}

func (c *chunk) letter(i int) region.Letter {
	if c.names == nil {
		return region.Index(i)
	}
	return region.Key(c.names[i])
}

// container is the image of n, whose root m is the image of. It is one node as long
// as m is remembered, so that what is known about it is not lost.
func (m *mapped) container(n *Node) *Node {
	if m.same == n.root {
		return n
	}
	if known := m.whole.Load(); known != nil && known.order == n.order && known.kind == n.kind {
		return known
	}
	to := m.image(n)
	m.whole.Store(to)
	return to
}

func (m *mapped) image(n *Node) *Node {
	switch {
	case m.same != nil:
		return wrap(n.kind, n.order, m.same)
	case m.kids == nil:
		return m.kept.node(n.kind, n.order)
	}
	all := run{keyed: n.kind == ir.Object}
	m.items(&all)
	return all.node(n.kind, n.order)
}

func (m *mapped) items(all *run) {
	switch {
	case m.kids != nil:
		for _, kid := range m.kids {
			kid.items(all)
		}
	case m.same != nil:
		all.append(&run{names: m.same.names, nodes: m.same.nodes}, 0, len(m.same.nodes))
	default:
		all.append(&m.kept, 0, len(m.kept.nodes))
	}
}

// collect appends the hidden places below c, whose first item is number first.
func (m *mapped) collect(c *chunk, first int, all []region.Word) []region.Word {
	if !m.hides {
		return all
	}
	for i, kid := range m.kids {
		all = kid.collect(c.kids[i], first, all)
		first += c.kids[i].count
	}
	for _, w := range m.hidden {
		if c.names == nil && first > 0 {
			w = append(region.Word{region.Index(first + w[0].Index)}, w[1:]...)
		}
		all = append(all, w)
	}
	return all
}
