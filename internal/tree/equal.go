package tree

import "github.com/patchoptic/poptic/internal/ir"

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
		changedElements(a.root, b.root, func(int, *Node, *Node) bool { equal = false; return false })
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
	if a.bag().Equal(b.bag()) {
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
