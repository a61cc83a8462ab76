package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/patchoptic/poptic/runtime/store"
)

// page is how many records are read at once. No connection is held while they are
// used, so that a reader may take its time and use the store meanwhile.
const page = 64

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, id string, from uint64) iter.Seq2[store.Record, error] {
	instance, err := s.instance(ctx, id)
	var end uint64
	if err == nil {
		end, _, err = s.last(ctx, id, instance)
	}
	return func(yield func(store.Record, error) bool) {
		for next := max(from, 1); err == nil && next <= end; {
			var records []store.Record
			if records, err = s.page(ctx, id, instance, next, end); len(records) == 0 {
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
	for rows.Next() {
		var r store.Record
		if err := rows.Scan((*number)(&r.Seq), (*number)(&r.Version), &r.Key, &r.Line, &r.Sealed); err != nil {
			return nil, s.readError(ctx, id, err)
		}
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
	if errors.Is(err, store.ErrNotFound) { // an instance is created together with its first records
		err = failed(id, &DamageError{s.name, "all records of the instance " + strconv.Quote(id) + " are gone"})
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
func (s *Store) Instances(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for after, first := "", true; ; first = false {
			ids, err := s.instancesAfter(ctx, after, first)
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
			if len(ids) < page {
				return
			}
			after = ids[len(ids)-1]
		}
	}
}

func (s *Store) instancesAfter(ctx context.Context, after string, first bool) (ids []string, err error) {
	rows, err := s.reading.QueryContext(ctx, "SELECT id FROM instance WHERE ? OR id > ? ORDER BY id LIMIT ?", first, after, page)
	if err != nil {
		return nil, s.listError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, s.listError(ctx, err)
		}
		ids = append(ids, id)
	}
	return ids, s.listError(ctx, rows.Err())
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
