package tree

import (
	"crypto/sha256"
	"slices"
)

// Sequences: how arrays are edited.
//
// An array is built of full chunks. An edit renews the chunks on the way to its
// position and nothing else: a chunk that becomes too full is split, one that becomes
// too empty is joined with the one beside it. So it costs O(log n) at any position, and
// the chunks of an array depend on how it came to be; two equal arrays may have
// different ones. What has to be equal for equal arrays, which is the digest, counts
// positions instead (sequenceHash).

// sparse is how few items a chunk may be left with by a removal.
const sparse = fullArray / 4

// resequenced is the array below root with del (0 or 1) items at position at replaced by
// those of ins (0 or 1); at least one item must be left.
func resequenced(root *chunk, at, del int, ins []*Node) *chunk {
	chunks := root.edit(at, del, ins)
	if len(chunks) > 1 {
		above := run{kids: chunks, height: root.height + 1}
		return above.chunk(0)
	}
	root = chunks[0]
	for root.height > 0 && len(root.kids) == 1 {
		root = root.kids[0]
	}
	return root
}

// edit is the chunks of c's height that take c's place: one, or two where it would be
// too full, or none where nothing is left.
func (c *chunk) edit(at, del int, ins []*Node) []*chunk {
	next := run{height: c.height}
	last := at == c.count
	if c.height == 0 {
		next.nodes = make([]*Node, 0, len(c.nodes)+1)
		next.nodes = append(append(append(next.nodes, c.nodes[:at]...), ins...), c.nodes[at+del:]...)
		return next.halves(last)
	}
	k, within := c.kidAt(at)
	kids := c.kids[k].edit(within, del, ins)
	next.kids = make([]*chunk, 0, len(c.kids)+1)
	next.kids = append(append(append(next.kids, c.kids[:k]...), kids...), c.kids[k+1:]...)
	if del > 0 && len(kids) == 1 && kids[0].width() < sparse && len(next.kids) > 1 {
		next.join(min(k, len(next.kids)-2))
	}
	return next.halves(last)
}

// halves makes chunks of the items of r: two if they are too many for one. What grows
// at its end is left full.
func (r *run) halves(atEnd bool) []*chunk {
	n := r.len()
	switch {
	case n == 0:
		return nil
	case n <= fullArray:
		return []*chunk{r.chunk(0)}
	}
	middle := n / 2
	if atEnd {
		middle = fullArray
	}
	left, right := r.part(0, middle), r.part(middle, n)
	return []*chunk{left.chunk(0), right.chunk(0)}
}

// join makes of the neighbours k and k+1 one chunk or, if that would be too full, two
// that are about equal.
func (r *run) join(k int) {
	a, b := r.kids[k], r.kids[k+1]
	both := run{height: a.height, nodes: slices.Concat(a.nodes, b.nodes), kids: slices.Concat(a.kids, b.kids)}
	r.kids = slices.Replace(r.kids, k, k+2, both.halves(false)...)
}

// A sequenceHash computes the digest of an array's elements: the hash of the chunks
// that the array would have if it were built anew, which are full ones counted from the
// start. Chunks that lie so already are asked for theirs.
type sequenceHash struct {
	position int
	pending  [][]byte // by height: digests that are not part of a full chunk yet
}

// elementsHash is the digest of the elements below root.
func elementsHash(root *chunk) Digest {
	if root.height == 0 {
		return root.computeHash()
	}
	var h sequenceHash
	h.chunk(root)
	top := 0
	for size := fullArray; size < root.count; size *= fullArray {
		h.close(top)
		top++
	}
	if len(h.pending) > top+1 { // the root is full itself
		return Digest(h.pending[top+1])
	}
	return hashOfDigests(top, h.pending[top])
}

func (h *sequenceHash) chunk(c *chunk) {
	size := fullArray
	for range c.height {
		size *= fullArray
	}
	switch {
	case c.count == size && h.position%size == 0:
		h.add(int(c.height)+1, c.hash())
		h.position += size
	case c.height > 0:
		for _, kid := range c.kids {
			h.chunk(kid)
		}
	default:
		digests := c.itemDigests()
		for at := 0; at < len(digests); at += sha256.Size {
			h.add(0, Digest(digests[at:at+sha256.Size]))
			h.position++
		}
	}
}

// add adds a digest at a height, below which nothing but full chunks may be pending.
func (h *sequenceHash) add(height int, d Digest) {
	for below := range height {
		h.close(below)
	}
	for len(h.pending) <= height {
		h.pending = append(h.pending, make([]byte, 0, fullArray*sha256.Size))
	}
	if len(h.pending[height]) == fullArray*sha256.Size {
		h.close(height)
	}
	h.pending[height] = append(h.pending[height], d[:]...)
}

// close makes a chunk of what is pending at a height.
func (h *sequenceHash) close(height int) {
	if height >= len(h.pending) || len(h.pending[height]) == 0 {
		return
	}
	d := hashOfDigests(height, h.pending[height])
	h.pending[height] = h.pending[height][:0]
	h.add(height+1, d)
}

// hashOfDigests is the digest of an array's chunk.
func hashOfDigests(height int, digests []byte) Digest {
	tag := byte('e')
	if height > 0 {
		tag = 'E'
	}
	var stack [1 + fullArray*sha256.Size]byte
	return sha256.Sum256(append(append(stack[:0], tag), digests...))
}

var itemDigests = new(identity)

// itemDigests are the digests of the items of an array's leaf, one after the other. They
// are remembered: where something was put in front, they are hashed together anew.
func (c *chunk) itemDigests() []byte {
	if known, ok := c.memos.get(itemDigests); ok {
		return known.([]byte)
	}
	all := make([]byte, 0, len(c.nodes)*sha256.Size)
	for _, child := range c.nodes {
		d := child.Digest()
		all = append(all, d[:]...)
	}
	c.memos.put(itemDigests, all)
	return all
}
