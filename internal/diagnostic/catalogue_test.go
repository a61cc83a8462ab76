package diagnostic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryKindThatIsDeclaredIsInOneChapter(t *testing.T) {
	declared := 0
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if v, ok := n.(*ast.UnaryExpr); ok && v.Op == token.AND {
				declared++
			}
			return true
		})
	}
	require.Len(t, All(), declared)
	require.Len(t, byCode, declared)
}

func TestEveryKindSaysWhatAndWhy(t *testing.T) {
	for _, k := range All() {
		require.Regexp(t, regexp.MustCompile("^[a-z]+(_[a-z]+)*$"), k.Code)
		require.NotEmpty(t, k.What, k.Code)
		require.Regexp(t, regexp.MustCompile("^[`A-Z].*[.]$"), k.Why, k.Code)
		require.Same(t, k, Find(k.Code))
		require.Equal(t, k == Unreadable || k == ExpressionEnvironment, k.Right == "", k.Code)
	}
	require.Nil(t, Find("no_such_code"))
}

func TestExamplesAreWrittenOut(t *testing.T) {
	require.Equal(t, "a1, a2, b\xff\n", Source("«2 a$i, »b«byte ff»\n"))
}
