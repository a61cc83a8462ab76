package replay

import "github.com/patchoptic/poptic/runtime/tree"

// difference finds where two values first differ: a JSON Pointer, or words for the
// root. A nil node is an absent value.
func difference(a, b *tree.Node) (at string, differ bool) {
	const root = "the root"
	switch {
	case a == nil || b == nil:
		return root, a != b
	case tree.Equal(a, b):
		return "", false
	}
	if patch := tree.Diff(a, b); len(patch) > 0 && len(patch[0].Path) > 0 {
		return patch[0].Path.String(), true
	}
	return root, true
}
