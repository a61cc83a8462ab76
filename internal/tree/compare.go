package tree

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// Equal reports whether a and b are the same value (RFC 6902 section 4.6): numbers
// by exact decimal value, strings code point by code point, objects without order,
// arrays in order unless one of them is a set or a log; then as multisets. Two
// absent values are equal. Shared structure is not descended into.
func Equal(a, b *Node) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.kind != b.kind {
		return false
	}
	switch a.kind {
	case ir.Null:
		return true
	case ir.Bool:
		return a.truth == b.truth
	case ir.Number:
		return CompareNumbers(a, b) == 0
	case ir.String:
		return a.text == b.text
	default:
		return equalContainers(a, b)
	}
}

func equalContainers(a, b *Node) bool {
	if a.Len() != b.Len() {
		return false
	}
	if a.root == nil || a.root == b.root {
		return true
	}
	if a.order != ListOrder || b.order != ListOrder {
		return equalBags(a, b)
	}
	if a.kind == ir.Array {
		if same, known := sameDigest(a.root, b.root); known {
			return same
		}
		equal := true
		changedElements(a, b, func(int, *Node, *Node) bool { equal = false; return false })
		return equal
	}
	return equalChunks(a.root, b.root)
}

// equalChunks compares two chunk trees of objects, of the same content or of different
// ones: equal objects have equal shapes, so that a difference in shape decides.
func equalChunks(a, b *chunk) bool {
	if a == b {
		return true
	}
	if a.height != b.height || a.width() != b.width() || a.count != b.count {
		return false
	}
	if same, known := sameDigest(a, b); known {
		return same
	}
	for i, kid := range a.kids {
		if !equalChunks(kid, b.kids[i]) {
			return false
		}
	}
	for i, child := range a.nodes {
		if a.names != nil && a.names[i] != b.names[i] || !Equal(child, b.nodes[i]) {
			return false
		}
	}
	return true
}

// sameDigest answers for two chunks that remember their digests. Arrays that are a
// list on one side and a multiset on the other may be equal all the same.
func sameDigest(a, b *chunk) (same, known bool) {
	for _, what := range [...]uint32{ofChunk, ofContainer} {
		da, there := a.digest.get(what)
		db, here := b.digest.get(what)
		if there && here {
			return da == db, da == db || !a.loose() && !b.loose()
		}
	}
	return false, false
}

// equalBags compares two arrays of equal length as multisets. Digests decide,
// unless arrays below are taken for a list on one side and for a multiset on the
// other; then elements are matched one by one.
func equalBags(a, b *Node) bool {
	if a.bagDigest() == b.bagDigest() {
		return true
	}
	if !a.root.loose() && !b.root.loose() {
		return false
	}
	taken := make([]bool, b.Len())
	for _, e := range a.Elements() {
		if !takeEqual(e, b, taken) {
			return false
		}
	}
	return true
}

func takeEqual(e *Node, from *Node, taken []bool) bool {
	for i, f := range from.Elements() {
		if !taken[i] && Equal(e, f) {
			taken[i] = true
			return true
		}
	}
	return false
}

// CompareNumbers compares two numbers by exact value: -1, 0 or 1.
func CompareNumbers(a, b *Node) int {
	if a.text == b.text {
		return 0
	}
	return decimal.Parse(a.text).Compare(decimal.Parse(b.text))
}

// What differs between two versions.

// ChangedMembers calls f for every member in which the objects a and b differ, in
// ascending order of names, with the old and the new value (nil where it is
// absent), until f returns false. Chunks that both share are skipped, so that two
// versions of one object are compared at the cost of what changed.
func ChangedMembers(a, b *Node, f func(name string, before, after *Node) bool) {
	if a.kind != ir.Object || b.kind != ir.Object {
		return
	}
	if a.root == b.root {
		return
	}
	x, y := unshared(a.root, b.root)
	for len(x.names) > 0 || len(y.names) > 0 {
		name, before, after := nextMember(&x, &y)
		if !unchanged(before, after) && !f(name, before, after) {
			return
		}
	}
}

// unshared returns the members of two objects without those in shared chunks.
// Names are unique, so a chunk that occurs on both sides holds equal members there.
func unshared(a, b *chunk) (x, y run) {
	as, bs := only(a), only(b)
	for height := max(heightOf(a), heightOf(b)); height > 0; height-- {
		as, bs = difference(lowered(as, height), lowered(bs, height))
	}
	return items(as), items(bs)
}

// difference leaves out what is in both. After an edit that is nearly all, in the
// same order.
func difference[T comparable](as, bs []T) (x, y []T) {
	for len(as) > 0 && len(bs) > 0 && as[0] == bs[0] {
		as, bs = as[1:], bs[1:]
	}
	for len(as) > 0 && len(bs) > 0 && as[len(as)-1] == bs[len(bs)-1] {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	if len(as) == 0 || len(bs) == 0 || len(as) == 1 && len(bs) == 1 {
		return as, bs
	}
	return without(as, bs), without(bs, as)
}

func without[T comparable](chunks, others []T) []T {
	shared := make(map[T]bool, len(others))
	for _, c := range others {
		shared[c] = true
	}
	var out []T
	for _, c := range chunks {
		if !shared[c] {
			out = append(out, c)
		}
	}
	return out
}

// nextMember takes the smaller of the next names of two runs, from both if equal.
func nextMember(x, y *run) (name string, before, after *Node) {
	order := 0
	switch {
	case len(x.names) == 0:
		order = 1
	case len(y.names) == 0:
		order = -1
	default:
		order = strings.Compare(x.names[0], y.names[0])
	}
	if order <= 0 {
		name, before = x.take()
	}
	if order >= 0 {
		name, after = y.take()
	}
	return name, before, after
}

func (r *run) take() (name string, n *Node) {
	name, n = r.names[0], r.nodes[0]
	r.names, r.nodes = r.names[1:], r.nodes[1:]
	return name, n
}

// changedElements calls f for every index at which the arrays a and b, which must
// be of one length, differ, until f returns false; shared chunks are skipped. Chunks of
// the two may end at different positions.
func changedElements(a, b *Node, f func(i int, before, after *Node) bool) {
	if a.Len() != b.Len() || a.Len() == 0 {
		return
	}
	x, y := cursor{rest: only(a.root)}, cursor{rest: only(b.root)}
	for at := 0; at < a.Len(); {
		was, is := x.chunk(), y.chunk()
		switch {
		case was != nil && is != nil && alike(was, is):
			at += was.count
			x.skip()
			y.skip()
		case was != nil && (is == nil || was.height >= is.height):
			x.open()
		case is != nil:
			y.open()
		default:
			before, after := x.take(), y.take()
			if !Equal(before, after) && !f(at, before, after) {
				return
			}
			at++
		}
	}
}

// A cursor is what is left of an array to go through: items of an open leaf, and
// chunks behind those, the next one last.
type cursor struct {
	items []*Node
	rest  []*chunk
}

// chunk is the next chunk; nil if an item comes first.
func (s *cursor) chunk() *chunk {
	if len(s.items) > 0 {
		return nil
	}
	return s.rest[len(s.rest)-1]
}

func (s *cursor) skip() { s.rest = s.rest[:len(s.rest)-1] }

// open replaces the next chunk by what is in it.
func (s *cursor) open() {
	c := s.chunk()
	s.skip()
	s.items = c.nodes
	for _, kid := range slices.Backward(c.kids) {
		s.rest = append(s.rest, kid)
	}
}

func (s *cursor) take() *Node {
	n := s.items[0]
	s.items = s.items[1:]
	return n
}

// alike reports whether two chunks of arrays are known to hold the same elements.
func alike(a, b *chunk) bool {
	if a == b {
		return true
	}
	if a.count != b.count {
		return false
	}
	same, known := sameDigest(a, b)
	return known && same
}

// ChangedItems calls f for items in which the containers a and b differ, with what
// was and what is (nil where there is nothing), until f returns false. Members are
// paired by name; elements of lists are not always paired as they were moved, but
// what f is told went and what it is told came are, as multisets, what went and
// came. Where kinds differ, all of a went and all of b came; what is no container
// has no items. Shared chunks are skipped.
func ChangedItems(a, b *Node, f func(before, after *Node) bool) {
	switch {
	case a == b:
	case a != nil && b != nil && a.kind == ir.Object && b.kind == ir.Object:
		ChangedMembers(a, b, func(_ string, before, after *Node) bool { return f(before, after) })
	case a != nil && b != nil && a.kind == b.kind:
		if a.isEmpty() || b.isEmpty() || a.root != b.root {
			changedStretch(a, b, f)
		}
	default:
		_ = a.eachItem(func(child *Node) bool { return f(child, nil) }) &&
			b.eachItem(func(child *Node) bool { return f(nil, child) })
	}
}

// changedStretch pairs what is left of two arrays without shared chunks and without
// the elements that are the same at the beginning and at the end.
func changedStretch(a, b *Node, f func(before, after *Node) bool) {
	if a.kind != ir.Array {
		return
	}
	x, y := unshared(a.root, b.root)
	was, is := x.nodes, y.nodes
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	for i := range max(len(was), len(is)) {
		var before, after *Node
		if i < len(was) {
			before = was[i]
		}
		if i < len(is) {
			after = is[i]
		}
		if !unchanged(before, after) && !f(before, after) {
			return
		}
	}
}

// unchanged reports whether two values are equal and their arrays of the same orders: a
// list and a set of the same elements are equal, and have different digests.
func unchanged(a, b *Node) bool {
	return Equal(a, b) && (a == b || !a.loose() && !b.loose() || a.Digest() == b.Digest())
}
