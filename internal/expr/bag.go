package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/region"
)

// A set or a log is a bag: the order of its elements is no part of the state, so no
// value may depend on it. What an expression makes of a bag element by element is a
// bag again, but one that its value does not show to be one: a made bag.
//
// A bag may be measured, searched and gone through by a macro of one variable. A bag
// of the state, or a value that has one in it, may be compared as a whole, since
// equality knows it; a made one may not. Nothing else may be done with bags.
//
// At run time the elements of a bag come in sorted order (value.go), so that not even
// what an evaluation costs, or which of several errors it ends in, depends on where
// they stand.

// bags says where in a value there may be bags. Unlike the shape it survives when
// values of several origins are joined.
type bags struct {
	parts  *shape // the type of the parts of the state that the value may be; nil if it is none
	made   bool   // it may be a made bag
	opaque bool   // there may be made bags anywhere in it
}

func (b bags) or(c bags) bags {
	return bags{parts: merge(b.parts, c.parts), made: b.made || c.made, opaque: b.opaque || c.opaque}
}

// same reports whether b and c, of which one is the other and more, say the same.
func (b bags) same(c bags) bool {
	return b.parts.isBag() == c.parts.isBag() && b.parts.holdsBags() == c.parts.holdsBags() && b.made == c.made && b.opaque == c.opaque
}

// below says it of what is one step below.
func (b bags) below(segment region.Segment) bags {
	out := bags{opaque: b.opaque}
	if b.parts != nil {
		out.parts = b.parts.under(segment)
	}
	return out
}

// isBag reports whether v may be a bag.
func (v *abstract) isBag() bool { return v.parts.isBag() || v.made || v.opaque }

// holdsMade reports whether v may be a made bag or have one in it.
func (v *abstract) holdsMade() bool {
	return v.made || v.opaque || v.elem != nil && v.elem.holdsMade()
}

// holdsBag reports whether v may be a bag or have one in it.
func (v *abstract) holdsBag() bool {
	return v.parts.holdsBags() || v.made || v.opaque || v.elem != nil && v.elem.holdsBag()
}

// isScalar reports whether e is of a type whose values have nothing in them.
func (w *walker) isScalar(e ast.Expr) bool {
	switch w.tree.GetType(e.ID()).Kind() {
	case types.DynKind, types.AnyKind, types.ErrorKind, types.ListKind, types.MapKind, types.StructKind,
		types.OpaqueKind, types.TypeParamKind, types.UnspecifiedKind:
		return false
	}
	return true
}

// needsOrder reports a bag, or a value with one in it, where order would count.
func (w *walker) needsOrder(e ast.Expr, v abstract) {
	if v.holdsBag() {
		w.report(e, w.extents.of(e), noOrder(w.source(e)))
	}
}

// comparesWhole reports a value that cannot be compared since its order would count.
func (w *walker) comparesWhole(e ast.Expr, v abstract) {
	if v.holdsMade() {
		w.report(e, w.extents.of(e), noOrder(w.source(e)))
	}
}

// hasPositions reports a macro that gives the elements of a bag positions.
func (w *walker) hasPositions(e ast.Expr, v abstract) {
	if v.isBag() {
		w.report(e, w.extents.of(e), positionInMacro(w.source(e)))
	}
}
