package sqlite

import (
	"context"
	"errors"

	"github.com/patchoptic/poptic/runtime/store"
)

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, id string, records ...store.Record) error {
	if err := store.CheckNumbers(0, records); err != nil {
		return failed(id, err)
	}
	return s.write(ctx, id, func(w *writer) error { return w.create(id, records) })
}

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	if err := store.CheckNumbers(last, records); err != nil {
		return failed(id, err)
	}
	return s.write(ctx, id, func(w *writer) error { return w.append(id, last, records) })
}

// PutSnapshot implements store.Store.
func (s *Store) PutSnapshot(ctx context.Context, id string, snap store.Snapshot) error {
	return s.write(ctx, id, func(w *writer) error { return w.put(id, snap) })
}

// write asks for a change, and says about which instance SQLite reports something.
func (s *Store) write(ctx context.Context, id string, change func(*writer) error) error {
	switch {
	case s.writer == nil && s.closed.Load():
		return failed(id, s.fileError(ErrClosed))
	case s.writer == nil:
		return failed(id, ErrReadOnly)
	}
	err := s.writer.ask(ctx, change)
	var refused *store.Error
	if err == nil || errors.As(err, &refused) || err == ctx.Err() {
		return err
	}
	return failed(id, openError(s.name, err)) // what waited when the store was closed was made, or failed for itself
}
