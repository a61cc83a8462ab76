package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// same requires that a position is what the single questions say.
func standsAt(t testing.TB, in *runtime.Instance, p runtime.Position) {
	t.Helper()
	require.Equal(t, runtime.Position{Version: in.Version(), Seq: in.Head().Seq, Phase: in.Phase(), Digest: in.StateDigest()}, p)
}

func TestAPositionFollowsEveryRecord(t *testing.T) {
	in, _ := begin(t)
	for i := range 30 {
		wander(t, in, 1, int64(i))
		standsAt(t, in, in.Position())
		state, err := in.Export(ctx)
		require.NoError(t, err)
		require.Equal(t, in.Position(), state.Position)
		require.Equal(t, stateOf(t, in), string(state.JSON))
	}
	in, _ = begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "hand_in", Patch: []byte(`[]`)}))
	require.Equal(t, "review", in.Position().Phase)
	text, err := json.Marshal(in.Position())
	require.NoError(t, err)
	require.Contains(t, string(text), `"phase":"review","digest":"sha256:`)
}

// While others commit, a state and its position are of one moment.
func TestAnExportedStateIsThatOfItsPosition(t *testing.T) {
	in, _ := begin(t)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for i := range 100 {
				in.Propose(ctx, runtime.Proposal{Stage: "margin", Base: in.Version(), Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":0.%d}]`, i%9+1)})
			}
		})
	}
	byVersion := map[uint64]string{}
	for range 300 {
		state, err := in.Export(ctx)
		require.NoError(t, err)
		if before, seen := byVersion[state.Version]; seen {
			require.Equal(t, before, string(state.JSON)+state.Digest)
		}
		byVersion[state.Version] = string(state.JSON) + state.Digest
	}
	wait.Wait()
}

func TestRefreshingReadsWhatOthersHaveAppended(t *testing.T) {
	in, st := begin(t)
	other, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	for i := range 10 {
		wander(t, in, 5, int64(i))
		p, err := other.Refresh(ctx)
		require.NoError(t, err)
		require.Equal(t, in.Position(), p)
		require.Equal(t, stateOf(t, in), stateOf(t, other))
		again, err := other.Refresh(ctx)
		require.NoError(t, err)
		require.Equal(t, p, again)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = other.Refresh(ended)
	require.ErrorIs(t, err, context.Canceled)
}

func TestWhoRefreshesLearnsThatTheInstanceIsGoneOrAnotherOne(t *testing.T) {
	for _, anew := range []int{0, 1, 10, 60} { // records of the one that was begun anew
		in, st := begin(t)
		wander(t, in, 6, 1)
		other, err := runtime.Open(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.NoError(t, runtime.Delete(ctx, st, "T-7"))
		if anew > 0 {
			begun, err := runtime.Create(ctx, in.Contract(), st, "T-7", []byte(sampleState))
			require.NoError(t, err)
			wander(t, begun, anew/2, 2)
			in = begun
		}
		before := other.Position()
		_, err = other.Refresh(ctx)
		if anew == 0 {
			require.ErrorIs(t, err, store.ErrNotFound)
		} else {
			require.ErrorAs(t, err, new(*runtime.CorruptLogError))
		}
		require.Equal(t, before, other.Position())
		for range 2 {
			_, err = other.Propose(ctx, runtime.Proposal{Stage: "all", Base: other.Version(), Patch: []byte(`[{"op":"add","path":"/history/-","value":"h"}]`)})
			require.Error(t, err)
		}
		if anew > 0 {
			head, err := runtime.CheckLog(ctx, st, "T-7", nil)
			require.NoError(t, err, "nothing was appended to it")
			require.Equal(t, in.Head(), head)
		}
	}
}

// drawn is a proposal of any kind: by whom and for whatever stage, with or without a key, on any
// version, and as likely as not refused.
func drawn(random *rand.Rand, version uint64) runtime.Proposal {
	pick := func(of ...string) string { return of[random.Intn(len(of))] }
	patch := everyEdit[random.Intn(len(everyEdit))]
	if strings.Contains(patch, "%") {
		patch = fmt.Sprintf(patch, random.Intn(4))
	}
	if random.Intn(4) == 0 {
		patch = pick("", "[]", "{", `[{"op":"replace","path":"/ticket/status","value":"closed"}]`, `[{"op":"add","path":"/draft/refs/9","value":"x"}]`,
			`{"patch":[],"next":"review"}`, `{"patch":[],"next":"nowhere"}`, `[{"op":"replace","path":"/internal/margin","value":7}]`,
			`[{"op":"replace","path":"/internal/margin","value":0.5}]`)
	}
	p := runtime.Proposal{
		Stage: pick("all", "all", "draft", "draft", "root", "strict", "edit", "margin", "hand_in", "decide"), Role: pick("", "admin", "human"),
		Patch: []byte(patch), Base: version - min(version, uint64(random.Intn(3))), Principal: runtime.Principal{Subject: pick("", "ann")},
	}
	if p.Stage == "edit" {
		p.Args = map[string]string{"c": pick("ann", "bob", "nobody", "")}
	}
	if random.Intn(3) == 0 {
		p.Key = pick("k1", "k2", "k3", "k4", "k5")
	}
	return p
}

func rendered(t testing.TB, v runtime.Verdict, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	operator, err := json.Marshal(v)
	require.NoError(t, err)
	actor, err := json.Marshal(v.Actor())
	require.NoError(t, err)
	return string(operator) + string(actor)
}

func TestADryRunSaysWhatProposingSaysAndLeavesNoTrace(t *testing.T) {
	seen := map[string]int{}
	for seed := range int64(8) {
		random := rand.New(rand.NewSource(seed))
		in, st := begin(t, runtime.WithAttempts(3), runtime.WithIdlePatches(2000), runtime.WithRecentCommits(2), runtime.WithSnapshotAfter(1))
		for i := range 120 {
			if i%40 == 39 {
				var err error
				in, err = runtime.Open(ctx, in.Contract(), st, "T-7", runtime.WithClock(fixedClock), runtime.WithAttempts(3), runtime.WithIdlePatches(2000), runtime.WithRecentCommits(2))
				require.NoError(t, err)
			}
			p := drawn(random, in.Version())
			head, before := in.Head(), in.Position()
			first, err := in.Verify(ctx, p)
			dry := rendered(t, first, err)
			second, err := in.Verify(ctx, p)
			require.Equal(t, dry, rendered(t, second, err), "a dry run uses nothing up")
			require.Equal(t, before, in.Position())
			require.Equal(t, head, in.Head())
			seq, _, headErr := st.Head(ctx, "T-7")
			require.NoError(t, headErr)
			require.Equal(t, head.Seq, seq)
			v, err := in.Propose(ctx, p)
			require.Equal(t, rendered(t, v, err), dry, "%+v", p)
			for _, found := range v.Violations {
				seen[string(found.Code)]++
			}
			seen[string(v.Verdict)]++
		}
	}
	for _, code := range []string{"commit", "noop", "reject", "stale", "repeat", "attempts_exhausted", "unauthorised", "patch_syntax", "argument_violation", "transition_violation", "patch_write_scope_violation"} {
		require.Positive(t, seen[code], "%s in %v", code, seen)
	}
}

// While a proposal with its key is on its way to the store, a dry run waits for what comes of it.
func TestADryRunWaitsForTheProposalThatHasItsKey(t *testing.T) {
	st := &waitingStore{store.NewMemory(), make(chan struct{}), make(chan struct{})}
	in, err := runtime.Create(ctx, sampleContract(t), st, "W", []byte(sampleState))
	require.NoError(t, err)
	p := runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"x"}]`), Key: "k"}
	done := make(chan string)
	go func() {
		v, err := in.Propose(ctx, p)
		done <- rendered(t, v, err)
	}()
	<-st.asked
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = in.Verify(short, p)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	other := p
	other.Key = "l"
	waits, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = in.Verify(waits, other)
	require.ErrorIs(t, err, context.DeadlineExceeded, "what is not in the store is not told, and what comes of it not known")
	st.let <- struct{}{}
	decided := <-done
	v, err := in.Verify(ctx, p)
	require.Equal(t, decided, rendered(t, v, err))
}

func TestADryRunKnowsTheProposalsThatAreUnderWay(t *testing.T) {
	in, _ := begin(t)
	p := runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"r"}]`), Key: "k"}
	var wait sync.WaitGroup
	texts := make([]string, 20)
	for i := range texts {
		wait.Go(func() {
			if i%2 == 0 {
				v, err := in.Propose(ctx, p)
				texts[i] = rendered(t, v, err)
			} else {
				v, err := in.Verify(ctx, p)
				texts[i] = rendered(t, v, err)
			}
		})
	}
	wait.Wait()
	for _, text := range texts {
		require.Equal(t, texts[0], text)
	}
	_, err := in.Verify(ctx, runtime.Proposal{Stage: "nowhere"})
	require.ErrorAs(t, err, new(*runtime.UnknownStageError))
	_, err = in.Verify(ctx, runtime.Proposal{Stage: "draft", Role: strings.Repeat("r", 2000)})
	require.ErrorAs(t, err, new(*runtime.TooLongError))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = in.Verify(ended, p)
	require.ErrorIs(t, err, context.Canceled)
}

func TestVerifyKnowsWhatAnotherProcessHasAppended(t *testing.T) {
	const p = `[{"op":"add","path":"/draft/refs/-","value":"mine"}]`
	for name, elsewhere := range map[string]func(t *testing.T, in *runtime.Instance){
		"a commit": func(t *testing.T, in *runtime.Instance) { commits(t, propose(t, in, inside)) },
		"a try": func(t *testing.T, in *runtime.Instance) {
			rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
		},
		"the same, refused": func(t *testing.T, in *runtime.Instance) {
			rejects(t, propose(t, in, outside(7)), verify.WriteScopeViolation)
		},
		"all tries": func(t *testing.T, in *runtime.Instance) {
			for n := range 3 {
				rejects(t, propose(t, in, outside(n)), verify.WriteScopeViolation)
			}
		},
		"a move of the phase": func(t *testing.T, in *runtime.Instance) {
			_, err := in.Advance(ctx, "review", "")
			require.NoError(t, err)
		},
	} {
		for _, patch := range []string{p, outside(7)} {
			in, st := begin(t)
			other, err := runtime.Open(ctx, in.Contract(), st, "T-7")
			require.NoError(t, err)
			elsewhere(t, other)
			proposal := runtime.Proposal{Stage: "draft", Patch: []byte(patch)}
			told, err := in.Verify(ctx, proposal)
			require.NoError(t, err)
			decided, err := in.Propose(ctx, proposal)
			require.NoError(t, err)
			require.Equal(t, rendered(t, decided, nil), rendered(t, told, nil), name)
		}
	}
}

func TestAClosedInstanceSaysSoWhateverIsAsked(t *testing.T) {
	in, st := begin(t)
	wander(t, in, 5, 1)
	for range 3 {
		require.NoError(t, in.Close(ctx), "closing again does nothing")
	}
	for what, call := range map[string]func() error{
		"Propose": func() error {
			_, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`)})
			return err
		},
		"Verify": func() error {
			_, err := in.Verify(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`)})
			return err
		},
		"View":    func() error { _, err := in.View(ctx, runtime.Request{Stage: "draft"}); return err },
		"Advance": func() error { _, err := in.Advance(ctx, "review", ""); return err },
		"State":   func() error { _, err := in.State(ctx); return err },
		"Export":  func() error { _, err := in.Export(ctx); return err },
		"Migrate": func() error {
			_, _, err := in.Migrate(ctx, otherContract(t, nil), runtime.Migration{})
			return err
		},
		"Refresh":  func() error { _, err := in.Refresh(ctx); return err },
		"Trace":    func() error { return in.Trace(ctx, io.Discard) },
		"Runnable": func() error { _, err := in.Runnable(ctx, ""); return err },
		"Tail": func() (last error) {
			for _, err := range in.Tail(ctx, 0) {
				last = err
			}
			return last
		},
	} {
		require.ErrorIs(t, call(), runtime.ErrClosed, what)
	}
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	commits(t, proposeAs(t, again, runtime.Proposal{Stage: "all", Base: again.Version(), Patch: []byte(`[{"op":"add","path":"/history/-","value":"on"}]`)}))
	require.True(t, bytes.HasPrefix([]byte(traceOf(t, again)), []byte(`{"seq":1,`)))
}

// A swappedStore puts another log in the place of an instance's, before one of the reads.
type swappedStore struct {
	store.Store
	reads int // until then
	swap  func()
}

func (s *swappedStore) Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[store.Record, error] {
	if s.reads--; s.reads == 0 {
		s.swap()
	}
	return s.Store.Read(ctx, id, from, limit)
}

func TestWhoOpensALogWhileItIsBegunAnewIsNotToldThatItIsBroken(t *testing.T) {
	for name, read := range map[string]func(c *runtime.Contract, st store.Store) error{
		"Open": func(c *runtime.Contract, st store.Store) error { _, err := runtime.Open(ctx, c, st, "T-7"); return err },
		"Replay": func(c *runtime.Contract, st store.Store) error {
			_, err := runtime.Replay(ctx, c, st, "T-7")
			return err
		},
		"At": func(c *runtime.Contract, st store.Store) error {
			_, err := runtime.At(ctx, c, st, "T-7", 3)
			return err
		},
	} {
		for _, anew := range []int{-1, 1, 40} { // moves of the one that was begun anew
			for reads, swapped := 1, true; swapped; reads++ {
				in, st := begin(t, runtime.WithSnapshotAfter(1<<30))
				wander(t, in, 12, 1)
				swapped = false
				err := read(in.Contract(), &swappedStore{st, reads, func() {
					swapped = true
					require.NoError(t, runtime.Delete(ctx, st, "T-7"))
					if anew > 0 {
						begun, err := runtime.Create(ctx, in.Contract(), st, "T-7", []byte(sampleState))
						require.NoError(t, err)
						wander(t, begun, anew, int64(reads)+5)
					}
				}})
				if anew < 0 && swapped {
					require.ErrorIs(t, err, store.ErrNotFound, "%s, read %d", name, reads)
				}
				var broken *runtime.CorruptLogError
				if errors.As(err, &broken) {
					require.Contains(t, broken.Reason, "begun anew", "%s, read %d", name, reads)
				}
			}
		}
	}
}
