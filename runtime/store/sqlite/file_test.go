package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// record is a record of about size bytes that tells its number.
func record(seq uint64, size int) store.Record {
	return store.Record{Seq: seq, Version: seq - 1, Line: fmt.Appendf(nil, "line %d", seq), Sealed: fmt.Appendf(nil, "%*d", size, seq)}
}

// count is the number of records of an instance.
func count(t testing.TB, s store.Store, id string) (n int) {
	t.Helper()
	for r, err := range s.Read(ctx, id, 1, 0) {
		require.NoError(t, err)
		n++
		require.Equal(t, uint64(n), r.Seq)
	}
	return n
}

func TestAClosedStoreIsOneFileThatHoldsEverything(t *testing.T) {
	name := newFile(t)
	s := open(t, name)
	require.NoError(t, s.Create(ctx, "a", record(1, 10)))
	require.NoError(t, s.Append(ctx, "a", 1, record(2, 10)))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "closing again does nothing")
	files, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, 2, count(t, open(t, name), "a"))
}

func TestAClosedStoreRefusesEverything(t *testing.T) {
	name := newFile(t)
	writing := open(t, name)
	require.NoError(t, writing.Create(ctx, "a", record(1, 10)))
	reading, err := sqlite.OpenReadOnly(ctx, name)
	require.NoError(t, err)
	for _, s := range []*sqlite.Store{writing, reading} {
		require.NoError(t, s.Close())
		for what, call := range map[string]func() error{
			"Create": func() error { return s.Create(ctx, "b", record(1, 10)) },
			"Append": func() error { return s.Append(ctx, "a", 1, record(2, 10)) },
			"Delete": func() error { return s.Delete(ctx, "a") },
			"End":    func() error { _, err := s.End(ctx); return err },
			"Tail": func() (last error) {
				for _, err := range s.Tail(ctx, "1") {
					last = err
				}
				return last
			},
			"PutSnapshot": func() error { return s.PutSnapshot(ctx, "a", store.Snapshot{}) },
			"Head":        func() error { _, _, err := s.Head(ctx, "a"); return err },
			"Find":        func() error { _, err := s.Find(ctx, "a", "k"); return err },
			"Snapshot":    func() error { _, err := s.Snapshot(ctx, "a", 1); return err },
			"Check":       func() error { return s.Check(ctx) },
			"Read": func() (last error) {
				for _, err := range s.Read(ctx, "a", 1, 0) {
					last = err
				}
				return last
			},
			"Instances": func() (last error) {
				for _, err := range s.Instances(ctx, "") {
					last = err
				}
				return last
			},
		} {
			err := call()
			require.ErrorIs(t, err, sqlite.ErrClosed, what)
			require.NotErrorIs(t, err, store.ErrNotFound, what)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, _, err := s.Head(ended, "a")
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestWhatReadsWhileAStoreIsClosedReadsOrIsToldSo(t *testing.T) {
	for range 20 {
		s := open(t, newFile(t))
		require.NoError(t, s.Create(ctx, "a", record(1, 10)))
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for {
					_, _, err := s.Head(ctx, "a")
					if err != nil {
						assert.ErrorIs(t, err, sqlite.ErrClosed)
						return
					}
				}
			})
		}
		require.NoError(t, s.Close())
		wait.Wait()
	}
}

func TestRequestsThatWaitWhenAStoreIsClosedAreMadeOrRefused(t *testing.T) {
	name := newFile(t)
	s := open(t, name)
	made := make([]error, 50)
	var wait sync.WaitGroup
	for i := range made {
		wait.Go(func() { made[i] = s.Create(ctx, fmt.Sprint(i), record(1, 10)) })
	}
	require.NoError(t, s.Close())
	wait.Wait()
	again := open(t, name)
	for i, err := range made {
		_, _, missing := again.Head(ctx, fmt.Sprint(i))
		if err == nil {
			require.NoError(t, missing)
			continue
		}
		require.ErrorIs(t, err, sqlite.ErrClosed)
		require.ErrorIs(t, missing, store.ErrNotFound)
	}
}

func TestWhatIsNoStoreIsRefusedAsThatAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for what, c := range map[string]struct{ text, want string }{
		"a contract": {"contract desk\nstate { a: string }\n", "holds no logs of instances"},
		"a state":    {`{"a": "long enough to be a first page"}` + strings.Repeat(" ", 5000), "holds no logs of instances"},
		"zeros":      {strings.Repeat("\x00", 8192), "holds no logs of instances"},
	} {
		name := filepath.Join(dir, what)
		require.NoError(t, os.WriteFile(name, []byte(c.text), 0o600))
		for _, open := range []func(context.Context, string) (*sqlite.Store, error){openNow, sqlite.OpenReadOnly} {
			_, err := open(ctx, name)
			require.ErrorContains(t, err, c.want, what)
			require.ErrorContains(t, err, name)
			require.NotErrorAs(t, err, new(*sqlite.DamageError), what)
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, c.text, string(text))
	}
	for _, open := range []func(context.Context, string) (*sqlite.Store, error){openNow, sqlite.OpenReadOnly} {
		_, err := open(ctx, dir)
		require.EqualError(t, err, "store "+dir+": it is a folder")
		_, err = open(ctx, os.DevNull)
		require.ErrorContains(t, err, "it is no regular file")
	}
}

func TestADatabaseOfAnotherProgramIsRefusedAndLeftAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", name)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE record (a); INSERT INTO record VALUES (1)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	_, err = sqlite.Open(ctx, name)
	require.ErrorContains(t, err, "holds no logs")
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, before, after)
	db, err = sql.Open("sqlite", name)
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO record VALUES (2)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestAFileWithOtherTablesIsRefusedByNameAndLeftAlone(t *testing.T) {
	name := newFile(t)
	require.NoError(t, open(t, name).Close())
	for _, tables := range []int{0, 4, 1000, -1} {
		changeBehind(t, name, fmt.Sprintf("PRAGMA user_version = %d", tables))
		before, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, open := range []func(context.Context, string) (*sqlite.Store, error){openNow, sqlite.OpenReadOnly} {
			_, err = open(ctx, name)
			var other *sqlite.VersionError
			require.ErrorAs(t, err, &other)
			require.Equal(t, tables, other.Have)
			require.ErrorContains(t, err, fmt.Sprintf("written with tables of version %d, this version reads 1 to 3", tables))
		}
		after, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

// changeBehind changes a store's file as another program does.
func changeBehind(t *testing.T, name, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: name}).String())
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(statements)
	require.NoError(t, err)
}

func TestAStoreOpenedToBeReadCreatesAndChangesNothing(t *testing.T) {
	name := newFile(t)
	_, err := sqlite.OpenReadOnly(ctx, name)
	require.Error(t, err)
	_, err = os.Stat(name)
	require.ErrorIs(t, err, fs.ErrNotExist)
	s := open(t, name)
	require.NoError(t, s.Create(ctx, "a", record(1, 10)))
	reader, err := sqlite.OpenReadOnly(ctx, name)
	require.NoError(t, err)
	defer reader.Close()
	require.Equal(t, 1, count(t, reader, "a"))
	require.NoError(t, s.Append(ctx, "a", 1, record(2, 10)))
	require.Equal(t, 2, count(t, reader, "a"), "it sees what is appended meanwhile")
	require.ErrorIs(t, reader.Append(ctx, "a", 2, record(3, 10)), sqlite.ErrReadOnly)
	require.ErrorIs(t, reader.Create(ctx, "b", record(1, 10)), sqlite.ErrReadOnly)
	require.ErrorIs(t, reader.PutSnapshot(ctx, "a", store.Snapshot{}), sqlite.ErrReadOnly)
}

func TestIsFileTellsByTheFirstBytes(t *testing.T) {
	name := newFile(t)
	require.NoError(t, open(t, name).Close())
	is, err := sqlite.IsFile(name)
	require.NoError(t, err)
	require.True(t, is)
	for _, text := range []string{"", "SQLite", `{"seq":1}`} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		is, err = sqlite.IsFile(name)
		require.NoError(t, err)
		require.False(t, is)
	}
	_, err = sqlite.IsFile(name + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSeveralStoresOnOneFileActAsOne(t *testing.T) {
	name := newFile(t)
	stores := []*sqlite.Store{open(t, name), open(t, name), open(t, name)}
	require.NoError(t, stores[0].Create(ctx, "a", record(1, 10)))
	var wait sync.WaitGroup
	for _, s := range stores {
		wait.Go(func() {
			for made := 0; made < 20; {
				last, _, err := s.Head(ctx, "a")
				if err == nil {
					err = s.Append(ctx, "a", last, record(last+1, 10))
				}
				switch {
				case err == nil:
					made++
				case !errors.Is(err, store.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	require.Equal(t, 61, count(t, stores[0], "a"))
}

func TestARequestThatIsRefusedDisturbsNoneBesideIt(t *testing.T) {
	s := open(t, newFile(t))
	const n = 60
	for i := range n / 2 {
		require.NoError(t, s.Create(ctx, fmt.Sprint(i), record(1, 10)))
	}
	made := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { made[i] = s.Create(ctx, fmt.Sprint(i), record(1, 10)) })
	}
	wait.Wait()
	for i, err := range made {
		if i < n/2 {
			require.ErrorIs(t, err, store.ErrExists)
		} else {
			require.NoError(t, err)
		}
	}
}
