package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"github.com/patchoptic/poptic/internal/ir"
)

// Arrays: how they are edited, and whether the order of their elements has a meaning.
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

// Sets and logs.

// Order says what the order of an array's elements means.
type Order uint8

// The orders. Set and log arrays are multisets to Equal and Digest: the elements of a
// set stand as they are written, so that no order tells how they came; those of a log
// in the order of commits, which is presentation (spec/semantics.md section 6.5).
const (
	ListOrder Order = iota // the order is part of the value
	SetOrder               // no order; kept and written sorted
	LogOrder               // no order to equality; written as it grew
)

// String is the word that messages use for an array of this order.
func (o Order) String() string { return [...]string{"list", "set", "log"}[o] }

// Order is the order of an array, ListOrder for anything else.
func (n *Node) Order() Order {
	if n == nil {
		return ListOrder
	}
	return n.order
}

// WithOrder returns the array n with another order and the same elements, which for a
// set are sorted. O(1), for a set linear in n, if sorted already. Anything that is no
// array is returned as it is.
func (n *Node) WithOrder(o Order) *Node {
	if n == nil || n.kind != ir.Array || n.order == o {
		return n
	}
	if o == SetOrder && !isSorted(n) {
		return run{nodes: sortedElements(n)}.node(ir.Array, o)
	}
	return wrap(ir.Array, o, n.root)
}

// isSorted reports whether the elements of an array stand as those of a set do.
func isSorted(n *Node) bool {
	var last, next []byte
	for i, e := range n.Elements() {
		next = AppendJSON(next[:0], e)
		if i > 0 && bytes.Compare(last, next) > 0 {
			return false
		}
		last, next = next, last
	}
	return true
}

// placeInSet is where an element belongs among those of a set.
func (n *Node) placeInSet(e *Node) int {
	key := AppendJSON(nil, e)
	var at []byte
	return sort.Search(n.Len(), func(i int) bool {
		at = AppendJSON(at[:0], n.At(i))
		return bytes.Compare(at, key) >= 0
	})
}

// Holds reports whether an element of the array n equals v; in O(log n) for a large set
// or log whose digest is known, else linear.
func (n *Node) Holds(v *Node) bool {
	if n.Len() == 0 || n.kind != ir.Array {
		return false
	}
	if n.Len() > small && !n.root.loose() && !v.loose() {
		return n.bag().Count(v.digestKey()) > 0
	}
	for _, e := range n.Elements() {
		if Equal(e, v) {
			return true
		}
	}
	return false
}

// Distinct reports whether no two elements of the array n are equal; of a large set or log
// whose elements were counted before, in O(1).
func (n *Node) Distinct() bool {
	if n.Len() > small {
		return !n.bag().Repeats()
	}
	room := digestRooms.Get().(*digestRoom)
	defer digestRooms.Put(room)
	sorted := n.sortedDigests(room[:0])
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return false
		}
	}
	return true
}

// bagDigest is the digest of the multiset of an array's elements. It is remembered.
func (n *Node) bagDigest() Digest {
	if n.root == nil {
		return emptyObject.Digest()
	}
	if known, ok := n.root.digest.get(ofBag); ok {
		return known
	}
	var d Digest
	if n.Len() > small {
		d = n.bag().digest()
	} else {
		d = n.fewDigest()
	}
	n.root.digest.set(ofBag, d)
	return d
}

// fewDigest is the digest of the bag of a few elements, which is not made: it would take
// more room than they do. The object that a bag is made of is one leaf then.
func (n *Node) fewDigest() Digest {
	room := digestRooms.Get().(*digestRoom)
	defer digestRooms.Put(room)
	sorted := n.sortedDigests(room[:0])
	buffer := buffers.Get().(*[]byte)
	buf, distinct := append((*buffer)[:0], 'm'), 0
	for i := 0; i < len(sorted); distinct++ {
		times := i
		for i++; i < len(sorted) && sorted[i] == sorted[i-1]; i++ {
		}
		count := occurrences(i - times).Digest()
		buf = binary.BigEndian.AppendUint64(buf, sha256.Size)
		buf = append(append(buf, sorted[times][:]...), count[:]...)
	}
	d := wholeDigest('{', distinct, sha256.Sum256(buf))
	*buffer = buf
	buffers.Put(buffer)
	return d
}

// A digestRoom is room for the digests of a few elements.
type digestRoom [small]Digest

var digestRooms = sync.Pool{New: func() any { return new(digestRoom) }}

// sortedDigests appends the digests of n's elements in ascending order to dst, which is
// empty.
func (n *Node) sortedDigests(dst []Digest) []Digest {
	for _, e := range n.Elements() {
		dst = append(dst, e.Digest())
	}
	slices.SortFunc(dst, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	return dst
}

// bag is the multiset of the digests of a large array's elements. It is remembered, and
// carried along by edits once it was asked for.
func (n *Node) bag() *Bag {
	if known, ok := elementBags.Get(n); ok {
		return known
	}
	counts := make(map[string]int, n.Len())
	for _, e := range n.Elements() {
		counts[e.digestKey()]++
	}
	bag := NewBag(counts)
	elementBags.Put(n, bag)
	return bag
}

var elementBags = NewMemo[*Bag]()

// inheritBag gives the array n, made of old by an edit, the bag that follows from
// old's, if old has one.
func (n *Node) inheritBag(old, gone, come *Node) {
	if n.order == ListOrder {
		return
	}
	bag, ok := elementBags.Get(old)
	if !ok {
		return
	}
	if come != nil {
		bag = bag.Add(come.digestKey(), 1)
	}
	if gone != nil {
		bag = bag.Add(gone.digestKey(), -1)
	}
	elementBags.Put(n, bag)
}

func (n *Node) digestKey() string {
	d := n.Digest()
	return string(d[:])
}
