package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

func TestAStoreThatIsToBeThereIsNotMade(t *testing.T) {
	dir := t.TempDir()
	vacuumed, marked := filepath.Join(dir, "vacuumed"), filepath.Join(dir, "used")
	for name, statement := range map[string]string{vacuumed: "VACUUM", marked: "CREATE TABLE t(x); DROP TABLE t"} {
		db, err := sql.Open("sqlite", name)
		require.NoError(t, err)
		_, err = db.Exec(statement)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	for _, name := range []string{vacuumed, marked, empty} {
		before, err := os.ReadFile(name)
		require.NoError(t, err)
		_, err = sqlite.Open(t.Context(), name, sqlite.Existing())
		require.ErrorContains(t, err, "holds no logs of instances", name)
		after, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, before, after, name)
	}
	_, err := sqlite.Open(t.Context(), filepath.Join(dir, "absent"), sqlite.Existing())
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, filepath.Join(dir, "absent"))
}

func TestWhatIsNotSQLitesBesideAStoreIsLeftAlone(t *testing.T) {
	for _, end := range []string{"-wal", "-journal", "-shm"} {
		for _, made := range []bool{false, true} {
			name := filepath.Join(t.TempDir(), "desk.db")
			if made {
				st, err := sqlite.Open(t.Context(), name)
				require.NoError(t, err)
				require.NoError(t, st.Close())
			}
			require.NoError(t, os.WriteFile(name+end, []byte("my diary"), 0o644))
			_, err := sqlite.Open(t.Context(), name)
			require.ErrorContains(t, err, "desk.db"+end+" beside it is not SQLite's", end)
			left, err := os.ReadFile(name + end)
			require.NoError(t, err)
			require.Equal(t, "my diary", string(left))
			if !made {
				require.NoFileExists(t, name)
			}
		}
		_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "desk.db"+end))
		require.ErrorContains(t, err, "give the store another")
	}
}

func TestAStoreWhoseMakingOrUseWasCutOffIsOpened(t *testing.T) {
	for end, left := range map[string][]byte{
		"-wal": make([]byte, 4096), "-journal": make([]byte, 512), "-shm": make([]byte, 3*4096),
	} {
		for _, made := range []bool{false, true} {
			name := filepath.Join(t.TempDir(), "desk.db")
			if made {
				st, err := sqlite.Open(t.Context(), name)
				require.NoError(t, err)
				require.NoError(t, st.Close())
			}
			require.NoError(t, os.WriteFile(name+end, left, 0o600))
			st, err := sqlite.Open(t.Context(), name)
			require.NoError(t, err, end)
			require.NoError(t, st.Close())
		}
	}
}
