package tree

import (
	"errors"

	"github.com/patchoptic/poptic/internal/ir"
)

// MergePatch translates a JSON Merge Patch (RFC 7396) against view into the RFC
// 6902 patch that has its effect: members set to null are removed, others added or
// replaced where they differ. The translation depends on view and holds for it
// only. The errors are those of Parse, and one for a null member inside an array, which
// other implementations take for a removal. It costs what differs, and the patch.
func MergePatch(view *Node, merge []byte) (Patch, error) {
	m, err := parseMergePatch(merge)
	if err != nil {
		return nil, err
	}
	return Diff(view, merged(view, m)), nil
}

// CheckMergePatch gives the error that MergePatch gives, whatever the view.
func CheckMergePatch(merge []byte) error {
	_, err := parseMergePatch(merge)
	return err
}

func parseMergePatch(merge []byte) (*Node, error) {
	m, err := Parse(merge, DefaultPatchLimits.Limits)
	if err != nil {
		return nil, err
	}
	if nullInArray(m, false) {
		return nil, errors.New("a merge patch cannot give an object inside an array a null member; use a JSON Patch")
	}
	return m, nil
}

// merged is what RFC 7396 section 2 makes of a target, which may be absent. It goes as
// deep as the patch, which is limited.
func merged(target, patch *Node) *Node {
	if patch.Kind() != ir.Object {
		return patch
	}
	if target == nil || target.Kind() != ir.Object {
		target = emptyObject
	}
	if target.isEmpty() {
		return patch.MapMembers(func(_ string, child *Node) *Node {
			if child.Kind() == ir.Null {
				return nil
			}
			return merged(nil, child)
		})
	}
	for name, child := range patch.Members() {
		if child.Kind() == ir.Null {
			target = target.Without(name)
		} else {
			target = target.With(name, merged(target.Get(name), child))
		}
	}
	return target
}

// nullInArray finds a null member of an object inside an array. RFC 7396 keeps it;
// other implementations remove it.
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
