package replay_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

func TestWithoutTypesAndGatesEveryConflictReplays(t *testing.T) {
	t.Parallel()
	const seed, stages = 1, 24
	m := newMaker(seed)
	pairs, replayed := 0, map[footprint.ConflictKind]int{}
	for enough := min(rounds(3_000, 500), 20_000); pairs < enough; {
		c := m.untyped(stages)
		model, run := footprint.New(c), replay.New(replay.Options{Budget: 40})
		for i := range c.Stages {
			for j := range i {
				a, b := &c.Stages[j], &c.Stages[i]
				pair := footprint.Pair{A: a, B: b, Conflicts: model.Commutation(a, b)}
				pairs++
				for _, conflict := range pair.Conflicts {
					example, err := run(c, pair, conflict)
					require.NoError(t, err)
					if example == nil {
						t.Fatalf("seed %d: no run shows that %s meets at %q\n%s\n%s", seed, conflict.Kind, conflict.Path.Pointer(), text(a), text(b))
					}
					replayed[conflict.Kind]++
				}
			}
		}
	}
	t.Logf("%d pairs, replayed conflicts: %v", pairs, replayed)
	for _, kind := range []footprint.ConflictKind{footprint.WriteConflict, footprint.SourceConflict, footprint.ViewConflict} {
		require.Positive(t, replayed[kind])
	}
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
