package examples_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/stdlib"
)

// contract compiles the contract of the named workflow.
func contract(t *testing.T, name string) *ir.Contract {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: examples.FS, Path: name + "/contract.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, listed(out.Diagnostics))
	return out.Contract
}

// listed shows diagnostics one a line.
func listed(ds []source.Diagnostic) string {
	var b strings.Builder
	for _, d := range ds {
		line := d.Span.File.Position(d.Span.Start).Line
		fmt.Fprintf(&b, "%s:%d: %s: %s (%s)\n", d.Span.File.Name, line, d.Code, d.Message, d.Help)
	}
	return b.String()
}

func TestContractsAreFreeOfFindings(t *testing.T) {
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			out, err := compiler.Compile(t.Context(), compiler.Input{FS: examples.FS, Path: name + "/contract.poptic"})
			require.NoError(t, err)
			require.Empty(t, listed(out.Diagnostics))
		})
	}
}

func TestEveryStandardTypeIsUsedByAnExample(t *testing.T) {
	var used strings.Builder
	for _, name := range examples.Names() {
		text, err := fs.ReadFile(examples.FS, name+"/contract.poptic")
		require.NoError(t, err)
		used.Write(text)
	}
	for _, library := range stdlib.Names() {
		text, err := fs.ReadFile(stdlib.FS, library+".poptic")
		require.NoError(t, err)
		for _, declared := range typeNames(string(text)) {
			inLibrary := strings.Count(string(text), declared) > 1
			require.True(t, inLibrary || strings.Contains(used.String(), library+"."+declared),
				"%s.%s is used by no example", library, declared)
		}
	}
}

// typeNames lists the types a library declares.
func typeNames(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "type" {
			names = append(names, words[1])
		}
	}
	return names
}
