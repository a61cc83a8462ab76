package sqlite

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/patchoptic/poptic/runtime/store"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrReadOnly is why a store that was opened to be read refuses to write.
var ErrReadOnly = errors.New("the store was opened for reading only")

// ErrClosed is why a store that was closed refuses everything.
var ErrClosed = errors.New("the store is closed")

var errForeign = errors.New("the file holds no logs of instances")

// A schemaError says in what a store's file is not as it was made.
type schemaError string

func (e schemaError) Error() string { return string(e) }

const (
	errTableGone = schemaError("a table is gone")
	errNotTaken  = schemaError("it did not take what was added")
)

// recordsGone says that an instance has no records: it is created together with its first.
func recordsGone(id string) error {
	return schemaError("all records of the instance " + strconv.Quote(id) + " are gone")
}

// A VersionError says that the tables of a file are of a version that this program does not
// read: a newer one.
type VersionError struct{ Have int }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("written with tables of version %d, this version reads 1 to %d", e.Have, version)
}

// A DamageError says what is wrong with a store's file.
type DamageError struct {
	Name   string // of the file
	Reason string // in SQLite's words: numbers of pages and rows, names of tables and triggers
}

// Error names the file and what was found.
func (e *DamageError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Name, e.Reason) }

// openError says about which file SQLite reports something.
func openError(name string, err error) error {
	if damage := damageIn(name, err); damage != nil {
		return damage
	}
	return fmt.Errorf("store %s: %w", name, err)
}

// openingError is openError about a file that is to be opened: one that does not begin as
// a database does was never a store.
func openingError(name string, err error) error {
	var reported *sqlite.Error
	if errors.As(err, &reported) && reported.Code()&0xff == sqlite3.SQLITE_NOTADB {
		if is, readErr := IsFile(name); readErr == nil && !is {
			err = errForeign
		}
	}
	return openError(name, err)
}

// fileError is what a read reports about the file. What fails in a store that was closed
// meanwhile fails for that.
func (s *Store) fileError(err error) error {
	if s.closed.Load() {
		err = ErrClosed
	}
	return openError(s.name, err)
}

// damageIn is SQLite's report that a file is not as it wrote it, nil if err is
// something else.
func damageIn(name string, err error) error {
	var schema schemaError
	if errors.As(err, &schema) {
		return &DamageError{name, schema.Error()}
	}
	var reported *sqlite.Error
	if !errors.As(err, &reported) {
		return nil
	}
	switch reported.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH: // a number has no next one
		return &DamageError{name, reported.Error()}
	}
	return nil
}

// failed says which instance something is about.
func failed(id string, err error) error { return &store.Error{Instance: id, Err: err} }

func notFound(id string) error { return failed(id, store.ErrNotFound) }
