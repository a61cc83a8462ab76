package tree

import "sort"

// A chunk is a node of the tree that holds the items of one container. A leaf
// holds items, an inner chunk holds chunks of the height below. All leaves are at
// height 0. A chunk never changes after the function that makes it returns; only
// what is remembered about it is filled in later.
type chunk struct {
	names []string // of an object: a leaf's member names, an inner chunk's first name of each kid
	nodes []*Node  // of a leaf
	kids  []*chunk // of an inner chunk

	summary
	count  int   // items below
	height uint8 // 0 for a leaf
	level  uint8 // how high the landmark at its end reaches (shape.go)

	digest remembered
	memos  memos // what else is remembered: see memo.go
}

// copyTo makes into, which is new, another copy of c.
func (c *chunk) copyTo(into *chunk) {
	into.names, into.nodes, into.kids = c.names, c.nodes, c.kids
	into.summary, into.count, into.height, into.level = c.summary, c.count, c.height, c.level
	c.digest.copyTo(&into.digest)
	into.memos.head.Store(c.memos.head.Load())
}

func (c *chunk) width() int {
	if c.height == 0 {
		return len(c.nodes)
	}
	return len(c.kids)
}

// member finds a member by name.
func (c *chunk) member(name string) *Node {
	for c.height > 0 {
		i := sort.SearchStrings(c.names, name)
		if i == len(c.names) || c.names[i] != name {
			i--
		}
		if i < 0 {
			return nil
		}
		c = c.kids[i]
	}
	if i := sort.SearchStrings(c.names, name); i < len(c.names) && c.names[i] == name {
		return c.nodes[i]
	}
	return nil
}

// rank is the number of members with smaller names, and whether name is there.
func (c *chunk) rank(name string) (int, bool) {
	before := 0
	for c.height > 0 {
		i := sort.SearchStrings(c.names, name)
		if i == len(c.names) || c.names[i] != name {
			i--
		}
		if i < 0 {
			return before, false
		}
		for _, kid := range c.kids[:i] {
			before += kid.count
		}
		c = c.kids[i]
	}
	i := sort.SearchStrings(c.names, name)
	return before + i, i < len(c.names) && c.names[i] == name
}

// at returns item i, which must exist.
func (c *chunk) at(i int) *Node {
	for c.height > 0 {
		var k int
		k, i = c.kidAt(i)
		c = c.kids[k]
	}
	return c.nodes[i]
}

// kidAt tells which kid holds item i, and the item's number in it. Item count is
// taken to be in the last kid.
func (c *chunk) kidAt(i int) (kid, within int) {
	for k, kid := range c.kids[:len(c.kids)-1] {
		if i < kid.count {
			return k, i
		}
		i -= kid.count
	}
	return len(c.kids) - 1, i
}

// each calls f for every item with its number, counted from first.
func (c *chunk) each(first int, f func(i int, name string, child *Node) bool) bool {
	if c.height > 0 {
		for _, kid := range c.kids {
			if !kid.each(first, f) {
				return false
			}
			first += kid.count
		}
		return true
	}
	for i, child := range c.nodes {
		if !f(first+i, c.name(i), child) {
			return false
		}
	}
	return true
}

// replaced is c with item i replaced by child: the path to it is copied, the shape
// stays, since it does not depend on the values.
func (c *chunk) replaced(i int, child *Node) *chunk {
	if c.height > 0 {
		next, kids := room[chunk, *chunk](len(c.kids))
		return c.replaceBelow(next, kids, i, child)
	}
	next, nodes := room[chunk, *Node](len(c.nodes))
	return c.replaceItem(next, nodes, i, child)
}

// replaceItem makes next, which is new, the leaf c with another item i; nodes is room
// for its items.
func (c *chunk) replaceItem(next *chunk, nodes []*Node, i int, child *Node) *chunk {
	copy(nodes, c.nodes)
	nodes[i], next.nodes = child, nodes
	return c.renew(next, c.nodes[i].summary(), child.summary())
}

// replaceBelow does so for an inner chunk.
func (c *chunk) replaceBelow(next *chunk, kids []*chunk, i int, child *Node) *chunk {
	k, within := c.kidAt(i)
	copy(kids, c.kids)
	kids[k] = c.kids[k].replaced(within, child)
	next.kids = kids
	return c.renew(next, c.kids[k].summary, kids[k].summary)
}

// renew fills in the rest of next, which differs from c by what is gone and come.
func (c *chunk) renew(next *chunk, gone, come summary) *chunk {
	next.names, next.count, next.height, next.level = c.names, c.count, c.height, c.level
	next.weight, next.size = c.weight-gone.weight+come.weight, c.size-gone.size+come.size
	if gone.depth == c.depth && come.depth < gone.depth || gone.sets && !come.sets || gone.logs && !come.logs {
		next.remeasureMaxima()
	} else {
		next.depth, next.sets, next.logs = max(c.depth, come.depth), c.sets || come.sets, c.logs || come.logs
	}
	return next
}

// room allocates a head and n items at once: most of what an edit allocates are
// chunks with their items.
func room[H, T any](n int) (*H, []T) {
	switch {
	case n <= 8:
		block := new(struct {
			head  H
			items [8]T
		})
		return &block.head, block.items[:n:n]
	case n <= 16:
		block := new(struct {
			head  H
			items [16]T
		})
		return &block.head, block.items[:n:n]
	case n <= 32:
		block := new(struct {
			head  H
			items [32]T
		})
		return &block.head, block.items[:n:n]
	default:
		return new(H), make([]T, n)
	}
}

// A summary is what is remembered of the items below a chunk.
type summary struct {
	weight int  // JSON values
	size   int  // bytes of the items' encodings, without the commas between them
	depth  int  // of the deepest item
	sets   bool // there is a set
	logs   bool // there is a log
}

// loose reports whether there is an array whose order has no meaning.
func (s *summary) loose() bool { return s.sets || s.logs }

func (n *Node) summary() summary {
	return summary{n.Weight(), n.Size(), n.Depth(), n.HoldsSet(), n.HoldsLog()}
}

func (s *summary) add(t summary) {
	s.weight += t.weight
	s.size += t.size
	s.depth = max(s.depth, t.depth)
	s.sets, s.logs = s.sets || t.sets, s.logs || t.logs
}

// measure computes what a chunk remembers of the items below.
func (c *chunk) measure() {
	c.count = len(c.nodes)
	for i, child := range c.nodes {
		c.add(child.summary())
		if c.names != nil {
			c.size += quotedLen(c.names[i]) + len(":")
		}
	}
	for _, kid := range c.kids {
		c.count += kid.count
		c.add(kid.summary)
	}
}

// remeasureMaxima computes what a difference cannot tell.
func (c *chunk) remeasureMaxima() {
	var all summary
	for _, child := range c.nodes {
		all.add(child.summary())
	}
	for _, kid := range c.kids {
		all.add(kid.summary)
	}
	c.depth, c.sets, c.logs = all.depth, all.sets, all.logs
}

// loose reports whether n is or holds an array whose order has no meaning.
func (n *Node) loose() bool {
	return n.HoldsSet() || n.HoldsLog()
}

// HoldsSet reports whether n is a set, or one is below it. O(1).
func (n *Node) HoldsSet() bool {
	return n != nil && (n.order == SetOrder || n.root != nil && n.root.sets)
}

// HoldsLog reports whether n is a log, or one is below it. O(1).
func (n *Node) HoldsLog() bool {
	return n != nil && (n.order == LogOrder || n.root != nil && n.root.logs)
}
