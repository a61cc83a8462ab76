package runtime_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// everyPrincipal is who may act.
var everyPrincipal = []runtime.Principal{
	{}, {}, {Subject: "ann"}, {Subject: "bot-3", Token: "t-1", OnBehalf: "ann"}, {Token: "t-2"}, {Subject: "bob\"\n\u202e"},
}

// busy drives an instance through everything a log can hold: views shown and
// refused, commits, noops and rejects of every kind, keys, repeats, late
// proposals, moves of the host, restarts.
func busy(t testing.TB, n int, seed int64) (*runtime.Instance, *store.Memory) {
	t.Helper()
	in, st := begin(t, runtime.WithSnapshotAfter(1), runtime.WithRecentCommits(4))
	random := rand.New(rand.NewSource(seed))
	all := append(everyRejection(), laterRejections()...)
	who := func() runtime.Principal { return everyPrincipal[random.Intn(len(everyPrincipal))] }
	for i := range n {
		version := in.Version()
		switch random.Intn(10) {
		case 0, 1, 2:
			p := all[random.Intn(len(all))].Proposal
			p.Base, p.Principal = version-min(version, uint64(random.Intn(3))), who()
			propose10(t, in, p)
		case 3:
			in.View(ctx, runtime.Request{Stage: []string{"draft", "edit", "root"}[random.Intn(3)], Role: "bot", Principal: who()})
		case 4:
			in.View(ctx, runtime.Request{Stage: "edit", Args: map[string]string{"c": "ann"}})
		case 5:
			propose10(t, in, runtime.Proposal{Stage: "draft", Base: version, Key: fmt.Sprint("k", random.Intn(5)), Principal: who(),
				Patch: fmt.Appendf(nil, []string{`[{"op":"replace","path":"/draft/text","value":"%d"}]`,
					`{"patch": [{"value": "%d", "path": "\/draft\/text", "op": "replace"}]}`}[random.Intn(2)], random.Intn(3))})
		case 6:
			propose10(t, in, runtime.Proposal{Stage: "draft", Base: version - min(version, uint64(random.Intn(9))),
				Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/draft/text","value":"l%d"}]`, i)})
		case 7:
			if random.Intn(4) == 0 {
				in = reopened(t, in, st)
			}
			_, err := in.Advance(ctx, []string{"review", "nowhere"}[random.Intn(2)], "host", who())
			require.NoError(t, err)
		default:
			patch := everyEdit[random.Intn(len(everyEdit))]
			if strings.Contains(patch, "%") {
				patch = fmt.Sprintf(patch, i)
			}
			propose10(t, in, runtime.Proposal{Stage: "all", Base: version, Patch: []byte(patch)})
		}
	}
	return in, st
}

func propose10(t testing.TB, in *runtime.Instance, p runtime.Proposal) {
	t.Helper()
	_, err := in.Propose(ctx, p)
	require.NoError(t, err)
}

func TestReplayingALogMakesEveryDecisionAgain(t *testing.T) {
	codes := map[verify.Code]int{}
	for seed := range int64(8) {
		in, st := busy(t, 120, seed)
		got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, got.Different)
		require.Equal(t, in.Head(), trace.Head{Instance: "T-7", Seq: got.Records, Hash: got.Head})
		require.Equal(t, []any{in.Version(), in.Phase(), in.StateDigest()}, []any{got.Version, got.Phase, got.State})
		lines := linesOf(t, in)
		decisions, views := uint64(0), uint64(0)
		for _, l := range lines {
			if l.Kind == trace.View {
				views++
			}
			if l.Kind == trace.Decision {
				decisions++
				for _, v := range l.Verdict.Violations {
					codes[v.Code]++
				}
			}
		}
		require.Equal(t, []uint64{decisions, views}, []uint64{got.Decisions, got.Views})
	}
	for _, code := range []verify.Code{verify.Repeat, verify.AttemptsExhausted, verify.Stale, verify.TransitionViolation, verify.LimitExceeded} {
		require.Positive(t, codes[code], code)
	}
}

func TestReplayUsesTheArgumentsThatTheTraceDoesNotShow(t *testing.T) {
	c := sampleIR(t)
	c.Stages = append(c.Stages, ir.Stage{Name: "token", In: []string{"open"},
		Params: []ir.Param{{Name: "c", Kind: ir.ExistingParam, Of: region.MustParse("/:customers")}},
		Read:   region.Of("/customers/{c}"), Write: region.Of("/customers/{c}")})
	c.Secrets = append(c.Secrets, region.Of("/:customers")...)
	contract, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	st := store.NewMemory()
	in, err := runtime.Create(ctx, contract, st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	args := map[string]string{"c": "ann"}
	_, err = in.View(ctx, runtime.Request{Stage: "token", Args: args})
	require.NoError(t, err)
	for _, key := range []string{"", "k"} {
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "token", Args: args, Base: in.Version(), Key: key,
			Patch: []byte(`[{"op":"replace","path":"/customers/ann/name","value":"A` + key + `"}]`)}))
	}
	require.Contains(t, linesOf(t, in)[2].Args["c"], "hmac-sha256:")
	got, err := runtime.Replay(ctx, contract, st, "T-7")
	require.NoError(t, err)
	require.Nil(t, got.Different)
	require.Equal(t, in.StateDigest(), got.State)
}

// forged is a log whose chain holds and which says, in its decision about a patch,
// something else than was decided.
func forged(t *testing.T, patch string, forge func(v *verify.Verdict)) (*runtime.Contract, store.Store) {
	in, st := begin(t)
	v := propose(t, in, patch)
	first, err := firstRecord(st)
	require.NoError(t, err)
	var founding struct{ Key []byte }
	require.NoError(t, json.Unmarshal(first.Sealed, &founding))
	key, err := trace.KeyOf(founding.Key)
	require.NoError(t, err)
	v.StateBefore, v.StateAfter = key.State(v.StateBefore), key.State(v.StateAfter)
	for i := range v.Violations {
		v.Violations[i].Hint = ""
	}
	forge(&v.OperatorVerdict)
	verdict, err := json.Marshal(v)
	require.NoError(t, err)
	head, err := trace.Start("T-7").Next(first.Line)
	require.NoError(t, err)
	zero := uint64(0)
	contract := in.Contract().Digest()
	asked, head := head.Seal(&trace.Record{Kind: trace.Proposal, Contract: contract, Stage: "draft", Base: &zero, Size: len(patch), Seal: key.Seal([]byte(patch))})
	decided, _ := head.Seal(&trace.Record{Kind: trace.Decision, Contract: contract, Version: v.VersionAfter, Verdict: verdict})
	log := store.NewMemory()
	require.NoError(t, log.Create(ctx, "T-7", first, store.Record{Seq: 2, Line: asked, Sealed: []byte(patch)},
		store.Record{Seq: 3, Version: v.VersionAfter, Line: decided}))
	return in.Contract(), log
}

func TestTheFirstDecisionThatTheContractDoesNotMakeIsNamed(t *testing.T) {
	reject := func(v *verify.Verdict) {
		v.Verdict, v.VersionAfter, v.StateAfter = verify.Reject, v.VersionBefore, v.StateBefore
		v.Violations = []verify.Violation{{Gate: verify.GateScope, Code: verify.PathMissing}}
	}
	for name, c := range map[string]struct {
		patch                   string
		forge                   func(v *verify.Verdict)
		member, recorded, again string
	}{
		"a commit recorded as reject": {inside, reject, "verdict", "reject", "commit"},
		"another code": {outside(1), func(v *verify.Verdict) { v.Violations[0].Code = verify.PathMissing },
			"violations", "path_missing", "patch_write_scope_violation"},
		"another attempt": {inside, func(v *verify.Verdict) { v.Attempt = 2 }, "attempt", "2", "1"},
		"another phase":   {outside(1), func(v *verify.Verdict) { v.PhaseAfter = "review" }, "phase_after", "review", "open"},
		"a noop recorded as commit": {`[]`, func(v *verify.Verdict) { v.Verdict, v.VersionAfter = verify.Commit, 1 },
			"verdict", "commit", "noop"},
		"a reject recorded as noop": {outside(1), func(v *verify.Verdict) { v.Verdict, v.Violations, v.Retryable = verify.Noop, nil, false },
			"verdict", "noop", "reject"},
	} {
		t.Run(name, func(t *testing.T) {
			contract, log := forged(t, c.patch, c.forge)
			got, err := runtime.Replay(ctx, contract, log, "T-7")
			require.NoError(t, err)
			require.Equal(t, &runtime.Difference{Seq: 3, Kind: trace.Decision, Member: c.member, Recorded: c.recorded, Again: c.again}, got.Different)
		})
	}
	place := "/elsewhere"
	for name, forge := range map[string]func(v *verify.Violation){
		"another place": func(v *verify.Violation) { v.Path = &place },
		"another rule":  func(v *verify.Violation) { v.Rule = "stage draft, source" },
	} {
		contract, log := forged(t, outside(1), func(v *verify.Verdict) { forge(&v.Violations[0]) })
		got, err := runtime.Replay(ctx, contract, log, "T-7")
		require.NoError(t, err)
		require.Equal(t, "violations", got.Different.Member, name)
	}
}

// A version may say more of what is wrong than the one before, and in other words.
func TestTheWordsOfARefusalAreThoseOfTheVersionThatMadeIt(t *testing.T) {
	for name, forge := range map[string]func(v *verify.Verdict){
		"other words":                    func(v *verify.Verdict) { v.Violations[0].Message, v.Violations[0].Hint = "other words", "" },
		"no gates that were not reached": func(v *verify.Verdict) { v.NotChecked = nil },
		"no path":                        func(v *verify.Verdict) { v.Violations[0].Path = nil },
	} {
		contract, log := forged(t, outside(1), forge)
		got, err := runtime.Replay(ctx, contract, log, "T-7")
		require.NoError(t, err)
		require.NotEqual(t, "violations", got.Different.Member, name)
	}
}

// Whoever may write the file can make the chain anew, for its hashes are plain.
func TestEveryMemberOfALineMustComeOutAgain(t *testing.T) {
	in, st := begin(t)
	_, err := in.View(ctx, runtime.Request{Stage: "draft", Role: "r", Principal: runtime.Principal{Subject: "bot"}})
	require.NoError(t, err)
	commits(t, keyed(t, in, "k", inside))
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	rejects(t, propose(t, in, outside(1)), verify.Repeat)
	_, err = in.Advance(ctx, "review", "host", runtime.Principal{Subject: "ann", Token: "t"})
	require.NoError(t, err)
	var log []store.Record
	for r, err := range st.Read(ctx, "T-7", 1, 0) {
		require.NoError(t, err)
		log = append(log, r)
	}
	replayed := func(log []store.Record) (runtime.Replayed, error) {
		forged := store.NewMemory()
		require.NoError(t, forged.Create(ctx, "T-7", log...))
		return runtime.Replay(ctx, in.Contract(), forged, "T-7")
	}
	got, err := replayed(log)
	require.NoError(t, err)
	require.Nil(t, got.Different, "what was not forged does not differ")
	tried := 0
	for i, record := range log {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(record.Line, &members))
		for name, value := range members {
			switch name {
			case "prev", "hash": // made anew
				continue
			case "size":
				if members["digest"] != nil { // the patch was not kept
					continue
				}
			case "time", "principal", "role", "args", "base", "key", "next": // what the host gave stands nowhere else
				continue
			}
			first := true
			for _, before := range log[:i] {
				first = first && !strings.Contains(string(before.Line), `"digest"`)
			}
			for _, other := range []string{"", `"forged"`, "7", `[{"op":0,"path":"/forged","value":1}]`} {
				forged := string(record.Line)
				member := `"` + name + `":` + string(value)
				if other == string(value) || name == "digest" && other == "" && first { // older logs have none
					continue
				}
				if other == "" {
					forged = strings.Replace(forged, member+",", "", 1)
				} else {
					forged = strings.Replace(forged, member, `"`+name+`":`+other, 1)
				}
				got, err := replayed(chainedWith(log, i, forged))
				require.True(t, err != nil || got.Different != nil || got.Outcomes > 0, "%s of record %d as %s", name, i+1, other)
				tried++
			}
		}
		got, err := replayed(chainedWith(log, i, strings.Replace(string(record.Line), `,"prev"`, `,"approved_by":"the board","prev"`, 1)))
		require.NoError(t, err)
		require.NotNil(t, got.Different)
		require.Equal(t, record.Seq, got.Different.Seq)
	}
	require.Greater(t, tried, 100)
}

// chainedWith is a log with another line in place of one, and the hashes to go with it.
func chainedWith(log []store.Record, i int, line string) []store.Record {
	out := slices.Clone(log)
	prev := trace.Origin
	for j := range out {
		text := string(out[j].Line)
		if j == i {
			text = line
		}
		body := text[:strings.LastIndex(text, `,"prev":`)] + `,"prev":"` + prev + `"}`
		sum := sha256.Sum256([]byte(body))
		prev = "sha256:" + hex.EncodeToString(sum[:])
		out[j].Line = []byte(body[:len(body)-1] + `,"hash":"` + prev + `"}`)
		var kept struct {
			Version uint64
			Key     string
		}
		if json.Unmarshal(out[j].Line, &kept) == nil {
			out[j].Version, out[j].Key = kept.Version, kept.Key
		}
	}
	return out
}

func TestReplayNeedsTheContractOfTheLog(t *testing.T) {
	in, st := begin(t)
	c := sampleIR(t)
	c.Doc = "another one"
	other, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	_, err = runtime.Replay(ctx, other, st, "T-7")
	var mismatch *runtime.ContractMismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, in.Contract().Digest(), mismatch.Have)
	_, err = runtime.Replay(ctx, other, st, "T-8")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestRow2F62ReplayingTheLogGivesEveryStateByteForByte(t *testing.T) {
	for _, snapshots := range []int{1, 1 << 30} {
		in, st := begin(t, runtime.WithSnapshotAfter(snapshots), runtime.WithAttempts(0))
		states := []string{stateOf(t, in)}
		for in.Version() < 40 {
			wander(t, in, 1, int64(in.Head().Seq))
			if in.Version() == uint64(len(states)) {
				states = append(states, stateOf(t, in))
			}
		}
		for version, want := range states {
			past, err := runtime.At(ctx, in.Contract(), st, "T-7", uint64(version))
			require.NoError(t, err)
			require.Equal(t, want, string(past.State))
			require.Equal(t, uint64(version), past.Version)
		}
		_, err := runtime.At(ctx, in.Contract(), st, "T-7", 41)
		var unknown *runtime.UnknownVersionError
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, []uint64{41, 40}, []uint64{unknown.Version, unknown.Last})
	}
}

func logOf(t testing.TB, st store.Store) (log []store.Record) {
	t.Helper()
	for r, err := range st.Read(ctx, "T-7", 1, 0) {
		require.NoError(t, err)
		log = append(log, r)
	}
	return log
}

// checked runs both checks of a log: with and without the contract.
func checked(t *testing.T, c *runtime.Contract, log []store.Record) (checks [2]*runtime.CorruptLogError) {
	t.Helper()
	st := &givenStore{store.NewMemory(), log}
	_, err := runtime.CheckLog(ctx, st, "T-7", nil)
	if err != nil {
		require.ErrorAs(t, err, &checks[0])
	}
	if _, err = runtime.Replay(ctx, c, st, "T-7"); err != nil {
		require.ErrorAs(t, err, &checks[1])
	}
	return checks
}

func TestEveryDamageToALogIsNamed(t *testing.T) {
	in, st := busy(t, 25, 1)
	log := logOf(t, st)
	damage := func(seq int, what string, f func(log []store.Record) []store.Record) {
		for _, corrupt := range checked(t, in.Contract(), f(copyLog(log))) {
			require.NotNil(t, corrupt, "%s at %d", what, seq)
			require.Equal(t, uint64(seq), corrupt.Seq, "%s: %s", what, corrupt.Reason)
		}
	}
	require.Equal(t, [2]*runtime.CorruptLogError{}, checked(t, in.Contract(), log))
	for i := range log {
		seq := i + 1
		damage(seq, "a changed line", func(log []store.Record) []store.Record { log[i].Line[len(log[i].Line)/3] ^= 4; return log })
		if len(log[i].Sealed) > 0 && i > 0 {
			damage(seq, "a changed sealed part", func(log []store.Record) []store.Record { log[i].Sealed[len(log[i].Sealed)/2] ^= 1; return log })
			damage(seq, "a missing sealed part", func(log []store.Record) []store.Record { log[i].Sealed = nil; return log })
		}
		damage(seq, "another version", func(log []store.Record) []store.Record { log[i].Version += 3; return log })
		damage(seq, "another key", func(log []store.Record) []store.Record { log[i].Key += "x"; return log })
		if i > 0 && i < len(log)-1 {
			damage(seq, "a missing record", func(log []store.Record) []store.Record { return append(log[:i], log[i+1:]...) })
			damage(seq, "swapped records", func(log []store.Record) []store.Record { log[i], log[i+1] = log[i+1], log[i]; return log })
			damage(seq+1, "a repeated record", func(log []store.Record) []store.Record {
				return append(log[:i+1:i+1], log[i:]...)
			})
		}
		if linesOf(t, in)[i].Kind == trace.Proposal {
			damage(seq, "half a commit", func(log []store.Record) []store.Record { return log[:i+1] })
		}
	}
}

// A givenStore reads one log as it is, whatever its numbers are.
type givenStore struct {
	*store.Memory
	log []store.Record
}

func (s *givenStore) Read(_ context.Context, _ string, from uint64, _ int) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range s.log[min(int(from)-1, len(s.log)):] {
			r.Line, r.Sealed = bytes.Clone(r.Line), bytes.Clone(r.Sealed)
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *givenStore) Snapshot(_ context.Context, id string, _ uint64) (store.Snapshot, error) {
	return store.Snapshot{}, &store.Error{Instance: id, Err: store.ErrNotFound}
}

func (s *givenStore) Find(_ context.Context, id, key string) (uint64, error) {
	for _, r := range s.log {
		if r.Key == key {
			return r.Seq, nil
		}
	}
	return 0, &store.Error{Instance: id, Err: store.ErrNotFound}
}

func TestACheckShowsTheLinesThatHold(t *testing.T) {
	in, st := busy(t, 25, 2)
	var shown strings.Builder
	head, err := runtime.CheckLog(ctx, st, "T-7", func(line []byte) error {
		shown.Write(append(line, '\n'))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, in.Head(), head)
	require.Equal(t, traceOf(t, in), shown.String())
	_, err = runtime.CheckLog(ctx, st, "T-7", func([]byte) error { return store.ErrConflict })
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = runtime.CheckLog(ctx, st, "T-8", nil)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// clockedContract is the sample with a rule that asks the clock.
func clockedContract(t testing.TB) *runtime.Contract {
	t.Helper()
	c := sampleIR(t)
	env, err := expr.New(c, expr.Default())
	require.NoError(t, err)
	late, issues := env.Check(`now > timestamp("2000-01-01T00:00:00Z") || before.draft.text == after.draft.text`, expr.Scope{Vars: ir.ChangeVars})
	require.False(t, expr.HasErrors(issues), issues)
	c.Invariants = append(c.Invariants, ir.Invariant{Name: "late", Change: true, Expr: &late})
	out, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	return out
}

// The clock is read once for each request: at another time it might have been refused.
func TestADecisionHasTheTimeOfWhatItDecides(t *testing.T) {
	st := store.NewMemory()
	in, err := runtime.Create(ctx, clockedContract(t), st, "T-7", []byte(sampleState), runtime.WithClock(fixedClock))
	require.NoError(t, err)
	commits(t, propose(t, in, inside))
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	_, err = in.Advance(ctx, "review", "")
	require.NoError(t, err)
	log := logOf(t, st)
	for _, decision := range []uint64{3, 5, 7} {
		for _, later := range []time.Duration{time.Second, -time.Hour, 1} {
			forged := rewritten(t, in, log, func(seq uint64, l *trace.Record, sealed []byte) []byte {
				if seq == decision {
					require.Equal(t, trace.Decision, l.Kind)
					l.Time = l.Time.Add(later)
				}
				return sealed
			})
			got, err := runtime.Replay(ctx, in.Contract(), &givenStore{store.NewMemory(), forged}, "T-7")
			require.NoError(t, err)
			require.NotNil(t, got.Different)
			require.Equal(t, []any{decision, "time"}, []any{got.Different.Seq, got.Different.Member})
		}
	}
}
