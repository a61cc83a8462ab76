package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// application marks a file as a store of logs. version is the format of the tables below
// and of the logs in them: whichever changes raises it, and so it is never less than
// trace.Format.
const (
	application = 0x506f7074 // "Popt"
	version     = 2
)

// schema makes the tables. A record's row is found by the number of its instance
// and its place in the log; a key by an index that only keyed records are in.
const schema = `
CREATE TABLE instance (
	number INTEGER PRIMARY KEY,
	id     TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE record (
	instance INTEGER NOT NULL REFERENCES instance (number),
	seq      INTEGER NOT NULL,
	version  INTEGER NOT NULL,
	key      TEXT,
	line     BLOB NOT NULL,
	sealed   BLOB,
	UNIQUE (instance, seq)
) STRICT;
CREATE INDEX record_key ON record (instance, key, seq) WHERE key IS NOT NULL;
CREATE TABLE snapshot (
	instance INTEGER NOT NULL REFERENCES instance (number),
	version  INTEGER NOT NULL,
	seq      INTEGER NOT NULL,
	data     BLOB NOT NULL,
	UNIQUE (instance, version)
) STRICT;
`

// A querier is a database, or one connection to it.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// ensureSchema makes the tables in an empty file. Of several processes that do so
// at once, one makes them; the others find them.
func ensureSchema(ctx context.Context, q querier) error {
	if _, err := q.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := makeSchema(ctx, q)
	if err != nil {
		q.ExecContext(ctx, "ROLLBACK")
		return err
	}
	_, err = q.ExecContext(ctx, "COMMIT")
	return err
}

func makeSchema(ctx context.Context, q querier) error {
	var tables int
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return checkSchema(ctx, q)
	}
	_, err := q.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, version))
	return err
}

// checkSchema tells whether the file is a store that this version can read.
func checkSchema(ctx context.Context, q querier) error {
	var app, have int
	if err := q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return err
	}
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	switch {
	case app != application:
		return errForeign
	case have != version:
		return &VersionError{have}
	}
	var tables int
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('instance', 'record', 'snapshot')").Scan(&tables); err != nil {
		return err
	}
	if tables != 3 {
		return errTableGone
	}
	return nil
}
