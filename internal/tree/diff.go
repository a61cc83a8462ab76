package tree

import (
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
		ChangedElements(a, b, func(i int, before, after *Node) bool {
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
