package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/patchoptic/poptic/runtime/store"
)

// most is how many requests share one transaction at most.
const most = 256

// A writer makes the changes of a store, in the order in which they are asked for,
// as many as are waiting in one transaction.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	statements
	schema int // the number of changes to the tables up to which they are known to be right

	mu      sync.RWMutex // held to ask, so that close knows that nobody does
	closed  bool
	waiting chan *request
	ended   chan struct{}
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
	for first := range w.waiting {
		batch := w.gather(first)
		w.serve(batch)
		for _, r := range batch {
			close(r.done)
		}
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
	if err := checkSchema(context.Background(), w.conn); err != nil {
		return err
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
