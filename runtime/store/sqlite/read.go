package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/patchoptic/poptic/runtime/store"
)

// page is how many records are read at once, and pageBytes how many bytes of them before no
// more are. No connection is held while they are
// used, so that a reader may take its time and use the store meanwhile.
const (
	page      = 64
	pageBytes = 1 << 20
)

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[store.Record, error] {
	instance, err := s.instance(ctx, id)
	var end uint64
	if err == nil {
		end, _, err = s.last(ctx, id, instance)
	}
	if from = max(from, 1); limit > 0 && end >= from {
		end = min(end, from-1+uint64(limit))
	}
	return func(yield func(store.Record, error) bool) {
		err := err
		for next := from; err == nil && next <= end; {
			var records []store.Record
			if records, err = s.page(ctx, id, instance, next, end); err != nil {
				break
			}
			if len(records) == 0 { // the last one was there: it was deleted meanwhile
				err = notFound(id)
				break
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
				if err = ctx.Err(); err != nil {
					break
				}
			}
			next = records[len(records)-1].Seq + 1
		}
		if err != nil {
			yield(store.Record{}, err)
		}
	}
}

// page reads records of an instance, no others than those from next to end. Where
// records are missing, which is damage, it leaves a gap.
func (s *Store) page(ctx context.Context, id string, instance int64, next, end uint64) (records []store.Record, err error) {
	rows, err := s.reading.QueryContext(ctx,
		"SELECT seq, version, ifnull(key, ''), line, sealed FROM record WHERE instance = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
		instance, signed(next), signed(end), page)
	if err != nil {
		return nil, s.readError(ctx, id, err)
	}
	defer rows.Close()
	for size := 0; size < pageBytes && rows.Next(); {
		var r store.Record
		if err := rows.Scan((*number)(&r.Seq), (*number)(&r.Version), &r.Key, &r.Line, &r.Sealed); err != nil {
			return nil, s.readError(ctx, id, err)
		}
		size += len(r.Line) + len(r.Sealed)
		records = append(records, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.readError(ctx, id, err)
	}
	return records, nil
}

// A number is read from a column of seq or version. A negative one, which only damage
// makes, is read as one that no log reaches: it fits nothing that it is compared with.
type number uint64

// Scan implements sql.Scanner.
func (n *number) Scan(column any) error {
	v, ok := column.(int64)
	if !ok {
		return fmt.Errorf("a number is stored as %T", column)
	}
	*n = number(v)
	return nil
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, id string) (seq, version uint64, err error) {
	instance, err := s.instance(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	return s.last(ctx, id, instance)
}

func (s *Store) last(ctx context.Context, id string, instance int64) (seq, version uint64, err error) {
	err = s.one(ctx, id, []any{(*number)(&seq), (*number)(&version)},
		"SELECT seq, version FROM record WHERE instance = ? AND seq > 0 ORDER BY seq DESC LIMIT 1", instance)
	if errors.Is(err, store.ErrNotFound) {
		err = failed(id, s.fileError(recordsGone(id)))
	}
	return seq, version, err
}

// instance is the number of an instance in the tables.
func (s *Store) instance(ctx context.Context, id string) (instance int64, err error) {
	err = s.one(ctx, id, []any{&instance}, "SELECT number FROM instance WHERE id = ?", id)
	return instance, err
}

// Find implements store.Store.
func (s *Store) Find(ctx context.Context, id, key string) (seq uint64, err error) {
	err = s.one(ctx, id, []any{(*number)(&seq)},
		"SELECT seq FROM record WHERE instance = (SELECT number FROM instance WHERE id = ?) AND key = ? ORDER BY seq LIMIT 1", id, key)
	return seq, err
}

// Snapshot implements store.Store.
func (s *Store) Snapshot(ctx context.Context, id string, version uint64) (snap store.Snapshot, err error) {
	err = s.one(ctx, id, []any{(*number)(&snap.Seq), (*number)(&snap.Version), &snap.Data}, `
		SELECT seq, version, data FROM snapshot
		WHERE instance = (SELECT number FROM instance WHERE id = ?) AND version BETWEEN 0 AND ? ORDER BY version DESC LIMIT 1`, id, signed(version))
	return snap, err
}

// one reads the one row that a query gives.
func (s *Store) one(ctx context.Context, id string, into []any, query string, args ...any) error {
	err := s.reading.QueryRowContext(ctx, query, args...).Scan(into...)
	if err == nil {
		return nil
	}
	return s.readError(ctx, id, err)
}

// Instances implements store.Store.
func (s *Store) Instances(ctx context.Context, from string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for size := 1; ; size = min(8*size, page) { // who asks for one instance gets one
			entries, err := s.instancesFrom(ctx, from, size)
			if err != nil {
				yield(store.Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if len(entries) < size {
				return
			}
			from = entries[len(entries)-1].ID + "\x00" // the next text after it
		}
	}
}

func (s *Store) instancesFrom(ctx context.Context, from string, most int) (entries []store.Entry, err error) {
	rows, err := s.reading.QueryContext(ctx, `
		SELECT id, ifnull(last.seq, 0), ifnull(last.version, 0), first.line, last.line FROM instance
		LEFT JOIN record AS first ON first.instance = instance.number AND first.seq = 1
		LEFT JOIN record AS last ON last.instance = instance.number AND
			last.seq = (SELECT max(seq) FROM record WHERE instance = instance.number AND seq > 0)
		WHERE id >= ? ORDER BY id LIMIT ?`, from, most)
	if err != nil {
		return nil, s.listError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var e store.Entry
		if err := rows.Scan(&e.ID, (*number)(&e.Seq), (*number)(&e.Version), &e.First, &e.Last); err != nil {
			return nil, s.listError(ctx, err)
		}
		entries = append(entries, e)
	}
	return entries, s.listError(ctx, rows.Err())
}

func (s *Store) listError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return s.fileError(err)
}

// readError is what a read reports: the context's error, or SQLite's about id.
func (s *Store) readError(ctx context.Context, id string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sql.ErrNoRows):
		return notFound(id)
	}
	return failed(id, s.fileError(err))
}
