package sqlite

import (
	"errors"
	"fmt"

	"github.com/patchoptic/poptic/runtime/store"
)

// ErrReadOnly is why a store that was opened to be read refuses to write.
var ErrReadOnly = errors.New("the store was opened for reading only")

// ErrClosed is why a store that was closed refuses everything.
var ErrClosed = errors.New("the store is closed")

var errForeign = errors.New("the file holds no logs of instances")

// A VersionError says that a file is of a version this program does not know.
type VersionError struct{ Have int }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the file has version %d of the tables, this program knows %d", e.Have, version)
}

// A DamageError says what is wrong with a store's file.
type DamageError struct {
	Name   string // of the file
	Reason string // in SQLite's words: numbers of pages and rows, names of tables
}

// Error names the file and what was found.
func (e *DamageError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Name, e.Reason) }

func openError(name string, err error) error { return fmt.Errorf("store %s: %w", name, err) }

// fileError says about which file SQLite reports something.
func (s *Store) fileError(err error) error { return fmt.Errorf("store %s: %w", s.name, err) }

// failed says which instance SQLite reports something about.
func failed(id string, err error) error { return &store.Error{Instance: id, Err: err} }

func notFound(id string) error { return failed(id, store.ErrNotFound) }
