package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// rewrite puts this package's functions in the place of operators that CEL would not
// evaluate as the language wants: == and != except between two values of one scalar
// type, where CEL's own equality is exact, and + where it may build a text. What a
// macro goes over is put in order where CEL's own maps would come in any. The macros
// over bags take every turn. The tree is changed.
func rewrite(tree *ast.AST, overBags map[int64]bool) {
	factory := ast.NewExprFactory()
	next := ast.MaxID(tree)
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			if function := replacement(tree, e); function != "" {
				e.SetKindCase(factory.NewCall(e.ID(), function, e.AsCall().Args()...))
				tree.SetReference(e.ID(), ast.NewFunctionReference(function))
			}
		case ast.ComprehensionKind:
			if overBags[e.ID()] {
				e.SetKindCase(everyTurn(factory, e.ID(), e.AsComprehension()))
			}
			c := e.AsComprehension()
			kind := tree.GetType(c.IterRange().ID()).Kind()
			if kind != types.MapKind && kind != types.DynKind {
				return
			}
			next++
			e.SetKindCase(inOrder(factory, next, c))
			tree.SetType(next, tree.GetType(c.IterRange().ID()))
			tree.SetReference(next, ast.NewFunctionReference(ordered))
		}
	}))
}

// bagLoops are the macros of a checked expression that may go over a bag.
func (e *Env) bagLoops(checked *ast.AST, x *extents, s Scope) map[int64]bool {
	w := &walker{env: e, vars: e.variables(s), tree: checked, extents: x, flagged: map[int64]bool{}}
	w.value(checked.Expr(), w.globals(), nil)
	return w.bagLoops
}

// everyTurn is the macro c without the end that all() and exists() come to once they
// are decided. In which order the elements of a bag are met may follow from members
// that the expression does not read; so what it costs must not depend on which of them
// decides it.
func everyTurn(factory ast.ExprFactory, id int64, c ast.ComprehensionExpr) ast.Expr {
	step := c.LoopStep()
	if f := callName(step); f == operators.LogicalAnd || f == operators.LogicalOr {
		args := step.AsCall().Args()
		step = factory.NewCall(step.ID(), f, args[1], args[0])
	}
	always := factory.NewLiteral(c.LoopCondition().ID(), types.True)
	return factory.NewComprehension(id, c.IterRange(), c.IterVar(), c.AccuVar(), c.AccuInit(), always, step, c.Result())
}

func callName(e ast.Expr) string {
	if e.Kind() != ast.CallKind {
		return ""
	}
	return e.AsCall().FunctionName()
}

// inOrder is the macro c with the range put in order by a call, whose id is given.
func inOrder(factory ast.ExprFactory, id int64, c ast.ComprehensionExpr) ast.Expr {
	over := factory.NewCall(id, ordered, c.IterRange())
	if c.HasIterVar2() {
		return factory.NewComprehensionTwoVar(id, over, c.IterVar(), c.IterVar2(), c.AccuVar(),
			c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
	}
	return factory.NewComprehension(id, over, c.IterVar(), c.AccuVar(),
		c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
}

// replacement is the function that takes the place of e's operator, "" for none.
func replacement(tree *ast.AST, e ast.Expr) string {
	c := e.AsCall()
	switch c.FunctionName() {
	case operators.Equals:
		if !oneScalarType(tree, c.Args()) {
			return sameValue
		}
	case operators.NotEquals:
		if !oneScalarType(tree, c.Args()) {
			return otherValue
		}
	case operators.Add:
		switch tree.GetType(e.ID()).Kind() {
		case types.StringKind, types.BytesKind, types.DynKind:
			return boundedSum
		}
	}
	return ""
}

func oneScalarType(tree *ast.AST, args []ast.Expr) bool {
	a, b := tree.GetType(args[0].ID()), tree.GetType(args[1].ID())
	switch a.Kind() {
	case types.BoolKind, types.StringKind, types.IntKind, types.DoubleKind, types.NullTypeKind:
		return a.Kind() == b.Kind()
	}
	return false
}
