package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/patchoptic/poptic/runtime/store"
)

// A Store is a file of SQLite that holds the logs of instances. It is safe for
// concurrent use. Close it when it is no longer needed.
type Store struct {
	name    string
	reading *sql.DB
	tables  int     // their version
	writer  *writer // nil if the store is only read
	closed  atomic.Bool
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Tailer  = (*Store)(nil)
	_ store.Deleter = (*Store)(nil)
)

// How the file is used.
const (
	emptyAgain   = time.Second // after which emptying it is tried again
	readers      = 4           // connections that read at once
	busyTimeout  = 10_000      // milliseconds to wait for another process's transaction
	emptyTimeout = 200         // likewise, for it to leave FILE-wal
	keptJournal  = 16 << 20    // bytes that FILE-wal keeps after it was longer
)

// An Option sets up a store.
type Option func(*settings)

type settings struct {
	there bool   // the store is to be there already
	pages int    // how many the file may have; 0 for no limit but the disk's
	vfs   string // SQLite's name of the layer to the operating system, "" for the usual one
	use   use    // how a file that is only read is used by others
}

// pageSize is how many bytes a page of the file has.
const pageSize = 4096

// WithMaxSize makes the store refuse commits that would make FILE larger than a
// number of bytes. FILE-wal may have about as many beside it.
func WithMaxSize(bytes int) Option {
	return func(s *settings) { s.pages = max(1, bytes/pageSize) }
}

// Existing makes Open refuse a file that is not there (fs.ErrNotExist) or that is no store
// yet, and leave it as it is.
func Existing() Option {
	return func(s *settings) { s.there = true }
}

// Open opens the store in the file called name, and creates it if there is none: a new
// file can be read and written by its owner only, for it holds all secrets and the key
// of their digests. The permissions of one that exists are left as they are. What SQLite
// puts beside a file has the file's permissions.
// What SQLite did not put beside a file, under a name that it would use, is not touched: Open refuses.
// A file with the tables of an older version gets those of this one, in one transaction which
// costs what the file weighs, and which a version before cannot read any more.
// The error names the file and tells a file of something else, or of a newer version
// (*VersionError), from one that cannot be opened.
func Open(ctx context.Context, name string, opts ...Option) (*Store, error) {
	var set settings
	for _, o := range opts {
		o(&set)
	}
	if err := checkRegular(name); err != nil {
		return nil, openingError(name, err)
	}
	if set.vfs == "" {
		if err := checkBeside(name); err != nil {
			return nil, openingError(name, err)
		}
		if !set.there {
			if err := createPrivate(name); err != nil {
				return nil, openingError(name, err)
			}
		}
	}
	if err := checkBefore(ctx, set, name); err != nil {
		return nil, openingError(name, err)
	}
	from := set.source(name, "rwc")
	writing, err := sql.Open("sqlite", from)
	if err != nil {
		return nil, openingError(name, err)
	}
	writing.SetMaxOpenConns(1)
	w, err := newWriter(ctx, writing)
	if err != nil {
		writing.Close()
		return nil, openingError(name, err)
	}
	reading, _, err := openReading(ctx, from+"&_query_only=1")
	if err != nil {
		w.close()
		return nil, openingError(name, err)
	}
	return &Store{name: name, reading: reading, tables: version, writer: w}, nil
}

// checkBefore refuses a file of something else, of a newer version, or with other tables, before it is
// opened as a store: that changes how the file is written from then on, for all its
// users. What else is the matter, opening says.
func checkBefore(ctx context.Context, set settings, name string) error {
	switch info, err := os.Stat(name); {
	case err != nil && set.there:
		return err
	case err == nil && info.Size() == 0 && set.there:
		return errForeign
	case err != nil || info.Size() == 0:
		return nil
	}
	set.use = useOf(name)
	db, err := openKeeping(set.source(name, "ro"))
	if err != nil {
		return nil
	}
	defer db.Close()
	switch new, err := isNew(ctx, db); {
	case err == nil && new && set.there:
		return errForeign
	case err != nil || new:
		return nil // its making was cut off
	}
	_, err = checkSchema(ctx, db)
	var other *VersionError
	var schema schemaError
	if errors.Is(err, errForeign) || errors.As(err, &other) || errors.As(err, &schema) {
		return err
	}
	return nil
}

// checkRegular refuses what can hold no store. That a file is not there, others say.
func checkRegular(name string) error {
	switch info, err := os.Stat(name); {
	case err != nil || info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return errors.New("it is a folder")
	}
	return errors.New("it is no regular file")
}

// createPrivate makes an empty file if there is none. It does not open one that is
// there: closing it again would end SQLite's locks.
func createPrivate(name string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil // whatever is the matter, SQLite says it
	}
	flags := os.O_RDWR | os.O_CREATE | os.O_EXCL
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		flags &^= os.O_EXCL // a link to a file that is not there yet
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenReadOnly opens an existing store to read it. The file is left as it is, nothing
// is put beside it, and both it and its folder may be read-only. Everything that would
// write is refused with ErrReadOnly.
//
// A file that is in use may be read while others append. One that nobody uses is
// read without locks: a process that begins to use it meanwhile may make it look
// damaged, so that a damage found then is to be confirmed by opening it again.
func OpenReadOnly(ctx context.Context, name string) (*Store, error) {
	if err := checkRegular(name); err != nil {
		return nil, openingError(name, err)
	}
	reading, tables, err := openReading(ctx, (&settings{use: useOf(name)}).source(name, "ro"))
	if err != nil {
		if damage := checkWAL(name); damage != nil { // what is missing may be there
			return nil, damage
		}
		return nil, openingError(name, err)
	}
	return &Store{name: name, reading: reading, tables: tables}, nil
}

// openReading opens a file to read it, and tells the version of its tables.
func openReading(ctx context.Context, source string) (db *sql.DB, tables int, err error) {
	if db, err = openKeeping(source); err != nil {
		return nil, 0, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	if tables, err = checkSchema(ctx, db); err != nil {
		db.Close()
		return nil, 0, err
	}
	return db, tables, nil
}

// source is the driver's name for a file: a URI, so that no character of the name
// means anything.
func (s *settings) source(name, mode string) string {
	if absolute, err := filepath.Abs(name); err == nil {
		name = absolute
	}
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_busy_timeout": {fmt.Sprint(busyTimeout)}}
	if mode != "ro" {
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "FULL")
		q.Add("_pragma", fmt.Sprintf("page_size(%d)", pageSize))
		q.Add("_pragma", fmt.Sprintf("journal_size_limit(%d)", keptJournal))
		q.Add("_pragma", "secure_delete(1)") // what is deleted is to be gone
		q.Add("_pragma", "legacy_alter_table(1)")
	}
	if s.pages > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", s.pages))
	}
	if s.vfs != "" {
		q.Set("vfs", s.vfs)
	}
	s.use.set(q)
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(name), RawQuery: q.Encode()}
	return u.String()
}

// Close ends what is going on, and makes the store unusable. Requests that are
// already waiting are still made; all others, and what reads meanwhile, may fail with
// ErrClosed. If no other process uses the file, FILE holds all
// of it afterwards, without FILE-wal.
func (s *Store) Close() error {
	s.closed.Store(true)
	err := s.reading.Close()
	if s.writer == nil {
		return err
	}
	// The writer goes last: a connection that only reads does not tidy up.
	if closeErr := s.writer.close(); err == nil {
		err = closeErr
	}
	return err
}

// Check looks through the whole file, and at the beginning of FILE-wal, for damage to its structure, for tables that are not
// as they were made or have triggers, for records and snapshots of instances that are not there, and for numbers that none can have. The error says what was found; nil
// does not mean that the chains hold. It costs as much as reading the file.
func (s *Store) Check(ctx context.Context) error {
	if _, err := checkSchema(ctx, s.reading); err != nil {
		return s.fileError(err)
	}
	if err := checkWAL(s.name); err != nil {
		return err
	}
	found, err := s.texts(ctx, "PRAGMA integrity_check(10)")
	if err != nil {
		return err
	}
	if slices.Equal(found, []string{"ok"}) {
		found, err = s.texts(ctx, s.numbers()+`
			SELECT format('%d rows of %s are of no instance', count(*), "table") FROM pragma_foreign_key_check GROUP BY "table"
			UNION ALL
			SELECT format('%d records have numbers that no record has', count(*)) FROM record WHERE seq < 1 OR version < 0 HAVING count(*) > 0
			UNION ALL
			SELECT format('%d snapshots have numbers that no snapshot has', count(*)) FROM snapshot WHERE seq < 1 OR version < 0 HAVING count(*) > 0`)
	}
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &DamageError{s.name, strings.Join(found, "; ")}
	}
	return nil
}

// numbers is the part of a query that finds numbers of rows beyond those that are given.
func (s *Store) numbers() string {
	if s.tables < 3 {
		return ""
	}
	return `SELECT 'there are numbers of instances or records that were not given' WHERE
			(SELECT max(number) FROM instance) >= 1 << 62 OR (SELECT max(number) FROM record) >= 1 << 62
			OR (SELECT count(*) > 1 OR min(instance) < 0 OR min(record) < 0 OR max(instance) >= 1 << 62 OR max(record) >= 1 << 62 FROM erased)
		UNION ALL `
}

// texts are the rows of a query that gives one text each.
func (s *Store) texts(ctx context.Context, query string) (all []string, err error) {
	rows, err := s.reading.QueryContext(ctx, query)
	if err != nil {
		return nil, s.fileError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, s.fileError(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fileError(err)
	}
	return all, nil
}

// magic begins every file of SQLite.
const magic = "SQLite format 3\x00"

// MagicSize is how many bytes of a file IsMagic wants to see.
const MagicSize = len(magic)

// IsMagic reports whether the first bytes of a file are those of a file of SQLite.
func IsMagic(head []byte) bool { return string(head) == magic }

// IsFile reports whether the file called name begins as a file of SQLite does. Do
// not call it on a file that this process has open as a Store: closing a file again
// ends the locks that SQLite holds on it.
func IsFile(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return false, nil
	}
	return IsMagic(head), err
}

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
	name = beside(name)
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
