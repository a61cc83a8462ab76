package runtime_test

import (
	"context"
	"fmt"
	host "runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

const patience = 20 * time.Second

// tailing is the last position that a tail tells, when it has come to a version.
func tailing(t testing.TB, in *runtime.Instance, after, until uint64) (last runtime.Position) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for p, err := range in.Tail(limited, after) {
		require.NoError(t, err)
		require.Greater(t, p.Version, max(after, last.Version), "each is told once")
		if last = p; p.Version >= until {
			break
		}
	}
	return last
}

// Of stores that tell and of stores that do not, commits of this process and of others are told.
func TestATailTellsOfCommitsByWhateverProcess(t *testing.T) {
	memory := store.NewMemory()
	for what, st := range map[string]store.Store{"tells": memory, "is asked": struct{ store.Store }{store.NewMemory()}} {
		in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
		require.NoError(t, err)
		other, err := runtime.Open(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"first"}]`))
		require.Equal(t, in.Position(), tailing(t, other, 0, 1), "%s: what was there before is told at once", what)
		var wait sync.WaitGroup
		for _, by := range []*runtime.Instance{in, other} {
			wait.Go(func() {
				for made := 0; made < 10; {
					v, err := by.Propose(ctx, runtime.Proposal{Stage: "all", Base: by.Version(), Patch: fmt.Appendf(nil, `[{"op":"add","path":"/history/-","value":"%p %d"}]`, by, made)})
					if err != nil {
						t.Error(err)
						return
					}
					if v.Verdict == runtime.Commit {
						made++
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		for _, by := range []*runtime.Instance{in, other, in} {
			wait.Go(func() {
				if last := tailing(t, by, 1, 21); last.Version != 21 {
					t.Errorf("%s: %+v", what, last)
				}
			})
		}
		wait.Wait()
		require.Equal(t, in.Position().Digest, tailing(t, other, 20, 21).Digest)
	}
}

// Neither views nor refusals are told: they change nothing.
func TestATailDoesNotTellOfWhatChangesNothing(t *testing.T) {
	in, _ := begin(t)
	go func() {
		for i := range 20 {
			in.View(ctx, runtime.Request{Stage: "draft"})
			in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":%d}]`, i)})
		}
		in.Propose(ctx, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(`[{"op":"add","path":"/history/-","value":"x"}]`)})
	}()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for p, err := range in.Tail(limited, 0) {
		require.NoError(t, err)
		require.Equal(t, uint64(1), p.Version)
		break
	}
}

func TestATailEndsWithItsContextTheInstanceOrTheLog(t *testing.T) {
	for what, end := range map[string]struct {
		do   func(in *runtime.Instance, st store.Store, cancel func())
		want error
	}{
		"context":  {func(_ *runtime.Instance, _ store.Store, cancel func()) { cancel() }, context.Canceled},
		"closed":   {func(in *runtime.Instance, _ store.Store, _ func()) { in.Close(ctx) }, runtime.ErrClosed},
		"deletion": {func(_ *runtime.Instance, st store.Store, _ func()) { runtime.Delete(ctx, st, "T-7") }, store.ErrNotFound},
	} {
		in, st := begin(t)
		tailed, cancel := context.WithCancel(ctx)
		time.AfterFunc(20*time.Millisecond, func() { end.do(in, st, cancel) })
		began := time.Now()
		var last error
		for _, err := range in.Tail(tailed, 0) {
			last = err
		}
		require.ErrorIs(t, last, end.want, what)
		require.Less(t, time.Since(began), patience, what)
		cancel()
	}
}

// What a tail began ends with it.
func TestATailLeavesNothingBehind(t *testing.T) {
	in, _ := begin(t)
	setMargin(t, in, 0.5)
	before := host.NumGoroutine()
	for range 50 {
		for range in.Tail(ctx, 0) {
			break
		}
	}
	for began := time.Now(); host.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		require.Less(t, time.Since(began), patience)
	}
}
