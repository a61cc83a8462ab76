// Package sqlite keeps the logs of instances in one SQLite file. It is the only
// package that knows the driver.
//
//   - Open opens or creates a file, for its owner only; OpenReadOnly one that is only
//     looked at, and leaves nothing beside it.
//   - Store implements store.Store. It may be used by several processes at once,
//     on one machine: SQLite's locks do not hold over network file systems.
//   - IsFile tells a file of SQLite by its first bytes, Store.Check looks for
//     damage to the file itself.
//
// # What is durable
//
// The file is in WAL mode with synchronous=FULL: when Append returns without
// error, the records are synced to disk. Beside FILE there are FILE-wal and
// FILE-shm while it is in use; FILE-wal holds the newest commits, so that a copy
// of FILE alone, made while it is in use, is an old one.
//
// Writing goes through one connection, and one goroutine that owns it. Requests
// that arrive while a transaction is being synced wait, and are then made in one
// transaction together: many instances share one sync, and a lone one waits for
// nobody. A request that is refused (a conflict, say) changes nothing and does not
// disturb those beside it. If the transaction fails, each of its requests is tried
// in a transaction of its own, so that one that does not fit fails alone.
//
// Tests kill a process that commits, again and again, and lose the power of a
// machine at any moment, by a layer below SQLite that records what is synced. That
// the disk does what it says when it is told to sync, no test here shows.
//
// A commit writes the pages its records lie on and the ends of two indexes: bytes
// in the order of the patch, whatever the state weighs.
//
// # What is noticed
//
// SQLite has no checksums over its pages. What a changed page does to records is
// noticed by the hash chain when they are read, what it does to the file's
// structure by SQLite itself or by Check. A changed byte in FILE-wal makes SQLite
// ignore that transaction and those after it: like any tail that is missing, this
// shows only where the head of the chain is compared with one known from elsewhere.
package sqlite
