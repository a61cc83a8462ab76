package runtime_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
)

// Who wrote a value is the commit since which it is what it is: all versions tell.
func TestWhoWroteAValueIsTheCommitSinceWhichItIsThere(t *testing.T) {
	places := [][]string{{"draft"}, {"draft", "text"}, {"draft", "refs"}, {"customers"}, {"customers", "bob"}, {"customers", "bob", "name"}, {"customers", "ann"}, {"labels"}, {"history"}, {"ticket", "id"}, {"ticket", "status"}, {"internal"}}
	for seed := range int64(6) {
		in, st := busy(t, 80, seed)
		var versions []map[string]any
		for v := range in.Version() + 1 {
			past, err := runtime.At(ctx, in.Contract(), st, "T-7", v)
			require.NoError(t, err)
			var state map[string]any
			require.NoError(t, json.Unmarshal(past.State, &state))
			versions = append(versions, state)
		}
		valueAt := func(v int, path []string) (x any) {
			x = versions[v]
			for _, name := range path {
				m, _ := x.(map[string]any)
				x = m[name]
			}
			return x
		}
		for _, path := range places {
			want := len(versions) - 1
			for want > 0 && reflect.DeepEqual(valueAt(want-1, path), valueAt(want, path)) {
				want--
			}
			all, more, found, err := runtime.Blame(ctx, st, "T-7", path, 1000, in.Contract())
			require.NoError(t, err)
			require.True(t, found)
			require.Zero(t, more)
			last := uint64(0)
			for _, b := range all {
				last = max(last, b.Written.Version)
			}
			require.LessOrEqual(t, last, uint64(want), "%v", path) // what is taken away leaves nothing that was written
			if _, is := valueAt(want, path).(map[string]any); !is {
				require.Equal(t, uint64(want), last, "%v", path)
			}
		}
		_, _, found, err := runtime.Blame(ctx, st, "T-7", []string{"no"}, 10, in.Contract())
		require.NoError(t, err)
		require.False(t, found)
	}
}

func TestWhatIsMovedAndCopiedKeepsItsWriters(t *testing.T) {
	in, st := begin(t)
	for _, patch := range []string{
		`[{"op":"add","path":"/customers/eve","value":{"name":"Eve"}}]`, `[{"op":"replace","path":"/customers/eve/name","value":"Eva"}]`,
		`[{"op":"move","from":"/customers/eve","path":"/customers/eva"}]`, `[{"op":"copy","from":"/customers/eva","path":"/customers/two"}]`,
	} {
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(patch), Principal: runtime.Principal{Subject: "ann"}}))
	}
	for name, brought := range map[string]uint64{"eva": 3, "two": 4} {
		all, _, found, err := runtime.Blame(ctx, st, "T-7", []string{"customers", name, "name"}, 10, in.Contract())
		require.NoError(t, err)
		require.True(t, found)
		require.Len(t, all, 1)
		require.Equal(t, []any{uint64(2), "all", "ann", brought}, []any{all[0].Written.Version, all[0].Written.Stage, all[0].Written.Principal.Subject, all[0].Brought.Version})
	}
	all, _, _, err := runtime.Blame(ctx, st, "T-7", []string{"customers"}, 2, in.Contract())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, runtime.RecordKind("create"), all[0].Written.Kind)
}
