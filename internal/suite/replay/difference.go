package replay

import "github.com/patchoptic/poptic/internal/tree"

// difference finds where two values first differ: a JSON Pointer, or nil for the root.
// A nil node is an absent value.
func difference(a, b *tree.Node) (at *string, differ bool) {
	switch {
	case a == nil || b == nil:
		return nil, a != b
	case tree.Equal(a, b):
		return nil, false
	}
	if patch := tree.Diff(a, b); len(patch) > 0 && len(patch[0].Path) > 0 {
		at := patch[0].Path.String()
		return &at, true
	}
	return nil, true
}
