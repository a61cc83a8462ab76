package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

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

// Delete implements store.Deleter. What was deleted is overwritten in the file; FILE-wal is
// emptied too, as soon as nobody reads it. The number of the instance, and the
// greatest of its records', are kept: they are not given again.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.write(ctx, id, func(w *writer) error { return w.erase(id) })
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

// most is how many requests share one transaction at most.
const most = 256

// A writer makes the changes of a store, in the order in which they are asked for,
// as many as are waiting in one transaction.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	statements
	schema int              // the number of changes to the tables up to which they are known to be right
	erased bool             // FILE-wal may hold what was deleted
	again  <-chan time.Time // when to try again to empty it

	mu      sync.RWMutex // held to ask, so that close knows that nobody does
	closed  bool
	waiting chan *request
	ended   chan struct{}

	telling sync.Mutex
	written chan struct{} // closed after the next transaction; nil if nobody waits for it
}

// A request is one change. It is made or refused as a whole.
type request struct {
	ctx    context.Context
	change func(w *writer) error
	err    error
	done   chan struct{}
}

// newWriter makes the tables if there are none, and begins to wait for requests.
func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, conn: conn, waiting: make(chan *request, most), ended: make(chan struct{})}
	if err = ensureSchema(ctx, conn); err == nil {
		err = w.prepare(ctx, conn)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	go w.run()
	return w, nil
}

// ask waits until a change is made or refused. It does not return before that, also
// when ctx ends: the caller is to know what became of it.
func (w *writer) ask(ctx context.Context, change func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, change: change, done: make(chan struct{})}
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return ErrClosed
	}
	w.waiting <- r
	w.mu.RUnlock()
	<-r.done
	return r.err
}

func (w *writer) close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	close(w.waiting)
	w.mu.Unlock()
	<-w.ended
	w.finish()
	w.conn.Close()
	return w.db.Close()
}

// run serves requests until there will be no more.
func (w *writer) run() {
	defer close(w.ended)
	for {
		select {
		case first, more := <-w.waiting:
			if !more {
				return
			}
			batch := w.gather(first)
			w.serve(batch)
			w.forget()
			w.tell()
			for _, r := range batch {
				close(r.done)
			}
		case <-w.again:
			w.forget()
		}
	}
}

// forget empties FILE-wal where it may hold what was deleted. Where somebody reads it just then, that is
// tried again after a while.
func (w *writer) forget() {
	if !w.erased {
		return
	}
	w.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", emptyTimeout))
	var busy, frames, moved int
	err := w.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	w.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout))
	if w.erased, w.again = err != nil || busy != 0, nil; w.erased {
		w.again = time.After(emptyAgain)
	}
}

// next is closed when the store has written again; it is nil for one that is only read.
func (w *writer) next() <-chan struct{} {
	if w == nil {
		return nil
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	if w.written == nil {
		w.written = make(chan struct{})
	}
	return w.written
}

func (w *writer) tell() {
	w.telling.Lock()
	defer w.telling.Unlock()
	if w.written != nil {
		close(w.written)
		w.written = nil
	}
}

// gather adds to first what is waiting behind it.
func (w *writer) gather(first *request) []*request {
	batch := []*request{first}
	for len(batch) < most {
		select {
		case r, more := <-w.waiting:
			if !more {
				return batch
			}
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// serve makes the changes of a batch together, or else each on its own.
func (w *writer) serve(batch []*request) {
	err := w.transact(batch)
	if err == nil {
		return
	}
	if len(batch) == 1 {
		batch[0].err = err
		return
	}
	for _, r := range batch {
		r.err = nil
		if err := w.transact([]*request{r}); err != nil {
			r.err = err
		}
	}
}

// transact makes the changes of a batch in one transaction, and gives each request
// that is refused its reason. On an error, nothing was changed, as far as SQLite
// can tell.
func (w *writer) transact(batch []*request) error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := w.checkAgain()
	for _, r := range batch {
		if err == nil {
			err = w.attempt(r)
		}
	}
	if err != nil {
		w.exec("ROLLBACK")
		return err
	}
	if err := w.exec("COMMIT"); err != nil {
		w.exec("ROLLBACK")
		return err
	}
	return nil
}

// checkAgain looks at the tables again where somebody changed them.
func (w *writer) checkAgain() error {
	var now int
	if err := w.schemaVersion.QueryRow().Scan(&now); err != nil || now == w.schema {
		return err
	}
	switch have, err := checkSchema(context.Background(), w.conn); {
	case err != nil:
		return err
	case have != version:
		return &VersionError{have}
	}
	w.schema = now
	return nil
}

// attempt makes one change. A refusal is the request's own; the error is the
// transaction's.
func (w *writer) attempt(r *request) error {
	if r.err = r.ctx.Err(); r.err != nil {
		return nil
	}
	err := r.change(w)
	if refused(err) {
		r.err = err
		return nil
	}
	return err
}

// refused reports whether a change was not begun because of what is there.
func refused(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrExists)
}

// exec is not given a request's context: what others ask for does not end with it.
func (w *writer) exec(query string) error {
	_, err := w.conn.ExecContext(context.Background(), query)
	return err
}

// The statements that change the file, prepared once.
type statements struct {
	findInstance, addInstance, last, addRecord, follows, putSnapshot, schemaVersion *sql.Stmt
	erasing                                                                         [4]*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) (err error) {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&s.findInstance, "SELECT number FROM instance WHERE id = ?"},
		{&s.addInstance, `INSERT INTO instance (number, id)
			SELECT 1 + max(ifnull((SELECT max(number) FROM instance), 0), ifnull((SELECT max(instance) FROM erased), 0)), ?`},
		{&s.last, "SELECT seq, substr(line, -?1, ?1) FROM record WHERE instance = ?2 ORDER BY seq DESC LIMIT 1"},
		{&s.addRecord, `INSERT INTO record (number, instance, seq, version, key, line, sealed)
			SELECT 1 + max(ifnull((SELECT max(number) FROM record), 0), ifnull((SELECT max(record) FROM erased), 0)), ?, ?, ?, nullif(?, ''), ?, ?`},
		{&s.putSnapshot, `INSERT INTO snapshot (instance, version, seq, data) VALUES (?, ?, ?, ?)
			ON CONFLICT (instance, version) DO UPDATE SET seq = excluded.seq, data = excluded.data WHERE excluded.seq >= seq`},
		{&s.follows, `SELECT (SELECT substr(line, -?1, ?1) FROM record WHERE instance = ?2 AND seq = ?3),
			(SELECT max(seq) FROM record WHERE instance = ?2)`},
		{&s.schemaVersion, "PRAGMA schema_version"},
		{&s.erasing[0], `INSERT OR REPLACE INTO erased (rowid, instance, record)
			SELECT 1, max(?, ifnull((SELECT max(number) FROM instance), 0), ifnull((SELECT max(instance) FROM erased), 0)),
				max(ifnull((SELECT max(number) FROM record), 0), ifnull((SELECT max(record) FROM erased), 0))`},
		{&s.erasing[1], "DELETE FROM snapshot WHERE instance = ?"},
		{&s.erasing[2], "DELETE FROM record WHERE instance = ?"},
		{&s.erasing[3], "DELETE FROM instance WHERE number = ?"},
	} {
		if *p.into, err = conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

// finish gives the statements up. A connection with open ones stays open.
func (s *statements) finish() {
	for _, stmt := range append(s.erasing[:], s.findInstance, s.addInstance, s.last, s.addRecord, s.follows, s.putSnapshot, s.schemaVersion) {
		stmt.Close()
	}
}

// number is the row of an instance, store.ErrNotFound if there is none.
func (s *statements) number(id string) (number int64, err error) {
	err = s.findInstance.QueryRow(id).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound(id)
	}
	return number, err
}

// create is the change that Create makes.
func (s *statements) create(id string, records []store.Record) error {
	_, err := s.number(id)
	if err == nil {
		return failed(id, store.ErrExists)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	added, err := s.addInstance.Exec(id)
	if err != nil {
		return err
	}
	if err := taken(added); err != nil {
		return err
	}
	number, err := added.LastInsertId()
	if err != nil {
		return err
	}
	return s.add(number, records)
}

// append is the change that Append makes.
func (s *statements) append(id string, last uint64, records []store.Record) error {
	number, err := s.number(id)
	if err != nil {
		return err
	}
	var have int64
	var end []byte
	err = s.last.QueryRow(len(records[0].Follows), number).Scan(&have, &end)
	if errors.Is(err, sql.ErrNoRows) {
		return recordsGone(id)
	}
	if err != nil {
		return err
	}
	if uint64(have) != last || !bytes.Equal(end, records[0].Follows) {
		return &store.Error{Instance: id, Err: store.ErrConflict, Last: uint64(have)}
	}
	return s.add(number, records)
}

func (s *statements) add(number int64, records []store.Record) error {
	for _, r := range records {
		added, err := s.addRecord.Exec(number, signed(r.Seq), signed(r.Version), r.Key, orEmpty(r.Line), r.Sealed)
		if err != nil {
			return err
		}
		if err := taken(added); err != nil {
			return err
		}
	}
	return nil
}

// taken is nil if a row that was added is there.
func taken(added sql.Result) error {
	rows, err := added.RowsAffected()
	if err == nil && rows != 1 {
		err = errNotTaken
	}
	return err
}

// put is the change that PutSnapshot makes. Of the snapshots of one version, the newest stays.
func (s *statements) put(id string, snap store.Snapshot) error {
	number, err := s.number(id)
	if err != nil {
		return err
	}
	if len(snap.Follows) > 0 {
		var last int64
		var end []byte
		if err := s.follows.QueryRow(len(snap.Follows), number, signed(snap.Seq)).Scan(&end, &last); err != nil {
			return err
		}
		if !bytes.Equal(end, snap.Follows) {
			return &store.Error{Instance: id, Err: store.ErrConflict, Last: uint64(last)}
		}
	}
	_, err = s.putSnapshot.Exec(number, signed(snap.Version), signed(snap.Seq), orEmpty(snap.Data))
	return err
}

// erase is the change that Delete makes.
func (w *writer) erase(id string) error {
	number, err := w.number(id)
	if err != nil {
		return err
	}
	w.erased = true
	for _, stmt := range w.erasing {
		if _, err := stmt.Exec(number); err != nil {
			return err
		}
	}
	return nil
}

// signed is n as SQLite counts. No log is as long as the numbers it cuts off.
func signed(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func orEmpty(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
