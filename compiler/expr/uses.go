package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// ParamUses says which of some parameters an expression mentions, and which of them
// it uses as a value: for something else than to pick the member of that key. Nothing
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
