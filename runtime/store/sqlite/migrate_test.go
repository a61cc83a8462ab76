package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// old copies a file that an older version of this package made: two instances, a and b, of
// five commits each with snapshots, and five views between.
func old(t *testing.T, tables int) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("tables-%d.db", tables)))
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "old.db")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

func recordsOf(t *testing.T, s store.Store, id string) (all []store.Record) {
	t.Helper()
	for r, err := range s.Read(ctx, id, 1, 0) {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

func userVersion(t *testing.T, name string) (have int) {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&have))
	return have
}

func TestAFileOfAnOlderVersionIsReadAsItIsAndOpenedWithNewTables(t *testing.T) {
	for _, tables := range []int{1, 2} {
		name := old(t, tables)
		dir := filepath.Dir(name)
		before := listed(t, dir)
		reader, err := sqlite.OpenReadOnly(ctx, name)
		require.NoError(t, err)
		require.NoError(t, reader.Check(ctx))
		logs := map[string][]store.Record{}
		snapshots := map[string]store.Snapshot{}
		for e, err := range reader.Instances(ctx, "") {
			require.NoError(t, err)
			logs[e.ID] = recordsOf(t, reader, e.ID)
			require.Len(t, logs[e.ID], 16)
			require.Equal(t, uint64(16), e.Seq)
			snapshots[e.ID], err = reader.Snapshot(ctx, e.ID, 5)
			require.NoError(t, err)
		}
		require.Len(t, logs, 2)
		now, err := reader.End(ctx)
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		require.Equal(t, before, listed(t, dir), "who reads it leaves it alone")

		changeBehind(t, name, "CREATE VIEW lines AS SELECT line FROM record; CREATE TABLE record_note (text TEXT)")
		for range 2 {
			s := open(t, name)
			require.NoError(t, s.Check(ctx))
			for id, log := range logs {
				require.Equal(t, log, recordsOf(t, s, id))
				snap, err := s.Snapshot(ctx, id, 5)
				require.NoError(t, err)
				require.Equal(t, snapshots[id], snap)
			}
			end, err := s.End(ctx)
			require.NoError(t, err)
			require.Equal(t, now, end)
			require.NoError(t, s.Close())
			require.Equal(t, 3, userVersion(t, name))
		}
		s := open(t, name)
		require.NoError(t, s.Append(ctx, "b", 16, record(17, 10)))
		for c, err := range s.Tail(ctx, now) {
			require.NoError(t, err)
			require.Equal(t, []any{"b", uint64(17)}, []any{c.Instance, c.Seq})
			break
		}
		db, err := sql.Open("sqlite", name)
		require.NoError(t, err)
		var lines int
		require.NoError(t, db.QueryRow("SELECT count(*) FROM lines").Scan(&lines), "what others put beside the tables goes on")
		require.Equal(t, 33, lines)
		require.NoError(t, db.Close())
	}
	newest := filepath.Join(t.TempDir(), "new.db")
	require.NoError(t, open(t, newest).Close())
	require.Equal(t, 3, userVersion(t, newest), "add a file of this version to testdata before it is raised")
}

func TestALogOfAnOlderVersionOfTheTablesHolds(t *testing.T) {
	name := old(t, 2)
	for range 2 { // as it is, and with new tables
		s, err := sqlite.OpenReadOnly(ctx, name)
		require.NoError(t, err)
		for _, id := range []string{"a", "b"} {
			head, err := runtime.CheckLog(ctx, s, id, nil)
			require.NoError(t, err)
			require.Equal(t, uint64(16), head.Seq)
			require.NoError(t, runtime.CheckSnapshots(ctx, s, id))
		}
		require.NoError(t, s.Close())
		require.NoError(t, open(t, name).Close())
	}
}

func TestOfSeveralThatOpenAnOlderFileOneMakesTheTables(t *testing.T) {
	name := old(t, 2)
	var wait sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wait.Go(func() {
			var s *sqlite.Store
			if s, errs[i] = sqlite.Open(ctx, name); errs[i] == nil {
				errs[i] = s.Close()
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	s := open(t, name)
	require.NoError(t, s.Check(ctx))
	require.Len(t, recordsOf(t, s, "a"), 16)
}

func TestNewTablesThatCannotBeMadeLeaveTheOldOnes(t *testing.T) {
	name := old(t, 2)
	_, err := sqlite.Open(ctx, name, sqlite.WithMaxSize(1))
	require.Error(t, err)
	require.Equal(t, 2, userVersion(t, name))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = sqlite.Open(ended, name)
	require.Error(t, err)
	require.Equal(t, 2, userVersion(t, name))
	s := open(t, name)
	require.NoError(t, s.Check(ctx))
	require.Len(t, recordsOf(t, s, "a"), 16)
}

func TestTablesOfAnOlderVersionAreDamagedWhereTheyAreNotAsTheyWereMade(t *testing.T) {
	for _, statements := range []string{
		"DROP INDEX record_key", "ALTER TABLE record ADD COLUMN more TEXT", "DROP TABLE snapshot",
		"CREATE TABLE erased (instance INTEGER NOT NULL, record INTEGER NOT NULL) STRICT",
		"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record WHERE seq = 1; END",
	} {
		name := old(t, 2)
		changeBehind(t, name, statements)
		for _, open := range []func(context.Context, string) (*sqlite.Store, error){openNow, sqlite.OpenReadOnly} {
			_, err := open(ctx, name)
			require.ErrorAs(t, err, new(*sqlite.DamageError), statements)
		}
		require.Equal(t, 2, userVersion(t, name))
	}
}
