package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// ParamUses says which of some parameters an expression mentions, and which of them
// it uses as a value: for something else than to pick the member of that key, or to compare
// what they pick with one another. Nothing
// if it does not parse.
func (e *Env) ParamUses(src string, params []string) (mentioned, values []string) {
	tree, _, _ := e.parse(src)
	if tree == nil {
		return nil, nil
	}
	keys := map[int64]bool{}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() == ast.CallKind && slices.Contains([]string{operators.Index, operators.OptIndex}, x.AsCall().FunctionName()) {
			keys[x.AsCall().Args()[1].ID()] = true
		}
		if comparesArguments(x, params) {
			values = append(values, namesIn(x, params)...)
		}
		if x.Kind() != ast.IdentKind || !slices.Contains(params, x.AsIdent()) {
			return
		}
		mentioned = append(mentioned, x.AsIdent())
		if !keys[x.ID()] {
			values = append(values, x.AsIdent())
		}
	}))
	return mentioned, values
}

// comparesArguments reports whether e compares what has to do with one parameter with
// what has to do with another one.
func comparesArguments(e ast.Expr, params []string) bool {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In:
	default:
		return false
	}
	a, b := namesIn(e.AsCall().Args()[0], params), namesIn(e.AsCall().Args()[1], params)
	return len(a) > 0 && len(b) > 0 && !slices.Equal(a, b)
}

// namesIn lists the parameters that an expression mentions, in order, each once.
func namesIn(e ast.Expr, params []string) []string {
	var out []string
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() == ast.IdentKind && slices.Contains(params, x.AsIdent()) {
			out = append(out, x.AsIdent())
		}
	}))
	slices.Sort(out)
	return slices.Compact(out)
}
