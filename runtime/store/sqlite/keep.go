package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// When the last connection to a file closes, SQLite removes FILE-wal if all of that is in FILE,
// also a connection that may only read: then of evidence one file is gone, and one that
// does not begin as SQLite wrote it, in which it finds nothing, goes too. So connections
// that read are told to keep it. It is not their file's name that says so, and so the
// driver's connections are made here.

// openKeeping is sql.Open for connections that leave FILE-wal where it is.
func openKeeping(source string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	defer db.Close() // it has no connection yet
	return sql.OpenDB(&keeping{db.Driver(), source}), nil
}

// A keeping makes connections that leave FILE-wal where it is.
type keeping struct {
	driver driver.Driver
	source string
}

// Connect implements driver.Connector.
func (k *keeping) Connect(context.Context) (driver.Conn, error) {
	conn, err := k.driver.Open(k.source)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(sqlite.FileControl).FileControlPersistWAL("main", 1); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (k *keeping) Driver() driver.Driver { return k.driver }
