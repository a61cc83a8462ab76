package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// otherContract is the sample contract as its author changed it.
func otherContract(t testing.TB, change func(c *ir.Contract)) *runtime.Contract {
	t.Helper()
	c := sampleIR(t)
	c.Doc = "another one"
	if change != nil {
		change(c)
	}
	contract, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	return contract
}

func migrates(t testing.TB, in *runtime.Instance, to *runtime.Contract, m runtime.Migration) *runtime.Instance {
	t.Helper()
	next, v, err := in.Migrate(ctx, to, m)
	require.NoError(t, err)
	commits(t, v)
	require.Equal(t, to.Digest(), next.Contract().Digest())
	return next
}

func requireReplays(t testing.TB, st store.Store, contracts ...*runtime.Contract) runtime.Replayed {
	t.Helper()
	got, err := runtime.Replay(ctx, contracts[0], st, "T-7", contracts[1:]...)
	require.NoError(t, err)
	require.Nil(t, got.Different)
	_, err = runtime.CheckLog(ctx, st, "T-7", nil)
	require.NoError(t, err)
	require.NoError(t, runtime.CheckSnapshots(ctx, st, "T-7"))
	return got
}

func TestAnInstanceGoesOnUnderAnotherContract(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	to := otherContract(t, nil)
	next := migrates(t, in, to, runtime.Migration{Principal: runtime.Principal{Subject: "ann"}})
	require.Equal(t, uint64(2), next.Version())
	require.Equal(t, stateOf(t, in), stateOf(t, next))
	v := proposeAs(t, next, runtime.Proposal{Stage: "draft", Base: 1, Patch: []byte(inside)})
	rejects(t, v, verify.Stale)
	commits(t, proposeAs(t, next, runtime.Proposal{Stage: "draft", Base: 2, Patch: []byte(inside)}))
	for _, again := range []*runtime.Instance{reopenedAs(t, to, st), reopenedAs(t, to, snapshotlessReads{st})} {
		require.Equal(t, stateOf(t, next), stateOf(t, again))
		rejects(t, proposeAs(t, again, runtime.Proposal{Stage: "draft", Base: 1, Patch: []byte(inside)}), verify.Stale)
		next = again
	}
	got := requireReplays(t, st, in.Contract(), to)
	require.Equal(t, uint64(3), got.Version)
	requireReplays(t, st, to, in.Contract())
	lines := linesOf(t, next)
	require.Equal(t, []trace.Kind{trace.Migrate, trace.Decision}, []trace.Kind{lines[3].Kind, lines[4].Kind})
}

func reopenedAs(t testing.TB, c *runtime.Contract, st store.Store) *runtime.Instance {
	t.Helper()
	in, err := runtime.Open(ctx, c, st, "T-7")
	require.NoError(t, err)
	return in
}

// snapshotlessReads is a store that has lost its snapshots.
type snapshotlessReads struct{ store.Store }

func (s snapshotlessReads) Snapshot(_ context.Context, id string, _ uint64) (store.Snapshot, error) {
	return store.Snapshot{}, &store.Error{Instance: id, Err: store.ErrNotFound}
}

func TestAfterAMigrationTheOldContractOpensNothingAndDecidesNothing(t *testing.T) {
	in, st := begin(t)
	other := reopened(t, in, st)
	commits(t, propose(t, in, inside))
	to := otherContract(t, nil)
	migrates(t, in, to, runtime.Migration{})
	var mismatch *runtime.ContractMismatchError
	isMismatch := func(err error) {
		t.Helper()
		require.ErrorAs(t, err, &mismatch)
		require.Equal(t, to.Digest(), mismatch.Have)
	}
	for _, old := range []*runtime.Instance{in, other} {
		for range 2 {
			_, err := old.Propose(ctx, runtime.Proposal{Stage: "draft", Base: old.Version(), Patch: []byte(inside)})
			isMismatch(err)
			_, err = old.Advance(ctx, "review", "host")
			isMismatch(err)
			_, _, err = old.Migrate(ctx, otherContract(t, func(c *ir.Contract) { c.Doc = "a third" }), runtime.Migration{})
			isMismatch(err)
		}
	}
	for _, reads := range []store.Store{st, snapshotlessReads{st}} {
		_, err := runtime.Open(ctx, in.Contract(), reads, "T-7")
		isMismatch(err)
		_, err = runtime.At(ctx, in.Contract(), reads, "T-7", 2)
		isMismatch(err)
		past, err := runtime.At(ctx, in.Contract(), reads, "T-7", 1)
		require.NoError(t, err)
		require.Equal(t, uint64(1), past.Version)
		past, err = runtime.At(ctx, to, reads, "T-7", 2)
		require.NoError(t, err)
		require.Equal(t, uint64(2), past.Version)
		_, err = runtime.At(ctx, to, reads, "T-7", 1)
		require.ErrorAs(t, err, &mismatch)
		require.Equal(t, in.Contract().Digest(), mismatch.Have)
	}
	_, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	isMismatch(err)
	_, err = runtime.Replay(ctx, to, st, "T-7")
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, in.Contract().Digest(), mismatch.Have)
	_, _, err = reopenedAs(t, to, st).Migrate(ctx, to, runtime.Migration{})
	require.ErrorAs(t, err, new(*runtime.SameContractError))
}

func TestAMigrationThatDoesNotFitIsRejectedAndRecorded(t *testing.T) {
	renamed := func(c *ir.Contract) {
		for i := range c.Phases {
			if c.Phases[i].Name == "open" {
				c.Phases[i].Name = "opened"
			}
		}
		for i := range c.Stages {
			for j, phase := range c.Stages[i].In {
				if phase == "open" {
					c.Stages[i].In[j] = "opened"
				}
			}
		}
	}
	lonely := func(c *ir.Contract) { // the draft has a member that is required
		for i, m := range c.Types[c.State].Members {
			if m.Name == "draft" {
				draft := &c.Types[m.Type]
				draft.Members = append(draft.Members, ir.Member{Name: "title", Type: draft.Members[1].Type})
				_ = i
			}
		}
	}
	for name, c := range map[string]struct {
		change func(c *ir.Contract)
		m      runtime.Migration
		code   verify.Code
	}{
		"no such phase":     {renamed, runtime.Migration{}, verify.PhaseViolation},
		"not that phase":    {renamed, runtime.Migration{Phase: "opne"}, verify.PhaseViolation},
		"a required member": {lonely, runtime.Migration{}, verify.SchemaViolation},
		"not JSON":          {nil, runtime.Migration{Patch: []byte(`[`)}, verify.PatchSyntax},
		"no operation":      {nil, runtime.Migration{Patch: []byte(`[{"op":"nop"}]`)}, verify.PatchSyntax},
		"nowhere":           {nil, runtime.Migration{Patch: []byte(`[{"op":"remove","path":"/nowhere"}]`)}, verify.PathMissing},
		"a test":            {nil, runtime.Migration{Patch: []byte(`[{"op":"test","path":"/ticket/id","value":"no"}]`)}, verify.TestFailed},
		"another type":      {nil, runtime.Migration{Patch: []byte(`[{"op":"add","path":"/ticket/id","value":7}]`)}, verify.SchemaViolation},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t)
			commits(t, propose(t, in, inside))
			before, length := stateOf(t, in), len(linesOf(t, in))
			to := otherContract(t, c.change)
			for _, dry := range []bool{true, false} {
				c.m.DryRun = dry
				next, v, err := in.Migrate(ctx, to, c.m)
				require.NoError(t, err)
				require.Nil(t, next)
				rejects(t, v, c.code)
				require.Equal(t, []uint64{1, 1}, []uint64{v.VersionBefore, v.VersionAfter})
				require.Equal(t, in.Contract().Digest(), v.Contract)
			}
			again := reopened(t, in, st)
			require.Len(t, linesOf(t, again), length+2, "a dry run is not recorded")
			require.Equal(t, before, stateOf(t, again))
			commits(t, proposeAs(t, again, runtime.Proposal{Stage: "draft", Base: 1, Patch: []byte(inside)}))
			requireReplays(t, st, in.Contract(), to)
		})
	}
}

// The state is one thing under two contracts: what the patch of a migration says, it says of the file.
func TestThePatchOfAMigrationIsOfTheStateFile(t *testing.T) {
	in, st := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[{"op":"add","path":"/items/i0","value":{"id":"i0","count":5}}]`)}))
	to := otherContract(t, nil)
	at := strings.Count(stateOf(t, in), `"count"`)
	next := migrates(t, in, to, runtime.Migration{Patch: fmt.Appendf(nil, `[{"op":"add","path":"/items/%d","value":{"id":"i9","count":2}}]`, at)})
	require.Contains(t, stateOf(t, next), `"id":"i9"`)
	requireReplays(t, st, in.Contract(), to)
	line := linesOf(t, next)[3]
	require.Equal(t, trace.Migrate, line.Kind)
	require.Equal(t, 1024, line.Size)
	require.Nil(t, line.Patch, "two contracts have a say in what of it is secret")
	require.NotContains(t, traceOf(t, next), `"i9"`)
}

func TestARunThatMigratesAgainAndAgainOpensReplaysAndGoesBack(t *testing.T) {
	for seed := range int64(4) {
		random := rand.New(rand.NewSource(seed))
		in, st := begin(t, runtime.WithSnapshotAfter(random.Intn(2)<<20), runtime.WithAttempts(0))
		contracts := []*runtime.Contract{in.Contract()}
		for i := range 3 {
			contracts = append(contracts, otherContract(t, func(c *ir.Contract) { c.Doc = fmt.Sprint("version ", i) }))
		}
		type was struct {
			contract *runtime.Contract
			state    string
		}
		history := []was{{in.Contract(), stateOf(t, in)}}
		for range 60 {
			before := in.Version()
			switch random.Intn(6) {
			case 0:
				to := contracts[random.Intn(len(contracts))]
				if to == in.Contract() {
					continue
				}
				m := runtime.Migration{Principal: everyPrincipal[random.Intn(len(everyPrincipal))]}
				if random.Intn(2) == 0 {
					m.Patch = fmt.Appendf(nil, `[{"op":"add","path":"/draft/text","value":"m%d"}]`, before)
				}
				in = migrates(t, in, to, m)
			case 1:
				in = reopenedAs(t, in.Contract(), []store.Store{st, snapshotlessReads{st}}[random.Intn(2)])
			case 2:
				base := before - min(before, uint64(random.Intn(4)))
				proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: base, Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/draft/text","value":"l%d"}]`, before)})
			default:
				wander(t, in, 1, random.Int63())
			}
			if in.Version() != before {
				history = append(history, was{in.Contract(), stateOf(t, in)})
			}
		}
		requireReplays(t, st, contracts...)
		for version, h := range history {
			past, err := runtime.At(ctx, h.contract, st, "T-7", uint64(version))
			require.NoError(t, err, "version %d", version)
			require.Equal(t, h.state, string(past.State))
		}
	}
}

func TestOfMigrationsAtOnceOneIsMadeOnEachStateAndNoneIsLost(t *testing.T) {
	in, st := begin(t)
	to := []*runtime.Contract{}
	for i := range 4 {
		to = append(to, otherContract(t, func(c *ir.Contract) { c.Doc = fmt.Sprint(i) }))
	}
	made := make([]bool, len(to))
	together(len(to), func(i int) {
		own, err := runtime.Open(ctx, in.Contract(), st, "T-7")
		if err == nil {
			_, _, err = own.Migrate(ctx, to[i], runtime.Migration{})
		}
		made[i] = err == nil
		if err != nil && !errors.As(err, new(*runtime.ContractMismatchError)) {
			t.Error(err)
		}
	})
	count := 0
	for i, m := range made {
		if m {
			count++
			require.Equal(t, uint64(1), reopenedAs(t, to[i], st).Version())
		}
	}
	require.Equal(t, 1, count)
	requireReplays(t, st, append(to, in.Contract())...)
}

// Whoever can make the chain anew cannot put an instance under another contract, or into
// another state, unnoticed.
func TestAForgedMigrationDiffers(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	to := otherContract(t, nil)
	_, v, err := in.Migrate(ctx, to, runtime.Migration{Patch: []byte(`[{"op":"remove","path":"/nowhere"}]`)})
	require.NoError(t, err)
	rejects(t, v, verify.PathMissing)
	next := migrates(t, in, to, runtime.Migration{Patch: []byte(`[{"op":"add","path":"/draft/text","value":"x"}]`), Principal: runtime.Principal{Subject: "ann"}})
	commits(t, proposeAs(t, next, runtime.Proposal{Stage: "draft", Base: 2, Patch: []byte(inside)}))
	log := logOf(t, st)
	found := func(log []store.Record) bool {
		forged := store.NewMemory()
		require.NoError(t, forged.Create(ctx, "T-7", log...))
		got, err := runtime.Replay(ctx, in.Contract(), forged, "T-7", to)
		return err != nil || got.Different != nil
	}
	require.False(t, found(log))
	tried := 0
	for i := 3; i < 7; i++ {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(log[i].Line, &members))
		for name, value := range members {
			switch name {
			case "prev", "hash", "time", "principal": // made anew, or told by the host alone
				continue
			}
			member := `"` + name + `":` + string(value)
			for _, other := range []string{"", `"forged"`, "7", `{}`} {
				line := strings.Replace(string(log[i].Line), member, `"`+name+`":`+other, 1)
				if other == string(value) {
					continue
				}
				if other == "" {
					line = strings.Replace(string(log[i].Line), member+",", "", 1)
				}
				require.True(t, found(chainedWith(log, i, line)), "%s of record %d as %s", name, i+1, other)
				tried++
			}
		}
	}
	require.Greater(t, tried, 80)
	elsewhere := strings.Replace(string(log[3].Line), to.Digest(), "sha256:"+strings.Repeat("0", 64), 1)
	forged := store.NewMemory()
	require.NoError(t, forged.Create(ctx, "T-7", chainedWith(log, 3, elsewhere)...))
	got, err := runtime.Replay(ctx, in.Contract(), forged, "T-7", to)
	require.NoError(t, err)
	require.Equal(t, uint64(1), got.Unjudged, "what was refused is not told to be as recorded without its contract")
	// The seal is a key's, which the forger does not have; with the file, he has it.
	var sealed struct{ Key, State json.RawMessage }
	require.NoError(t, json.Unmarshal(log[6].Sealed, &sealed))
	for _, other := range []string{`{"key":%s,"state":{}}`, `{"key":%s}`, `{"key":"AAAA","state":{}}`} {
		forged := copyLog(log)
		if forged[6].Sealed = []byte(other); strings.Contains(other, "%s") {
			forged[6].Sealed = fmt.Appendf(nil, other, sealed.Key)
		}
		seal := in.Key().Seal(forged[6].Sealed)
		line := strings.Replace(string(log[6].Line), in.Key().Seal(log[6].Sealed), seal, 1)
		require.True(t, found(chainedWith(forged, 6, line)), other)
		_, err := runtime.Open(ctx, to, &givenStore{store.NewMemory(), chainedWith(forged, 6, line)}, "T-7")
		require.Error(t, err)
	}
}

func TestAMigrationTellsNothingSecret(t *testing.T) {
	in, st := begin(t)
	to := otherContract(t, nil)
	const canary = "CANARY-9"
	for _, patch := range []string{
		`[{"op":"add","path":"/internal/token","value":"` + canary + `"}]`,
		`[{"op":"test","path":"/internal/token","value":"` + canary + `"}]`,
		`[{"op":"add","path":"/customers/` + canary + `","value":7}]`,
		`[{"op":"add","path":"/internal/token/` + canary + `","value":7}]`,
		`[{"op":"add","path":"/internal/token","value":{"` + canary + `":7}}]`,
		`{"` + canary + `":[]}`,
	} {
		if _, v, err := in.Migrate(ctx, to, runtime.Migration{Patch: []byte(patch)}); err == nil && v.Verdict == verify.Commit {
			in, to = reopenedAs(t, to, st), in.Contract()
		} else {
			require.NoError(t, err)
		}
	}
	in = reopenedAs(t, in.Contract(), st)
	text := traceOf(t, in)
	for line := range strings.Lines(text) {
		if strings.Contains(line, canary) {
			require.Contains(t, line, "/customers/"+canary, "where the name of a customer is no secret, it shows")
		}
	}
	require.True(t, bytes.Contains([]byte(text), []byte(`"kind":"migrate"`)))
	requireReplays(t, st, in.Contract(), to)
}

// What either contract calls secret shows nowhere in what is recorded of a migration.
func TestWhatIsSecretUnderEitherContractIsShownByNone(t *testing.T) {
	secret := func(c *ir.Contract) {
		c.Secrets = region.Of("/:internal/:token", "/:customers/:*/:card", "/:customers")
	}
	for _, order := range []bool{false, true} {
		first, second := sampleIR(t), sampleIR(t)
		second.Doc = "another one"
		if secret(map[bool]*ir.Contract{false: second, true: first}[order]); order {
			second.Doc = "a third"
		}
		var contracts []*runtime.Contract
		for _, c := range []*ir.Contract{first, second} {
			loaded, err := runtime.Load(ir.Encode(c))
			require.NoError(t, err)
			contracts = append(contracts, loaded)
		}
		st := store.NewMemory()
		in, err := runtime.Create(ctx, contracts[0], st, "T-7", []byte(sampleState))
		require.NoError(t, err)
		_, v, err := in.Migrate(ctx, contracts[1], runtime.Migration{Patch: []byte(`[{"op":"add","path":"/customers/CANARY-9","value":7}]`)})
		require.NoError(t, err)
		rejects(t, v, verify.SchemaViolation)
		require.Equal(t, "/customers/CANARY-9", *v.Violations[0].Path, "the host may know")
		require.NotContains(t, traceOf(t, reopenedAs(t, contracts[0], st)), "CANARY-9")
		requireReplays(t, st, contracts...)
	}
}

// A secret name has one pseudonym, also where both contracts call it secret.
func TestWhatBothContractsCallSecretIsReplacedOnce(t *testing.T) {
	for _, patterns := range [][2]string{{"/:customers", "/:customers"}, {"/:customers/:*/:card", "/:customers"}, {"/:customers", "/:customers/:*/:card"}, {"/:internal", "/:customers"}} {
		for _, patch := range []string{
			`[{"op":"test","path":"/customers/CANARY-9","value":7}]`, `[{"op":"add","path":"/customers/CANARY-9/card","value":7}]`, `[{"op":"CANARY"}]`,
		} {
			first, second := sampleIR(t), sampleIR(t)
			second.Doc = "another one"
			first.Secrets, second.Secrets = region.Of(patterns[0]), region.Of(patterns[1])
			old, err := runtime.Load(ir.Encode(first))
			require.NoError(t, err)
			to, err := runtime.Load(ir.Encode(second))
			require.NoError(t, err)
			redacted := func(with *runtime.Contract) ([]string, []runtime.Violation) {
				st := store.NewMemory()
				in, err := runtime.Create(ctx, with, st, "T-7", []byte(sampleState), runtime.WithRandom(bytes.NewReader(make([]byte, 1024))))
				require.NoError(t, err)
				next := to
				if with == to {
					next = old
				}
				_, v, err := in.Migrate(ctx, next, runtime.Migration{Patch: []byte(patch)})
				require.NoError(t, err)
				require.Equal(t, verify.Reject, v.Verdict)
				require.Equal(t, uint64(3), in.Position().Seq, "who asked knows what was recorded")
				require.Equal(t, uint64(3), in.Head().Seq)
				lines := linesOf(t, in)
				require.NotContains(t, traceOf(t, in), "CANARY")
				requireReplays(t, st, old, to)
				got := requireReplays(t, st, with)
				require.Equal(t, []uint64{0, 1}, []uint64{got.Decisions, got.Unjudged})
				seen := map[string]bool{}
				for _, at := range lines[2].Redacted {
					require.False(t, seen[at], at)
					seen[at] = true
				}
				return lines[2].Redacted, lines[2].Verdict.Violations
			}
			places, violations := redacted(old)
			placesBack, violationsBack := redacted(to)
			require.Equal(t, places, placesBack)
			require.Equal(t, violations, violationsBack)
		}
	}
}

func TestAMigrationEndsWithItsContext(t *testing.T) {
	in, st := begin(t)
	commits(t, propose(t, in, inside))
	to, length := otherContract(t, nil), len(linesOf(t, in))
	for left := 0; ; left++ {
		_, v, err := in.Migrate(newCountdown(left), to, runtime.Migration{})
		if v.Verdict == verify.Commit {
			require.Equal(t, uint64(2), reopenedAs(t, to, st).Version(), "what is told was made")
			break
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		if len(logOf(t, st)) > length {
			require.ErrorAs(t, err, new(*runtime.OpenOutcomeError))
			break
		}
	}
	requireReplays(t, st, in.Contract(), to)
}

func TestAMigrationWaitsForAStoreThatHangsNoLongerThanItsContext(t *testing.T) {
	st := &lateStore{store.NewMemory(), make(chan struct{})}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	to := otherContract(t, nil)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, _, err = in.Migrate(short, to, runtime.Migration{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorAs(t, err, new(*runtime.OpenOutcomeError), "it may still be made")
	close(st.let)
	require.Eventually(t, func() bool { return len(logOf(t, st)) == 3 }, time.Second, time.Millisecond)
	_, _, err = in.Migrate(ctx, to, runtime.Migration{})
	var other *runtime.ContractMismatchError
	require.ErrorAs(t, err, &other)
	require.Equal(t, to.Digest(), other.Have, "so whoever asks again knows that it was")
	require.Equal(t, uint64(1), reopenedAs(t, to, st).Version())
}

// A lateStore appends when it is let, whatever has become of the context.
type lateStore struct {
	store.Store
	let chan struct{}
}

func (s *lateStore) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	<-s.let
	return s.Store.Append(context.WithoutCancel(ctx), id, last, records...)
}

// Whatever a line of a migration, of what waits or of any other record says, with a hash that
// is right: nothing panics, and what is opened is what is replayed.
func FuzzALogOfAnyLineWithTheRightHash(f *testing.F) {
	in, st := begin(f, runtime.WithClock(fixedClock))
	_, err := in.MakePending(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(inside), Key: "w"}, fixedClock())
	require.NoError(f, err)
	require.NoError(f, in.MakeWithdrawn(ctx, 3, "late", runtime.Principal{Subject: "ann"}))
	to := otherContract(f, nil)
	next := migrates(f, in, to, runtime.Migration{Patch: []byte(`[{"op":"add","path":"/draft/text","value":"x"}]`)})
	_, err = next.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(f, err)
	commits(f, proposeAs(f, next, runtime.Proposal{Stage: "draft", Base: 1, Patch: []byte(inside)}))
	log := logOf(f, st)
	for i, r := range log {
		f.Add(i, string(r.Line), r.Sealed)
	}
	f.Add(5, strings.Replace(string(log[5].Line), `"contract"`, `"format":2,"contract"`, 1), []byte(`{"key":"","state":{}}`))
	f.Add(0, strings.Replace(string(log[0].Line), `"format":2,`, ``, 1), log[0].Sealed)
	f.Add(2, strings.Replace(string(log[2].Line), `"pending"`, `"decision"`, 1), log[2].Sealed)
	f.Fuzz(func(t *testing.T, i int, line string, sealed []byte) {
		if i < 0 || i >= len(log) || !strings.Contains(line, `,"prev":`) {
			return
		}
		changed := copyLog(log)
		changed[i].Sealed = sealed
		line = strings.Replace(line, in.Key().Seal(log[i].Sealed), in.Key().Seal(sealed), 1)
		given := &givenStore{store.NewMemory(), chainedWith(changed, i, line)}
		_, checked := runtime.CheckLog(ctx, given, "T-7", nil)
		got, replayed := runtime.Replay(ctx, in.Contract(), given, "T-7", to)
		if checked != nil {
			require.True(t, replayed != nil || got.Different != nil, "%v", checked)
		}
		if opened, err := runtime.Open(ctx, to, snapshotlessReads{given}, "T-7"); err == nil && replayed == nil && got.Different == nil {
			require.Equal(t, got.State, opened.StateDigest())
		}
	})
}
