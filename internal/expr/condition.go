package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// condition is the range of the smallest operand of a logical operator around e, or
// of the whole expression: where `has(...) &&` can be put before. ok is false if a
// macro's body lies between, whose variables are not in scope there.
func (w *walker) condition(e ast.Expr) (at span, ok bool) {
	at, ok = w.extents.of(w.tree.Expr()), true
	parent := ast.Expr(nil)
	for _, step := range trail(w.tree.Expr(), e.ID()) {
		switch {
		case parent != nil && isLogical(parent) && w.tree.GetType(step.ID()).Kind() == types.BoolKind:
			at, ok = w.extents.of(step), true
		case parent != nil && parent.Kind() == ast.ComprehensionKind:
			ok = isBinding(parent.AsComprehension())
		}
		parent = step
	}
	return at, ok
}

func isLogical(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional:
		return true
	}
	return false
}

// trail is the way from root to the node with the given id, both included.
func trail(root ast.Expr, id int64) []ast.Expr {
	if root.ID() == id {
		return []ast.Expr{root}
	}
	for _, child := range children(root) {
		if found := trail(child, id); found != nil {
			return append([]ast.Expr{root}, found...)
		}
	}
	return nil
}

func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		if c := e.AsCall(); c.IsMemberFunction() {
			return append([]ast.Expr{c.Target()}, c.Args()...)
		}
		return e.AsCall().Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var out []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			out = append(out, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return out
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	}
	return nil
}

// afterNot reports whether the token before offset is `!`, which binds tighter than
// the && of a guard.
func (w *walker) afterNot(offset int) bool {
	i := w.extents.tokenAt(offset)
	return i > 0 && w.extents.text(i-1) == "!"
}
