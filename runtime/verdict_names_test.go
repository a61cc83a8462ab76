package runtime_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

// constants are the names of a file's constants that begin in a way, with what they are made equal to.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	all := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, name := range spec.Names {
				all[name.Name] = ""
				if len(spec.Values) == len(spec.Names) {
					switch value := spec.Values[i].(type) {
					case *ast.SelectorExpr:
						all[name.Name] = value.Sel.Name
					case *ast.BasicLit:
						all[name.Name] = value.Value
					}
				}
			}
		}
		return true
	})
	return all
}

func TestEveryCodeAndGateHasItsNameHere(t *testing.T) {
	here := constants(t, "verdict.go")
	known := map[string]bool{}
	for name, value := range constants(t, "../internal/verify/verdict.go") {
		switch {
		case len(value) == 0 || value[0] != '"':
		case here[name] == name: // gates and decisions
		default:
			require.Equal(t, name, here["Code"+name])
			known[value] = true
		}
	}
	for _, c := range verify.Codes() {
		require.True(t, known[`"`+string(c.Code)+`"`], c.Code)
	}
	require.Len(t, known, len(verify.Codes()))
}
