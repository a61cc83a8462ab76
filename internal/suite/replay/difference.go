package replay

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/tree"
)

// sameBytes reports whether two views are the same to an actor, who gets their JSON:
// 1 and 1.0 are one value, and not one sight. A nil node is an absent view.
func sameBytes(a, b *tree.Node) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return bytes.Equal(tree.AppendJSON(nil, a), tree.AppendJSON(nil, b))
}

// difference finds where two values that are not the same first differ: a JSON Pointer,
// or nil for the root. A nil node is an absent value.
func difference(a, b *tree.Node, same func(a, b *tree.Node) bool) (at *string, differ bool) {
	if same(a, b) {
		return nil, false
	}
	path := tree.Pointer{}
	for a != nil && b != nil && a.Kind() == b.Kind() {
		token, x, y, below := firstUnlike(a, b, same)
		if !below {
			break
		}
		path, a, b = append(path, token), x, y
	}
	if len(path) == 0 {
		return nil, true
	}
	text := path.String()
	return &text, true
}

// firstUnlike is the first member or element in which two values differ. Arrays whose
// elements have no positions differ as a whole, as do those of unlike lengths.
func firstUnlike(a, b *tree.Node, same func(a, b *tree.Node) bool) (token string, x, y *tree.Node, found bool) {
	names := map[string]bool{}
	for _, n := range []*tree.Node{a, b} {
		for name := range n.Members() {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := a.Get(name), b.Get(name); !same(x, y) {
			return name, x, y, true
		}
	}
	if a.Len() == b.Len() && a.Order() == tree.ListOrder && b.Order() == tree.ListOrder {
		for i, child := range a.Elements() {
			if other := b.At(i); !same(child, other) {
				return strconv.Itoa(i), child, other, true
			}
		}
	}
	return "", nil, nil, false
}
