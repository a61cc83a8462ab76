package tree

import (
	"slices"
	"sort"
)

// A chunk is a node of the tree that holds the items of one container. A leaf
// holds items, an inner chunk holds chunks of the height below. All leaves are at
// height 0. A chunk never changes after the function that makes it returns; only
// what is remembered about it is filled in later.
type chunk struct {
	names []string // of an object: a leaf's member names, an inner chunk's first name of each kid
	nodes []*Node  // of a leaf
	*inner

	summary
	count  int   // items below
	height uint8 // 0 for a leaf
	level  uint8 // how high the landmark at its end reaches (object.go)

	digest remembered
	memos  memos // what else is remembered: see memo.go
}

// inner is what an inner chunk has and a leaf has not: nearly all chunks are leaves, which
// have noKids.
type inner struct{ kids []*chunk }

var noKids = new(inner)

// copyTo makes into, which is new, another copy of c.
func (c *chunk) copyTo(into *chunk) {
	into.names, into.nodes, into.inner = c.names, c.nodes, c.inner
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

// name is the name of item i of a leaf, "" in an array.
func (c *chunk) name(i int) string {
	if c.names == nil {
		return ""
	}
	return c.names[i]
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
	i, child := c.find(name)
	return i, child != nil
}

// find is the number of members with smaller names, and the member of this name, nil if
// there is none.
func (c *chunk) find(name string) (int, *Node) {
	before := 0
	for c.height > 0 {
		i := sort.SearchStrings(c.names, name)
		if i == len(c.names) || c.names[i] != name {
			i--
		}
		if i < 0 {
			return before, nil
		}
		for _, kid := range c.kids[:i] {
			before += kid.count
		}
		c = c.kids[i]
	}
	i := sort.SearchStrings(c.names, name)
	if i < len(c.names) && c.names[i] == name {
		return before + i, c.nodes[i]
	}
	return before + i, nil
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

func only(c *chunk) []*chunk {
	if c == nil {
		return nil
	}
	return []*chunk{c}
}

func heightOf(c *chunk) uint8 {
	if c == nil {
		return 0
	}
	return c.height
}

// lowered replaces the chunks of one height by those below.
func lowered(chunks []*chunk, height uint8) []*chunk {
	var out []*chunk
	for _, c := range chunks {
		if c.height == height {
			out = append(out, c.kids...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// items are the items of leaves, one after the other. They are not to be changed.
func items(leaves []*chunk) run {
	var r run
	if len(leaves) == 1 {
		return leaves[0].run(leaves[0].names != nil)
	}
	for _, c := range leaves {
		r.names = append(r.names, c.names...)
		r.nodes = append(r.nodes, c.nodes...)
	}
	return r
}

// renew takes in that an item, or what is below one, was replaced.
func (c *chunk) renew(gone, come summary) {
	lost := gone.depth == c.depth && come.depth < gone.depth || gone.sets && !come.sets || gone.logs && !come.logs
	c.weight, c.size = c.weight-gone.weight+come.weight, c.size-gone.size+come.size
	if lost {
		c.remeasureMaxima()
	} else {
		c.depth, c.sets, c.logs = max(c.depth, come.depth), c.sets || come.sets, c.logs || come.logs
	}
	c.forget()
}

// forget takes back what was remembered of a chunk that is changed in place.
func (c *chunk) forget() {
	c.digest.state.Store(0)
	c.memos.head.Store(nil)
}

// respliced is the whole sequence of items after an edit: the way to edit where
// the container is one leaf, before or after.
func (c *chunk) respliced(at, del int, ins run) run {
	all := run{keyed: ins.keyed, nodes: make([]*Node, 0, c.count-del+ins.len())}
	if ins.keyed {
		all.names = make([]string, 0, cap(all.nodes))
	}
	leaves := only(c)
	for height := c.height; height > 0; height-- {
		leaves = lowered(leaves, height)
	}
	old := items(leaves)
	all.append(&old, 0, at)
	all.append(&ins, 0, ins.len())
	all.append(&old, at+del, old.len())
	return all
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

// What is remembered of the items below.

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

// Runs of items, and the chunk trees that are built of them.

// A run is a sequence of items of one height: nodes, with names in an object, or
// chunks. It is what chunks are cut from, and the pending chunk while cutting.
type run struct {
	names  []string
	nodes  []*Node
	kids   []*chunk
	keyed  bool
	height uint8
}

func (r run) len() int { return len(r.nodes) + len(r.kids) }

// level is how high the landmark at item i reaches; 0 is none.
func (r *run) level(i int) uint8 {
	switch {
	case r.height > 0:
		return r.kids[i].level
	case r.keyed:
		return landmark(r.names[i])
	default:
		return 0
	}
}

// part copies items [from, to), so that a chunk keeps no other's items alive.
func (r *run) part(from, to int) run {
	s := run{keyed: r.keyed, height: r.height}
	if r.keyed {
		s.names = slices.Clone(r.names[from:to])
	}
	if r.height > 0 {
		s.kids = slices.Clone(r.kids[from:to])
	} else {
		s.nodes = slices.Clone(r.nodes[from:to])
	}
	return s
}

// append adds items [lo, hi) of a leaf sequence.
func (r *run) append(from *run, lo, hi int) {
	r.nodes = append(r.nodes, from.nodes[lo:hi]...)
	if r.keyed {
		r.names = append(r.names, from.names[lo:hi]...)
	}
}

// push adds items [lo, hi) of a sequence.
func (r *run) push(from *run, lo, hi int) {
	r.names = append(r.names, from.names[lo:hi]...)
	if r.height > 0 {
		r.kids = append(r.kids, from.kids[lo:hi]...)
	} else {
		r.nodes = append(r.nodes, from.nodes[lo:hi]...)
	}
}

func (r *run) reserve(n int) {
	r.names = make([]string, 0, n)
	if r.height > 0 {
		r.kids = make([]*chunk, 0, n)
	} else {
		r.nodes = make([]*Node, 0, n)
	}
}

// chunk makes the chunk of all items of r, which keeps r's slices.
func (r *run) chunk(level uint8) *chunk {
	c := new(chunk)
	r.fill(c, level)
	return c
}

func (r *run) fill(c *chunk, level uint8) {
	c.names, c.nodes, c.inner, c.height, c.level = r.names, r.nodes, noKids, r.height, level
	if r.height > 0 {
		c.inner = &inner{r.kids}
	}
	c.measure()
}

func (c *chunk) run(keyed bool) run {
	return run{names: c.names, nodes: c.nodes, kids: c.kids, keyed: keyed, height: c.height}
}

// build makes the chunk tree of all items of a container, nil if there are none.
// It keeps r's slices.
func build(r run) *chunk {
	if r.len() == 0 {
		return nil
	}
	for {
		if r.height == 0 && r.len() <= small {
			return r.chunk(0)
		}
		chunks := r.cut()
		if len(chunks) == 1 {
			return chunks[0]
		}
		r = above(chunks, r.keyed)
	}
}

// cut cuts a whole sequence into chunks.
func (r *run) cut() []*chunk {
	var out []*chunk
	start := 0
	for i, end := range r.ends(false, false) {
		if end {
			part := r.part(start, i+1)
			out = append(out, part.chunk(r.level(i)))
			start = i + 1
		}
	}
	return out
}

// ends tells after which items chunks end. The stretch at the start or the end of r may
// go on beyond it (before, after); then it must be known to be too long for one chunk.
func (r *run) ends(before, after bool) []bool {
	ends := make([]bool, r.len())
	start := 0
	for i := range ends {
		last := i+1 == len(ends)
		if !r.keyed {
			ends[i] = last || (i+1)%fullArray == 0
			continue
		}
		if !last && r.level(i) <= r.height {
			continue
		}
		ends[i] = true
		if i+1-start > fullKeyed || before && start == 0 || after && last {
			cutStretch(r.names[start:i+1], ends[start:i+1])
		}
		start = i + 1
	}
	return ends
}

// above is the sequence that chunks are the items of.
func above(chunks []*chunk, keyed bool) run {
	r := run{kids: chunks, keyed: keyed, height: chunks[0].height + 1}
	if keyed {
		r.names = make([]string, len(chunks))
		for i, c := range chunks {
			r.names[i] = c.names[0]
		}
	}
	return r
}

// top finishes a tree whose highest sequence is chunks: it builds what is missing
// above, or drops what is no longer needed.
func top(chunks []*chunk, keyed bool) *chunk {
	if len(chunks) == 0 {
		return nil
	}
	root := chunks[0]
	if len(chunks) > 1 {
		root = build(above(chunks, keyed))
	}
	for root.height > 0 && len(root.kids) == 1 {
		root = root.kids[0]
	}
	return root
}
