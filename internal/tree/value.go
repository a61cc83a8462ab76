package tree

import (
	"bytes"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
)

var _ ir.Value = (*Node)(nil)

// Member implements ir.Value: Get, with an absent member as a nil interface.
func (n *Node) Member(name string) ir.Value { return asValue(n.Get(name)) }

// Element implements ir.Value: At, with an absent element as a nil interface.
func (n *Node) Element(i int) ir.Value { return asValue(n.At(i)) }

func asValue(n *Node) ir.Value {
	if n == nil {
		return nil
	}
	return n
}

// EachMember implements ir.Value.
func (n *Node) EachMember(f func(name string, v ir.Value) bool) {
	if n != nil && n.kind == ir.Object && n.root != nil {
		n.root.each(0, func(_ int, name string, child *Node) bool { return f(name, child) })
	}
}

// EachElement implements ir.Value.
func (n *Node) EachElement(f func(i int, v ir.Value) bool) {
	if n != nil && n.kind == ir.Array && n.root != nil {
		n.root.each(0, func(i int, _ string, child *Node) bool { return f(i, child) })
	}
}

// EachSorted implements ir.Value: by digest. O(n log n), and as many digests.
func (n *Node) EachSorted(f func(v ir.Value) bool) {
	type element struct {
		node   *Node
		digest Digest
	}
	elements := make([]element, 0, n.Len())
	for _, e := range n.Elements() {
		elements = append(elements, element{e, e.Digest()})
	}
	slices.SortStableFunc(elements, func(a, b element) int { return bytes.Compare(a.digest[:], b.digest[:]) })
	for _, e := range elements {
		if !f(e.node) {
			return
		}
	}
}

// Bool is the value of a bool, false for anything else.
func (n *Node) Bool() bool { return n != nil && n.truth }

// Text is the value of a string, or the literal of a number as it was written
// (a negative zero has lost its sign); "" for anything else.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// Weight is the number of JSON values in n, itself included. O(1).
func (n *Node) Weight() int {
	if n == nil {
		return 0
	}
	if n.root == nil {
		return 1
	}
	return 1 + n.root.weight
}

// Size is the length of n's encoding by AppendJSON in bytes. O(1).
func (n *Node) Size() int {
	switch {
	case n == nil:
		return 0
	case n.kind != ir.Array && n.kind != ir.Object:
		return int(n.width)
	case n.root == nil:
		return len("[]")
	default:
		return len("[]") + n.root.size + n.root.count - 1
	}
}

// Depth is how deep containers nest in n: 0 for scalars, 1 for a container of
// scalars. O(1).
func (n *Node) Depth() int {
	switch {
	case n == nil || n.kind != ir.Array && n.kind != ir.Object:
		return 0
	case n.root == nil:
		return 1
	default:
		return 1 + n.root.depth
	}
}
