package tree

import (
	"errors"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
)

// Diff returns a patch that turns a into b: ApplyAll(a, Diff(a, b)) equals b. It
// names the members that differ, and the elements of lists of one length; any
// other array that differs is replaced whole. Shared structure is not walked.
func Diff(a, b *Node) Patch {
	d := differ{}
	d.compare(Pointer{}, a, b)
	return d.patch
}

type differ struct{ patch Patch }

func (d *differ) compare(at Pointer, a, b *Node) {
	switch {
	case Equal(a, b):
	case a.kind == ir.Object && b.kind == ir.Object:
		ChangedMembers(a, b, func(name string, before, after *Node) bool {
			d.member(at, name, before, after)
			return true
		})
	case a.kind == ir.Array && b.kind == ir.Array && a.Len() == b.Len() && a.order == ListOrder && b.order == ListOrder:
		changedElements(a, b, func(i int, before, after *Node) bool {
			d.compare(below(at, strconv.Itoa(i)), before, after)
			return true
		})
	default:
		d.emit(OpReplace, at, b)
	}
}

func (d *differ) member(at Pointer, name string, before, after *Node) {
	switch {
	case before == nil:
		d.emit(OpAdd, below(at, name), after)
	case after == nil:
		d.emit(OpRemove, below(at, name), nil)
	default:
		d.compare(below(at, name), before, after)
	}
}

func (d *differ) emit(kind OpKind, at Pointer, value *Node) {
	d.patch = append(d.patch, Op{
		Index: len(d.patch), Kind: kind, Path: at, RawPath: at.String(), Value: value,
	})
}

// below is the pointer to a step below p; p stays as it is.
func below(p Pointer, token string) Pointer {
	return append(p[:len(p):len(p)], token)
}

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
