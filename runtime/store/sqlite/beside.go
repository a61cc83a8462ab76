package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The ends of the names of the files that SQLite keeps beside a file.
const (
	walEnd     = "-wal"
	journalEnd = "-journal"
	shmEnd     = "-shm"
)

// shmUnit is what the size of FILE-shm is a multiple of, once it is in use: it grows page by
// page, and a kill may end that.
const shmUnit = 4 << 10

// begins are the bytes with which SQLite begins a file beside another. A journal begins
// with zeros until it counts, and so does what a power cut left of a file that was longer already.
var begins = map[string][][]byte{
	walEnd:     {{0x37, 0x7f, 0x06, 0x82}, {0x37, 0x7f, 0x06, 0x83}, make([]byte, 8)},
	journalEnd: {{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}, make([]byte, 8)},
}

// beside is what the names of the files beside a file begin with. SQLite resolves links.
func beside(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	return name
}

// checkBeside refuses to open a store where SQLite would write over files that are not its own,
// or to make one under a name that SQLite has a use for.
func checkBeside(name string) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // SQLite resolves links, too
	} else if errors.Is(err, fs.ErrNotExist) {
		for _, end := range []string{walEnd, journalEnd, shmEnd} {
			if strings.HasSuffix(name, end) {
				return fmt.Errorf("SQLite keeps its own files under names that end in %s; give the store another", end)
			}
		}
	}
	for end, heads := range begins {
		if is, err := beginsAs(name+end, heads); err != nil || !is {
			return notOurs(name+end, err)
		}
	}
	// FILE-shm is not opened: closing it again would end SQLite's locks.
	info, err := os.Stat(name + shmEnd)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > 3 && info.Size()%shmUnit != 0) {
		return notOurs(name+shmEnd, nil)
	}
	return nil
}

// checkWAL reports a FILE-wal that SQLite passes over: it may have held the newest commits.
func checkWAL(name string) error {
	wal := beside(name) + walEnd
	switch is, err := beginsAs(wal, begins[walEnd]); {
	case err != nil:
		return openError(name, err)
	case !is:
		return &DamageError{name, "the file " + filepath.Base(wal) + " beside it does not begin as SQLite wrote it, so that nothing in it is read"}
	}
	return nil
}

func notOurs(name string, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("the file %s beside it is not SQLite's and would be written over; move it, or give the store another name", filepath.Base(name))
}

// beginsAs reports whether a file is not there, has no content, or begins in one of some ways.
func beginsAs(name string, heads [][]byte) (bool, error) {
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, nil
	case info.Size() == 0:
		return true, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // its user closed meanwhile
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	have := make([]byte, 8)
	n, err := io.ReadFull(f, have)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return false, err
	}
	for _, head := range heads {
		if bytes.HasPrefix(have[:n], head) {
			return true, nil
		}
	}
	return n == 0, nil
}
