package verify

import (
	"context"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// Accepts reports whether a value is one of a type, with its constraints. Where its
// references lead is not asked. Linear in the value, but for its constraints.
func (p *Program) Accepts(n *tree.Node, id ir.TypeID) bool {
	c := typeCheck{types: &p.types, ctx: context.Background()}
	c.check(p.shape(n, id), id)
	return c.total == 0
}

// Denies reports whether a constraint of a type, itself and not of what is below, is false
// of a value. Of a value that lacks what the constraint asks for, as the view of one may,
// nothing is said.
func (p *Program) Denies(n *tree.Node, id ir.TypeID) bool {
	rules := p.wheres[id]
	for i := range rules {
		if rules[i].judge(context.Background(), &expr.Input{Self: n}) == fails {
			return true
		}
	}
	return false
}
