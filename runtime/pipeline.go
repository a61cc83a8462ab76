package runtime

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// How records get into the log, and what may be told meanwhile.
//
// A store takes milliseconds to make a record durable; to judge a proposal takes
// microseconds. So callers do not wait for each other's syncs. An instance has two ledgers:
// what it knows of the log (known), and the same after all that is on its way there (tip).
// Whatever is asked is judged on the tip and queued behind it, which moves the tip. One
// goroutine, the flusher, takes all that waits, chains it to the log's head, and gives it to
// the store in one Append; then what it appended is known, and those who asked are answered.
// While it waits for the store, others are judged and queued. The flusher is there only
// while there is something to do; over a store that waits for nothing it is who asks.
//
//	ask -> look at the tip -> judge -> queue -> flusher: seal, Append -> known -> answer
//
// To judge needs no lock: everything that it rests on is immutable, or copied when it looks
// at the tip. If the tip has moved by then so that the judgement may come out otherwise, it
// is made again, and the second time nothing else is queued meanwhile (turn): nobody is
// overtaken for ever, neither a large view by small commits.
//
// What must stay true:
//
//   - Nothing is told that is not in the store: not a verdict, not a view, not a state. An
//     answer is given after the Append that it rests on has returned, and what shows a state
//     without recording it shows that of known.
//   - Only the flusher appends, and reads the end of the log: one call at a time. It moves
//     known; the tip is known, then inFlight, then queue, applied in this order.
//   - mu is held for as long as it takes to look at or change a few fields, never while
//     something is judged, read or written.
//   - A failed Append leaves open whether it appended. All that was in flight, and all that
//     was judged on it, fails with the store's error; the tip falls back to what is known;
//     and before anything else is queued, the end of the log is read (unsure).
//   - A conflict, that another process has appended, decides nothing: the end of the log is
//     read, and all that waited is judged again.
//   - A caller's wait ends with its context. What is not in flight yet is withdrawn, and is
//     certain not to be in the log; what was judged on it is judged again. What is in flight
//     stays so, and the error says that its outcome is open.

// A pipeline is the part of an instance that appends. Its fields are guarded by mu.
type pipeline struct {
	turn turn // taken to queue; by one who was overtaken, also to judge

	mu       sync.Mutex
	known    ledger  // what the log says, as far as it was read
	dialect  dialect // how it is written there
	tip      ledger  // and what it will say
	inFlight []*submission
	queue    []*submission
	flusher  chan struct{} // closed when the flusher ends; nil while there is none
	atOnce   bool          // the store answers at once
	reading  *reading      // asked of it, before it appends anything else
	unsure   bool          // an append failed, and perhaps it did not
	closed   bool
	ending   chan struct{} // closed when the instance is
	claims   claims
	lookups  chan struct{}         // has room for those of keys that the store is asked for at once
	shown    map[likeness]struct{} // views that were recorded, if not all are
	snapshots
}

// maxLookups is how many keys an instance asks its store for at once. A store that hangs is left
// with that many, however often its callers give up and ask again.
const maxLookups = 64

func newPipeline() pipeline {
	return pipeline{turn: newTurn(), claims: claims{}, lookups: make(chan struct{}, maxLookups), ending: make(chan struct{}), shown: map[likeness]struct{}{}}
}

// A ledger is what proposals are judged on: the state that a log leads to, what was tried
// since the last commit, and what the last commits wrote.
type ledger struct {
	now      *verify.Snapshot
	attempts attempts
	recent   recent
}

// take takes in a decision.
func (l *ledger) take(d *decision) {
	l.attempts.decided(d.about, d.verdict)
	if d.verdict.Verdict == verify.Commit {
		l.now = d.after
		l.recent.add(d.change)
	}
}

func (l *ledger) clone() ledger {
	return ledger{now: l.now, attempts: l.attempts.clone(), recent: l.recent.clone()}
}

// A decision is one that is to be appended, or was.
type decision struct {
	verdict *verify.Verdict
	after   *verify.Snapshot // the state it leads to
	change  change           // what a commit does to the state
	about   *request         // what it is about, nil for the host's move
}

// A point is where the log ends, as far as it is known, and the state that it leads to
// there. It is never changed, only replaced.
type point struct {
	*verify.Snapshot
	head trace.Head
	made uint64 // the number of the record that made the state
}

// A question is what a caller asks: a proposal, a move of the phase, or a view. It is
// asked by one goroutine.
type question interface {
	// prepare reads from the store what has to be known beside the tip. answered says
	// that nothing is to be appended.
	prepare(ctx context.Context) (answered bool, err error)
	// look copies what is judged on. It is false where prepare has to be called again.
	look(tip *ledger) bool
	judge(ctx context.Context) (*submission, error)
	// holds reports whether the judgement would come out the same on the tip.
	holds(tip *ledger) bool
}

// A glance is what is judged on the state alone.
type glance struct{ seen *verify.Snapshot }

func (g *glance) prepare(context.Context) (bool, error) { return false, nil }

func (g *glance) look(tip *ledger) bool {
	g.seen = tip.now
	return true
}

func (g *glance) holds(tip *ledger) bool { return tip.now == g.seen }

// A submission is what a question comes to: records that are appended together.
type submission struct {
	entries  []*entry
	decision *decision // that is the last of the entries; nil if that is a view
	key      string    // the key that the caller has claimed

	done    chan struct{} // closed when it is known what became of it
	err     error         // and what did
	left    bool          // the caller does not wait any more
	flushes bool          // the caller is the flusher
	end     trace.Head    // of the log, when it is sealed
}

func submitted(d *decision, entries ...*entry) *submission {
	return &submission{entries: entries, decision: d, done: make(chan struct{})}
}

// errAgain says that what was judged on is not so: judge again.
var errAgain = errors.New("the log has moved on")

// submit answers a question, and waits until the answer is in the log.
func (in *Instance) submit(ctx context.Context, q question) error {
	for alone := false; ; alone = true {
		if err := in.settle(ctx); err != nil {
			return err
		}
		if answered, err := q.prepare(ctx); answered || err != nil {
			return err
		}
		if err := in.mayAppend(ctx); err != nil {
			return err
		}
		s, err := in.place(ctx, q, alone)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		if s.flushes {
			in.flushFirst()
		}
		if err := in.await(ctx, s); err != errAgain {
			return err
		}
	}
}

// mayAppend is an *OlderFormatError where the log is of an older format, unless another process has
// migrated it by now.
func (in *Instance) mayAppend(ctx context.Context) error {
	if in.format() == trace.Format {
		return nil
	}
	if err := in.readOn(ctx); err != nil {
		return err
	}
	if format := in.format(); format < trace.Format {
		return &OlderFormatError{in.id, format}
	}
	return nil
}

// format is that of the log where it is known to end.
func (in *Instance) format() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.dialect.format
}

// place judges a question and queues what it comes to; nil if it was overtaken. alone keeps
// others from it.
func (in *Instance) place(ctx context.Context, q question, alone bool) (*submission, error) {
	if alone {
		if err := in.turn.take(ctx); err != nil {
			return nil, err
		}
		defer in.turn.give()
	}
	if !in.look(q) {
		return nil, nil
	}
	s, err := q.judge(ctx)
	if err != nil {
		return nil, err
	}
	if !alone {
		if err := in.turn.take(ctx); err != nil {
			return nil, err
		}
		defer in.turn.give()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, ErrClosed
	}
	if in.unsure || !q.holds(&in.tip) {
		return nil, nil
	}
	in.queue = append(in.queue, s)
	if s.decision != nil {
		in.tip.take(s.decision)
	}
	if in.flusher == nil && in.atOnce {
		in.flusher, s.flushes = make(chan struct{}), true
	}
	in.wake()
	return s, nil
}

func (in *Instance) look(q question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.unsure && q.look(&in.tip)
}

// await waits until it is known what became of a submission, or until the context ends.
func (in *Instance) await(ctx context.Context, s *submission) error {
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	select {
	case <-s.done:
		return s.err
	default:
	}
	if i := slices.Index(in.queue, s); i >= 0 {
		in.withdraw(i)
		return ctx.Err()
	}
	s.left = true
	return &OpenOutcomeError{ctx.Err()}
}

// withdraw takes a submission out of the queue. What comes after a decision was judged on it.
func (in *Instance) withdraw(i int) {
	if in.queue[i].decision == nil {
		in.queue = slices.Delete(in.queue, i, i+1)
		return
	}
	after := slices.Clone(in.queue[i+1:])
	in.queue = slices.Delete(in.queue, i, len(in.queue))
	in.tip = in.known.clone()
	for _, s := range slices.Concat(in.inFlight, in.queue) {
		if s.decision != nil {
			in.tip.take(s.decision)
		}
	}
	in.resolve(after, errAgain)
}

// wake sees to it that the flusher is there. mu is held.
func (in *Instance) wake() {
	if in.flusher == nil {
		in.flusher = make(chan struct{})
		go in.flush()
	}
}

// flush is the flusher. The calls that it makes of the store are not one caller's, and
// do not end with the context of one.
func (in *Instance) flush() {
	for in.flushNext() {
	}
}

// flushFirst is the flusher for as long as it takes to append what the caller queued: where a
// store answers at once, another goroutine costs more than the store. What waits by then is
// left to one.
func (in *Instance) flushFirst() {
	if !in.flushNext() {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.reading != nil || len(in.queue) > 0 {
		go in.flush()
		return
	}
	in.restFlusher()
}

// flushNext does what the flusher has to do next. It is false, and the flusher at an end, if
// there is nothing.
func (in *Instance) flushNext() bool {
	batch, r := in.next()
	switch {
	case r != nil:
		r.err = in.catchUp(context.Background())
		in.keepSnapshot()
		close(r.done)
	case len(batch) > 0:
		in.write(batch)
		in.keepSnapshot()
	default:
		return false
	}
	return true
}

// Limits of what is appended at once. More waits for the next time.
const (
	maxBatch      = 256
	maxBatchBytes = 4 << 20 // of sealed parts, unless one alone is longer
)

// next is what the flusher has to do: to read, or to append. With neither, it ends.
func (in *Instance) next() (batch []*submission, r *reading) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if r = in.reading; r != nil {
		in.reading = nil
		return nil, r
	}
	size := 0
	for _, s := range in.queue {
		for _, e := range s.entries {
			size += len(e.sealed)
		}
		if len(batch) == maxBatch || len(batch) > 0 && size > maxBatchBytes {
			break
		}
		batch = append(batch, s)
	}
	in.queue = slices.Delete(in.queue, 0, len(batch))
	if in.inFlight = batch; len(batch) == 0 {
		in.restFlusher()
	}
	return batch, nil
}

// restFlusher is the end of the flusher, which has nothing to do. mu is held.
func (in *Instance) restFlusher() {
	close(in.flusher)
	in.flusher = nil
}

// write appends a batch, and answers those who wait for it.
func (in *Instance) write(batch []*submission) {
	from := in.durable.Load()
	records, size := in.seal(from.head, batch)
	records[0].Follows = from.head.End()
	err := in.store.Append(context.Background(), in.id, from.head.Seq, records...)
	if errors.Is(err, store.ErrConflict) {
		if err = in.checkHead(context.Background(), from.head); err == nil {
			err = in.catchUp(context.Background())
		}
		if err == nil {
			return
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if err != nil {
		in.unsure = true
		in.fallBack(err)
		return
	}
	now := *from
	for _, s := range batch {
		now.head = s.end
		if s.decision != nil {
			in.known.take(s.decision)
			if in.known.now != now.Snapshot {
				now.Snapshot, now.made = in.known.now, s.end.Seq
			}
		}
	}
	in.durable.Store(&now)
	in.inFlight, in.grown = nil, in.grown+size
	in.resolve(batch, nil)
}

// seal writes a batch as the records after head.
func (in *Instance) seal(head trace.Head, batch []*submission) (records []store.Record, size int) {
	for _, s := range batch {
		for _, e := range s.entries {
			var r store.Record
			r, head = in.after(head, e)
			records = append(records, r)
			size += len(r.Line) + len(r.Sealed)
		}
		s.end = head
	}
	return records, size
}

// after writes an entry as the record behind head.
func (in *Instance) after(head trace.Head, e *entry) (store.Record, trace.Head) {
	e.Seal = in.key.Seal(e.sealed)
	line, next := head.Seal(&e.Record)
	return store.Record{Seq: next.Seq, Version: e.Version, Key: e.Key, Line: line, Sealed: e.sealed}, next
}

// checkHead finds out whether the record that the log ended with is still there: who finds
// another one reads another instance's log.
func (in *Instance) checkHead(ctx context.Context, head trace.Head) error {
	record, err := config{store: in.store, id: in.id}.recordAt(ctx, head.Seq)
	var missing *CorruptLogError
	if errors.As(err, &missing) || err == nil && !bytes.HasSuffix(record.Line, head.End()) {
		err = &CorruptLogError{in.id, head.Seq, anotherLog}
	}
	return err
}

// fallBack gives all that is on its way one answer, and begins again at what is known. mu is held.
func (in *Instance) fallBack(err error) {
	all := slices.Concat(in.inFlight, in.queue)
	in.inFlight, in.queue = nil, nil
	in.tip = in.known.clone()
	in.resolve(all, err)
}

// resolve answers those who wait for submissions. mu is held.
func (in *Instance) resolve(all []*submission, err error) {
	for _, s := range all {
		if s.left {
			in.claims.free(s.key)
		}
		s.err = err
		close(s.done)
	}
}

// A reading is that the flusher reads the end of the log. Any number of callers may wait
// for one that is not begun.
type reading struct {
	done chan struct{}
	err  error
}

// settle has the log read if an append has failed. A closed instance has nothing to say.
func (in *Instance) settle(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in.mu.Lock()
	unsure, closed := in.unsure, in.closed
	in.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case unsure:
		return in.readOn(ctx)
	}
	return nil
}

// checkOpen is ErrClosed after Close.
func (in *Instance) checkOpen() error {
	select {
	case <-in.ending:
		return ErrClosed
	default:
		return nil
	}
}

// readOn has what others have appended read: all that was there when it was called.
func (in *Instance) readOn(ctx context.Context) error {
	in.mu.Lock()
	r := in.reading
	if r == nil {
		r = &reading{done: make(chan struct{})}
		in.reading = r
		in.wake()
	}
	in.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// catchUp reads what was appended after what is known. On an error, what is known stays as it
// was. Where the log has grown, all that waits is judged again. It is called by the
// flusher, or before the instance is shared.
func (in *Instance) catchUp(ctx context.Context) error {
	from := in.durable.Load()
	r := in.replayFrom(from)
	for record, err := range in.store.Read(ctx, in.id, from.head.Seq+1, 0) {
		if err != nil {
			return err
		}
		if err := r.step(ctx, record); err != nil {
			return err
		}
	}
	return in.arrive(r)
}

// arrive makes what was read to the end of the log what the instance knows.
func (in *Instance) arrive(r *replay) error {
	if r.waiting != nil {
		return r.corrupt(undecided)
	}
	from := in.durable.Load()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.unsure = false
	if r.head != from.head || len(in.inFlight) > 0 {
		in.known, in.dialect = r.ledger, r.dialect
		in.durable.Store(&point{r.now, r.head, r.made})
		in.grown += r.size
		in.fallBack(errAgain)
	}
	return nil
}

// Close ends an instance: it waits for what is under way, also for a snapshot that is
// being written, and whatever is asked afterwards fails with ErrClosed. The store stays open. An
// instance that is not closed loses nothing, but perhaps a snapshot. Errors: the context's.
func (in *Instance) Close(ctx context.Context) error {
	in.mu.Lock()
	if !in.closed {
		in.closed = true
		close(in.ending)
	}
	in.mu.Unlock()
	return in.quiet(ctx)
}

// quiet waits until nothing is on its way to the store any more, not even a snapshot.
func (in *Instance) quiet(ctx context.Context) error {
	for {
		in.mu.Lock()
		busy := in.flusher
		if busy == nil {
			busy = in.writing
		}
		in.mu.Unlock()
		if busy == nil {
			return nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A turn is held by one goroutine at a time, as a mutex is. Whoever waits for it waits
// no longer than its context lasts.
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

// Claims are the idempotency keys of proposals that are being decided. Of several with one
// key the others wait, and find the first one's verdict in the log.
type claims map[string]chan struct{}

// free ends a claim.
func (c claims) free(key string) {
	if freed := c[key]; freed != nil {
		delete(c, key)
		close(freed)
	}
}

// claim waits until nobody else decides a proposal with the key. "" is no key.
func (in *Instance) claim(ctx context.Context, key string) error {
	for key != "" {
		in.mu.Lock()
		taken := in.claims[key]
		if taken == nil {
			in.claims[key] = make(chan struct{})
		}
		in.mu.Unlock()
		if taken == nil {
			return nil
		}
		select {
		case <-taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (in *Instance) free(key string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.claims.free(key)
}
