package sqlite_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
	"github.com/patchoptic/poptic/runtime/store/storetest"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// open opens a store in a new file, and closes it when the test ends.
func open(t testing.TB, name string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(ctx, name)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "log 100%?#.db") }

func TestSQLiteBehavesAsAStore(t *testing.T) {
	storetest.Run(t, func() store.Store { return open(t, newFile(t)) })
	storetest.RunShared(t, func() (one, other store.Store) {
		name := newFile(t)
		return open(t, name), open(t, name)
	})
}

// openNow is sqlite.Open without options.
func openNow(ctx context.Context, name string) (*sqlite.Store, error) { return sqlite.Open(ctx, name) }

// A listing is what a folder holds: of each file its bytes, hashed, and when they
// changed. Of FILE-shm, which is an index, it is there or not.
type listing map[string]struct {
	hash    [sha256.Size]byte
	changed time.Time
}

func listed(t *testing.T, dir string) listing {
	t.Helper()
	all := listing{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		file := all[e.Name()]
		if !strings.HasSuffix(e.Name(), "-shm") {
			file.hash, file.changed = sha256.Sum256(data), info.ModTime()
		}
		all[e.Name()] = file
	}
	return all
}

// evidence copies a store's files, as one finds them after a crash or an orderly end.
func evidence(t *testing.T, name string, suffixes ...string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "evidence.db")
	for _, suffix := range suffixes {
		data, err := os.ReadFile(name + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+suffix, data, 0o600))
	}
	return to
}

func TestReadingLeavesNothingBesideAFileThatNobodyUses(t *testing.T) {
	inUse, log := aLog(t, false)
	ended, _ := aLog(t, true)
	for what, c := range map[string]struct {
		name    string
		records int
	}{
		"closed":                                {evidence(t, ended, ""), len(log)},
		"closed, with an empty WAL":             {withEmptyWAL(t, evidence(t, ended, "")), len(log)},
		"abandoned":                             {evidence(t, inUse, "", "-wal"), len(log)},
		"abandoned, with an old index":          {evidence(t, inUse, "", "-wal", "-shm"), len(log)},
		"a WAL of zeros":                        {withWAL(t, evidence(t, ended, ""), make([]byte, 5000)), len(log)},
		"a WAL of which only the header counts": {withWAL(t, evidence(t, ended, ""), headerOf(t, inUse)), len(log)},
		"a WAL that is all in the file":         {used(t, evidence(t, inUse, "", "-wal")), len(log) + 1},
	} {
		for _, mode := range []fs.FileMode{0o700, 0o500} {
			t.Run(what+" "+mode.String(), func(t *testing.T) {
				dir := filepath.Dir(c.name)
				require.NoError(t, os.Chmod(dir, mode))
				defer os.Chmod(dir, 0o700)
				before := listed(t, dir)
				link := filepath.Join(t.TempDir(), "link.db")
				require.NoError(t, os.Symlink(c.name, link))
				for _, name := range []string{c.name, link} {
					log, err := audited(name)
					require.NoError(t, err)
					require.Len(t, log, c.records)
					_, err = replayed(name)
					require.NoError(t, err)
				}
				require.Equal(t, before, listed(t, dir))
			})
		}
	}
}

func withEmptyWAL(t *testing.T, name string) string { return withWAL(t, name, nil) }

func withWAL(t *testing.T, name string, wal []byte) string {
	t.Helper()
	require.NoError(t, os.WriteFile(name+"-wal", wal, 0o600))
	return name
}

// headerOf is what FILE-wal begins with.
func headerOf(t *testing.T, name string) []byte {
	t.Helper()
	wal, err := os.ReadFile(name + "-wal")
	require.NoError(t, err)
	return wal[:32]
}

// used is a store as a killed process leaves it that had just written all of FILE-wal into FILE.
func used(t *testing.T, name string) string {
	t.Helper()
	s := open(t, name)
	in, err := runtime.Open(ctx, counter(), s, "a")
	require.NoError(t, err)
	_, err = in.View(ctx, runtime.Request{Stage: "count"})
	require.NoError(t, err)
	changeBehind(t, name, "PRAGMA wal_checkpoint(PASSIVE)")
	return evidence(t, name, "", "-wal")
}

// What FILE-wal held may have been the newest commits: that it cannot be read is damage, and it
// is left where it is.
func TestAWALThatDoesNotBeginAsOneIsDamageAndIsLeftAlone(t *testing.T) {
	inUse, _ := aLog(t, false)
	for what, change := range map[string]func(wal []byte) []byte{
		"one bit":        func(wal []byte) []byte { wal[2] ^= 1; return wal },
		"something else": func([]byte) []byte { return []byte("my diary, which is long enough to be read") },
		"cut":            func(wal []byte) []byte { return wal[1:] },
	} {
		for _, suffixes := range [][]string{{"", "-wal"}, {"", "-wal", "-shm"}} {
			name := evidence(t, inUse, suffixes...)
			wal, err := os.ReadFile(name + "-wal")
			require.NoError(t, err)
			withWAL(t, name, change(wal))
			before := listed(t, filepath.Dir(name))
			s, err := sqlite.OpenReadOnly(ctx, name)
			if err == nil {
				err = s.Check(ctx)
				require.NoError(t, s.Close())
			}
			require.ErrorAs(t, err, new(*sqlite.DamageError), what)
			require.Equal(t, before, listed(t, filepath.Dir(name)), what)
		}
	}
	name := evidence(t, inUse, "", "-wal")
	_, err := audited(name)
	require.NoError(t, err)
	ended, log := aLog(t, true)
	name = withWAL(t, evidence(t, ended, ""), []byte("my diary, which is long enough to be read"))
	s, err := sqlite.OpenReadOnly(ctx, name)
	require.NoError(t, err, "what is in the file can be read")
	require.Len(t, recordsOf(t, s, "a"), len(log))
	var damage *sqlite.DamageError
	require.ErrorAs(t, s.Check(ctx), &damage)
	require.Contains(t, damage.Reason, "evidence.db-wal beside it does not begin as SQLite wrote it")
	require.NoError(t, s.Close())
}

func replayed(name string) (runtime.Replayed, error) {
	st, err := sqlite.OpenReadOnly(ctx, name)
	if err != nil {
		return runtime.Replayed{}, err
	}
	defer st.Close()
	return runtime.Replay(ctx, counter(), st, "a")
}

// long runs the tests of this package at their full size also where that takes
// minutes.
var long = flag.Bool("long", false, "run at full size")

// size is how large a test is: at full size, in a usual run, in a short one or with
// the race detector.
func size(full, usual, short int) int {
	switch {
	case *long:
		return full
	case raced || testing.Short():
		return short
	}
	return usual
}
