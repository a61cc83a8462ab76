package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
)

func TestTheDemoLinksNoDatabaseAndNoCommandLine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	for _, heavy := range []string{"modernc.org/sqlite", "database/sql", "github.com/alecthomas/kong", "net", "runtime/cgo",
		"github.com/alecthomas/participle/v2", "github.com/patchoptic/poptic/compiler"} {
		require.False(t, slices.Contains(deps, heavy), "%s is linked", heavy)
	}
}

func TestTheDemoShowsTheFirstExample(t *testing.T) {
	out, err := exec.Command("go", "run", ".").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "its chain holds")
}

func TestTheCompiledContractsAreUpToDate(t *testing.T) {
	for _, name := range examples.Names() {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("../" + name), Path: "contract.poptic"})
		require.NoError(t, err)
		again, ok := out.Compiled()
		require.True(t, ok, "%v", out.Diagnostics)
		stored, err := compiled.ReadFile(name + ".popticc")
		require.NoError(t, err)
		require.Equal(t, string(again), string(stored), "run go generate ./examples/demo")
	}
}
