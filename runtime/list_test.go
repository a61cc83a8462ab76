package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

func collect[T any](t testing.TB, all iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for one, err := range all {
		require.NoError(t, err)
		out = append(out, one)
	}
	return out
}

func infoOf(t testing.TB, st store.Store, id string) runtime.Info {
	t.Helper()
	info, err := runtime.InfoOf(ctx, st, id)
	require.NoError(t, err)
	return info
}

// What a listing tells follows the instance through every kind of record.
func TestAListingTellsWhatTheInstanceTells(t *testing.T) {
	labels := map[string]string{"tenant": "acme", "Straße": "", "a b": "=\"\n"}
	in, st := begin(t, runtime.WithLabels(labels), runtime.WithSnapshotAfter(1))
	labels["tenant"] = "changed afterwards"
	same := func() {
		t.Helper()
		info := infoOf(t, st, "T-7")
		require.Equal(t, runtime.Info{
			Instance: "T-7", Contract: in.Contract().Digest(), Version: in.Version(), Phase: in.Phase(), Seq: in.Head().Seq,
			Created: fixedClock().UTC(), Labels: map[string]string{"tenant": "acme", "Straße": "", "a b": "=\"\n"},
		}, info)
	}
	same()
	for i := range 30 {
		wander(t, in, 1, int64(i))
		same()
	}
	_, err := in.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(t, err)
	same()
	_, err = in.View(ctx, runtime.Request{Stage: "decide", Role: "nobody"})
	require.Error(t, err)
	same()
	_, err = in.Advance(ctx, "nowhere", "host")
	require.NoError(t, err)
	same()
	again, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Nil(t, again.Different, "labels are the host's to give")
	require.Contains(t, traceOf(t, in), `"labels":{"Straße":"","a b":"=\"\n","tenant":"acme"}`)
}

func TestLabelsHaveALimit(t *testing.T) {
	long := strings.Repeat("x", runtime.MaxGiven+1)
	many := map[string]string{}
	for i := range runtime.MaxLabels + 1 {
		many[fmt.Sprint(i)] = "v"
	}
	for _, labels := range []map[string]string{{"": "v"}, {"n": long}, {long: "v"}, {"n": "\xff"}, {"\xff": "v"}, many} {
		st := store.NewMemory()
		_, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState), runtime.WithLabels(labels))
		require.True(t, errors.As(err, new(*runtime.TooLongError)) || errors.As(err, new(*runtime.NotTextError)) || errors.As(err, new(*runtime.TooManyLabelsError)), err)
		require.Less(t, len(err.Error()), 2*runtime.MaxGiven)
		_, _, err = st.Head(ctx, "T-7")
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	delete(many, "0")
	many["1"] = long[1:]
	_, err := runtime.Create(ctx, sampleContract(t), store.NewMemory(), "T-7", []byte(sampleState), runtime.WithLabels(many))
	require.NoError(t, err)
}

func TestAListingGoesOnWhereTheLastOneEnded(t *testing.T) {
	st := store.NewMemory()
	var ids []string
	for i := range 50 {
		id := fmt.Sprintf("%c%d", 'a'+i%3, i)
		_, err := runtime.Create(ctx, sampleContract(t), st, id, []byte(sampleState))
		require.NoError(t, err)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, limit := range []int{0, 1, 7, 50, 51} {
		var got []string
		for after := ""; ; {
			part := collect(t, runtime.List(ctx, st, after, limit))
			for _, info := range part {
				got = append(got, info.Instance)
			}
			if limit == 0 || len(part) < limit || len(got) > len(ids) {
				break
			}
			after = got[len(got)-1]
		}
		require.Equal(t, ids, got)
	}
	require.Empty(t, collect(t, runtime.List(ctx, st, "z", 0)))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range runtime.List(ended, st, "", 0) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// One log that is damaged hides none of the others.
func TestADamagedInstanceIsListedWithWhatIsWrong(t *testing.T) {
	st := store.NewMemory()
	for _, line := range []string{"", "no line", "{}", `{"kind":"view","seq":1}`, `{"kind":"create","seq":"x"}`, "null"} {
		require.NoError(t, st.Create(ctx, "bad "+line, store.Record{Seq: 1, Line: []byte(line)}))
	}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	require.NoError(t, st.Append(ctx, "T-7", 1, store.Record{Seq: 2, Line: []byte("{")}))
	_, err = runtime.Create(ctx, sampleContract(t), st, "T-8", []byte(sampleState))
	require.NoError(t, err)
	damaged := 0
	for _, info := range collect(t, runtime.List(ctx, st, "", 0)) {
		if info.Damage != "" {
			damaged++
			require.Empty(t, info.Phase)
		}
	}
	require.Equal(t, 7, damaged)
	require.Equal(t, "record 2 cannot be read", infoOf(t, st, "T-7").Damage)
	require.False(t, infoOf(t, st, "T-7").Created.IsZero())
	require.Equal(t, in.Phase(), infoOf(t, st, "T-8").Phase)
	for _, id := range []string{"T-9", "T-"} {
		_, err = runtime.InfoOf(ctx, st, id)
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	_, err = runtime.InfoOf(ctx, st, "")
	require.ErrorAs(t, err, new(*runtime.IDError))
	text, err := json.Marshal(runtime.Info{Instance: "a", Created: time.Time{}})
	require.NoError(t, err)
	require.JSONEq(t, `{"instance":"a","version":0,"seq":0}`, string(text))
}

// A phase that the last record does not tell is told by one before.
func TestAPhaseIsLookedUpFurtherBack(t *testing.T) {
	in, st := begin(t)
	wander(t, in, 10, 1)
	want := infoOf(t, st, "T-7")
	require.NoError(t, st.Append(ctx, "T-7", want.Seq, store.Record{
		Seq: want.Seq + 1, Version: want.Version, Line: fmt.Appendf(nil, `{"seq":%d,"kind":"later","contract":%q}`, want.Seq+1, want.Contract),
	}))
	want.Seq++
	require.Equal(t, want, infoOf(t, st, "T-7"))
}

func TestLinesArePartsOfTheTrace(t *testing.T) {
	in, st := begin(t)
	wander(t, in, 20, 1)
	all := strings.Split(strings.TrimSuffix(traceOf(t, in), "\n"), "\n")
	for from := range uint64(5) {
		for _, limit := range []int{0, 1, 3, 1000} {
			want := all[max(from, 1)-1:]
			if limit > 0 {
				want = want[:min(limit, len(want))]
			}
			var got []string
			for _, line := range collect(t, runtime.Lines(ctx, st, "T-7", from, limit)) {
				got = append(got, string(line))
			}
			require.Equal(t, want, got)
		}
	}
	for _, err := range runtime.Lines(ctx, st, "T-8", 1, 0) {
		require.ErrorIs(t, err, store.ErrNotFound)
	}
}

func TestADeletedInstanceIsGoneAndTheOthersHold(t *testing.T) {
	in, st := begin(t)
	other, err := runtime.Create(ctx, sampleContract(t), st, "T-8", []byte(sampleState))
	require.NoError(t, err)
	wander(t, in, 10, 1)
	wander(t, other, 10, 2)
	require.NoError(t, runtime.Delete(ctx, st, "T-7"))
	require.ErrorIs(t, runtime.Delete(ctx, st, "T-7"), store.ErrNotFound)
	_, err = runtime.Open(ctx, sampleContract(t), st, "T-7")
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = in.View(ctx, runtime.Request{Stage: "draft"})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = in.Propose(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`)})
	require.ErrorIs(t, err, store.ErrNotFound)
	head, err := runtime.CheckLog(ctx, st, "T-8", nil)
	require.NoError(t, err)
	require.Equal(t, other.Head(), head)
	require.Len(t, collect(t, runtime.List(ctx, st, "", 0)), 1)
	require.ErrorAs(t, runtime.Delete(ctx, st, ""), new(*runtime.IDError))
	err = runtime.Delete(ctx, struct{ store.Store }{st}, "T-8")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.EqualError(t, err, `instance "T-8": this store deletes no instances: unsupported operation`)
}
