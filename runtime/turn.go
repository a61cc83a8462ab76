package runtime

import "context"

// A turn is held by one goroutine at a time, as a mutex is. Whoever waits for it waits
// no longer than its context lasts: who holds it may be waiting for a store.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn. The error is the context's.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) give() { <-t }
