package tree

import "slices"

// Shape: where chunks end.
//
// A B-tree that splits chunks when they overflow remembers the order of past edits
// in its shape. In an object the shape is a function of the members alone, so that
// equal objects have equal chunks and the digest can simply hash them. The rule, from
// left to right, at every height h:
//
//	a chunk ends after a member that is a landmark above h, or when it is full.
//
// A member is a landmark above h with probability 16^-(h+1), decided by a hash of its
// name; a chunk is a landmark if its last member is. The topmost height is the first
// at which everything fits one chunk. Objects of at most small members are one leaf
// whatever their names, so that names need no hashing there.
//
// An edit (splice) runs the rule again from the start of the chunk it falls into,
// until it ends a chunk exactly where an old one ended: behind that nothing can
// differ. The new chunks then are an edit of the height above. That is O(log n):
// landmarks are close and do not move.
//
// An array has no landmarks. It is built of full chunks, counted from the start, and
// edited as sequence.go says.
//
// Someone who picks names so that none is a landmark gets full chunks, which are
// cheap to replace in and O(n) to insert into.

const (
	small     = 32    // an object of at most this many members is one leaf
	fullKeyed = 64    // the most items of a chunk of an object
	fullArray = small // the same of an array
)

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

// landmark hashes a name: 64-bit FNV-1a, mixed, one level per four low zero bits.
func landmark(name string) uint8 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(name); i++ {
		h = (h ^ uint64(name[i])) * 1099511628211
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

func (r *run) full() int {
	if r.keyed {
		return fullKeyed
	}
	return fullArray
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

// chunk makes the chunk of all items of r, which keeps r's slices.
func (r *run) chunk(level uint8) *chunk {
	c := new(chunk)
	r.fill(c, level)
	return c
}

func (r *run) fill(c *chunk, level uint8) {
	c.names, c.nodes, c.kids, c.height, c.level = r.names, r.nodes, r.kids, r.height, level
	c.measure()
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
	for i := 0; i < r.len(); i++ {
		level := r.level(i)
		if level > r.height || i+1-start == r.full() || i+1 == r.len() {
			part := r.part(start, i+1)
			out = append(out, part.chunk(level))
			start = i + 1
		}
	}
	return out
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
