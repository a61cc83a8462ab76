package sqlite

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/patchoptic/poptic/runtime/store"
)

// Records are appended by one transaction after the other, whichever process makes it,
// so that the order of their numbers is that in which they can be seen: a cursor is such a
// number.

// look is how often a tail looks for what other processes have appended.
const look = 25 * time.Millisecond

// tailed is how many changes are read at once.
const tailed = 256

// End implements store.Tailer.
func (s *Store) End(ctx context.Context) (store.Cursor, error) {
	end, err := s.end(ctx)
	return store.Cursor(strconv.FormatInt(end, 10)), err
}

// end is the greatest number that a record ever had. A file of an older version has no
// numbers that were erased.
func (s *Store) end(ctx context.Context) (end int64, err error) {
	query := "SELECT max(ifnull((SELECT max(rowid) FROM record), 0), ifnull((SELECT max(record) FROM erased), 0))"
	if s.tables < 3 {
		query = "SELECT ifnull(max(rowid), 0) FROM record"
	}
	err = s.reading.QueryRowContext(ctx, query).Scan(&end)
	return end, s.listError(ctx, err)
}

// Tail implements store.Tailer. What other processes append it tells within some hundredths of
// a second. No connection is held while it waits. A store that OpenReadOnly opened while nobody used
// the file tells of what was there.
func (s *Store) Tail(ctx context.Context, after store.Cursor) iter.Seq2[store.Change, error] {
	return func(yield func(store.Change, error) bool) {
		at, err := s.place(ctx, after)
		for err == nil {
			var found []store.Change
			more := s.writer.next()
			if found, at, err = s.after(ctx, at); err != nil {
				break
			}
			for _, c := range found {
				if err = ctx.Err(); err != nil {
					break
				}
				if !yield(c, nil) {
					return
				}
			}
			if len(found) < tailed && err == nil {
				err = wait(ctx, more)
			}
		}
		yield(store.Change{}, err)
	}
}

// place is the number in a cursor.
func (s *Store) place(ctx context.Context, after store.Cursor) (at int64, err error) {
	if after == "" {
		return 0, ctx.Err()
	}
	at, err = strconv.ParseInt(string(after), 10, 64)
	if err != nil || at < 0 {
		return 0, store.ErrCursor
	}
	end, err := s.end(ctx)
	if err == nil && at > end {
		err = store.ErrCursor
	}
	return at, err
}

// after reads what was appended after a record, and the number of the last of that.
func (s *Store) after(ctx context.Context, at int64) (found []store.Change, last int64, err error) {
	rows, err := s.reading.QueryContext(ctx, `SELECT record.rowid, id, seq, version FROM record
		JOIN instance ON instance.number = record.instance WHERE record.rowid > ? ORDER BY record.rowid LIMIT ?`, at, tailed)
	if err != nil {
		return nil, at, s.listError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var c store.Change
		if err := rows.Scan(&at, &c.Instance, (*number)(&c.Seq), (*number)(&c.Version)); err != nil {
			return nil, at, s.listError(ctx, err)
		}
		c.Cursor = store.Cursor(strconv.FormatInt(at, 10))
		found = append(found, c)
	}
	return found, at, s.listError(ctx, rows.Err())
}

// wait ends when it is time to look again: when this store has written, or after a while.
func wait(ctx context.Context, more <-chan struct{}) error {
	again := time.NewTimer(look)
	defer again.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-again.C:
	case <-more:
	}
	return nil
}
