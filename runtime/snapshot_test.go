package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// written anew by somebody who has the key, which a snapshot holds.
func snapshotAnew(t testing.TB, in *runtime.Instance, s *store.Snapshot, change func(c map[string]any)) {
	t.Helper()
	_, body, found := bytes.Cut(s.Data, []byte("\n"))
	require.True(t, found)
	var c map[string]any
	require.NoError(t, json.Unmarshal(body, &c))
	change(c)
	body, err := json.Marshal(c)
	require.NoError(t, err)
	s.Data = append([]byte(in.Key().Snapshot(body)+"\n"), body...)
}

func TestABadSnapshotIsNamedAndPassedOver(t *testing.T) {
	set := func(name string, value any) func(c map[string]any) {
		return func(c map[string]any) { c[name] = value }
	}
	for name, c := range map[string]struct {
		spoil  func(s *store.Snapshot) // without the key
		change func(c map[string]any)  // with it
		reason string                  // why it is named; "" if only the contract tells
	}{
		"no text":            {spoil: func(s *store.Snapshot) { s.Data = nil }, reason: "its snapshot cannot be read"},
		"half of it":         {spoil: func(s *store.Snapshot) { s.Data = s.Data[:len(s.Data)/2] }, reason: "its snapshot cannot be read"},
		"without its digest": {spoil: func(s *store.Snapshot) { _, s.Data, _ = bytes.Cut(s.Data, []byte("\n")) }, reason: "its snapshot cannot be read"},
		"a changed state": {spoil: func(s *store.Snapshot) { s.Data = bytes.Replace(s.Data, []byte(`"begun"`), []byte(`"begin"`), 1) },
			reason: "its snapshot was changed: its digest is another"},
		"a changed digest":         {spoil: func(s *store.Snapshot) { s.Data[20] ^= 1 }, reason: "its snapshot was changed: its digest is another"},
		"another version":          {spoil: func(s *store.Snapshot) { s.Version++ }, reason: "its snapshot is of another state"},
		"another record":           {spoil: func(s *store.Snapshot) { s.Seq -= 2 }, reason: "its snapshot is of another state"},
		"a record of no state":     {spoil: func(s *store.Snapshot) { s.Seq-- }, reason: "its snapshot is of another state"},
		"no record":                {spoil: func(s *store.Snapshot) { s.Seq += 2 }, reason: "it is missing"},
		"another hash":             {change: set("hash", trace.Origin), reason: "its snapshot is of another state"},
		"another phase":            {change: set("phase", "review"), reason: "its snapshot is of another state"},
		"another state":            {change: func(c map[string]any) { c["state"].(map[string]any)["labels"] = []any{"z"} }},
		"no state of the contract": {change: set("state", []any{})},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t, runtime.WithSnapshotAfter(1))
			wander(t, in, 12, 3)
			commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(`[{"op":"add","path":"/history/-","value":"` + string(bytes.Repeat([]byte("long"), 2000)) + `"}]`)}))
			require.NoError(t, runtime.CheckSnapshots(ctx, st, "T-7"))
			in.Quiet()
			s, err := st.Snapshot(ctx, "T-7", in.Version())
			require.NoError(t, err)
			require.Equal(t, in.Head().Seq, s.Seq, "the snapshot is of the last record")
			if c.spoil != nil {
				c.spoil(&s)
			} else {
				snapshotAnew(t, in, &s, c.change)
			}
			st = stored(t, logOf(t, st), s)
			err = runtime.CheckSnapshots(ctx, st, "T-7")
			var corrupt *runtime.CorruptLogError
			if c.reason == "" {
				require.NoError(t, err)
			} else {
				require.ErrorAs(t, err, &corrupt)
				require.Equal(t, []any{s.Seq, c.reason}, []any{corrupt.Seq, corrupt.Reason})
			}
			again, err := runtime.Open(ctx, sampleContract(t), st, "T-7")
			require.NoError(t, err)
			require.Equal(t, stateOf(t, in), stateOf(t, again))
			require.Equal(t, in.Head(), again.Head())
			require.Equal(t, in.Phase(), again.Phase())
			commits(t, proposeAs(t, again, runtime.Proposal{Stage: "all", Base: again.Version(), Patch: []byte(`[{"op":"add","path":"/history/-","value":"on"}]`)}))
			_, err = runtime.CheckLog(ctx, st, "T-7", nil)
			require.NoError(t, err, "what goes on after it holds")
		})
	}
}

func TestAnOlderSnapshotIsCheckedToo(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 60, 3)
	in.Quiet()
	newest, err := st.Snapshot(ctx, "T-7", in.Version())
	require.NoError(t, err)
	older, err := st.Snapshot(ctx, "T-7", newest.Version-1)
	require.NoError(t, err)
	require.NoError(t, runtime.CheckSnapshots(ctx, st, "T-7"))
	older.Data = bytes.Replace(older.Data, []byte(`"begun"`), []byte(`"begin"`), 1)
	require.NoError(t, st.PutSnapshot(ctx, "T-7", older))
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, runtime.CheckSnapshots(ctx, st, "T-7"), &corrupt)
	require.Equal(t, older.Seq, corrupt.Seq)
}

func TestASnapshotOfAnotherInstanceIsNamed(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 12, 3)
	in.Quiet()
	own, err := st.Snapshot(ctx, "T-7", in.Version())
	require.NoError(t, err)
	other, theirs := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, other, 12, 3)
	other.Quiet()
	s, err := theirs.Snapshot(ctx, "T-7", other.Version())
	require.NoError(t, err)
	require.NoError(t, st.PutSnapshot(ctx, "T-7", s))
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, runtime.CheckSnapshots(ctx, st, "T-7"), &corrupt)
	require.Equal(t, "its snapshot is of another state", corrupt.Reason)
	require.ErrorIs(t, runtime.CheckSnapshots(ctx, st, "T-8"), store.ErrNotFound)

	snapshotAnew(t, other, &own, func(c map[string]any) { c["key"] = other.Key().Bytes() })
	st = stored(t, logOf(t, st), own)
	require.ErrorAs(t, runtime.CheckSnapshots(ctx, st, "T-7"), &corrupt)
	require.Equal(t, "its snapshot is of another state", corrupt.Reason)
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Equal(t, in.Key().Bytes(), again.Key().Bytes())
}

// The record that a snapshot follows is read without those before it, and must hold all
// the same.
func TestTheRecordThatASnapshotFollowsIsChecked(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 12, 3)
	in.Quiet()
	s, err := st.Snapshot(ctx, "T-7", in.Version())
	require.NoError(t, err)
	log := copyLog(logOf(t, st))
	last := &log[s.Seq-1]
	last.Line = bytes.Replace(last.Line, []byte(`"attempt":1`), []byte(`"attempt":9`), 1)
	damaged := store.NewMemory()
	require.NoError(t, damaged.Create(ctx, "T-7", log...))
	require.NoError(t, damaged.PutSnapshot(ctx, "T-7", s))
	_, err = runtime.Open(ctx, sampleContract(t), damaged, "T-7")
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, s.Seq, corrupt.Seq)
}

// A log can lead to a state that breaks a rule: if it was written by a program with an
// error, or by somebody who has the key. It is not gone on with.
func TestOpeningEvaluatesEveryRule(t *testing.T) {
	const thin, broken = `"margin": 0.31`, `"margin": 1.31`
	forged := func(t *testing.T) (*runtime.Instance, *store.Memory) {
		in, st := begin(t, runtime.WithSnapshotAfter(1))
		wander(t, in, 12, 3)
		root, err := in.Contract().Program().Import(bytes.Replace([]byte(sampleState), []byte(thin), []byte(broken), 1))
		require.NoError(t, err)
		first := logOf(t, st)[:1]
		log := rewritten(t, in, first, func(_ uint64, l *trace.Record, sealed []byte) []byte {
			l.State = in.Key().State(root.Digest().String())
			return bytes.Replace(sealed, []byte(`"margin":0.31`), []byte(`"margin":1.31`), 1)
		})
		memory := store.NewMemory()
		require.NoError(t, memory.Create(ctx, "T-7", log...))
		return in, memory
	}
	t.Run("from the first record", func(t *testing.T) {
		in, st := forged(t)
		_, err := runtime.CheckLog(ctx, st, "T-7", nil)
		require.NoError(t, err)
		var invalid *runtime.InvalidStateError
		_, err = runtime.Open(ctx, in.Contract(), st, "T-7")
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "invariant thin_margin", invalid.Violations[0].Rule)
		_, err = runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.ErrorAs(t, err, &invalid)
	})
	t.Run("behind a commit and a snapshot", func(t *testing.T) {
		in, st := begin(t, runtime.WithSnapshotAfter(1))
		patch := []byte(`[{"op":"replace","path":"/internal/margin","value":0.5},{"op":"replace","path":"/draft/text","value":"` + string(bytes.Repeat([]byte("long"), 2000)) + `"}]`)
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Patch: patch}))
		bad := bytes.Replace(patch, []byte("0.5"), []byte("7.5"), 1)
		in.Quiet()
		s, err := st.Snapshot(ctx, "T-7", 1)
		require.NoError(t, err)
		snapshotAnew(t, in, &s, func(c map[string]any) { c["state"].(map[string]any)["internal"].(map[string]any)["margin"] = 7.5 })
		var c struct{ State json.RawMessage }
		_, body, _ := bytes.Cut(s.Data, []byte("\n"))
		require.NoError(t, json.Unmarshal(body, &c))
		root, err := in.Contract().Program().Import(c.State)
		require.NoError(t, err)
		log := rewritten(t, in, logOf(t, st), func(seq uint64, l *trace.Record, sealed []byte) []byte {
			if seq == 2 {
				return bad
			}
			if seq == 3 {
				after := json.RawMessage(`"` + in.Key().State(root.Digest().String()) + `"`)
				var v map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(l.Verdict, &v))
				v["state_after"] = after
				l.Verdict, err = json.Marshal(v)
				require.NoError(t, err)
			}
			return sealed
		})
		snapshotAnew(t, in, &s, func(c map[string]any) {
			var last struct{ Hash string }
			require.NoError(t, json.Unmarshal(log[2].Line, &last))
			c["hash"] = last.Hash
		})
		for _, snapshot := range []bool{false, true} {
			memory := store.NewMemory()
			require.NoError(t, memory.Create(ctx, "T-7", slices.Clone(log)...))
			if snapshot {
				require.NoError(t, memory.PutSnapshot(ctx, "T-7", s))
				require.NoError(t, runtime.CheckSnapshots(ctx, memory, "T-7"))
			}
			var invalid *runtime.InvalidStateError
			_, err = runtime.Open(ctx, in.Contract(), memory, "T-7")
			require.ErrorAs(t, err, &invalid, "snapshot: %v", snapshot)
		}
	})
}

// stored is a store with a log and a snapshot.
func stored(t testing.TB, log []store.Record, s store.Snapshot) *store.Memory {
	t.Helper()
	st := store.NewMemory()
	require.NoError(t, st.Create(ctx, "T-7", log...))
	require.NoError(t, st.PutSnapshot(ctx, "T-7", s))
	return st
}

// A snapshot may follow any record, and is checked whichever that is.
func TestASnapshotThatFollowsAViewOrARefusalIsCheckedToo(t *testing.T) {
	for what, ask := range map[string]func(in *runtime.Instance, i int){
		"view": func(in *runtime.Instance, _ int) { in.View(ctx, runtime.Request{Stage: "draft"}) },
		"refusal": func(in *runtime.Instance, i int) {
			in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":%d}]`, i)})
		},
	} {
		in, st := begin(t, runtime.WithSnapshotAfter(1000))
		wander(t, in, 3, 1)
		for i := range 60 {
			ask(in, i)
		}
		in.Quiet()
		s, err := st.Snapshot(ctx, "T-7", in.Version())
		require.NoError(t, err)
		require.NoError(t, runtime.CheckSnapshots(ctx, st, "T-7"))
		log := logOf(t, st)
		follows := log[s.Seq-1]
		require.Contains(t, string(follows.Line), map[string]string{"view": `"kind":"view"`, "refusal": `"kind":"decision"`}[what])
		require.Greater(t, len(log), int(in.Version())+30)
		for _, spoil := range []func(data []byte) []byte{
			func(data []byte) []byte { return data[:len(data)-3] },
			func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
		} {
			bad := s
			bad.Data = spoil(bytes.Clone(s.Data))
			damaged := stored(t, log, bad)
			var corrupt *runtime.CorruptLogError
			require.ErrorAs(t, runtime.CheckSnapshots(ctx, damaged, "T-7"), &corrupt, what)
			require.Equal(t, s.Seq, corrupt.Seq)
			again, err := runtime.Open(ctx, in.Contract(), damaged, "T-7")
			require.NoError(t, err)
			require.Equal(t, in.Position(), again.Position())
		}
	}
}

func TestASnapshotInAnOlderLayoutIsPassedOverInSilence(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 30, 3)
	in.Quiet()
	s, err := st.Snapshot(ctx, "T-7", in.Version())
	require.NoError(t, err)
	snapshotAnew(t, in, &s, func(c map[string]any) { delete(c, "made") })
	require.NoError(t, st.PutSnapshot(ctx, "T-7", s))
	require.NoError(t, runtime.CheckSnapshots(ctx, st, "T-7"))
	var said bytes.Buffer
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7", runtime.WithLogger(slog.New(slog.NewTextHandler(&said, nil))))
	require.NoError(t, err)
	require.Equal(t, stateOf(t, in), stateOf(t, again))
	require.Empty(t, said.String())
}

// Views and refusals make a log grow as commits do, and a snapshot that follows one of them
// holds what was tried.
func TestASnapshotFollowsWhateverRecordAndHoldsWhatWasTried(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(4000), runtime.WithIdlePatches(1000))
	commits(t, propose(t, in, inside))
	ann := runtime.Principal{Subject: "ann"}
	p := runtime.Proposal{Stage: "draft", Base: 1, Principal: ann, Patch: []byte(outside(1))}
	rejects(t, proposeAs(t, in, p), verify.WriteScopeViolation)
	p.Patch = []byte(outside(2))
	rejects(t, proposeAs(t, in, p), verify.WriteScopeViolation)
	for range 40 {
		_, err := in.View(ctx, runtime.Request{Stage: "draft"})
		require.NoError(t, err)
	}
	in.Quiet()
	s, err := st.Snapshot(ctx, "T-7", 1)
	require.NoError(t, err)
	require.Greater(t, s.Seq, uint64(10), "it follows a view")
	counting := &countingStore{Store: st}
	again, err := runtime.Open(ctx, in.Contract(), counting, "T-7", runtime.WithIdlePatches(1000))
	require.NoError(t, err)
	require.Equal(t, in.Head(), again.Head())
	require.LessOrEqual(t, counting.read, in.Head().Seq-s.Seq+2)
	v := proposeAs(t, again, p)
	rejects(t, v, verify.Repeat)
	require.Equal(t, 3, v.Attempt)
	p.Principal, p.Patch = runtime.Principal{Subject: "bob"}, fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":"%s"}]`, bytes.Repeat([]byte("x"), 900))
	require.Equal(t, 1, proposeAs(t, again, p).Attempt)
	last := linesOf(t, again)[again.Head().Seq-2]
	require.Equal(t, trace.Proposal, last.Kind)
	require.Empty(t, last.Seal, "there was no room left")
	replays(t, again, st)
}
