package expr

import (
	re2 "regexp/syntax"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// patterns checks the regular expressions of `matches`: literals in RE2 syntax, whose
// cost is linear in the text and in the size of the program, which is bounded here.
// (cel-go's own bound on the size panics on bounded repetitions.)
func (w *walker) patterns(root ast.Expr, most int) {
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		if len(args) == 0 {
			return
		}
		last := args[len(args)-1]
		text, ok := w.constant(last).(types.String)
		if !ok {
			w.report(last, w.extents.of(last), patternNotLiteral())
			return
		}
		if size, err := patternSize(string(text)); err != nil {
			w.report(last, w.extents.of(last), badPattern())
		} else if size > most {
			w.report(last, w.extents.of(last), patternTooLarge(most))
		}
	}))
}

// patternSize is the number of instructions a regular expression compiles to.
func patternSize(text string) (int, error) {
	parsed, err := re2.Parse(text, re2.Perl)
	if err != nil {
		return 0, err
	}
	program, err := re2.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

func badPattern() Issue {
	return Issue{Code: BadPattern, Message: "this is no regular expression", Help: "the syntax is RE2: no look-around, no back references"}
}

func patternNotLiteral() Issue {
	return Issue{Code: BadPattern, Message: "the regular expression must be a literal", Help: "a pattern taken from the state could be arbitrarily costly; write it out, or use contains, startsWith or endsWith"}
}

func patternTooLarge(most int) Issue {
	return Issue{Code: BadPattern, Message: "this regular expression is too large: it needs more than " + strconv.Itoa(most) + " instructions", Help: "use smaller repetition counts"}
}
