package tree

import (
	"errors"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/runtime/tree/jsonpatch"
)

// MergePatch translates a JSON Merge Patch (RFC 7396) against view into the RFC
// 6902 patch that has its effect: members set to null are removed, others added or
// replaced where they differ. The translation depends on view and holds for it
// only. The errors are those of Parse, and one for a null inside an array, which
// the merge could not tell from a removal.
func MergePatch(view *Node, merge []byte) (Patch, error) {
	m, err := Parse(merge, DefaultPatchLimits.Limits)
	if err != nil {
		return nil, err
	}
	if nullInArray(m, false) {
		return nil, errors.New("a merge patch cannot give an object inside an array a null member; use a JSON Patch")
	}
	if m.Kind() != ir.Object {
		return Diff(view, m), nil
	}
	target := view
	if target.Kind() != ir.Object {
		target = emptyObject
	}
	result, err := jsonpatch.Merge(AppendJSON(nil, target), AppendJSON(nil, m))
	if err != nil {
		return nil, err
	}
	after, err := Parse(result, DefaultLimits)
	if err != nil {
		return nil, err
	}
	return Diff(view, after), nil
}

// nullInArray finds a null member of an object inside an array. RFC 7396 keeps it;
// the library removes it.
func nullInArray(n *Node, inside bool) bool {
	for _, child := range n.Members() {
		if inside && child.Kind() == ir.Null || nullInArray(child, inside) {
			return true
		}
	}
	for _, child := range n.Elements() {
		if nullInArray(child, true) {
			return true
		}
	}
	return false
}
