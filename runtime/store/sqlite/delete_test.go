package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// holds reports whether any file of a folder holds a text.
func holds(t *testing.T, dir, text string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// Snapshots that were replaced, long values on pages of their own, keys and names are all
// gone from the bytes of the files, also while the store is in use.
func TestOfADeletedInstanceNoByteIsLeft(t *testing.T) {
	const canary = "CANARY-of-the-deleted"
	name := newFile(t)
	s := open(t, name)
	for _, id := range []string{"stays", canary} {
		in, err := runtime.Create(ctx, counter(), s, id, counterState(strings.Repeat(id, 3000)), runtime.WithSnapshotAfter(1))
		require.NoError(t, err)
		for range 12 {
			p := counting(in.Version(), strings.Repeat(id, 500))
			p.Key += id
			commits(t, in, p)
		}
		for range 5 { // of one version, so that the one before is replaced
			snap, err := s.Snapshot(ctx, id, 99)
			require.NoError(t, err)
			require.NoError(t, s.PutSnapshot(ctx, id, store.Snapshot{Seq: snap.Seq, Version: snap.Version, Data: []byte(strings.Repeat(id, 4000))}))
			require.NoError(t, s.PutSnapshot(ctx, id, snap))
		}
	}
	require.True(t, holds(t, filepath.Dir(name), canary))
	require.NoError(t, s.Delete(ctx, canary))
	require.False(t, holds(t, filepath.Dir(name), canary), "while the store is in use")
	require.NoError(t, s.Check(ctx))
	_, err := runtime.CheckLog(ctx, s, "stays", nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.False(t, holds(t, filepath.Dir(name), canary))
	_, err = runtime.Open(ctx, counter(), open(t, name), "stays")
	require.NoError(t, err)
}

func TestADeletionBesideAReaderIsMadeAllTheSame(t *testing.T) {
	name := newFile(t)
	s, other := open(t, name), open(t, name)
	for i := range 10 {
		require.NoError(t, s.Create(ctx, fmt.Sprint(i), record(1, 9000)))
	}
	for _, err := range other.Read(ctx, "3", 1, 0) {
		require.NoError(t, err)
		require.NoError(t, s.Delete(ctx, "3"))
		require.NoError(t, other.Delete(ctx, "4"))
	}
	require.ErrorIs(t, s.Delete(ctx, "3"), store.ErrNotFound)
	reader, err := sqlite.OpenReadOnly(ctx, name)
	require.NoError(t, err)
	require.ErrorIs(t, reader.Delete(ctx, "5"), sqlite.ErrReadOnly)
	require.NoError(t, reader.Close())
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Delete(ctx, "5"), sqlite.ErrClosed)
	require.NoError(t, other.Check(ctx))
}

// A reader in another process may hold on to FILE-wal for longer than a deletion waits: it is emptied when
// the reader has gone.
func TestWhatAReaderHeldIsOverwrittenWhenItIsGone(t *testing.T) {
	const canary = "CANARY-of-the-deleted"
	name := filepath.Join(t.TempDir(), "log.db")
	s := open(t, name)
	require.NoError(t, s.Create(ctx, canary, store.Record{Seq: 1, Line: []byte(strings.Repeat(canary, 1000))}))
	db, err := sql.Open("sqlite", name)
	require.NoError(t, err)
	defer db.Close()
	reading, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, reading.QueryRow("SELECT count(*) FROM record").Scan(&n))
	require.NoError(t, s.Delete(ctx, canary))
	require.True(t, holds(t, filepath.Dir(name), canary), "it is being read")
	require.NoError(t, s.Create(ctx, "b", record(1, 10)), "others go on")
	require.NoError(t, reading.Rollback())
	for began := time.Now(); holds(t, filepath.Dir(name), canary); time.Sleep(10 * time.Millisecond) {
		require.Less(t, time.Since(began), 20*time.Second)
	}
}
