//go:build unix

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// A killed process loses nothing that it has written: the system has it. A machine
// that loses its power does, down to what was synced. So here everything that
// SQLite writes and syncs is recorded (layer_test.go), and the disk is made again
// as it may be after a loss of power at any moment: what was synced is there, and
// of what was not, nothing, or any part of it.

var background = context.Background()

// pair is the two records of a commit, with enough bytes to fill some pages.
func pair(last uint64) []store.Record {
	text := bytes.Repeat([]byte{byte(last)}, 5000)
	return []store.Record{{Seq: last + 1, Line: text}, {Seq: last + 2, Line: text}}
}

// write commits n times to a store on the recording layer, noting each commit that
// was acknowledged.
func write(t *testing.T, name string, n int) *recording {
	t.Helper()
	rec := record(filepath.Dir(name))
	t.Cleanup(rec.stop)
	s, err := Open(background, name, func(s *settings) { s.vfs = recordingLayer })
	require.NoError(t, err)
	require.NoError(t, s.Create(background, "a", pair(0)...))
	rec.note(2)
	for last := uint64(2); last < uint64(2*n); last += 2 {
		require.NoError(t, s.Append(background, "a", last, pair(last)...))
		rec.note(last + 2)
	}
	require.NoError(t, s.Close())
	return rec
}

// after opens what is on the disk after a loss of power, and gives the number of
// records there, which must be whole commits.
func after(t *testing.T, d disk) (last uint64) {
	t.Helper()
	name := d.write(t)
	s, err := Open(background, name)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Check(background))
	for r, err := range s.Read(background, "a", 1, 0) {
		if err != nil {
			require.ErrorIs(t, err, store.ErrNotFound)
			return 0
		}
		last++
		require.Equal(t, last, r.Seq)
		require.Equal(t, pair((last - 1) / 2 * 2)[0].Line, r.Line)
	}
	require.Zero(t, last%2, "half a commit")
	return last
}

// losses is at how many moments the power is lost.
func losses() int {
	if testing.Short() {
		return 10
	}
	return 60
}

func TestNothingThatWasAcknowledgedIsLostWithThePower(t *testing.T) {
	t.Parallel()
	rec := write(t, filepath.Join(t.TempDir(), "x.db"), 300)
	require.Positive(t, rec.restarts(), "FILE-wal was emptied into FILE in between")
	random := rand.New(rand.NewSource(1))
	for range losses() {
		moment := random.Intn(len(rec.events))
		acknowledged := rec.noted(moment)
		require.GreaterOrEqual(t, after(t, rec.at(moment, nil)), acknowledged, "at %d", moment)
		require.GreaterOrEqual(t, after(t, rec.at(moment, random)), acknowledged, "at %d, with a part of what was not synced", moment)
	}
}

// The same of an instance to which several write at once: what one was told is in the log of
// the disk as it was synced by then.
func TestNothingThatAWriterWasToldIsLostWithThePower(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	rec := record(filepath.Dir(name))
	t.Cleanup(rec.stop)
	s, err := Open(background, name, func(s *settings) { s.vfs = recordingLayer })
	require.NoError(t, err)
	in, err := runtime.Create(background, LedgerContract(), s, "l", LedgerState(strings.Repeat("f", 3000)), runtime.WithSnapshotAfter(10_000))
	require.NoError(t, err)
	const each, told = 40, 1000
	var wait sync.WaitGroup
	for w := range LedgerWriters {
		wait.Go(func() {
			for n := 1; n <= each; n++ {
				if err := (Ledger{in}).Count(background, w, n); err != nil {
					t.Error(err)
				}
				rec.note(uint64(w*told + n))
			}
		})
	}
	wait.Wait()
	require.NoError(t, in.Close(background))
	require.NoError(t, s.Close())
	random := rand.New(rand.NewSource(2))
	for range losses() {
		moment := random.Intn(len(rec.events))
		var acknowledged [LedgerWriters]int
		for _, e := range rec.events[:moment+1] {
			if e.kind == noted {
				acknowledged[e.at/told] = int(e.at % told)
			}
		}
		for _, d := range []disk{rec.at(moment, nil), rec.at(moment, random)} {
			ledgerAfter(t, d.write(t), acknowledged)
		}
	}
}

func ledgerAfter(t *testing.T, name string, acknowledged [LedgerWriters]int) {
	t.Helper()
	s, err := Open(background, name)
	require.NoError(t, err)
	defer s.Close()
	in, err := runtime.Open(background, LedgerContract(), s, "l")
	if errors.Is(err, store.ErrNotFound) {
		require.Zero(t, acknowledged)
		return
	}
	require.NoError(t, err)
	defer in.Close(background)
	lines, err := Ledger{in}.Lines(background)
	require.NoError(t, err)
	for w, n := range lines {
		require.GreaterOrEqual(t, n, acknowledged[w])
	}
	_, err = runtime.CheckLog(background, s, "l", nil)
	require.NoError(t, err)
	require.NoError(t, runtime.CheckSnapshots(background, s, "l"))
}

// The same with a store that syncs less must fail, or else the test above shows
// nothing.
func TestALossOfPowerWouldShowThatACommitWasNotSynced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	rec := record(filepath.Dir(name))
	defer rec.stop()
	db, err := sql.Open("sqlite", "file:"+name+"?vfs="+recordingLayer+"&_journal_mode=WAL&_synchronous=NORMAL")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE t (n INTEGER)")
	require.NoError(t, err)
	for n := range uint64(20) {
		_, err = db.Exec("INSERT INTO t VALUES (?)", n)
		require.NoError(t, err)
		rec.note(n + 1)
	}
	moment := len(rec.events) - 1
	require.Equal(t, uint64(20), rec.noted(moment))
	require.NoError(t, db.Close())
	lost, err := sql.Open("sqlite", "file:"+rec.at(moment, nil).write(t))
	require.NoError(t, err)
	defer lost.Close()
	var kept int
	if err := lost.QueryRow("SELECT count(*) FROM t").Scan(&kept); err == nil {
		require.Less(t, kept, 20)
	}
}

// A disk is the bytes of each file, by its name without the folder.
type disk map[string][]byte

// write makes the files in a new folder and returns the name of the database.
func (d disk) write(t *testing.T) (database string) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range d {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return filepath.Join(dir, "x.db")
}

// An event is something that happened to a file, or a note.
type event struct {
	file string
	kind eventKind
	at   int64 // written: the offset; truncated: the size; noted: the number
	data []byte
}

type eventKind string

const (
	written   eventKind = "written"
	truncated eventKind = "truncated"
	synced    eventKind = "synced"
	deleted   eventKind = "deleted"
	noted     eventKind = "noted"
)

// at is the disk after a loss of power directly after an event. Of what was not
// synced, each change is there with even odds, and of a write perhaps only the
// first sectors; without random, none is.
func (r *recording) at(moment int, random *rand.Rand) disk {
	safe := r.safe(moment)
	d := disk{}
	for i, e := range r.events[:moment+1] {
		if safe[i] {
			d.apply(e)
		} else if random != nil && random.Intn(2) == 0 {
			const sector = 512
			if e.kind == written && random.Intn(4) == 0 {
				e.data = e.data[:random.Intn(len(e.data)/sector+1)*sector]
			}
			d.apply(e)
		}
	}
	return d
}

// safe tells of each event up to one whether it was synced by then. A file's changes
// are with the file; that a file is gone is with the folder, which SQLite syncs when
// it first syncs a journal that it made.
func (r *recording) safe(moment int) []bool {
	safe := make([]bool, moment+1)
	files, folder := map[string]int{}, -1 // the last sync, looking back
	for i := moment; i >= 0; i-- {
		e := r.events[i]
		switch e.kind {
		case synced:
			if _, later := files[e.file]; !later {
				files[e.file] = i
			}
			if r.first(i) {
				folder = i
			}
		case deleted:
			safe[i] = folder > i
		default:
			_, safe[i] = files[e.file]
		}
	}
	return safe
}

// first reports whether a sync is the first of a journal since it was made.
func (r *recording) first(i int) bool {
	name := r.events[i].file
	if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-journal") {
		return false
	}
	for j := i - 1; j >= 0 && r.events[j].kind != deleted; j-- {
		if r.events[j].file == name && r.events[j].kind == synced {
			return false
		}
	}
	return true
}

func (d disk) apply(e event) {
	switch e.kind {
	case written:
		if end := int(e.at) + len(e.data); end > len(d[e.file]) {
			d[e.file] = append(d[e.file], make([]byte, end-len(d[e.file]))...)
		}
		copy(d[e.file][e.at:], e.data)
	case truncated:
		d[e.file] = append(d[e.file], make([]byte, max(0, int(e.at)-len(d[e.file])))...)[:e.at]
	case deleted:
		delete(d, e.file)
	}
}

// noted is the last number that was noted up to an event.
func (r *recording) noted(moment int) (number uint64) {
	for _, e := range r.events[:moment+1] {
		if e.kind == noted {
			number = uint64(e.at)
		}
	}
	return number
}

// restarts is how often FILE-wal was written from its beginning again.
func (r *recording) restarts() (n int) {
	for _, e := range r.events {
		if e.kind == written && strings.HasSuffix(e.file, "-wal") && e.at == 0 {
			n++
		}
	}
	return n - 1
}

func (e event) String() string {
	return fmt.Sprintf("%s %s %d (%d bytes)", e.file, e.kind, e.at, len(e.data))
}
