package tree

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// A Digest identifies a value: two nodes have the same one exactly if they are
// Equal and their arrays agree in whether order has a meaning.
//
// Every hash is SHA-256 over a tag byte and the content, the tag telling kinds and
// chunks apart:
//
//	n             null               { count chunk   object
//	t, f          true, false        [ count chunk   list
//	# decimal     number             * bag           set, log: the digest of the bag
//	" text        string
//	m (len name digest)*   leaf of an object      M (digest)*   its inner chunk
//	e (digest)*            leaf of an array       E (digest)*   its inner chunk
//
// where decimal is the normal form of package decimal, an empty container has no chunk,
// lengths and counts are 8 bytes, big-endian, and chunks end as object.go says: those of
// an array, for the digest, as if it were built anew. A
// bag is the object that a Bag is made of; a log and a set of the same elements
// have the same digest.
type Digest [sha256.Size]byte

// String is the digest as "sha256:" and 64 hexadecimal digits.
func (d Digest) String() string {
	const scheme = "sha256:"
	var text [len(scheme) + 2*sha256.Size]byte
	copy(text[:], scheme)
	hex.Encode(text[len(scheme):], d[:])
	return string(text[:])
}

// Digest computes the digest of n, which must not be nil. Chunks remember theirs:
// after an edit only the chunks on the touched path are hashed. Behind an element that
// was put into an array or taken out of it, positions differ, and the elements' digests
// are hashed together anew, some 32 bytes each. Safe for concurrent use.
func (n *Node) Digest() Digest {
	switch n.kind {
	case ir.Null:
		return nullDigest
	case ir.Bool:
		if n.truth {
			return trueDigest
		}
		return falseDigest
	case ir.Number:
		var stack [64]byte
		return sha256.Sum256(decimal.Parse(n.text).Append(append(stack[:0], '#')))
	case ir.String:
		return n.stringDigest()
	case ir.Object:
		return containerDigest('{', n.root)
	default:
		if n.order != ListOrder {
			bag := n.bagDigest()
			return tagged('*', string(bag[:]))
		}
		return containerDigest('[', n.root)
	}
}

var (
	nullDigest  = tagged('n', "")
	trueDigest  = tagged('t', "")
	falseDigest = tagged('f', "")
)

// A string from this length on remembers its digest, in a chunk without items.
const longString = 1024

func (n *Node) stringDigest() Digest {
	if n.root == nil {
		return tagged('"', n.text)
	}
	if known, ok := n.root.digest.get(ofChunk); ok {
		return known
	}
	d := tagged('"', n.text)
	n.root.digest.set(ofChunk, d)
	return d
}

func tagged(tag byte, content string) Digest {
	var stack [128]byte
	if len(content) < len(stack) {
		return sha256.Sum256(append(append(stack[:0], tag), content...))
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = append(append((*buffer)[:0], tag), content...)
	return sha256.Sum256(*buffer)
}

func containerDigest(tag byte, root *chunk) Digest {
	if root == nil {
		return tagged(tag, "")
	}
	if known, ok := root.digest.get(ofContainer); ok {
		return known
	}
	d, ok := root.digest.get(ofChunk)
	if !ok && root.names == nil {
		d = elementsHash(root)
	} else if !ok {
		d = root.computeHash()
	}
	d = wholeDigest(tag, root.count, d)
	root.digest.set(ofContainer, d)
	return d
}

// wholeDigest is the digest of a container of so many items below a chunk.
func wholeDigest(tag byte, count int, chunk Digest) Digest {
	var block [1 + 8 + sha256.Size]byte
	block[0] = tag
	binary.BigEndian.PutUint64(block[1:], uint64(count))
	copy(block[9:], chunk[:])
	return sha256.Sum256(block[:])
}

// hash is the remembered digest of a chunk.
func (c *chunk) hash() Digest {
	if known, ok := c.digest.get(ofChunk); ok {
		return known
	}
	d := c.computeHash()
	c.digest.set(ofChunk, d)
	return d
}

func (c *chunk) computeHash() Digest {
	buffer := buffers.Get().(*[]byte)
	buf := append((*buffer)[:0], c.tag())
	for i, child := range c.nodes {
		if c.names != nil {
			buf = binary.BigEndian.AppendUint64(buf, uint64(len(c.names[i])))
			buf = append(buf, c.names[i]...)
		}
		d := child.Digest()
		buf = append(buf, d[:]...)
	}
	for _, kid := range c.kids {
		d := kid.hash()
		buf = append(buf, d[:]...)
	}
	d := Digest(sha256.Sum256(buf))
	*buffer = buf
	buffers.Put(buffer)
	return d
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (c *chunk) tag() byte {
	tag := byte('e')
	if c.names != nil {
		tag = 'm'
	}
	if c.height > 0 {
		tag -= 'a' - 'A'
	}
	return tag
}

// The digest of an array counts positions.

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

// Remembered digests.

// remembered is a digest that is computed at most a few times and then kept: of a
// chunk or, on a container's root, of the container or of the bag of its elements. It needs no lock: whoever comes
// while another writes goes without.
type remembered struct {
	state  atomic.Uint32 // 0 nothing, 1 being written, else what the digest is of
	digest Digest
}

// What a remembered digest is of.
const (
	ofChunk     = 2
	ofContainer = 3
	ofBag       = 4
)

func (r *remembered) get(what uint32) (Digest, bool) {
	if r.state.Load() != what {
		return Digest{}, false
	}
	return r.digest, true
}

func (r *remembered) set(what uint32, d Digest) {
	if r.state.CompareAndSwap(0, 1) {
		r.digest = d
		r.state.Store(what)
	}
}

// copyTo copies what is remembered.
func (r *remembered) copyTo(into *remembered) {
	if what := r.state.Load(); what > 1 {
		into.set(what, r.digest)
	}
}
