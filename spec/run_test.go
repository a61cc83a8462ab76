package spec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// buildOnce builds the command line once for all tests of this package; the folder
// goes away with the process that made it.
var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "poptic-spec")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "poptic")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/poptic").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := buildOnce(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// An applied proposal is what `poptic apply` did with it.
type applied struct {
	exit       int
	stderr     string
	Verdict    string             `json:"verdict"`
	Violations []verify.Violation `json:"violations"`
	State      json.RawMessage    `json:"state"`
}

// apply runs `poptic apply` on files with these contents, and checks that it leaves
// them as they are.
func apply(t *testing.T, contract, state, patch string) applied {
	t.Helper()
	bin, err := buildOnce()
	require.NoError(t, err)
	dir := t.TempDir()
	files := map[string]string{"c.poptic": contract, "state.json": state, "patch.json": patch}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.Command(bin, "apply", "c.poptic", "--state", "state.json", "--stage", "step", "--patch", "patch.json", "--format", "json")
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	for name, text := range files {
		after, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, text, string(after))
	}
	out := applied{exit: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
	if out.exit != 2 {
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &out), "%s%s", stdout.String(), stderr.String())
	}
	return out
}

// untyped is a contract over untyped states with one stage.
func untyped(read, write, source []string) string {
	clause := func(name string, patterns []string) string {
		if len(patterns) == 0 {
			return ""
		}
		return "  " + name + " " + strings.Join(patterns, ", ") + "\n"
	}
	return "contract cases\n\nstate any\n\nstage step {\n" +
		clause("read", read) + clause("write", write) + clause("source", source) + "}\n"
}

// compiled is the program of a contract given as text.
func compiled(t *testing.T, text string) *verify.Program {
	t.Helper()
	files := fstest.MapFS{"case.poptic": {Data: []byte(text)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "case.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%s\n%s", text, listed(out.Diagnostics))
	return load(t, out.Contract)
}

func load(t *testing.T, c *ir.Contract) *verify.Program {
	t.Helper()
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	return p
}

func parsedJSON(t *testing.T, text []byte) *tree.Node {
	t.Helper()
	n, err := tree.Parse(text, tree.DefaultLimits)
	require.NoError(t, err)
	return n
}
