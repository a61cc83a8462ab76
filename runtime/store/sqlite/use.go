package sqlite

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
)

// use is what a file that is to be read only is used for by others. In WAL mode,
// SQLite would put FILE-wal and FILE-shm beside a file that it reads; unless the file
// is in use, it must not and need not.
type use int

const (
	shared    use = iota // in use, or it was when its user was killed: FILE-shm is there
	closed               // nobody uses it: FILE holds all of it
	abandoned            // its user was killed, or it was copied: the newest commits are in FILE-wal
)

// useOf looks at what lies beside a file.
func useOf(name string) use {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // SQLite resolves links, too
	}
	wal, err := os.Stat(name + "-wal")
	journal := err == nil && wal.Size() > 0
	_, err = os.Stat(name + "-shm")
	switch {
	case err == nil:
		return shared
	case !journal:
		return closed
	case runtime.GOOS == "windows":
		return shared
	}
	return abandoned
}

// set adds to the driver's name of a file how it is to be read.
func (u use) set(q url.Values) {
	switch u {
	case closed:
		q.Set("immutable", "1")
	case abandoned: // the index of FILE-wal stays in memory, where nobody else is to see it
		q.Set("vfs", "unix-none")
		q.Add("_pragma", "locking_mode(EXCLUSIVE)")
	}
}
