package runtime

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/patchoptic/poptic/runtime/store"
)

// pollEvery is how often a tail looks where the store tells nothing, and checkEvery how often it looks
// whether the instance is still there.
const (
	pollEvery  = 100 * time.Millisecond
	checkEvery = 2 * time.Second
)

// Tail iterates over where the instance stands after each commit that comes after version after, by
// whatever process, and goes on waiting for more. Of several commits it may tell the last alone;
// the newest it always tells, so that who goes on after the last version that they dealt with misses
// nothing. While it waits, the instance keeps up with the log. It ends with its error, which
// is the context's, ErrClosed, or one of Refresh. A store that is a store.Tailer
// tells of commits at once; another one is looked at ten times a second.
func (in *Instance) Tail(ctx context.Context, after uint64) iter.Seq2[Position, error] {
	return func(yield func(Position, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		w := in.watch(ctx)
		for {
			now, err := in.keepUp(ctx, w)
			if err != nil {
				yield(Position{}, err)
				return
			}
			if now.Version > after {
				if after = now.Version; !yield(now, nil) {
					return
				}
				continue
			}
			select {
			case <-w.grown:
			case <-in.ending:
			case <-ctx.Done():
			}
		}
	}
}

// A watch is told when the instance's log may have grown.
type watch struct {
	newest atomic.Uint64 // the greatest number of a record that was told
	look   atomic.Bool   // it may have grown, or be gone
	grown  chan struct{}
}

func (w *watch) tell() {
	select {
	case w.grown <- struct{}{}:
	default: // it is told already
	}
}

// keepUp is where the instance stands, after reading what a watch was told of.
func (in *Instance) keepUp(ctx context.Context, w *watch) (Position, error) {
	if err := in.settle(ctx); err != nil {
		return Position{}, err
	}
	if now := in.Position(); !w.look.Swap(false) && w.newest.Load() <= now.Seq {
		return now, nil
	}
	return in.Refresh(ctx)
}

// watch begins to watch the store, until ctx ends.
func (in *Instance) watch(ctx context.Context) *watch {
	w := &watch{grown: make(chan struct{}, 1)}
	w.look.Store(true)
	every := pollEvery
	if tailer, can := in.store.Store.(store.Tailer); can {
		end, err := promptly(ctx, func() (store.Cursor, error) { return tailer.End(ctx) })
		if err == nil {
			every = checkEvery
			go w.follow(ctx, tailer, end, in.id)
		}
	}
	go w.poll(ctx, every)
	return w
}

// follow tells what a store tells.
func (w *watch) follow(ctx context.Context, tailer store.Tailer, after store.Cursor, id string) {
	for c, err := range tailer.Tail(ctx, after) {
		switch {
		case err != nil:
			if ctx.Err() == nil {
				w.poll(ctx, pollEvery)
			}
			return
		case c.Instance == id:
			w.newest.Store(max(w.newest.Load(), c.Seq))
			w.tell()
		}
	}
}

// poll has the log looked at again and again.
func (w *watch) poll(ctx context.Context, every time.Duration) {
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			w.look.Store(true)
			w.tell()
		case <-ctx.Done():
			return
		}
	}
}
