package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAReplacedFileKeepsItsPermissions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.Chmod(name, 0o640))
	require.NoError(t, writeFile(name, []byte("new"), 0))
	requireFile(t, name, "new")
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	requireOnly(t, filepath.Dir(name), "state.json")
}

func TestAFileThatIsReplacedKeepsItsGroupOrIsForItsOwner(t *testing.T) {
	require.Equal(t, fs.FileMode(0o600), likeEverybody(0o640))
	require.Equal(t, fs.FileMode(0o604), likeEverybody(0o664)&^0o040)
	require.Equal(t, fs.FileMode(0o644), likeEverybody(0o644))
	require.Equal(t, fs.FileMode(0o702), likeEverybody(0o752))
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	name := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.Chown(name, 65534, 65533))
	require.NoError(t, writeFile(name, []byte("new"), 0))
	requireFile(t, name, "new")
	require.Equal(t, &owner{65534, 65533}, ownerOf(name))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())

	var in inputs
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	in.noteOpen("state", f)
	require.Equal(t, fs.FileMode(0o600), in.perm("state"), "a new file has another group")
}

func TestANewFileIsForThoseWhoMayReadAllThatIsInIt(t *testing.T) {
	var in inputs
	for what, perm := range map[string]fs.FileMode{"state": 0o604, "patch": 0o640, "contract": 0o600} {
		name := filepath.Join(t.TempDir(), what)
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		require.NoError(t, os.Chown(name, -1, os.Getegid()))
		require.NoError(t, os.Chmod(name, perm))
		f, err := os.Open(name)
		require.NoError(t, err)
		in.noteOpen(what, f)
		require.NoError(t, f.Close())
	}
	require.Equal(t, fs.FileMode(0o604), in.perm("state"))
	require.Equal(t, fs.FileMode(0o640), in.perm("patch"))
	require.Equal(t, fs.FileMode(0o600), in.perm("state", "patch"))
	require.Equal(t, fs.FileMode(0), in.perm("log"))
}

func TestWhatComesThroughAPipeIsForNobodyElse(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	var in inputs
	in.noteOpen("state", read)
	require.Equal(t, fs.FileMode(0o600), in.perm("state"))
}

func TestALinkKeepsPointingWhereItDid(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("target", link))
	require.NoError(t, writeFile(link, []byte("new"), 0))
	requireFile(t, target, "new")
	kept, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "target", kept)
}

func TestALinkToNothingYetKeepsPointingWhereItDid(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("second", filepath.Join(dir, "first")))
	require.NoError(t, os.Symlink("target", filepath.Join(dir, "second")))
	require.NoError(t, writeFile(filepath.Join(dir, "first"), []byte("new"), 0))
	requireFile(t, filepath.Join(dir, "target"), "new")
	requireOnly(t, dir, "first", "second", "target")
	require.NoError(t, os.Symlink("round", filepath.Join(dir, "round")))
	require.Error(t, writeFile(filepath.Join(dir, "round"), []byte("new"), 0))
}

// The text of a link to an open pipe is no path, so that it looks like a link to
// nothing; /dev/stdout is one.
func TestALinkToAPipeIsWrittenThrough(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	open := fmt.Sprintf("/proc/self/fd/%d", write.Fd())
	if _, err := os.Stat(open); err != nil {
		t.Skip("open files have no names here")
	}
	link := filepath.Join(t.TempDir(), "stdout")
	require.NoError(t, os.Symlink(open, link))
	require.NoError(t, writeFile(link, []byte("new"), 0))
	require.NoError(t, write.Close())
	got, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	kept, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, open, kept)
}

func TestAFailedWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.Error(t, writeFile(filepath.Join(dir, "folder"), []byte("new"), 0))
	require.Error(t, writeFile(filepath.Join(dir, "missing", "file"), []byte("new"), 0))
	requireOnly(t, dir, "folder")
}

func TestWhatIsNoRegularFileIsWrittenToDirectly(t *testing.T) {
	require.NoError(t, writeFile(os.DevNull, []byte("new"), 0))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "the device must still be one")
}

func requireFile(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func requireOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, names, got)
}
