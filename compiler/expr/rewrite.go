package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// rewrite puts this package's functions in the place of operators that CEL would not
// evaluate as the language wants: == and != except between two values of one scalar
// type, where CEL's own equality is exact, and + where it may build a text. The tree
// is changed.
func rewrite(tree *ast.AST) {
	factory := ast.NewExprFactory()
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		c := e.AsCall()
		function := replacement(tree, e)
		if function == "" {
			return
		}
		e.SetKindCase(factory.NewCall(e.ID(), function, c.Args()...))
		tree.SetReference(e.ID(), ast.NewFunctionReference(function))
	}))
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
