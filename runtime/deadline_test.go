package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// A countdown is a context that ends when it has been looked at so often.
type countdown struct {
	context.Context
	left  atomic.Int64
	never chan struct{}
}

func newCountdown(left int) *countdown {
	c := &countdown{Context: context.Background(), never: make(chan struct{})}
	c.left.Store(int64(left))
	return c
}

func (c *countdown) Done() <-chan struct{} { return c.never }

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// However far a call came when its context ends, it returns the context's error, no
// verdict, and has appended nothing.
func TestACallThatOutlivesItsContextDecidesNothing(t *testing.T) {
	c := sampleContract(t)
	in, st := begin(t)
	propose := func(ctx context.Context, key string) error {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: in.Version(), Key: key, Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"x"}]`)})
		if err == nil {
			require.Equal(t, verify.Commit, v.Verdict)
		}
		return err
	}
	fresh := store.NewMemory()
	for name, call := range map[string]func(ctx context.Context) error{
		"propose":    func(ctx context.Context) error { return propose(ctx, "") },
		"with a key": func(ctx context.Context) error { return propose(ctx, "k") },
		"view":       func(ctx context.Context) error { _, err := in.View(ctx, runtime.Request{Stage: "draft"}); return err },
		"state":      func(ctx context.Context) error { _, err := in.State(ctx); return err },
		"create": func(ctx context.Context) error {
			_, err := runtime.Create(ctx, c, fresh, "new", []byte(sampleState))
			return err
		},
		"open":   func(ctx context.Context) error { _, err := runtime.Open(ctx, c, st, in.ID()); return err },
		"replay": func(ctx context.Context) error { _, err := runtime.Replay(ctx, c, st, in.ID()); return err },
		"at":     func(ctx context.Context) error { _, err := runtime.At(ctx, c, st, in.ID(), in.Version()); return err },
		"check":  func(ctx context.Context) error { _, err := runtime.CheckLog(ctx, st, in.ID(), nil); return err },
	} {
		left := 0
		for ; ; left++ {
			head, version := in.Head(), in.Version()
			err := call(newCountdown(left))
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.DeadlineExceeded, "%s, after %d looks", name, left)
			require.Equal(t, head, in.Head(), name)
			require.Equal(t, version, in.Version(), name)
		}
		require.Positive(t, left, name)
	}
	for left := 0; ; left++ {
		if _, err := in.Advance(newCountdown(left), "closed", ""); err == nil {
			break
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
	require.Equal(t, "closed", in.Phase())
	_, err := runtime.CheckLog(ctx, st, in.ID(), nil)
	require.NoError(t, err)
}

// A waitingStore appends when it is let.
type waitingStore struct {
	store.Store
	asked, let chan struct{}
}

func (s *waitingStore) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	s.asked <- struct{}{}
	<-s.let
	return s.Store.Append(ctx, id, last, records...)
}

func TestWhoWaitsForAnotherAppendWaitsNoLongerThanItsContext(t *testing.T) {
	st := &waitingStore{store.NewMemory(), make(chan struct{}), make(chan struct{})}
	in, err := runtime.Create(ctx, sampleContract(t), st, "W", []byte(sampleState))
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"add","path":"/draft/refs/-","value":"x"}]`)})
		done <- err
	}()
	<-st.asked
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = in.Propose(short, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = in.View(short, runtime.Request{Stage: "draft"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	st.let <- struct{}{}
	require.NoError(t, <-done)
}
