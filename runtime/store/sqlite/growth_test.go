package sqlite_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// Row 2F.60: states that were stored whole at each step took 135 GB. Here a step
// costs its patch, and a snapshot comes only when the log weighs as much as the
// state.
func TestRow2F60TenThousandCommitsOnAMegabyteCostPatchesAndSnapshots(t *testing.T) {
	t.Parallel()
	const state = 1 << 20
	n := size(10_000, 10_000, 300)
	name := newFile(t)
	st := open(t, name)
	in, err := runtime.Create(ctx, counter(), st, "a", counterState(strings.Repeat("f", state)))
	require.NoError(t, err)
	patches := 0
	for range n {
		p := counting(in.Version(), strings.Repeat("t", 120))
		patches += len(p.Patch)
		commits(t, in, p)
	}
	require.InDelta(t, 200, patches/n, 25)
	log, snapshots := weigh(t, st, in)
	require.NoError(t, st.Close())
	file, err := os.Stat(name)
	require.NoError(t, err)
	t.Logf("%d commits of %d bytes on %d: the log has %d bytes, %d snapshots, the file %d", n, patches/n, state, log, snapshots, file.Size())
	require.Less(t, log, n*4096+2*state, "a commit costs a few of its patches")
	require.LessOrEqual(t, snapshots, log/state, "the snapshots weigh no more than the log")
	require.Less(t, file.Size(), int64(3*log/2+(snapshots+1)*2*state))
	require.Less(t, file.Size(), int64(n*state/50))
}

// weigh is the bytes of an instance's log and the number of its snapshots.
func weigh(t *testing.T, st store.Store, in *runtime.Instance) (log, snapshots int) {
	t.Helper()
	for r, err := range st.Read(ctx, in.ID(), 1, 0) {
		require.NoError(t, err)
		log += len(r.Line) + len(r.Sealed)
	}
	for version := in.Version(); ; snapshots++ {
		s, err := st.Snapshot(ctx, in.ID(), version)
		if err != nil || s.Version == 0 {
			return log, snapshots
		}
		version = s.Version - 1
	}
}
