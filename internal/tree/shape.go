package tree

import "slices"

// Shape: where chunks end.
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
// where somebody picks names so. Then the stretch between them is cut as stretch.go
// says, which depends on the names nearby as well, and not on how many there are.
//
// An edit (splice) runs the rules again around the place it is at, as far as they can
// come to something else there. The new chunks then are an edit of the height above.
// That is O(log n) whatever the names are.
//
// An array has no landmarks. It is built of full chunks, counted from the start, and
// edited as sequence.go says.

const (
	small     = 32    // an object of at most this many members is one leaf
	fullKeyed = 128   // the most items of a chunk of an object
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
