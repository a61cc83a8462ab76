package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
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
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
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
	new, err := isNew(ctx, q)
	if err != nil {
		return err
	}
	if !new {
		return checkSchema(ctx, q)
	}
	_, err = q.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, version))
	return err
}

// isNew reports whether nobody has made anything in the file yet: no tables, and no marks
// of whose it is.
func isNew(ctx context.Context, q querier) (bool, error) {
	var tables, app, have int
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables > 0 {
		return false, err
	}
	err := marks(ctx, q, &app, &have)
	return app == 0 && have == 0, err
}

func marks(ctx context.Context, q querier, app, have *int) error {
	if err := q.QueryRowContext(ctx, "PRAGMA application_id").Scan(app); err != nil {
		return err
	}
	return q.QueryRowContext(ctx, "PRAGMA user_version").Scan(have)
}

// checkSchema tells whether the file is a store that this version can read: its tables and
// all that belongs to them are what schema makes, and nothing else does something when
// they are changed. Other tables may stand beside them.
func checkSchema(ctx context.Context, q querier) error {
	var app, have int
	if err := marks(ctx, q, &app, &have); err != nil {
		return err
	}
	switch {
	case app != application:
		return errForeign
	case have != version:
		return &VersionError{have}
	}
	rows, err := q.QueryContext(ctx, `SELECT type, name, sql FROM sqlite_schema
		WHERE lower(tbl_name) IN ('instance', 'record', 'snapshot') AND sql IS NOT NULL ORDER BY type = 'table' DESC, name`)
	if err != nil {
		return err
	}
	defer rows.Close()
	missing := made()
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return err
		}
		switch want, known := missing[name]; {
		case !known:
			return schemaError(fmt.Sprintf("the %s %q is not the store's", kind, name))
		case text != want:
			return schemaError(fmt.Sprintf("the %s %q is not as the store made it", kind, name))
		}
		delete(missing, name)
	}
	switch err := rows.Err(); {
	case err != nil:
		return err
	case len(missing) == 1 && missing["record_key"] != "":
		return schemaError("an index is gone")
	case len(missing) > 0:
		return errTableGone
	}
	return nil
}

// made is what schema makes, by name, as SQLite keeps it.
func made() map[string]string {
	all := map[string]string{}
	for _, text := range strings.Split(strings.TrimSpace(schema), ";\n") {
		text = strings.TrimSuffix(text, ";")
		all[strings.Fields(text)[2]] = text
	}
	return all
}
