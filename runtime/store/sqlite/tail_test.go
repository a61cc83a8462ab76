//go:build unix

package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
)

// A child process commits to instances of its own, and this one to another instance of the
// same file, while it tails them all.
func TestATailTellsWhatAnotherProcessAppends(t *testing.T) {
	t.Parallel()
	name := newFile(t)
	s := open(t, name)
	r := startChild(t, name)
	go r.listen(func() {})
	own, err := runtime.Create(ctx, counter(), s, "own", counterState("f"))
	require.NoError(t, err)
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	seen := map[string]uint64{}
	for c, err := range s.Tail(limited, "") {
		require.NoError(t, err)
		if c.Instance != ledger { // whose writers' records are appended together
			require.LessOrEqual(t, c.Seq, seen[c.Instance]+2, "of %s, between appends of two", c.Instance)
		}
		seen[c.Instance] = c.Seq
		commits(t, own, counting(own.Version(), "t"))
		if all := len(seen) == counters+2; all && min(seen["0"], seen["1"], seen["2"], seen["3"], seen["own"]) > 10 {
			break
		}
	}
	r.cmd.Process.Kill()
	for id, seq := range seen {
		head, _, err := s.Head(ctx, id)
		require.NoError(t, err)
		require.GreaterOrEqual(t, head, seq)
		_, err = runtime.CheckLog(ctx, s, id, nil)
		require.NoError(t, err)
	}
}
