package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/diagnostic"
)

// The table of codes in the chapter of the language is the catalogue's own.
func TestTheTableOfDiagnosticsIsTheCatalogue(t *testing.T) {
	chapter, err := os.ReadFile("language.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(chapter), "\n## 14. Diagnostics\n")
	require.True(t, found)
	section, _, found = strings.Cut(section, "\n## ")
	require.True(t, found)
	_, table, found := strings.Cut(section, "\n\n| code |")
	require.True(t, found)
	require.Equal(t, diagnostic.Table(), "| code |"+table)
}

func TestTheExpressionCheckersCodesAreInTheCatalogue(t *testing.T) {
	checked := 0
	for _, decl := range syntaxOf(t, "../internal/expr/messages.go").Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST || d.Doc.Text() != "The codes of issues.\n" {
			continue
		}
		for _, spec := range d.Specs {
			code, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			require.NotNil(t, diagnostic.Find(code), code)
			checked++
		}
	}
	require.Greater(t, checked, 10)
}

func syntaxOf(t *testing.T, file string) *ast.File {
	t.Helper()
	out, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	require.NoError(t, err)
	return out
}
