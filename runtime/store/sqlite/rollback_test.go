package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store"
)

// A batch can fail half-way: one of its changes writes something, and then cannot go
// on. Nothing of that may stay, and what the others asked for is made all the same.
func TestWhatABatchWroteBeforeItFailedIsTakenBack(t *testing.T) {
	ctx := context.Background()
	full := errors.New("the disk is full")
	for name, fails := range map[string]func(w *writer) error{
		"in the middle of a request": func(w *writer) error {
			if err := w.create("half", []store.Record{{Seq: 1, Line: []byte("half")}}); err != nil {
				return err
			}
			return full
		},
		"in a statement": func(w *writer) error {
			records := []store.Record{{Seq: 1, Line: []byte("half")}, {Seq: 1, Line: []byte("the same number")}}
			return w.create("half", records)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(ctx, filepath.Join(t.TempDir(), "log.db"))
			require.NoError(t, err)
			defer s.Close()
			ask := func(change func(w *writer) error) *request {
				return &request{ctx: ctx, change: change, done: make(chan struct{})}
			}
			create := func(id string) *request {
				return ask(func(w *writer) error { return w.create(id, []store.Record{{Seq: 1, Line: []byte(id)}}) })
			}
			for _, batch := range [][]*request{
				{create("a"), ask(fails), create("b")}, // one of several
				{ask(fails)},                           // alone
				{ask(fails), ask(fails), create("c")},  // twice
			} {
				s.writer.serve(batch)
				for _, r := range batch[:len(batch)-1] {
					if r != batch[0] || len(batch) == 1 {
						require.Error(t, r.err)
					}
				}
				require.True(t, len(batch) == 1 || batch[len(batch)-1].err == nil)
			}
			require.NoError(t, s.Create(ctx, "d", store.Record{Seq: 1, Line: []byte("d")}), "the writer is not stuck in a transaction")
			var ids []string
			for e, err := range s.Instances(ctx, "") {
				require.NoError(t, err)
				ids = append(ids, e.ID)
			}
			require.Equal(t, []string{"a", "b", "c", "d"}, ids)
			_, _, err = s.Head(ctx, "half")
			require.ErrorIs(t, err, store.ErrNotFound)
			require.NoError(t, s.Check(ctx))
		})
	}
}
