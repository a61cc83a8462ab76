package storetest

import (
	"context"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store"
)

func runTailer(t *testing.T, open func() store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"a tail tells all that was appended, and waits for more": tails,
		"a tail goes on after any of its cursors":                tailResumes,
		"a tail misses nothing of what is appended meanwhile":    tailWhileAppending,
		"a tail refuses a cursor that is none":                   tailCursors,
		"a tail ends with its context":                           tailEnds,
	} {
		t.Run(name, func(t *testing.T) { test(t, open()) })
	}
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// take reads a tail until done says that it has all that it waits for.
func take(t *testing.T, s store.Store, after store.Cursor, done func(c store.Change) bool) (last store.Cursor) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for c, err := range s.(store.Tailer).Tail(limited, after) {
		require.NoError(t, err)
		if last = c.Cursor; done(c) {
			return last
		}
	}
	require.Fail(t, "the tail ended")
	return ""
}

// upTo is done when each instance has come as far as it says.
func upTo(t *testing.T, want map[string]uint64) func(c store.Change) bool {
	seen := map[string]uint64{}
	return func(c store.Change) bool {
		require.GreaterOrEqual(t, c.Seq, seen[c.Instance], "in order")
		seen[c.Instance] = c.Seq
		for id, seq := range want {
			if seen[id] < seq {
				return false
			}
		}
		return true
	}
}

func end(t *testing.T, s store.Store) store.Cursor {
	t.Helper()
	c, err := s.(store.Tailer).End(ctx)
	require.NoError(t, err)
	return c
}

func tails(t *testing.T, s store.Store) {
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	require.NoError(t, s.Append(ctx, "a", 1, rec(2, 0), rec(3, 1)))
	require.NoError(t, s.Create(ctx, "b", rec(1, 0)))
	now := end(t, s)
	require.NoError(t, s.Append(ctx, "a", 3, rec(4, 5)))
	take(t, s, "", upTo(t, map[string]uint64{"a": 4, "b": 1}))
	take(t, s, now, func(c store.Change) bool {
		require.Equal(t, store.Change{Cursor: c.Cursor, Instance: "a", Seq: 4, Version: 5}, c)
		return true
	})
	now = end(t, s)
	go func() {
		time.Sleep(10 * time.Millisecond)
		s.Append(ctx, "a", 4, rec(5, 6))
	}()
	take(t, s, now, func(c store.Change) bool { return c.Seq == 5 && c.Version == 6 })
}

func tailResumes(t *testing.T, s store.Store) {
	random := rand.New(rand.NewSource(1))
	heads := map[string]uint64{}
	for range 300 {
		id := fmt.Sprint(random.Intn(5))
		records := make([]store.Record, 1+random.Intn(3))
		for i := range records {
			records[i] = rec(heads[id]+uint64(i)+1, 0)
		}
		if heads[id] == 0 {
			require.NoError(t, s.Create(ctx, id, records...))
		} else {
			require.NoError(t, s.Append(ctx, id, heads[id], records...))
		}
		heads[id] += uint64(len(records))
	}
	seen := map[string]uint64{}
	for after, missing := store.Cursor(""), true; missing; {
		n := random.Intn(40)
		after = take(t, s, after, func(c store.Change) bool {
			require.GreaterOrEqual(t, c.Seq, seen[c.Instance])
			seen[c.Instance] = c.Seq
			missing = false
			for id, seq := range heads {
				missing = missing || seen[id] < seq
			}
			n--
			return n < 0 || !missing
		})
	}
	require.Equal(t, heads, seen)
}

func tailWhileAppending(t *testing.T, s store.Store) {
	const writers, each = 4, 50
	want := map[string]uint64{}
	for i := range writers {
		want[fmt.Sprint(i)] = each
	}
	now := end(t, s)
	for id := range want {
		go func() {
			s.Create(ctx, id, rec(1, 0))
			for last := uint64(1); last < each; last++ {
				s.Append(ctx, id, last, rec(last+1, 0))
			}
		}()
	}
	seen := map[string]uint64{}
	all := upTo(t, want)
	take(t, s, now, func(c store.Change) bool {
		require.LessOrEqual(t, c.Seq, seen[c.Instance]+1, "each record is told of: they were appended alone")
		seen[c.Instance] = c.Seq
		return all(c)
	})
}

func tailCursors(t *testing.T, s store.Store) {
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, cursor := range []store.Cursor{"x", "-1", "1.5", "999999", "99999999999999999999999", " 1"} {
		for _, err := range s.(store.Tailer).Tail(limited, cursor) {
			require.ErrorIs(t, err, store.ErrCursor, cursor)
		}
	}
}

func tailEnds(t *testing.T, s store.Store) {
	require.NoError(t, s.Create(ctx, "a", rec(1, 0)))
	for _, after := range []store.Cursor{"", end(t, s)} {
		short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		began := time.Now()
		var last error
		for _, err := range s.(store.Tailer).Tail(short, after) {
			last = err
		}
		require.ErrorIs(t, last, context.DeadlineExceeded)
		require.Less(t, time.Since(began), patience)
		cancel()
		for _, err := range s.(store.Tailer).Tail(short, after) {
			require.Error(t, err)
		}
		_, err := s.(store.Tailer).End(short)
		require.Error(t, err)
	}
}

func sharedTail(t *testing.T, one, other store.Store) {
	if _, is := one.(store.Tailer); !is {
		t.Skip("no Tailer")
	}
	require.NoError(t, one.Create(ctx, "a", rec(1, 0)))
	now := end(t, one)
	require.Equal(t, now, end(t, other))
	go func() {
		for last := uint64(1); last < 40; last++ {
			time.Sleep(time.Millisecond)
			other.Append(ctx, "a", last, rec(last+1, 0))
		}
	}()
	take(t, one, now, upTo(t, map[string]uint64{"a": 40}))
	take(t, other, now, upTo(t, map[string]uint64{"a": 40}))
}

func sharedAppends(t *testing.T, one, other store.Store) {
	require.NoError(t, one.Create(ctx, "a", rec(1, 0)))
	require.NoError(t, other.Append(ctx, "a", 1, rec(2, 1)))
	require.ErrorIs(t, one.Append(ctx, "a", 1, rec(2, 1)), store.ErrConflict)
	require.NoError(t, one.Append(ctx, "a", 2, rec(3, 2)))
	require.NoError(t, one.PutSnapshot(ctx, "a", store.Snapshot{Seq: 3, Version: 2, Data: []byte("s")}))
	require.Equal(t, readAll(t, one, "a", 1), readAll(t, other, "a", 1))
	s, err := other.Snapshot(ctx, "a", 9)
	require.NoError(t, err)
	require.Equal(t, uint64(3), s.Seq)
	require.ErrorIs(t, other.Create(ctx, "a", rec(1, 0)), store.ErrExists)
}

func sharedRace(t *testing.T, one, other store.Store) {
	require.NoError(t, one.Create(ctx, "a", rec(1, 0)))
	both := []store.Store{one, other}
	for last := uint64(1); last <= 15; last++ {
		won := race(4, func(i int) error { return both[i%2].Append(ctx, "a", last, rec(last+1, last)) }, store.ErrConflict, t)
		require.Equal(t, 1, won)
	}
	require.Len(t, readAll(t, other, "a", 1), 16)
}
