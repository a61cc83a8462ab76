package sqlite_test

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// aLog is a store of one instance with some commits; closed, or in use with all of
// them still in FILE-wal.
func aLog(t *testing.T, closed bool) (name string, log []store.Record) {
	t.Helper()
	name = newFile(t)
	st := open(t, name)
	in, err := runtime.Create(ctx, counter(), st, "a", counterState("f"), runtime.WithSnapshotAfter(1<<10))
	require.NoError(t, err)
	for range 30 {
		commits(t, in, counting(in.Version(), "t"))
	}
	log = records(t, st)
	if closed {
		require.NoError(t, st.Close())
	}
	return name, log
}

func records(t *testing.T, st store.Store) (log []store.Record) {
	t.Helper()
	for r, err := range st.Read(ctx, "a", 1, 0) {
		require.NoError(t, err)
		log = append(log, r)
	}
	return log
}

// copied copies a store's files to a new folder and changes one of them.
func copied(t *testing.T, name, which string, change func([]byte) []byte) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(name + suffix)
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		if suffix == which {
			data = change(data)
		}
		require.NoError(t, os.WriteFile(to+suffix, data, 0o600))
	}
	return to
}

// audited is what an audit finds in a file: the records it reads, and the first
// thing that is wrong.
func audited(name string) (log []store.Record, err error) {
	st, err := sqlite.OpenReadOnly(ctx, name)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if err := st.Check(ctx); err != nil {
		return nil, err
	}
	if _, err := runtime.CheckLog(ctx, st, "a", nil); err != nil {
		return nil, err
	}
	for r, err := range st.Read(ctx, "a", 1, 0) {
		if err != nil {
			return nil, err
		}
		log = append(log, r)
	}
	return log, nil
}

// A flipped bit is found, or it was in a place that holds nothing of the log: then
// the log reads as it was written.
func TestAFlippedBitIsFoundOrChangesNothing(t *testing.T) {
	t.Parallel()
	name, log := aLog(t, true)
	random := rand.New(rand.NewSource(1))
	found := 0
	n := size(5000, 600, 60)
	for range n {
		damaged := copied(t, name, "", func(data []byte) []byte {
			data[random.Intn(len(data))] ^= 1 << random.Intn(8)
			return data
		})
		got, err := audited(damaged)
		if err != nil {
			found++
			continue
		}
		require.Equal(t, log, got)
	}
	require.Greater(t, found, n/4)
}

func TestAFileThatWasCutOffIsFound(t *testing.T) {
	t.Parallel()
	name, _ := aLog(t, true)
	info, err := os.Stat(name)
	require.NoError(t, err)
	for end := int64(0); end < info.Size(); end += 1000 {
		_, err := audited(copied(t, name, "", func(data []byte) []byte { return data[:end] }))
		require.Error(t, err, "cut at %d of %d", end, info.Size())
	}
}

// What SQLite drops of a damaged FILE-wal is the end of it: the log is then a
// beginning of what it was, which the anchor shows, and is never something else.
func TestADamagedJournalCostsTheEndOfTheLogAndNothingElse(t *testing.T) {
	t.Parallel()
	name, log := aLog(t, false)
	random := rand.New(rand.NewSource(2))
	cut := 0
	for range size(2000, 300, 40) {
		damaged := copied(t, name, "-wal", func(data []byte) []byte {
			if random.Intn(2) == 0 {
				return data[:random.Intn(len(data))]
			}
			data[random.Intn(len(data))] ^= 1 << random.Intn(8)
			return data
		})
		got, err := audited(damaged)
		if err != nil {
			continue
		}
		require.LessOrEqual(t, len(got), len(log))
		require.Equal(t, log[:len(got)], got)
		if len(got) < len(log) {
			cut++
		}
	}
	require.Positive(t, cut)
}

// An instance that is opened at a snapshot does not read what lies before it, but
// neither does it touch it: the damage stays to be found.
func TestNothingIsRepairedInSilence(t *testing.T) {
	name, log := aLog(t, true)
	damaged := copied(t, name, "", func(data []byte) []byte {
		at := bytes.Index(data, log[20].Line)
		require.Positive(t, at)
		data[at+10] ^= 4
		return data
	})
	before, err := os.ReadFile(damaged)
	require.NoError(t, err)
	st, err := sqlite.Open(ctx, damaged)
	require.NoError(t, err)
	_, err = runtime.Open(ctx, counter(), st, "a")
	require.NoError(t, err)
	require.NoError(t, st.Close())
	after, err := os.ReadFile(damaged)
	require.NoError(t, err)
	require.Equal(t, before, after)
	_, err = audited(damaged)
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, uint64(21), corrupt.Seq)
}
