package certificate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainData is what of the region package the checker may use: types and their
// constants, nothing that decides.
var plainData = []string{
	"Pattern", "Segment", "Region", "Grant", "Literal", "KeyLiteral", "IndexLiteral", "AnySegment", "AnyKey", "AnyIndex",
	"AnyDepth", "ParamSegment", "FreshSegment",
}

func TestTheCheckerSharesNoDecisionWithTheProver(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		require.NoError(t, err)
		for _, imp := range parsed.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			require.NoError(t, err)
			own := strings.HasPrefix(path, "github.com/patchoptic/poptic/")
			require.True(t, !own || strings.HasSuffix(path, "/internal/ir") || strings.HasSuffix(path, "/internal/region"), "%s imports %s", f.Name(), path)
			require.True(t, own || !strings.Contains(path, "."), "%s imports %s", f.Name(), path)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "region" {
					require.Contains(t, plainData, s.Sel.Name, "%s uses region.%s", f.Name(), s.Sel.Name)
				}
			}
			return true
		})
	}
}
