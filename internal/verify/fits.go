package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// fits reports whether n has the structure of type t: kinds, literals, members,
// keys of keyed lists, no duplicates in sets. References and where constraints
// are rules, not structure: a union does not choose by them. Linear in n.
func (p *Program) fits(id ir.TypeID, n *tree.Node) bool {
	p.watch.step()
	t := &p.contract.Types[id]
	switch t.Kind {
	case ir.StringType, ir.RefType:
		return n.Kind() == ir.String
	case ir.NumberType:
		return n.Kind() == ir.Number
	case ir.IntType:
		return n.Kind() == ir.Number && tree.IsInt64(n)
	case ir.BoolType:
		return n.Kind() == ir.Bool
	case ir.NullType:
		return n.Kind() == ir.Null
	case ir.LiteralType:
		return tree.Equal(n, p.literals[id])
	case ir.UnionType:
		for _, alt := range t.Alternatives {
			if p.fits(alt, n) {
				return true
			}
		}
		return false
	case ir.RecordType:
		return n.Kind() == ir.Object && p.fitsRecord(t, n)
	case ir.MapType, ir.KeyedType:
		return n.Kind() == ir.Object && p.fitItems(id, t, n)
	case ir.ListType, ir.SetType, ir.LogType:
		return n.Kind() == ir.Array && p.fitItems(id, t, n) && (t.Kind != ir.SetType || !p.repeats(n, t.Elem))
	default:
		return true
	}
}

func (p *Program) fitsRecord(t *ir.Type, n *tree.Node) bool {
	known := 0
	for _, m := range t.Members {
		child := n.Get(m.Name)
		if child == nil && !m.Optional || child != nil && !p.fits(m.Type, child) {
			return false
		}
		if child != nil {
			known++
		}
	}
	if known == n.Len() {
		return true
	}
	for name, child := range n.Members() {
		if _, declared := t.Member(name); !declared && (t.Rest == ir.NoType || !p.fits(t.Rest, child)) {
			return false
		}
	}
	return true
}

// fitItems reports whether the items of a container fit; remembered where it holds
// much.
func (p *Program) fitItems(id ir.TypeID, t *ir.Type, n *tree.Node) bool {
	if n.Len() == 0 {
		return true
	}
	fit, _ := p.folds[id].fits.Of(n, func(name string, child *tree.Node) (bool, bool) {
		return p.fits(t.Elem, child) && (t.Kind != ir.KeyedType || namesItself(t, name, child)), true
	})
	return fit
}

// namesItself reports whether the element of a keyed list holds the key it stands under.
func namesItself(t *ir.Type, name string, element *tree.Node) bool {
	field := element.Get(t.KeyField)
	return field != nil && field.Kind() == ir.String && field.Text() == name
}

// repeats reports whether an array has two elements that are equal as values of type
// elem, in whose shape they need not be yet.
func (p *Program) repeats(n *tree.Node, elem ir.TypeID) bool {
	if p.types[elem].ordered && n.Len() > 1 {
		n = n.MapElements(func(_ int, child *tree.Node) *tree.Node { return p.reshape(child, elem) })
	}
	return hasDuplicates(n)
}

// hasDuplicates reports whether two elements of an array are equal.
func hasDuplicates(n *tree.Node) bool {
	if n.Len() < 2 {
		return false
	}
	if n.Len() <= 8 {
		return hasDuplicatesFew(n)
	}
	if n.Order() == tree.SetOrder {
		return !n.Distinct()
	}
	seen := make(map[tree.Digest]bool, n.Len())
	for _, child := range n.Elements() {
		d := child.Digest()
		if seen[d] {
			return true
		}
		seen[d] = true
	}
	return false
}

// hasDuplicatesFew compares pairs, which for a handful is cheaper than digests.
func hasDuplicatesFew(n *tree.Node) bool {
	for i := range n.Len() {
		for j := range i {
			if tree.Equal(n.At(i), n.At(j)) {
				return true
			}
		}
	}
	return false
}
