package sqlite_test

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

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
		"closed":                       {evidence(t, ended, ""), len(log)},
		"closed, with an empty WAL":    {withEmptyWAL(t, evidence(t, ended, "")), len(log)},
		"abandoned":                    {evidence(t, inUse, "", "-wal"), len(log)},
		"abandoned, with an old index": {evidence(t, inUse, "", "-wal", "-shm"), len(log)},
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

func withEmptyWAL(t *testing.T, name string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(name+"-wal", nil, 0o600))
	return name
}

func replayed(name string) (runtime.Replayed, error) {
	st, err := sqlite.OpenReadOnly(ctx, name)
	if err != nil {
		return runtime.Replayed{}, err
	}
	defer st.Close()
	return runtime.Replay(ctx, counter(), st, "a")
}
