// Package store keeps the logs of instances. The log is the store: appending a
// record is the commit, and the state at any version is a snapshot plus the
// records after it.
//
// Store is the interface, Memory the implementation that lives and dies with its
// process, package sqlite the one that keeps a file, package storetest the
// behaviour every implementation must show. What a store may do beside that are
// interfaces of their own: a Tailer tells what was appended, a Deleter takes an instance
// away. A program makes a store and gives it to
// runtime.Create and runtime.Open; its methods are for them. A store moves bytes; it never reads
// what is in them. The bytes of a log are as
// sensitive as the state itself.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// A Record is one entry of an instance's log.
type Record struct {
	Seq     uint64 // position in the log: 1, 2, 3, ...
	Version uint64 // commits of the instance up to and including this record
	Key     string // what Find finds the record by; "" for nothing
	Line    []byte // what an auditor may read: one line of the trace, without line break
	Sealed  []byte // what the trace leaves out: the full patch, or the initial state

	// Follows, of the first record of an append, is how the line of the record before it
	// ends, as far as its author knows: with another end, the log is another one than
	// they read. Empty for whatever it is. It is not kept.
	Follows []byte
}

// An Entry is an instance in a listing: where its log stands, and what its first and its
// last record say of it.
type Entry struct {
	ID           string
	Seq, Version uint64 // of the last record; 0 where the log is damaged so that there is none
	First, Last  []byte // the lines of the first and of the last record; nil where there is none
}

// A Snapshot is a state that need not be recomputed: the outcome of the log up to
// and including record Seq, which may be any record.
type Snapshot struct {
	Seq     uint64
	Version uint64 // commits up to and including record Seq
	Data    []byte

	// Follows is how the line of record Seq ends, as far as the author knows, as of a Record: a
	// snapshot may be late, and the log another one by then. Empty for whatever it is. It is not kept.
	Follows []byte
}

// A Store keeps one append-only log an instance, and snapshots beside it.
// Implementations are safe for concurrent use, also by several processes where
// they say so.
//
// The store owns the byte slices it is given: the caller does not touch them
// again. The caller owns the byte slices it gets back. A call whose context has
// ended before it began changes nothing and returns the context's error. Any
// other error than those named below leaves open whether the change was made;
// Head tells.
type Store interface {
	// Create begins the log of a new instance with its first records, numbered
	// from 1. ErrExists if the instance has a log; of concurrent creates of one id
	// exactly one succeeds.
	Create(ctx context.Context, id string, records ...Record) error

	// Append adds records after the record numbered last: all of them or none, in
	// one atomic and durable step. ErrConflict if the log does not end there, or not as
	// the first record's Follows says; ErrNotFound if there is no such instance. The first
	// record's Seq is last+1 and each following one counts on; anything else is an error.
	Append(ctx context.Context, id string, last uint64, records ...Record) error

	// Read iterates over the records from number from on, in order, up to the end
	// of the log at the time of the call, and over no more than limit of them unless that is
	// 0. An error (ErrNotFound among them) is the
	// last thing it yields. It costs what is read, not what the log holds, and no more
	// memory than some records have.
	Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[Record, error]

	// Head returns the numbers of the last record: its Seq and Version.
	// ErrNotFound if there is no such instance.
	Head(ctx context.Context, id string) (seq, version uint64, err error)

	// Find returns the Seq of the first record with the given Key, which is not
	// empty. ErrNotFound if there is none, or no such instance. It costs what looking
	// up costs, not what the log holds.
	Find(ctx context.Context, id, key string) (seq uint64, err error)

	// Instances iterates over the instances whose ids are not before from, in the order of
	// the ids' bytes. Of an instance that is created or deleted meanwhile it may tell or not.
	// An error is the last thing it yields. It costs what is listed, not what the logs hold.
	Instances(ctx context.Context, from string) iter.Seq2[Entry, error]

	// PutSnapshot keeps s beside the log. Snapshots are a cache of it: a store may
	// drop any of them except the newest, which is the one with the greatest Seq, in whatever
	// order they are put. Of those with one Version none but the newest is ever asked for.
	// One that is put again takes the place of the one before. ErrConflict if record Seq is not
	// there, or is another one, and s says how it ends; ErrNotFound if there is no such instance.
	PutSnapshot(ctx context.Context, id string, s Snapshot) error

	// Snapshot returns the kept snapshot with the greatest Seq of those whose Version is
	// not above version. ErrNotFound if there is none.
	Snapshot(ctx context.Context, id string, version uint64) (Snapshot, error)
}

// A Cursor is a place in the order of a store's appends, as a text that only the store
// reads. "" is before the first. It stays good as long as the store does, also when
// instances are deleted.
type Cursor string

// A Change says that an instance's log has grown.
type Change struct {
	Cursor       Cursor // to go on after it
	Instance     string
	Seq, Version uint64 // of a record that was appended
}

// A Tailer is a store that tells what is appended to it, by whatever process.
type Tailer interface {
	// End is the place after all that was appended before the call.
	End(ctx context.Context) (Cursor, error)

	// Tail iterates over what was appended after a cursor, and goes on waiting for more
	// until ctx ends, whose error is then the last thing that it yields. Each record is told
	// of at least once, unless its instance was deleted, and those of one instance in their
	// order. Of records that were appended together, it may tell of the last alone. There are
	// no gaps: whoever goes on after the cursor of a change
	// that they have dealt with misses nothing. ErrCursor for a cursor that the store did not give.
	Tail(ctx context.Context, after Cursor) iter.Seq2[Change, error]
}

// A Deleter is a store that can take an instance away.
type Deleter interface {
	// Delete removes an instance, its log and its snapshots: nothing remains that tells
	// of it, and the id is free. ErrNotFound if there is no such instance. Who is reading
	// the log goes on to its end, or finds ErrNotFound before; who appends finds ErrNotFound.
	Delete(ctx context.Context, id string) error
}

// ErrCursor is why a Tailer refuses a cursor.
var ErrCursor = errors.New("the cursor is not of this store")

// The reasons for which a store refuses; they are wrapped in an *Error.
var (
	ErrConflict = errors.New("the log has moved on")
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("the instance exists already")
)

// An Error says which instance a store refused, and why.
type Error struct {
	Instance string
	Err      error  // ErrConflict, ErrNotFound, ErrExists or what the engine below reported
	Last     uint64 // for ErrConflict, the Seq of the log's last record
}

// Error names the instance and the reason; never anything the log holds.
func (e *Error) Error() string { return fmt.Sprintf("instance %q: %v", e.Instance, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// CheckNumbers reports whether records count on from last, as Create and Append
// demand. Implementations call it before they write.
func CheckNumbers(last uint64, records []Record) error {
	if len(records) == 0 {
		return errors.New("no records to append")
	}
	for i, r := range records {
		if want := last + 1 + uint64(i); r.Seq != want {
			return fmt.Errorf("record %d follows record %d", r.Seq, want-1)
		}
	}
	return nil
}
