package runtime_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand"
	"strings"
	"testing"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/stretchr/testify/require"
)

// everyEdit is one patch for each way in which the sample state can change.
var everyEdit = []string{
	`[{"op":"add","path":"/draft/refs/-","value":"r%d"}]`,
	`[{"op":"add","path":"/draft/refs/0","value":"r%d"}]`,
	`[{"op":"replace","path":"/draft","value":{"text":"t%d","refs":["a"]}}]`,
	`[{"op":"add","path":"/history/-","value":"h%d"}]`,
	`[{"op":"add","path":"/labels/-","value":"l%d"}]`,
	`[{"op":"replace","path":"/labels","value":["z","l%d","a"]}]`,
	`[{"op":"add","path":"/items/i%d","value":{"id":"i%[1]d","count":1.0}}]`,
	`[{"op":"replace","path":"/items","value":{"k%d":{"id":"k%[1]d","count":1e0}}}]`,
	`[{"op":"add","path":"/customers/c%d","value":{"name":"n","card":"c"}},{"op":"copy","from":"/customers/c%[1]d","path":"/customers/d"}]`,
	`[{"op":"move","from":"/ticket/tags/0","path":"/ticket/tags/-"},{"op":"replace","path":"/ticket/id","value":"%d"}]`,
	`{"patch":[{"op":"remove","path":"/draft/refs/0"}]}`,
	`[{"op":"test","path":"/ticket/id","value":"no"}]`,
	`[{"op":"replace","path":"/customers/bob/name","value":"Bo\u00e9 <%d>"}]`,
}

// wander proposes n edits, drawn with a seed; views come in between.
func wander(t *testing.T, in *runtime.Instance, n int, seed int64) {
	t.Helper()
	random := rand.New(rand.NewSource(seed))
	for i := range n {
		patch := everyEdit[random.Intn(len(everyEdit))]
		if bytes.Contains([]byte(patch), []byte("%")) {
			patch = fmt.Sprintf(patch, i)
		}
		proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(patch)})
		if random.Intn(3) == 0 {
			_, err := in.View(ctx, runtime.Request{Stage: "draft"})
			require.NoError(t, err)
		}
	}
}

func TestTheLogLeadsToTheSameStateAgain(t *testing.T) {
	for seed := range int64(10) {
		in, st := begin(t)
		wander(t, in, 40, seed)
		require.Greater(t, in.Version(), uint64(10))
		again, err := runtime.Open(ctx, sampleContract(t), st, "T-7")
		require.NoError(t, err)
		require.Equal(t, stateOf(t, in), stateOf(t, again))
		require.Equal(t, in.StateDigest(), again.StateDigest())
		require.Equal(t, in.Version(), again.Version())
		require.Equal(t, in.Phase(), again.Phase())
		require.Equal(t, in.Head(), again.Head())
	}
}

func TestAnOpenedInstanceGoesOnWithTheChainAndThePhase(t *testing.T) {
	in, st := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "hand_in", Patch: []byte(`[]`)}))
	again, err := runtime.Open(ctx, sampleContract(t), st, "T-7")
	require.NoError(t, err)
	require.Equal(t, "review", again.Phase())
	commits(t, proposeAs(t, again, runtime.Proposal{Stage: "decide", Role: "human", Base: 1, Patch: []byte(`[]`)}))
	requireDense(t, again, 2)
	third, err := runtime.Open(ctx, sampleContract(t), st, "T-7")
	require.NoError(t, err)
	require.Equal(t, "closed", third.Phase())
}

func TestASnapshotSparesReadingTheLogBeforeIt(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 40, 1)
	in.Quiet()
	s, err := st.Snapshot(ctx, "T-7", in.Version())
	require.NoError(t, err)
	require.Greater(t, s.Version, uint64(2))
	counting := &countingStore{Store: st}
	again, err := runtime.Open(ctx, sampleContract(t), counting, "T-7")
	require.NoError(t, err)
	require.Equal(t, stateOf(t, in), stateOf(t, again))
	require.Equal(t, in.Head(), again.Head())
	require.LessOrEqual(t, counting.read, in.Head().Seq-s.Seq+2, "the snapshot's own record, the one that made its state, and those after it")
}

func TestSnapshotsTogetherWeighNoMoreThanTheLog(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 100, 2)
	in.Quiet()
	log, snapshots := 0, 0
	for r, err := range st.Read(ctx, "T-7", 1, 0) {
		require.NoError(t, err)
		log += len(r.Line) + len(r.Sealed)
	}
	for version := in.Version(); ; {
		s, err := st.Snapshot(ctx, "T-7", version)
		if err != nil {
			break
		}
		snapshots += len(s.Data)
		version = s.Version - 1
	}
	require.Positive(t, snapshots)
	require.Less(t, snapshots, log)
}

func TestABadSnapshotIsPassedOver(t *testing.T) {
	for name, spoil := range map[string]func(*store.Snapshot){
		"unreadable":      func(s *store.Snapshot) { s.Data = []byte("{") },
		"another state":   func(s *store.Snapshot) { s.Data = bytes.Replace(s.Data, []byte(`"begun"`), []byte(`"begin"`), 1) },
		"another version": func(s *store.Snapshot) { s.Version++ },
		"another phase": func(s *store.Snapshot) {
			s.Data = bytes.Replace(s.Data, []byte(`"open","hash"`), []byte(`"closed","hash"`), 1)
		},
		"another record": func(s *store.Snapshot) { s.Seq-- },
		"no key":         func(s *store.Snapshot) { s.Data = bytes.Replace(s.Data, []byte(`"key":"`), []byte(`"kez":"`), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t, runtime.WithSnapshotAfter(1))
			wander(t, in, 20, 3)
			in.Quiet()
			s, err := st.Snapshot(ctx, "T-7", in.Version())
			require.NoError(t, err)
			spoil(&s)
			require.NoError(t, st.PutSnapshot(ctx, "T-7", s))
			again, err := runtime.Open(ctx, sampleContract(t), st, "T-7")
			require.NoError(t, err)
			require.Equal(t, stateOf(t, in), stateOf(t, again))
			require.Equal(t, in.Head(), again.Head())
		})
	}
}

func TestAnInstanceOfAnotherContractIsRefused(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	c := sampleIR(t)
	c.Doc = "another one"
	other, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	for range 2 { // without, then with a snapshot
		_, err = runtime.Open(ctx, other, st, "T-7")
		var mismatch *runtime.ContractMismatchError
		require.ErrorAs(t, err, &mismatch)
		require.Equal(t, in.Contract().Digest(), mismatch.Have)
		require.Equal(t, other.Digest(), mismatch.Want)
		wander(t, in, 20, 4)
	}
}

func TestADamagedLogIsNotOpened(t *testing.T) {
	in, st := begin(t)
	wander(t, in, 12, 5)
	var log []store.Record
	for r, err := range st.Read(ctx, "T-7", 1, 0) {
		require.NoError(t, err)
		log = append(log, r)
	}
	for i := range log {
		for _, part := range []func(r *store.Record) *[]byte{
			func(r *store.Record) *[]byte { return &r.Line },
			func(r *store.Record) *[]byte { return &r.Sealed },
		} {
			damaged := copyLog(log)
			bytes := part(&damaged[i])
			if len(*bytes) == 0 {
				continue
			}
			(*bytes)[len(*bytes)/2] ^= 1
			requireCorrupt(t, in.Contract(), damaged, uint64(i+1), "")
		}
	}
}

func copyLog(log []store.Record) []store.Record {
	out := make([]store.Record, len(log))
	for i, r := range log {
		r.Line, r.Sealed = bytes.Clone(r.Line), bytes.Clone(r.Sealed)
		out[i] = r
	}
	return out
}

// requireCorrupt checks that a log is not opened because of a record, for a reason
// unless that is "".
func requireCorrupt(t *testing.T, c *runtime.Contract, log []store.Record, seq uint64, reason string) {
	t.Helper()
	st := store.NewMemory()
	require.NoError(t, st.Create(ctx, "T-7", log...))
	_, err := runtime.Open(ctx, c, st, "T-7")
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, err, &corrupt, "record %d", seq)
	require.Equal(t, seq, corrupt.Seq)
	if reason != "" {
		require.Equal(t, reason, corrupt.Reason)
	}
}

// A log whose chain holds, but which tells of commits that never were, is forged
// with the key that the log itself holds. Only one thing is wrong each time.
func TestACommitThatDoesNotLeadWhereItSaysIsNotOpened(t *testing.T) {
	verdict := func(change func(v *verify.Verdict)) func(seq uint64, l *trace.Record, sealed []byte) []byte {
		return func(seq uint64, l *trace.Record, sealed []byte) []byte {
			if seq == 3 {
				var v verify.Verdict
				require.NoError(t, json.Unmarshal(l.Verdict, &v))
				change(&v)
				text, err := json.Marshal(v)
				require.NoError(t, err)
				l.Verdict = text
			}
			return sealed
		}
	}
	patch := func(text string) func(seq uint64, l *trace.Record, sealed []byte) []byte {
		return func(seq uint64, _ *trace.Record, sealed []byte) []byte {
			if seq == 2 {
				return []byte(text)
			}
			return sealed
		}
	}
	for name, c := range map[string]struct {
		forge  func(seq uint64, l *trace.Record, sealed []byte) []byte
		reason string
	}{
		"nothing":         {verdict(func(*verify.Verdict) {}), ""},
		"another state":   {verdict(func(v *verify.Verdict) { v.StateAfter = v.StateBefore }), "its state has another digest than was recorded"},
		"another version": {verdict(func(v *verify.Verdict) { v.VersionAfter = 7 }), "it commits another version than the next"},
		"another base":    {verdict(func(v *verify.Verdict) { v.VersionBefore = 7 }), "it commits another version than the next"},
		"another patch":   {patch(`[{"op":"replace","path":"/draft/text","value":"y"}]`), "its state has another digest than was recorded"},
		"no patch":        {patch(`[{"op":"remove","path":"/draft/nothing"}]`), "its patch does not apply"},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t)
			commits(t, propose(t, in, `[{"op":"replace","path":"/draft/text","value":"x"}]`))
			log := rewritten(t, in, logOf(t, st), c.forge)
			if c.reason == "" {
				require.Equal(t, logOf(t, st), log)
				return
			}
			requireCorrupt(t, in.Contract(), log, 3, c.reason)
		})
	}
}

// Each record in turn is forged in one thing; all that follows follows it.
func TestARecordIsNamedThatIsForgedInOneThing(t *testing.T) {
	misfiled := "its line is kept under another number, version or key"
	in, st := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Key: "k", Patch: []byte(inside)}))
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	honest := logOf(t, st)
	for name, c := range map[string]struct {
		seq    uint64 // that is named
		forge  func(log []store.Record) []store.Record
		reason string
	}{
		"another number":         {4, func(log []store.Record) []store.Record { log[3].Seq = 9; return log }, misfiled},
		"another version":        {3, func(log []store.Record) []store.Record { log[2].Version = 0; return log }, misfiled},
		"a key":                  {4, func(log []store.Record) []store.Record { log[3].Key = "k"; return log }, misfiled},
		"no key":                 {2, func(log []store.Record) []store.Record { log[1].Key = ""; return log }, misfiled},
		"a decision on nothing":  {2, func(log []store.Record) []store.Record { return chainedAnew(t, in, log, 1, 3, 4, 5) }, "it decides nothing"},
		"two decisions":          {4, func(log []store.Record) []store.Record { return chainedAnew(t, in, log, 1, 2, 3, 3, 4, 5) }, "it decides nothing"},
		"no decision":            {2, func(log []store.Record) []store.Record { return chainedAnew(t, in, log, 1, 2, 4, 5) }, "it asks for a decision, and none follows"},
		"no decision at the end": {4, func(log []store.Record) []store.Record { return chainedAnew(t, in, log, 1, 2, 3, 4) }, "it asks for a decision, and none follows"},
		"another beginning": {1, func(log []store.Record) []store.Record { return chainedAnew(t, in, log, 2, 3, 4, 5) },
			"it does not begin an instance"},
	} {
		t.Run(name, func(t *testing.T) {
			log := &givenStore{store.NewMemory(), c.forge(copyLog(honest))}
			_, err := runtime.CheckLog(ctx, log, "T-7", nil)
			_, opened := runtime.Open(ctx, in.Contract(), log, "T-7")
			_, replayed := runtime.Replay(ctx, in.Contract(), log, "T-7")
			for _, err := range []error{err, opened, replayed} {
				var corrupt *runtime.CorruptLogError
				require.ErrorAs(t, err, &corrupt)
				require.Equal(t, []any{c.seq, c.reason}, []any{corrupt.Seq, corrupt.Reason})
			}
		})
	}
}

// chainedAnew is a log of some of the records of another, in the given order.
func chainedAnew(t *testing.T, in *runtime.Instance, log []store.Record, seqs ...int) []store.Record {
	t.Helper()
	var some []store.Record
	for i, seq := range seqs {
		r := log[seq-1]
		r.Seq = uint64(i + 1)
		some = append(some, r)
	}
	return rewritten(t, in, some, func(_ uint64, _ *trace.Record, sealed []byte) []byte { return sealed })
}

func TestTheFirstRecordIsOfTheStateThatItSeals(t *testing.T) {
	in, st := begin(t)
	log := rewritten(t, in, logOf(t, st), func(_ uint64, l *trace.Record, sealed []byte) []byte {
		return bytes.Replace(sealed, []byte(`"begun"`), []byte(`"begin"`), 1)
	})
	requireCorrupt(t, in.Contract(), log, 1, "its state has another digest than was recorded")
}

func firstRecord(st store.Store) (store.Record, error) {
	for r, err := range st.Read(ctx, "T-7", 1, 0) {
		return r, err
	}
	return store.Record{}, store.ErrNotFound
}

// A countingStore counts the records that are read from it.
type countingStore struct {
	store.Store
	read uint64
}

func (s *countingStore) Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for r, err := range s.Store.Read(ctx, id, from, limit) {
			if s.read++; !yield(r, err) {
				return
			}
		}
	}
}

// A failingStore fails the appends that it is told to, before or after they are made.
type failingStore struct {
	store.Store
	before, after error
}

func (s *failingStore) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	if s.before != nil {
		return s.before
	}
	if err := s.Store.Append(ctx, id, last, records...); err != nil {
		return err
	}
	return s.after
}

func TestAnAppendThatFailedIsNoCommit(t *testing.T) {
	st := &failingStore{Store: store.NewMemory()}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	st.before = errors.New("disk full")
	_, err = write(in, 0, "lost")
	require.ErrorIs(t, err, st.before)
	_, err = in.View(ctx, runtime.Request{Stage: "draft"})
	require.ErrorIs(t, err, st.before, "what cannot be recorded is not shown")
	require.Equal(t, uint64(0), in.Version())
	st.before = nil
	v, err := write(in, 0, "kept")
	require.NoError(t, err)
	commits(t, v)
	requireDense(t, in, 1)
}

func TestAnAppendThatFailedAfterItWasMadeIsFoundInTheLog(t *testing.T) {
	st := &failingStore{Store: store.NewMemory()}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	st.after = errors.New("connection lost")
	_, err = write(in, 0, "made")
	require.ErrorIs(t, err, st.after)
	st.after = nil
	require.Contains(t, stateOf(t, in), `"made"`)
	require.Equal(t, uint64(1), in.Version())
	v, err := write(in, 0, "late")
	require.NoError(t, err)
	rejects(t, v, verify.Stale)
	requireDense(t, in, 1)
}

func TestASnapshotThatCannotBeKeptFailsNothing(t *testing.T) {
	st := &snapshotless{store.NewMemory()}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState), runtime.WithSnapshotAfter(1))
	require.NoError(t, err)
	wander(t, in, 20, 6)
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Equal(t, stateOf(t, in), stateOf(t, again))
}

type snapshotless struct{ store.Store }

func (snapshotless) PutSnapshot(context.Context, string, store.Snapshot) error {
	return errors.New("no room")
}

// inFormat is a log as another version wrote it: its first line tells another format, in
// the given text, and what it seals is not what this version seals.
func inFormat(log []store.Record, text string) []store.Record {
	log, last := copyLog(log), trace.Origin
	for i := range log {
		line := string(log[i].Line)
		body := line[:strings.LastIndex(line, `,"prev":`)]
		if i == 0 {
			body = strings.Replace(body, fmt.Sprintf(`"format":%d,`, trace.Format), text, 1)
			log[i].Sealed = []byte("sealed otherwise")
		}
		body += fmt.Sprintf(`,"prev":%q`, last)
		last = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body+"}")))
		log[i].Line = fmt.Appendf(nil, `%s,"hash":%q}`, body, last)
	}
	return log
}

func TestALogOfANewerFormatIsRefusedByNameByAllThatReadsIt(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1<<30))
	wander(t, in, 6, 3)
	for text, have := range map[string]int{`"format":4,`: 4, `"format":3,`: 3} {
		log := &givenStore{store.NewMemory(), inFormat(logOf(t, st), text)}
		_, opened := runtime.Open(ctx, in.Contract(), log, "T-7")
		_, replayed := runtime.Replay(ctx, in.Contract(), log, "T-7")
		_, past := runtime.At(ctx, in.Contract(), log, "T-7", 1)
		_, checked := runtime.CheckLog(ctx, log, "T-7", nil)
		for _, err := range []error{opened, replayed, past, checked, runtime.CheckSnapshots(ctx, log, "T-7")} {
			var other *runtime.FormatError
			require.ErrorAs(t, err, &other)
			require.Equal(t, have, other.Have)
			require.EqualError(t, err, fmt.Sprintf(`instance "T-7": written in format %d, this version reads %d`, have, trace.Format))
		}
	}
	same := &givenStore{store.NewMemory(), inFormat(logOf(t, st), fmt.Sprintf(`"format":%d,`, trace.Format))}
	_, err := runtime.Open(ctx, in.Contract(), same, "T-7")
	require.NotErrorAs(t, err, new(*runtime.FormatError), "what was sealed otherwise in this format is damage")
	require.ErrorAs(t, err, new(*runtime.CorruptLogError))
}

func TestASnapshotOfAnotherFormatIsNotUsed(t *testing.T) {
	for _, format := range []any{nil, 1, 3} {
		var logged bytes.Buffer
		in, st := begin(t, runtime.WithSnapshotAfter(1))
		wander(t, in, 12, 3)
		in.Quiet()
		s, err := st.Snapshot(ctx, "T-7", in.Version())
		require.NoError(t, err)
		require.True(t, bytes.Contains(s.Data, fmt.Appendf(nil, `"format":%d`, trace.Format)))
		snapshotAnew(t, in, &s, func(c map[string]any) {
			if c["format"] = format; format == nil {
				delete(c, "format")
			}
		})
		require.NoError(t, st.PutSnapshot(ctx, "T-7", s))
		again, err := runtime.Open(ctx, in.Contract(), st, "T-7", runtime.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		if format == 3 {
			require.ErrorAs(t, err, new(*runtime.FormatError))
			continue
		}
		require.NoError(t, err, "an older one is passed over")
		require.Equal(t, stateOf(t, in), stateOf(t, again))
		require.Empty(t, logged.String())
		require.NoError(t, runtime.CheckSnapshots(ctx, st, "T-7"))
	}
}
