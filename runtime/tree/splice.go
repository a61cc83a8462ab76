package tree

// A step is a place on the way from the root of a chunk tree to an item.
type step struct {
	c *chunk
	i int // item of c
}

// A recut runs the rule of shape.go over one height, from an edit to the place
// where old and new chunks end alike.
type recut struct {
	pending run
	done    []*chunk
}

// push takes the next item of the sequence.
func (r *recut) push(from *run, i int) {
	p := &r.pending
	if p.len() == 0 {
		p.reserve()
	}
	if from.names != nil {
		p.names = append(p.names, from.names[i])
	}
	if p.height > 0 {
		p.kids = append(p.kids, from.kids[i])
	} else {
		p.nodes = append(p.nodes, from.nodes[i])
	}
	if level := from.level(i); level > p.height || p.len() == p.full() {
		r.end(level)
	}
}

func (r *run) reserve() {
	const usual = 24
	if r.keyed {
		r.names = make([]string, 0, usual)
	}
	if r.height > 0 {
		r.kids = make([]*chunk, 0, usual)
	} else {
		r.nodes = make([]*Node, 0, usual)
	}
}

func (r *recut) end(level uint8) {
	if r.pending.len() == 0 {
		return
	}
	r.done = append(r.done, r.pending.chunk(level))
	r.pending = run{keyed: r.pending.keyed, height: r.pending.height}
}

func (r *recut) pushAll(from *run, lo, hi int) {
	for i := lo; i < hi; i++ {
		r.push(from, i)
	}
}

// splice removes del items at position at and puts the items of ins there. The
// tree must be one that the rule made (of more than small members in an object).
func splice(root *chunk, at, del int, ins run) *chunk {
	path := descend(root, at)
	for {
		level := path[len(path)-1].c.height
		chunks, used := spliceLevel(path, del, ins)
		if level == root.height {
			return top(chunks, ins.keyed)
		}
		path = path[:len(path)-1]
		del, ins = used, run{keyed: ins.keyed, height: level + 1}
		if len(chunks) > 0 {
			ins = above(chunks, ins.keyed)
		}
	}
}

// descend finds the way to item at; the end of the sequence is behind the last item.
func descend(root *chunk, at int) []step {
	path := make([]step, 0, 8)
	for c := root; ; {
		if c.height == 0 {
			return append(path, step{c, at})
		}
		k, within := c.kidAt(at)
		path = append(path, step{c, k})
		c, at = c.kids[k], within
	}
}

// spliceLevel does the edit at the height of the last step of path: del items
// there give way to ins. It returns the chunks that replace the old ones, and how
// many old ones they replace, counted from the one at the end of path.
func spliceLevel(path []step, del int, ins run) (chunks []*chunk, used int) {
	here := path[len(path)-1]
	r := recut{pending: run{keyed: ins.keyed, height: here.c.height}}
	old := here.c.run(ins.keyed)
	r.pushAll(&old, 0, here.i)
	r.pushAll(&ins, 0, ins.len())
	next := here.i + del
	for used = 1; ; used++ {
		if lo := min(next, old.len()); lo < old.len() {
			r.pushAll(&old, lo, old.len())
		}
		next = max(0, next-old.len())
		if r.pending.len() == 0 && next == 0 {
			return r.done, used
		}
		c := following(path[:len(path)-1], used)
		if c == nil {
			r.end(0)
			return r.done, used
		}
		old = c.run(ins.keyed)
	}
}

func (c *chunk) run(keyed bool) run {
	return run{names: c.names, nodes: c.nodes, kids: c.kids, keyed: keyed, height: c.height}
}

// following is the chunk that stands n places behind the one at the end of path
// (which leads to its parent), at the same height; nil behind the last.
func following(path []step, n int) *chunk {
	if len(path) == 0 {
		return nil
	}
	parent := path[len(path)-1]
	i := parent.i + n
	if i < len(parent.c.kids) {
		return parent.c.kids[i]
	}
	i -= len(parent.c.kids)
	for up := 1; ; up++ {
		c := following(path[:len(path)-1], up)
		if c == nil {
			return nil
		}
		if i < len(c.kids) {
			return c.kids[i]
		}
		i -= len(c.kids)
	}
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
