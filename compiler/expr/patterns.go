package expr

import (
	"regexp"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// patterns checks the constant regular expressions of `matches`. Their syntax is
// RE2, whose cost is linear in the text.
func (w *walker) patterns(root ast.Expr) {
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		last := args[len(args)-1]
		text, ok := w.constant(last).(types.String)
		if !ok {
			return
		}
		if _, err := regexp.Compile(string(text)); err != nil {
			w.report(last, w.extents.of(last), Issue{
				Code:    BadPattern,
				Message: "this is no regular expression",
				Help:    "the syntax is RE2: no look-around, no back references",
			})
		}
	}))
}
