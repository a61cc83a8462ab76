package runtime_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

func TestANumberBelowZeroMeansZero(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		in, st := begin(t, runtime.WithAttempts(n), runtime.WithRecentCommits(n), runtime.WithIdlePatches(n), runtime.WithSnapshotAfter(n))
		for i := range 5 {
			v := propose(t, in, outside(i))
			rejects(t, v, verify.WriteScopeViolation)
			require.Equal(t, []any{i + 1, 0}, []any{v.Attempt, v.MaxAttempts})
			text, err := json.Marshal([]any{v.OperatorVerdict, v.Actor()})
			require.NoError(t, err)
			require.NotContains(t, string(text), "max_attempts")
		}
		setMargin(t, in, 0.1)
		v, err := write(in, 0, "late")
		require.NoError(t, err)
		rejects(t, v, verify.Stale)
		again, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, again.Different)
	}
}

func TestAnOptionThatIsGivenNilMeansTheDefault(t *testing.T) {
	for name, o := range map[string]runtime.Option{
		"clock": runtime.WithClock(nil), "random": runtime.WithRandom(nil), "logger": runtime.WithLogger(nil),
	} {
		in, st := begin(t, o)
		commits(t, propose(t, in, inside))
		require.NotEmpty(t, lastLine(t, in).Time, name)
		_, err := runtime.Open(ctx, in.Contract(), st, "T-7", o)
		require.NoError(t, err, name)
	}
}

func TestAProposalThatIsRefusedForItsKeyAloneIsJudgedWithAnother(t *testing.T) {
	in, _ := begin(t)
	rejects(t, keyed(t, in, "k", outside(1)), verify.WriteScopeViolation)
	v := keyed(t, in, "k", inside)
	rejects(t, v, verify.Repeat)
	require.Equal(t, 2, v.Attempt)
	v = keyed(t, in, "l", inside)
	commits(t, v)
	require.Equal(t, 3, v.Attempt, "it used up a try")
}
