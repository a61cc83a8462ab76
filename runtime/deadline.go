package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/patchoptic/poptic/runtime/store"
)

// Every call ends soon after its context. What computes looks at the context as it goes. A
// store may not: it waits for a disk, for a lock of another process, or for a network, and
// nobody can make it stop. So nobody who has a deadline waits for it otherwise than here, or
// in the pipeline, whose flusher has none.

// A promptStore gives up waiting for a call of the store when the call's context ends. The
// call goes on, and what it comes to is dropped.
type promptStore struct{ store.Store }

// answersAtOnce reports whether no call of a store waits for anything.
func answersAtOnce(st store.Store) bool {
	if s, ok := st.(promptStore); ok {
		st = s.Store
	}
	_, inMemory := st.(*store.Memory)
	return inMemory
}

// Create implements store.Store. When ctx ends, the outcome is open.
func (s promptStore) Create(ctx context.Context, id string, records ...store.Record) error {
	answered, err := promptly(ctx, func() (bool, error) { return true, s.Store.Create(ctx, id, records...) })
	if !answered {
		return &OpenOutcomeError{err}
	}
	return err
}

// Append implements store.Store. When ctx ends, the outcome is open.
func (s promptStore) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	answered, err := promptly(ctx, func() (bool, error) { return true, s.Store.Append(ctx, id, last, records...) })
	if !answered {
		return &OpenOutcomeError{err}
	}
	return err
}

// Delete implements store.Deleter, if the store does. When ctx ends, the outcome is open.
func (s promptStore) Delete(ctx context.Context, id string) error {
	d, can := s.Store.(store.Deleter)
	if !can {
		return &store.Error{Instance: id, Err: fmt.Errorf("this store deletes no instances: %w", errors.ErrUnsupported)}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	answered, err := promptly(ctx, func() (bool, error) { return true, d.Delete(ctx, id) })
	if !answered {
		return &OpenOutcomeError{err}
	}
	return err
}

// Find implements store.Store.
func (s promptStore) Find(ctx context.Context, id, key string) (uint64, error) {
	return promptly(ctx, func() (uint64, error) { return s.Store.Find(ctx, id, key) })
}

// Snapshot implements store.Store.
func (s promptStore) Snapshot(ctx context.Context, id string, version uint64) (store.Snapshot, error) {
	return promptly(ctx, func() (store.Snapshot, error) { return s.Store.Snapshot(ctx, id, version) })
}

// promptly makes a call and waits for what it comes to, until the context ends: then the value
// is zero, and the error the context's.
func promptly[T any](ctx context.Context, call func() (T, error)) (T, error) {
	if ctx.Done() == nil {
		return call()
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := call()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Read implements store.Store.
func (s promptStore) Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[store.Record, error] {
	return promptlyEach(ctx, func() iter.Seq2[store.Record, error] { return s.Store.Read(ctx, id, from, limit) })
}

// Instances implements store.Store.
func (s promptStore) Instances(ctx context.Context, from string) iter.Seq2[store.Entry, error] {
	return promptlyEach(ctx, func() iter.Seq2[store.Entry, error] { return s.Store.Instances(ctx, from) })
}

// promptlyEach makes a call and iterates over what it gives, until the context ends: then the last
// error is the context's.
func promptlyEach[T any](ctx context.Context, call func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	if ctx.Done() == nil {
		return call()
	}
	return func(yield func(T, error) bool) {
		type answer struct {
			value T
			err   error
		}
		answers, enough := make(chan answer), make(chan struct{})
		defer close(enough)
		go func() {
			defer close(answers)
			for value, err := range call() {
				select {
				case answers <- answer{value, err}:
				case <-enough:
					return
				}
			}
		}()
		for {
			select {
			case a, more := <-answers:
				if !more || !yield(a.value, a.err) {
					return
				}
			case <-ctx.Done():
				var none T
				yield(none, ctx.Err())
				return
			}
		}
	}
}
