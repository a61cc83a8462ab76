package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store"
)

func runDeleter(t *testing.T, open func() store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"of a deleted instance nothing is left":           deletes,
		"a deleted instance's name is free":               deletedIsFree,
		"deleting what is not there changes nothing":      deleteUnknown,
		"who reads a log that is deleted sees no other":   deleteWhileReading,
		"a tail goes on after instances were deleted":     tailAfterDeleting,
		"an append to a log that was begun anew is late":  appendAfterDeleting,
		"a deletion whose context has ended does nothing": deleteEnded,
	} {
		t.Run(name, func(t *testing.T) { test(t, open()) })
	}
}

func remove(t *testing.T, s store.Store, id string) {
	t.Helper()
	require.NoError(t, s.(store.Deleter).Delete(ctx, id))
}

func deletes(t *testing.T, s store.Store) {
	keyed := rec(2, 1)
	keyed.Key = "k"
	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, s.Create(ctx, id, rec(1, 0), keyed))
		require.NoError(t, s.PutSnapshot(ctx, id, store.Snapshot{Seq: 2, Version: 1, Data: []byte(id)}))
	}
	remove(t, s, "b")
	require.Equal(t, []string{"a", "c"}, instances(t, s))
	require.ErrorIs(t, readError(s, "b"), store.ErrNotFound)
	_, _, err := s.Head(ctx, "b")
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = s.Find(ctx, "b", "k")
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = s.Snapshot(ctx, "b", 9)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, s.PutSnapshot(ctx, "b", store.Snapshot{Seq: 2}), store.ErrNotFound)
	require.ErrorIs(t, s.Append(ctx, "b", 2, rec(3, 1)), store.ErrNotFound)
	for _, id := range []string{"a", "c"} {
		require.Equal(t, []store.Record{rec(1, 0), keyed}, readAll(t, s, id, 1))
		snap, err := s.Snapshot(ctx, id, 9)
		require.NoError(t, err)
		require.Equal(t, id, string(snap.Data))
	}
}

func deletedIsFree(t *testing.T, s store.Store) {
	for range 3 {
		require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
		require.NoError(t, s.Append(ctx, "a", 1, rec(2, 0)))
		require.Len(t, readAll(t, s, "a", 1), 2)
		_, err := s.Snapshot(ctx, "a", 9)
		require.ErrorIs(t, err, store.ErrNotFound)
		require.NoError(t, s.PutSnapshot(ctx, "a", store.Snapshot{Seq: 2}))
		remove(t, s, "a")
	}
	require.Empty(t, instances(t, s))
}

func deleteUnknown(t *testing.T, s store.Store) {
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	for _, id := range []string{"b", "A", ""} {
		require.ErrorIs(t, s.(store.Deleter).Delete(ctx, id), store.ErrNotFound)
	}
	require.Equal(t, []string{"a"}, instances(t, s))
}

func deleteWhileReading(t *testing.T, s store.Store) {
	const n = 500
	records := make([]store.Record, n)
	for i := range records {
		records[i] = rec(uint64(i+1), 0)
	}
	require.NoError(t, s.Create(ctx, "a", records...))
	seen, ended := 0, false
	for r, err := range s.Read(ctx, "a", 1, 0) {
		if err != nil {
			require.ErrorIs(t, err, store.ErrNotFound)
			ended = true
			break
		}
		require.NotEqual(t, "other", string(r.Line), "a record of another instance")
		if seen++; seen == 1 {
			remove(t, s, "a")
			for i := range records {
				records[i].Line = []byte("other")
			}
			require.NoError(t, s.Create(ctx, "b", records...))
			require.NoError(t, s.Create(ctx, "a", records...))
		}
	}
	require.True(t, ended || seen == n, "a part of the log is not given as if it were all")
}

func tailAfterDeleting(t *testing.T, s store.Store) {
	if _, is := s.(store.Tailer); !is {
		t.Skip("no Tailer")
	}
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	require.NoError(t, s.Create(ctx, "b", rec(1, 0), rec(2, 0), rec(3, 0)))
	now := end(t, s)
	remove(t, s, "b")
	require.Equal(t, now, end(t, s))
	require.NoError(t, s.Create(ctx, "c", rec(1, 0)))
	take(t, s, now, func(c store.Change) bool {
		require.Equal(t, "c", c.Instance)
		return true
	})
	take(t, s, "", func(c store.Change) bool {
		require.NotEqual(t, "b", c.Instance)
		return c.Instance == "c"
	})
}

// Who read a log that was deleted and begun anew meanwhile knows another one.
func appendAfterDeleting(t *testing.T, s store.Store) {
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	remove(t, s, "a")
	anew := rec(1, 0)
	anew.Line = []byte("anew")
	require.NoError(t, s.Create(ctx, "a", anew))
	late := rec(2, 1)
	late.Follows = rec(1, 0).Line
	require.ErrorIs(t, s.Append(ctx, "a", 1, late), store.ErrConflict)
	require.Equal(t, []store.Record{anew}, readAll(t, s, "a", 1))
}

func deleteEnded(t *testing.T, s store.Store) {
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	over, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, s.(store.Deleter).Delete(over, "a"), context.Canceled)
	require.Len(t, readAll(t, s, "a", 1), 1)
}

func sharedDelete(t *testing.T, one, other store.Store) {
	if _, is := one.(store.Deleter); !is {
		t.Skip("no Deleter")
	}
	require.NoError(t, one.Create(ctx, "a", rec(1, 0)))
	require.Len(t, readAll(t, other, "a", 1), 1)
	remove(t, other, "a")
	require.ErrorIs(t, readError(one, "a"), store.ErrNotFound)
	require.ErrorIs(t, one.Append(ctx, "a", 1, rec(2, 0)), store.ErrNotFound)
	require.NoError(t, one.Create(ctx, "a", rec(1, 0)))
	require.Equal(t, []string{"a"}, instances(t, other))
}
