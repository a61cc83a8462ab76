package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// rewrite replaces == and != by this package's functions, except between two values
// of one scalar type, where CEL's own equality is exact. The tree is changed.
func rewrite(tree *ast.AST) {
	factory := ast.NewExprFactory()
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		c := e.AsCall()
		function := sameValue
		switch c.FunctionName() {
		case operators.Equals:
		case operators.NotEquals:
			function = otherValue
		default:
			return
		}
		if oneScalarType(tree, c.Args()) {
			return
		}
		e.SetKindCase(factory.NewCall(e.ID(), function, c.Args()...))
		tree.SetReference(e.ID(), ast.NewFunctionReference(function))
	}))
}

func oneScalarType(tree *ast.AST, args []ast.Expr) bool {
	a, b := tree.GetType(args[0].ID()), tree.GetType(args[1].ID())
	switch a.Kind() {
	case types.BoolKind, types.StringKind, types.IntKind, types.DoubleKind, types.NullTypeKind:
		return a.Kind() == b.Kind()
	}
	return false
}
