package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
	"github.com/patchoptic/poptic/runtime/store/storetest"
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
}

// openNow is sqlite.Open without options.
func openNow(ctx context.Context, name string) (*sqlite.Store, error) { return sqlite.Open(ctx, name) }
