package poptic_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/spec/block"
)

// binary builds the command and returns the folder it is in.
func binary(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, "./cmd/poptic").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

// runPage runs the shell blocks of a page one after the other in dir.
func runPage(t *testing.T, page, dir, bin string) {
	t.Helper()
	blocks, err := block.Read(page)
	require.NoError(t, err)
	sessions := block.Sessions(blocks)
	require.NotEmpty(t, sessions, "%s shows no commands", page)
	for _, s := range sessions {
		output, exit, err := s.Run(context.Background(), dir, bin)
		require.NoError(t, err)
		require.Equal(t, s.Exit, exit, "%s:%d exits otherwise; it wrote:\n%s", s.File, s.Line, output)
		if s.Shown {
			require.Equal(t, s.Output, output, "%s:%d", s.File, s.Line)
		}
	}
}

func TestTheCommandsOfThePagesGiveTheOutputTheyShow(t *testing.T) {
	bin := binary(t)
	t.Run("README.md", func(t *testing.T) { runPage(t, "README.md", t.TempDir(), bin) })
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("examples", name))))
			runPage(t, filepath.Join(dir, "README.md"), dir, bin)
		})
	}
}
