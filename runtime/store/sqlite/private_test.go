//go:build unix

package sqlite_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func permissions(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	require.NoError(t, err)
	return info.Mode().Perm()
}

func TestANewFileAndWhatLiesBesideItIsForItsOwnerOnly(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // however open-handed the process is
	dir := t.TempDir()
	for what, name := range map[string]string{
		"a new name":       filepath.Join(dir, "log.db"),
		"an odd name":      filepath.Join(dir, "log 100%?#.db"),
		"a dangling link":  linkTo(t, filepath.Join(dir, "target.db")),
		"an empty private": empty(t, filepath.Join(dir, "empty.db"), 0o600),
	} {
		s := open(t, name)
		require.NoError(t, s.Create(ctx, "a", record(1, 10)))
		target, err := filepath.EvalSymlinks(name)
		require.NoError(t, err)
		for _, suffix := range []string{"", "-wal", "-shm"} {
			require.Equal(t, fs.FileMode(0o600), permissions(t, target+suffix), "%s%s", what, suffix)
		}
	}
}

func TestAFileThatExistsKeepsItsPermissions(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	name := empty(t, filepath.Join(t.TempDir(), "log.db"), 0o640)
	s := open(t, name)
	require.NoError(t, s.Create(ctx, "a", record(1, 10)))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.Equal(t, fs.FileMode(0o640), permissions(t, name+suffix))
	}
}

func linkTo(t *testing.T, target string) string {
	t.Helper()
	link := target + ".link"
	require.NoError(t, os.Symlink(target, link))
	return link
}

func empty(t *testing.T, name string, mode fs.FileMode) string {
	t.Helper()
	require.NoError(t, os.WriteFile(name, nil, mode))
	require.NoError(t, os.Chmod(name, mode))
	return name
}
