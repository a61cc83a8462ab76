package sqlite_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// meddling is what somebody may do to the tables of a store, with a word of what is said.
var meddling = map[string]string{
	"ALTER TABLE record RENAME COLUMN line TO lime":                                                        `"record"`,
	"ALTER TABLE record ADD COLUMN more TEXT":                                                              `"record"`,
	"ALTER TABLE snapshot DROP COLUMN data":                                                                `"snapshot"`,
	"ALTER TABLE instance RENAME TO instances":                                                             "not as the store made it",
	"DROP TABLE snapshot":                                                                                  "a table is gone",
	"DROP TABLE record; DROP TABLE snapshot":                                                               "a table is gone",
	"DROP TABLE record; DROP TABLE snapshot; DROP TABLE instance":                                          "a table is gone",
	"DROP INDEX record_key":                                                                                "an index is gone",
	"CREATE UNIQUE INDEX one ON record (seq, line)":                                                        `index "one"`,
	"CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT raise(ignore); END":                             `trigger "t"`,
	"CREATE TRIGGER t AFTER INSERT ON RECORD BEGIN DELETE FROM record WHERE seq = new.seq - 1; END":        `trigger "t"`,
	"CREATE TRIGGER t BEFORE INSERT ON snapshot BEGIN SELECT raise(ignore); END":                           `trigger "t"`,
	"CREATE TRIGGER t AFTER INSERT ON instance BEGIN UPDATE instance SET id = 'x' WHERE id = new.id; END":  `trigger "t"`,
	"DROP TABLE snapshot; CREATE VIEW snapshot AS SELECT instance, version, seq, line AS data FROM record": "snapshot",
	"DROP TABLE record; DROP TABLE snapshot; DROP TABLE instance; CREATE TABLE notes (text TEXT)":          "a table is gone",
}

func TestTablesThatAreNotAsTheyWereMadeAreDamage(t *testing.T) {
	for statements, want := range meddling {
		name, _ := aLog(t, true)
		changeBehind(t, name, statements)
		before, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, open := range []func(context.Context, string) (*sqlite.Store, error){openNow, sqlite.OpenReadOnly} {
			_, err := open(ctx, name)
			var damage *sqlite.DamageError
			require.ErrorAs(t, err, &damage, statements)
			require.Contains(t, damage.Reason, want, statements)
		}
		after, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, before, after, statements)
	}
}

func TestTablesThatAreChangedWhileAStoreIsInUseEndWriting(t *testing.T) {
	for statements := range meddling {
		name, _ := aLog(t, true)
		st := open(t, name)
		in, err := runtime.Open(ctx, counter(), st, "a")
		require.NoError(t, err)
		commits(t, in, counting(in.Version(), "t"))
		changeBehind(t, name, statements)
		for range 2 {
			_, err = in.Propose(ctx, counting(in.Version(), "t"))
			require.Error(t, err, statements)
			require.Error(t, st.Create(ctx, "b", record(1, 10)), statements)
		}
		require.ErrorAs(t, st.Check(ctx), new(*sqlite.DamageError), statements)
	}
}

func TestOtherTablesMayStandBesideThoseOfAStore(t *testing.T) {
	name, _ := aLog(t, true)
	changeBehind(t, name, `CREATE TABLE note (text TEXT UNIQUE); CREATE TRIGGER n AFTER INSERT ON note BEGIN DELETE FROM note; END;
		CREATE VIEW lines AS SELECT line FROM record; ANALYZE; VACUUM`)
	st := open(t, name)
	in, err := runtime.Open(ctx, counter(), st, "a")
	require.NoError(t, err)
	commits(t, in, counting(in.Version(), "t"))
	require.NoError(t, st.Check(ctx))
	require.NoError(t, st.PutSnapshot(ctx, "a", store.Snapshot{Seq: 1, Data: []byte(strings.Repeat("s", 9))}))
}
