package sqlite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

func TestACommitThatDoesNotFitIsRefusedAndNothingElseIsLost(t *testing.T) {
	name := newFile(t)
	st, err := sqlite.Open(ctx, name, sqlite.WithMaxSize(200_000))
	require.NoError(t, err)
	defer st.Close()
	in, err := runtime.Create(ctx, counter(), st, "a", counterState("f"), runtime.WithSnapshotAfter(1))
	require.NoError(t, err)
	for {
		if _, err = in.Propose(ctx, counting(in.Version(), strings.Repeat("t", 500))); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "full")
	require.NotContains(t, err.Error(), "ttt")
	full := in.Version()
	require.Greater(t, full, uint64(20))
	for range 20 { // a record of a view is shorter, so that some may still fit
		if _, err = in.View(ctx, runtime.Request{Stage: "count"}); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "full", "what cannot be recorded is not shown")
	state, err := in.State(ctx)
	require.NoError(t, err, "what is there can be read")
	sound(t, st, in)
	require.NoError(t, st.Close())

	again := open(t, name)
	in, err = runtime.Open(ctx, in.Contract(), again, "a")
	require.NoError(t, err)
	require.Equal(t, full, in.Version())
	same, err := in.State(ctx)
	require.NoError(t, err)
	require.Equal(t, string(state), string(same))
	commits(t, in, counting(full, "there is room again"))
	sound(t, again, in)
}

func TestOfCommitsThatShareATransactionOnlyTheOnesThatDoNotFitFail(t *testing.T) {
	st, err := sqlite.Open(ctx, newFile(t), sqlite.WithMaxSize(300_000))
	require.NoError(t, err)
	defer st.Close()
	const n = 40
	errs := make([]error, n)
	together(n, func(i int) {
		size := 100
		if i%4 == 0 {
			size = 1_000_000
		}
		errs[i] = st.Create(ctx, string(rune('a'+i)), record(1, size))
	})
	for i, err := range errs {
		if i%4 == 0 {
			require.ErrorContains(t, err, "full")
		} else {
			require.NoError(t, err)
			require.Equal(t, 1, count(t, st, string(rune('a'+i))))
		}
	}
}
