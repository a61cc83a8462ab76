package runtime_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// A hangingStore answers nothing while it hangs, whatever the context.
type hangingStore struct {
	*store.Memory
	hangs atomic.Bool
	asked atomic.Int64 // for keys
	never chan struct{}
}

func (s *hangingStore) wait() {
	if s.hangs.Load() {
		<-s.never
	}
}

func (s *hangingStore) Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[store.Record, error] {
	s.wait()
	return s.Memory.Read(ctx, id, from, limit)
}

func (s *hangingStore) Instances(ctx context.Context, from string) iter.Seq2[store.Entry, error] {
	s.wait()
	return s.Memory.Instances(ctx, from)
}

func (s *hangingStore) Delete(ctx context.Context, id string) error {
	s.wait()
	return s.Memory.Delete(ctx, id)
}

func (s *hangingStore) Find(ctx context.Context, id, key string) (uint64, error) {
	s.asked.Add(1)
	s.wait()
	return s.Memory.Find(ctx, id, key)
}

func (s *hangingStore) End(ctx context.Context) (store.Cursor, error) {
	s.wait()
	return s.Memory.End(ctx)
}

func (s *hangingStore) Tail(ctx context.Context, after store.Cursor) iter.Seq2[store.Change, error] {
	s.wait()
	return s.Memory.Tail(ctx, after)
}

func last[T any](all iter.Seq2[T, error]) (err error) {
	for _, err = range all {
	}
	return err
}

func TestWhileAStoreHangsNobodyWaitsLongerThanTheirContext(t *testing.T) {
	st := &hangingStore{Memory: store.NewMemory(), never: make(chan struct{})}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	st.hangs.Store(true)
	defer close(st.never)
	for what, call := range map[string]func(ctx context.Context) error{
		"List":   func(ctx context.Context) error { return last(runtime.List(ctx, st, "", 0)) },
		"InfoOf": func(ctx context.Context) error { _, err := runtime.InfoOf(ctx, st, "T-7"); return err },
		"Lines":  func(ctx context.Context) error { return last(runtime.Lines(ctx, st, "T-7", 1, 0)) },
		"Delete": func(ctx context.Context) error { return runtime.Delete(ctx, st, "T-7") },
		"Verify, with a key": func(ctx context.Context) error {
			_, err := in.Verify(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`), Key: "k"})
			return err
		},
		"Tail":    func(ctx context.Context) error { return last(in.Tail(ctx, 0)) },
		"Refresh": func(ctx context.Context) error { _, err := in.Refresh(ctx); return err },
	} {
		t.Run(what, func(t *testing.T) {
			short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- call(short) }()
			select {
			case err := <-done:
				require.ErrorIs(t, err, context.DeadlineExceeded)
			case <-time.After(patience):
				require.Fail(t, "it waits for the store")
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			err := call(ended)
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorAs(t, err, new(*runtime.OpenOutcomeError), "it was not begun")
		})
	}
	require.NotEmpty(t, in.Position().Digest, "what is known is told")
	state, err := in.Export(ctx)
	require.NoError(t, err)
	require.Equal(t, in.Position(), state.Position)
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	_, err = in.Verify(short, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`)})
	require.ErrorIs(t, err, context.DeadlineExceeded, "another process may have appended")
}

// A store that hangs is asked for a bounded number of keys, however often callers give up.
func TestWhileAStoreHangsWhoAsksAgainLeavesNoMoreCallsBehind(t *testing.T) {
	st := &hangingStore{Memory: store.NewMemory(), never: make(chan struct{})}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState))
	require.NoError(t, err)
	st.hangs.Store(true)
	for n := range 200 {
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		_, err := in.Propose(short, runtime.Proposal{Stage: "draft", Patch: []byte(inside), Key: fmt.Sprint(n)})
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.LessOrEqual(t, st.asked.Load(), int64(64))
	st.hangs.Store(false)
	close(st.never)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: []byte(inside), Key: "1"}))
}
