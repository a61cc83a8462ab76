package runtime_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/stretchr/testify/require"
)

// keyed proposes with a key, on the current version.
func keyed(t testing.TB, in *runtime.Instance, key, patch string) runtime.Verdict {
	t.Helper()
	return proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version(), Key: key, Patch: []byte(patch)})
}

// sameVerdict checks both renderings, byte for byte.
func sameVerdict(t testing.TB, want, got runtime.Verdict) {
	t.Helper()
	for _, pair := range [][2]any{{want, got}, {want.Actor(), got.Actor()}} {
		a, err := json.Marshal(pair[0])
		require.NoError(t, err)
		b, err := json.Marshal(pair[1])
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
	}
}

func TestRow2A6ARetriedStepWithTheSameKeyGetsTheFirstVerdict(t *testing.T) {
	for name, patch := range map[string]string{
		"a commit": inside, "a noop": `[]`, "a reject": outside(1), "a malformed patch": `[`,
		"a reject that names a secret place": `[{"op":"add","path":"/internal/token/x","value":1}]`,
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t)
			first := keyed(t, in, "k", patch)
			records := in.Head().Seq
			for _, other := range []*runtime.Instance{in, reopened(t, in, st)} {
				sameVerdict(t, first, keyed(t, other, "k", patch))
				require.Equal(t, records, other.Head().Seq, "nothing is decided again")
			}
			commits(t, keyed(t, in, "l", `[{"op":"add","path":"/draft/refs/-","value":"other"}]`))
			sameVerdict(t, first, keyed(t, in, "k", patch))
		})
	}
}

func reopened(t testing.TB, in *runtime.Instance, st store.Store) *runtime.Instance {
	t.Helper()
	again, err := runtime.Open(ctx, in.Contract(), st, in.ID())
	require.NoError(t, err)
	return again
}

func TestAKeyWithAnotherProposalIsRefused(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	commits(t, keyed(t, in, "k", inside))
	for name, p := range map[string]runtime.Proposal{
		"another patch":  {Stage: "draft", Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"s"}]`)},
		"another stage":  {Stage: "all", Patch: []byte(inside)},
		"another role":   {Stage: "draft", Role: "x", Patch: []byte(inside)},
		"other argument": {Stage: "edit", Args: map[string]string{"c": "ann"}, Patch: []byte(inside)},
	} {
		p.Key, p.Base = "k", 1
		v := proposeAs(t, in, p)
		rejects(t, v, verify.Repeat)
		require.Contains(t, v.Violations[0].Message, "key", name)
		require.Equal(t, v.Violations, v.Actor().Violations)
	}
	late := proposeAs(t, in, runtime.Proposal{Stage: "draft", Key: "k", Base: 0, Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"s"}]`)})
	rejects(t, late, verify.Repeat)
	rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Key: "other", Base: 0, Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"s"}]`)}), verify.Stale)
	p := runtime.Proposal{Stage: "draft", Key: "l", Base: 1, Patch: []byte(inside)}
	commits(t, proposeAs(t, in, p))
	p = runtime.Proposal{Stage: "draft", Key: "k", Base: 2, Next: "review", Patch: []byte(inside)}
	rejects(t, proposeAs(t, in, p), verify.TransitionViolation)
	require.Equal(t, uint64(2), in.Version())
	sameVerdict(t, keyed(t, in, "k", inside), keyed(t, in, "k", inside))
}

func TestAKeyIsTheInstancesOwn(t *testing.T) {
	contract, st := sampleContract(t), store.NewMemory()
	for i := range 3 {
		in, err := runtime.Create(ctx, contract, st, fmt.Sprint(i), []byte(sampleState))
		require.NoError(t, err)
		commits(t, keyed(t, in, "k", fmt.Sprintf(`[{"op":"replace","path":"/draft/text","value":"%d"}]`, i)))
	}
}

func TestARetryAfterAnUnknownOutcomeCommitsOnce(t *testing.T) {
	lost := errors.New("connection lost")
	for name, fail := range map[string]func(s *failingStore){
		"appended":     func(s *failingStore) { s.after = lost },
		"not appended": func(s *failingStore) { s.before = lost },
	} {
		t.Run(name, func(t *testing.T) {
			st := &failingStore{Store: store.NewMemory()}
			in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
			require.NoError(t, err)
			fail(st)
			p := runtime.Proposal{Stage: "draft", Key: "k", Patch: []byte(inside)}
			_, err = in.Propose(ctx, p)
			require.ErrorIs(t, err, lost)
			st.before, st.after = nil, nil
			commits(t, proposeAs(t, in, p))
			commits(t, proposeAs(t, in, p))
			requireDense(t, in, 1)
		})
	}
}

func TestConcurrentRetriesWithOneKeyCommitOnce(t *testing.T) {
	in, st := begin(t)
	other := reopened(t, in, st)
	for round := range 10 {
		verdicts := make([]runtime.Verdict, 8)
		together(len(verdicts), func(i int) {
			var err error
			verdicts[i], err = []*runtime.Instance{in, other}[i%2].Propose(ctx, runtime.Proposal{Stage: "draft", Base: uint64(round),
				Key: fmt.Sprint("k", round), Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/draft/text","value":"%d"}]`, round)})
			if err != nil {
				t.Error(err)
			}
		})
		for _, v := range verdicts {
			commits(t, v)
			sameVerdict(t, verdicts[0], v)
		}
	}
	_, err := in.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(t, err)
	_, err = in.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(t, err)
	requireDense(t, in, 10)
}

func TestConcurrentProposalsWithOneKeyAndOtherBytesAreDecidedOnce(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	codes := make([]verify.Code, 8)
	together(len(codes), func(i int) {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Key: "k", Patch: []byte(outside(i))})
		if err != nil {
			t.Error(err)
		} else {
			codes[i] = v.Violations[0].Code
		}
	})
	count := map[verify.Code]int{}
	for _, c := range codes {
		count[c]++
	}
	require.Equal(t, map[verify.Code]int{verify.WriteScopeViolation: 1, verify.Repeat: 7}, count)
}

func TestAStoredVerdictThatWasChangedIsFoundOut(t *testing.T) {
	in, st := begin(t)
	commits(t, keyed(t, in, "k", inside))
	for seq := uint64(2); seq <= 3; seq++ {
		damaged := store.NewMemory()
		for r, err := range st.Read(ctx, "T-7", 1, 0) {
			require.NoError(t, err)
			if r.Seq == 1 {
				require.NoError(t, damaged.Create(ctx, "T-7", r))
				continue
			}
			if r.Seq == seq {
				r.Sealed = bytes.Replace(r.Sealed, []byte("draft"), []byte("drift"), 1)
				r.Sealed = bytes.Replace(r.Sealed, []byte(`"version_after":1`), []byte(`"version_after":2`), 1)
			}
			require.NoError(t, damaged.Append(ctx, "T-7", r.Seq-1, r))
		}
		swapped := &swappingStore{st}
		opened, err := runtime.Open(ctx, in.Contract(), swapped, "T-7")
		require.NoError(t, err)
		swapped.Store = damaged
		_, err = opened.Propose(ctx, runtime.Proposal{Stage: "draft", Base: 1, Key: "k", Patch: []byte(inside)})
		var corrupt *runtime.CorruptLogError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, seq, corrupt.Seq)
	}
}

// A swappingStore is one store and then another.
type swappingStore struct{ store.Store }

func TestTheKeyOfAProposalStandsInTheTraceAndFindsItsRecord(t *testing.T) {
	in, st := begin(t)
	keyed(t, in, "k\ufffd\"\x00", inside)
	seq, err := st.Find(ctx, "T-7", "k\ufffd\"\x00")
	require.NoError(t, err)
	line := linesOf(t, in)[seq-1]
	require.Equal(t, trace.Proposal, line.Kind)
	require.Equal(t, "k\ufffd\"\x00", line.Key)
	sameVerdict(t, keyed(t, in, "k\ufffd\"\x00", inside), keyed(t, reopened(t, in, st), "k\ufffd\"\x00", inside))
}

func TestAProposalThatIsTooLongIsNeverTheSame(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	long := bytes.Repeat([]byte(" "), runtime.DefaultLimits().Patch.MaxBytes+1)
	for range 2 {
		v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Key: "k", Patch: long})
		rejects(t, v, verify.LimitExceeded)
	}
	require.Len(t, linesOf(t, in), 5)
}

func TestATextOfTheHostThatIsTooLongIsAnErrorAndNotRecorded(t *testing.T) {
	in, _ := begin(t)
	before, long := traceOf(t, in), strings.Repeat("r", runtime.MaxGiven+1)
	refused := func(err error, what string) {
		t.Helper()
		var tooLong *runtime.TooLongError
		require.ErrorAs(t, err, &tooLong)
		require.Equal(t, what, tooLong.What)
		require.Less(t, len(err.Error()), 2000)
	}
	for what, p := range map[string]runtime.Proposal{
		"role": {Role: long}, "phase": {Next: long}, "key": {Key: long}, "normalised": {Normalised: []string{long}},
		"argument c": {Args: map[string]string{"c": strings.Repeat("c", tree.DefaultPatchLimits.MaxPointerBytes+1)}},
	} {
		p.Stage, p.Patch = "draft", []byte(`[]`)
		_, err := in.Propose(ctx, p)
		refused(err, what)
	}
	_, err := in.View(ctx, runtime.Request{Stage: "draft", Role: long})
	refused(err, "role")
	_, err = in.Advance(ctx, long, "")
	refused(err, "phase")
	_, err = in.Advance(ctx, "closed", long)
	refused(err, "role")
	_, err = in.Propose(ctx, runtime.Proposal{Stage: strings.Repeat("s", 1<<20)})
	require.Less(t, len(err.Error()), 2000)
	require.Equal(t, before, traceOf(t, in))
	_, err = in.Propose(ctx, runtime.Proposal{Stage: "draft", Role: long[1:], Key: long[1:], Next: long[1:], Patch: []byte(`[]`)})
	require.NoError(t, err)
}

func TestAClockBeyondTheYearsThatALineHasTellsTheLast(t *testing.T) {
	for year, want := range map[int]string{10_000: "9999-12-31T23:59:59.999999999Z", -1: "0000-01-01T00:00:00Z"} {
		clock := func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
		in, st := begin(t, runtime.WithClock(clock))
		commits(t, propose(t, in, inside))
		require.Contains(t, traceOf(t, in), `"time":"`+want+`"`)
		got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, got.Different)
	}
}

// Two texts that differ in what is no text would read the same in the log.
func TestWhatTheHostGivesIsText(t *testing.T) {
	in, _ := begin(t)
	before := traceOf(t, in)
	for what, p := range map[string]runtime.Proposal{
		"role": {Role: "r\xff"}, "phase": {Next: "\xfe"}, "normalised": {Normalised: []string{"fence", "\xff"}}, "key": {Key: "\xed\xa0\x80"}, "argument c": {Args: map[string]string{"c": "c\xff"}},
	} {
		p.Stage, p.Patch = "draft", []byte(`[]`)
		_, err := in.Propose(ctx, p)
		var noText *runtime.NotTextError
		require.ErrorAs(t, err, &noText)
		require.Equal(t, what, noText.What)
	}
	require.Equal(t, before, traceOf(t, in))
}

// What a decision's record repeats of a proposal is as short as the reply.
func TestTheRecordOfARejectionDoesNotRepeatTheProposal(t *testing.T) {
	in, st := begin(t)
	for _, patch := range []string{
		`[{"op":"add","path":"/` + strings.Repeat("k", 1<<20) + `~","value":1}]`,
		`[{"op":"remove","path":"` + strings.Repeat("/a", 1<<19) + `"}]`,
		`{"` + strings.Repeat("é", 1<<19) + `":1}`,
		`[` + strings.Repeat(`{"op":"x"},`, 9_999) + `0]`,
	} {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(patch)})
		require.NoError(t, err)
		require.Len(t, v.Actor().Violations, len(v.Violations))
	}
	for r, err := range st.Read(ctx, in.ID(), 1, 0) {
		require.NoError(t, err)
		require.Less(t, len(r.Line), 64<<10)
	}
}

// A client that encodes its proposal again for a retry has proposed nothing else.
func TestAKeyGivesTheFirstVerdictToWhatReadsTheSame(t *testing.T) {
	for name, idle := range map[string]int{"kept": 1 << 20, "not kept": 0} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t, runtime.WithAttempts(0), runtime.WithIdlePatches(idle))
			again := func(key string, patches ...string) {
				t.Helper()
				p := runtime.Proposal{Stage: "all", Base: in.Version(), Key: key}
				p.Patch = []byte(patches[0])
				first := proposeAs(t, in, p)
				length := len(linesOf(t, in))
				for _, at := range []*runtime.Instance{in, reopened(t, in, st)} {
					for _, patch := range patches {
						p.Patch, p.Base = []byte(patch), at.Version()
						sameVerdict(t, first, proposeAs(t, at, p))
					}
				}
				require.Len(t, linesOf(t, in), length, "nothing is recorded")
				for _, other := range others {
					p.Patch, p.Base = []byte(other), in.Version()
					v := proposeAs(t, in, p)
					rejects(t, v, verify.Repeat)
					require.Contains(t, v.Violations[0].Message, "key")
				}
			}
			again("reject", spellings...)
			again("commit", `[{"op":"add","path":"/items/i1","value":{"id":"i1","count":1.0}}]`,
				`[{"value":{"count":1,"id":"i1"},"path":"/items/i1","op":"add"}]`, `{"patch":[{"op":"add","path":"/items/i1","value":{"id":"\u00691","count":10e-1}}]}`)
			again("noop", `[{"op":"test","path":"/ticket/id","value":"T-7"}]`, `[{"path":"/ticket/id","op":"test","value":"T\u002d7"}]`)
			got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
			require.NoError(t, err)
			require.Nil(t, got.Different)
		})
	}
}

// The phase that the actor names belongs to the proposal.
func TestAKeyIsTakenByTheSamePatchWithAnotherPhase(t *testing.T) {
	c := sampleIR(t)
	c.Stage("draft").Next = []string{"review", "open"}
	c.Phases[0].Arrows = append(c.Phases[0].Arrows, ir.Arrow{To: "open"})
	in := beginUnder(t, c, runtime.WithAttempts(0))
	named := func(next string) string { return `{"next":"` + next + `","patch":` + outside(1) + `}` }
	rejects(t, keyed(t, in, "k", named("review")), verify.WriteScopeViolation)
	rejects(t, keyed(t, in, "k", named("review")), verify.WriteScopeViolation)
	rejects(t, keyed(t, in, "k", named("open")), verify.Repeat)
	rejects(t, keyed(t, in, "", named("open")), verify.WriteScopeViolation)
	rejects(t, keyed(t, in, "", named("open")), verify.Repeat)
}
