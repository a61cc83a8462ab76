package tree

import "slices"

// A step is a place on the way from the root of a chunk tree to an item.
type step struct {
	c *chunk
	i int // item of c
}

// splice removes del items of an object at position at and puts the items of ins there.
// The tree must be one that the rules made (of more than small members).
func splice(root *chunk, at, del int, ins run) *chunk {
	for {
		w := windowOf(root, at, del, ins)
		made := w.cut()
		if ins.height == root.height {
			return top(made, true)
		}
		at, del = w.from, len(w.old)
		ins = run{keyed: true, height: ins.height + 1}
		if len(made) > 0 {
			ins = above(made, true)
		}
	}
}

// A window is the part of one height that an edit can change: the stretch that the edit
// is in or, where it is long, so much of it that the rest stays as it is.
type window struct {
	old           []*chunk // what the window covers
	from          int      // the number of their first member
	left          int      // items before the edit
	del           int
	ins           run
	before, after bool // the stretch is long, and goes on
}

// enough is how many items on one side show that a stretch is long, and stays as it is
// behind them.
const enough = fullKeyed + reach + 1

// windowOf is the window of the edit that removes del items at the height of ins,
// beginning with what holds member number at, and puts those of ins there.
func windowOf(root *chunk, at, del int, ins run) *window {
	path := descend(root, at)
	path = path[:len(path)-int(ins.height)]
	here, above := path[len(path)-1], path[:len(path)-1]
	w := &window{old: []*chunk{here.c}, from: at, left: here.i, del: del, ins: ins}
	if ins.height == 0 {
		w.from -= here.i
	} else {
		for _, kid := range here.c.kids[:here.i] {
			w.from -= kid.count
		}
	}
	w.growLeft(slices.Clone(above))
	w.growRight(slices.Clone(above), here.c.width()-here.i-del)
	return w
}

// growLeft takes what is before the edit, up to a landmark. Of a long stretch it keeps no
// more than decides.
func (w *window) growLeft(path []step) {
	all := []*chunk{}
	for c := beside(path, -1); c != nil && c.level <= w.ins.height; c = beside(path, -1) {
		if w.before = w.left >= enough; w.before {
			break
		}
		all = append(all, c)
		w.left += c.width()
	}
	for n := len(all); w.before && w.left-all[n-1].width() > reach; n-- {
		w.left -= all[n-1].width()
		all = all[:n-1]
	}
	slices.Reverse(all)
	for _, c := range all {
		w.from -= c.count
	}
	w.old = append(all, w.old...)
}

// growRight does so behind the edit; so far it is right items, less than 0 if some that
// the edit removes are still missing.
func (w *window) growRight(path []step, right int) {
	for right < 0 || !w.closed(right) {
		c := beside(path, 1)
		if c == nil {
			return
		}
		if w.after = right >= enough; w.after {
			break
		}
		w.old = append(w.old, c)
		right += c.width()
	}
	for n := len(w.old); w.after && right-w.old[n-1].width() > reach; n-- {
		right -= w.old[n-1].width()
		w.old = w.old[:n-1]
	}
}

// closed reports whether the window, with right items behind the edit, ends with a
// landmark, or holds nothing.
func (w *window) closed(right int) bool {
	switch n := w.ins.len(); {
	case right > 0:
		return w.old[len(w.old)-1].level > w.ins.height
	case n > 0:
		return w.ins.level(n-1) > w.ins.height
	default:
		return w.left == 0
	}
}

// cut makes the chunks of the window after the edit. What of them was there before, at
// the start or the end, is taken out of it, but for one chunk.
func (w *window) cut() []*chunk {
	all, known := w.edited()
	ends := all.ends(w.before, w.after)
	if w.before {
		w.keepFirst(ends)
	}
	var made []*chunk
	start := 0
	for i, end := range ends {
		if !end {
			continue
		}
		c := known[start]
		if c == nil || c.width() != i+1-start {
			part := all.part(start, i+1)
			c = part.chunk(all.level(i))
		}
		made = append(made, c)
		start = i + 1
	}
	for len(w.old) > 1 && len(made) > 0 && made[0] == w.old[0] {
		w.from += made[0].count
		w.old, made = w.old[1:], made[1:]
	}
	for len(w.old) > 1 && len(made) > 0 && made[len(made)-1] == w.old[len(w.old)-1] {
		w.old, made = w.old[:len(w.old)-1], made[:len(made)-1]
	}
	return made
}

// edited is all items of the window after the edit, and which old chunks are still whole
// in it, by where they begin.
func (w *window) edited() (all run, known []*chunk) {
	width := w.ins.len() - w.del
	for _, c := range w.old {
		width += c.width()
	}
	all, known = run{keyed: true, height: w.ins.height}, make([]*chunk, width+1)
	all.reserve(width)
	at, inserted := 0, false
	for _, c := range w.old {
		r := c.run(true)
		lo := max(0, min(w.left-at, r.len()))
		hi := max(lo, min(w.left+w.del-at, r.len()))
		if lo == r.len() {
			known[all.len()] = c
		}
		all.push(&r, 0, lo)
		if !inserted && w.left <= at+r.len() {
			all.push(&w.ins, 0, w.ins.len())
			inserted = true
		}
		if hi == 0 {
			known[all.len()] = c
		}
		all.push(&r, hi, r.len())
		at += r.len()
	}
	return all, known
}

func (r *run) reserve(n int) {
	r.names = make([]string, 0, n)
	if r.height > 0 {
		r.kids = make([]*chunk, 0, n)
	} else {
		r.nodes = make([]*Node, 0, n)
	}
}

// keepFirst takes the first ends from the old chunks: what decides them is not all in the
// window.
func (w *window) keepFirst(ends []bool) {
	clear(ends[:reach])
	at := 0
	for _, c := range w.old {
		if at += c.width(); at > reach {
			return
		}
		ends[at-1] = true
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

func (c *chunk) run(keyed bool) run {
	return run{names: c.names, nodes: c.nodes, kids: c.kids, keyed: keyed, height: c.height}
}

// beside goes from the chunk that path leads to, of which it has the parents, to the one
// before (-1) or behind it (1) at the same height, and returns it; nil if there is none.
func beside(path []step, by int) *chunk {
	for k := len(path) - 1; k >= 0; k-- {
		i := path[k].i + by
		if i < 0 || i >= len(path[k].c.kids) {
			continue
		}
		path[k].i = i
		c := path[k].c.kids[i]
		for below := k + 1; below < len(path); below++ {
			first := 0
			if by < 0 {
				first = len(c.kids) - 1
			}
			path[below] = step{c, first}
			c = c.kids[first]
		}
		return c
	}
	return nil
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
