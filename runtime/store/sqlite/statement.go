package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"github.com/patchoptic/poptic/runtime/store"
)

// The statements that change the file, prepared once.
type statements struct {
	findInstance, addInstance, lastSeq, addRecord, putSnapshot, schemaVersion *sql.Stmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) (err error) {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&s.findInstance, "SELECT number FROM instance WHERE id = ?"},
		{&s.addInstance, "INSERT INTO instance (id) VALUES (?)"},
		{&s.lastSeq, "SELECT max(seq) FROM record WHERE instance = ?"},
		{&s.addRecord, "INSERT INTO record (instance, seq, version, key, line, sealed) VALUES (?, ?, ?, nullif(?, ''), ?, ?)"},
		{&s.putSnapshot, "INSERT OR REPLACE INTO snapshot (instance, version, seq, data) VALUES (?, ?, ?, ?)"},
		{&s.schemaVersion, "PRAGMA schema_version"},
	} {
		if *p.into, err = conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

// finish gives the statements up. A connection with open ones stays open.
func (s *statements) finish() {
	for _, stmt := range []*sql.Stmt{s.findInstance, s.addInstance, s.lastSeq, s.addRecord, s.putSnapshot, s.schemaVersion} {
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
	if err := s.lastSeq.QueryRow(number).Scan(&have); err != nil {
		return err
	}
	if uint64(have) != last {
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

// put is the change that PutSnapshot makes.
func (s *statements) put(id string, snap store.Snapshot) error {
	number, err := s.number(id)
	if err != nil {
		return err
	}
	_, err = s.putSnapshot.Exec(number, signed(snap.Version), signed(snap.Seq), orEmpty(snap.Data))
	return err
}

// signed is n as SQLite counts. No log is as long as the numbers it cuts off.
func signed(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func orEmpty(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
