package tree

import (
	"math/bits"
	"slices"
)

// Objects: where chunks end.
//
// A B-tree that splits chunks when they overflow remembers the order of past edits
// in its shape. In an object the shape is a function of the members alone, so that
// equal objects have equal chunks and the digest can simply hash them. The rule, at
// every height h:
//
//	a chunk ends after a member that is a landmark above h.
//
// A member is a landmark above h with probability 16^-(h+1), decided by a hash of its
// name; a chunk is a landmark if its last member is. The topmost height is the first
// at which everything fits one chunk. Objects of at most small members are one leaf
// whatever their names, so that names need no hashing there.
//
// Between two landmarks there may be too much for one chunk: seldom by chance, always
// where somebody picks names so. Then the stretch between them is cut by deterministic
// coin tossing (R. Cole, U. Vishkin, 1986). Every name gets a label: at which bit it first
// differs from the name before, and that bit. Neighbours have different labels again, as
// the names were different. A label is far shorter than a name; labels of the labels are
// shorter still, and after a few rounds there are six. A chunk ends where the label is
// greater than both beside it. Two such places are never neighbours, and never further
// apart than ten or so items, whatever the names are. And whether an item is one depends
// on reach items before it and one behind: what is further away may change as it likes.
//
// An edit (splice) runs the rules again around the place it is at, as far as they can
// come to something else there. The new chunks then are an edit of the height above.
// That is O(log n) whatever the names are.

const (
	small     = 32    // an object of at most this many members is one leaf
	fullKeyed = 128   // the most items of a chunk of an object
	fullArray = small // the same of an array
)

const (
	tosses = 5          // by then labels of the longest names are below 6
	reach  = tosses + 1 // how many items before an item decide, with it, whether it ends a chunk
)

// landmark hashes a name: 64-bit FNV-1a, mixed, one level per four low zero bits. Of a
// long name it takes both ends: what an edit costs must not depend on the names beside.
func landmark(name string) uint8 {
	const hashed = 64
	h := uint64(14695981039346656037)
	if len(name) > 2*hashed {
		h = fnv(fnv(h, name[:hashed]), name[len(name)-hashed:]) ^ uint64(len(name))
	} else {
		h = fnv(h, name)
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	level := uint8(0)
	for h&15 == 0 && level < 16 {
		h >>= 4
		level++
	}
	return level
}

func fnv(h uint64, text string) uint64 {
	for i := 0; i < len(text); i++ {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// cutStretch marks the items of a stretch after which a chunk ends. names are different
// from their neighbours. Of a stretch that begins before names, the first reach marks are
// not to be relied on.
func cutStretch(names []string, ends []bool) {
	labels := make([]uint64, len(names))
	before := ""
	for i, name := range names {
		labels[i] = nameLabel(before, name, i == 0)
		before = name
	}
	for range tosses - 1 {
		last := uint64(0)
		for i, l := range labels {
			at := 0
			if i > 0 {
				at = bits.TrailingZeros64(l ^ last)
			}
			labels[i], last = uint64(at)<<1|l>>at&1, l
		}
	}
	for i := 1; i+1 < len(labels); i++ {
		if labels[i] > labels[i-1] && labels[i] > labels[i+1] {
			ends[i] = true
		}
	}
}

// nameLabel is where name differs from the one before, and how: the number of the bit
// and, lowest, the bit. A byte counts nine bits, of which 0 is the end of the name.
func nameLabel(before, name string, first bool) uint64 {
	at := 0
	for !first && at < len(before) && at < len(name) && before[at] == name[at] {
		at++
	}
	is, bit := byteAt(name, at), 0
	if !first {
		bit = bits.TrailingZeros16(is ^ byteAt(before, at))
	}
	return uint64(9*at+bit)<<1 | uint64(is>>bit&1)
}

func byteAt(name string, i int) uint16 {
	if i >= len(name) {
		return 0
	}
	return uint16(name[i]) + 1
}

// Edits.

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
func (w *window) growLeft(path []branch) {
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
func (w *window) growRight(path []branch, right int) {
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

// A branch is where the way from the root of a chunk tree to an item goes on.
type branch struct {
	c *chunk
	i int // item of c
}

// descend finds the way to item at; the end of the sequence is behind the last item.
func descend(root *chunk, at int) []branch {
	path := make([]branch, 0, 8)
	for c := root; ; {
		if c.height == 0 {
			return append(path, branch{c, at})
		}
		k, within := c.kidAt(at)
		path = append(path, branch{c, k})
		c, at = c.kids[k], within
	}
}

// beside goes from the chunk that path leads to, of which it has the parents, to the one
// before (-1) or behind it (1) at the same height, and returns it; nil if there is none.
func beside(path []branch, by int) *chunk {
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
			path[below] = branch{c, first}
			c = c.kids[first]
		}
		return c
	}
	return nil
}
