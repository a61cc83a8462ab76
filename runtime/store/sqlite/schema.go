package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// application marks a file as a store of logs. version is the number of its tables: every
// change of them raises it, and migrations leads there. What logs are written like is not
// theirs: a log tells its format itself.
const (
	application = 0x506f7074 // "Popt"
	version     = 3
)

// schema makes the tables. A record's row is found by the number of its instance
// and its place in the log; a key by an index that only keyed records are in. The numbers of
// instances and of records grow with time and are never given twice: erased has the
// greatest that were deleted.
const schema = instanceTable + recordTable + snapshotTable + erasedTable

const (
	instanceTable = `
CREATE TABLE instance (
	number INTEGER PRIMARY KEY,
	id     TEXT NOT NULL UNIQUE
) STRICT;
`
	recordTable = `
CREATE TABLE record (
	number   INTEGER PRIMARY KEY,
	instance INTEGER NOT NULL REFERENCES instance (number),
	seq      INTEGER NOT NULL,
	version  INTEGER NOT NULL,
	key      TEXT,
	line     BLOB NOT NULL,
	sealed   BLOB,
	UNIQUE (instance, seq)
) STRICT;
CREATE INDEX record_key ON record (instance, key, seq) WHERE key IS NOT NULL;
`
	snapshotTable = `
CREATE TABLE snapshot (
	instance INTEGER NOT NULL REFERENCES instance (number),
	version  INTEGER NOT NULL,
	seq      INTEGER NOT NULL,
	data     BLOB NOT NULL,
	UNIQUE (instance, version)
) STRICT;
`
	erasedTable = `
CREATE TABLE erased (
	instance INTEGER NOT NULL,
	record   INTEGER NOT NULL
) STRICT;
`
)

// schemas are the tables of every version that is read. Versions 1 and 2 had the same, and
// a record's number was SQLite's own, which may be given again.
var schemas = map[int]string{
	1: instanceTable + unnumberedTable + snapshotTable,
	2: instanceTable + unnumberedTable + snapshotTable,
	3: schema,
}

const unnumberedTable = `
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
`

// migrations lead from each version to the next. A table is moved aside under its new name
// without telling views of others, which are to go on with the new one (legacy_alter_table).
var migrations = map[int]string{
	1: "", // the number told the format of logs too
	2: `
DROP INDEX record_key;
ALTER TABLE record RENAME TO unnumbered;
` + recordTable + erasedTable + `
INSERT INTO record SELECT rowid, instance, seq, version, key, line, sealed FROM unnumbered ORDER BY rowid;
DROP TABLE unnumbered;
`,
}

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
		return migrate(ctx, q)
	}
	_, err = q.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, version))
	return err
}

// migrate makes the tables of an older version those of this one.
func migrate(ctx context.Context, q querier) error {
	for {
		have, err := checkSchema(ctx, q)
		if err != nil || have == version {
			return err
		}
		next := migrations[have] + fmt.Sprintf("PRAGMA user_version = %d;", have+1)
		if _, err := q.ExecContext(ctx, next); err != nil {
			return err
		}
	}
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

// checkSchema tells whether the file is a store that this version can read, and the version of
// its tables: these and all that belongs to them are what its schema makes, and nothing else does something when
// they are changed. Other tables may stand beside them.
func checkSchema(ctx context.Context, q querier) (have int, err error) {
	var app int
	if err := marks(ctx, q, &app, &have); err != nil {
		return 0, err
	}
	text, known := schemas[have]
	switch {
	case app != application:
		return 0, errForeign
	case !known:
		return 0, &VersionError{have}
	}
	return have, checkTables(ctx, q, made(text))
}

// checkTables checks that the tables, indexes and triggers of the file are those that are wanted.
func checkTables(ctx context.Context, q querier, missing map[string]string) error {
	rows, err := q.QueryContext(ctx, `SELECT type, name, sql FROM sqlite_schema
		WHERE lower(tbl_name) IN ('instance', 'record', 'snapshot', 'erased') AND sql IS NOT NULL ORDER BY type = 'table' DESC, name`)
	if err != nil {
		return err
	}
	defer rows.Close()
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

// made is what a schema makes, by name, as SQLite keeps it.
func made(schema string) map[string]string {
	all := map[string]string{}
	for _, text := range strings.Split(schema, ";\n") {
		if text = strings.TrimSpace(text); text != "" {
			all[strings.Fields(text)[2]] = text
		}
	}
	return all
}
