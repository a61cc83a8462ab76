//go:build unix

package sqlite

import (
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The recording layer stands between SQLite and the operating system: it does what
// the usual one does, and notes what is written, truncated, synced and deleted in
// one folder. It is SQLite's own interface for this (sqlite.org/vfs.html), so the
// tables of functions are C's: copies of the usual ones with four replaced.

const recordingLayer = "recording"

// A recording is what happened in a folder.
type recording struct {
	mu     sync.Mutex
	dir    string
	events []event
}

// current is the recording that is under way.
var current struct {
	sync.Mutex
	recording *recording
}

// layer is the usual layer and the tables that replace it.
var layer struct {
	once  sync.Once
	usual *sqlite3.Tsqlite3_vfs

	mu      sync.Mutex
	methods map[uintptr]uintptr                      // usual tables of file functions -> replaced ones
	files   map[uintptr]*sqlite3.Tsqlite3_io_methods // open files -> their usual functions
	names   map[uintptr]string
}

// record begins to note what happens in a folder.
func record(dir string) *recording {
	layer.once.Do(register)
	r := &recording{dir: dir}
	current.Lock()
	defer current.Unlock()
	current.recording = r
	return r
}

func (r *recording) stop() {
	current.Lock()
	defer current.Unlock()
	current.recording = nil
}

// note notes a number.
func (r *recording) note(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event{kind: noted, at: int64(number)})
}

// happened notes an event, if its file lies in the folder of a recording.
func happened(name string, kind eventKind, at int64, data []byte) {
	current.Lock()
	r := current.recording
	current.Unlock()
	if r == nil || filepath.Dir(name) != r.dir || strings.HasSuffix(name, "-shm") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event{filepath.Base(name), kind, at, append([]byte(nil), data...)})
}

// register makes the layer known to SQLite.
func register() {
	layer.methods = map[uintptr]uintptr{}
	layer.files = map[uintptr]*sqlite3.Tsqlite3_io_methods{}
	layer.names = map[uintptr]string{}
	tls := libc.NewTLS()
	layer.usual = at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	own := allocate[sqlite3.Tsqlite3_vfs](tls)
	replaced := at[sqlite3.Tsqlite3_vfs](own)
	*replaced = *layer.usual
	name, err := libc.CString(recordingLayer)
	if err != nil {
		panic(err)
	}
	replaced.FzName = name
	replaced.FxOpen = function(layerOpen)
	replaced.FxDelete = function(layerDelete)
	if code := sqlite3.Xsqlite3_vfs_register(tls, own, 0); code != sqlite3.SQLITE_OK {
		panic(code)
	}
}

type (
	openFunc   func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	deleteFunc func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32
	writeFunc  func(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32
	sizeFunc   func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc   func(tls *libc.TLS, file uintptr, flags int32) int32
)

// layerOpen opens a file as usual and replaces its functions.
func layerOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	code := called[openFunc](layer.usual.FxOpen)(tls, vfs, name, file, flags, outFlags)
	methods := at[uintptr](file)
	if code != sqlite3.SQLITE_OK || name == 0 || *methods == 0 {
		return code
	}
	layer.mu.Lock()
	defer layer.mu.Unlock()
	layer.files[file] = at[sqlite3.Tsqlite3_io_methods](*methods)
	layer.names[file] = libc.GoString(name)
	*methods = replacedMethods(tls, *methods)
	return code
}

// replacedMethods is a table of file functions with those replaced that change a
// file; one for each usual table. layer.mu is held.
func replacedMethods(tls *libc.TLS, usual uintptr) uintptr {
	if own, known := layer.methods[usual]; known {
		return own
	}
	own := allocate[sqlite3.Tsqlite3_io_methods](tls)
	m := at[sqlite3.Tsqlite3_io_methods](own)
	*m = *at[sqlite3.Tsqlite3_io_methods](usual)
	m.FxWrite, m.FxTruncate, m.FxSync = function(layerWrite), function(layerTruncate), function(layerSync)
	layer.methods[usual] = own
	return own
}

func opened(file uintptr) (*sqlite3.Tsqlite3_io_methods, string) {
	layer.mu.Lock()
	defer layer.mu.Unlock()
	return layer.files[file], layer.names[file]
}

func layerWrite(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32 {
	usual, name := opened(file)
	code := called[writeFunc](usual.FxWrite)(tls, file, data, size, offset)
	if code == sqlite3.SQLITE_OK {
		happened(name, written, offset, unsafe.Slice(at[byte](data), size))
	}
	return code
}

func layerTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	usual, name := opened(file)
	code := called[sizeFunc](usual.FxTruncate)(tls, file, size)
	if code == sqlite3.SQLITE_OK {
		happened(name, truncated, size, nil)
	}
	return code
}

func layerSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	usual, name := opened(file)
	code := called[syncFunc](usual.FxSync)(tls, file, flags)
	if code == sqlite3.SQLITE_OK {
		happened(name, synced, 0, nil)
	}
	return code
}

func layerDelete(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32 {
	code := called[deleteFunc](layer.usual.FxDelete)(tls, vfs, name, syncFolder)
	if code == sqlite3.SQLITE_OK {
		happened(libc.GoString(name), deleted, 0, nil)
	}
	return code
}

// at is what lies at an address of C's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// allocate is zeroed memory of C's for a T, which stays for good.
func allocate[T any](tls *libc.TLS) uintptr {
	var t T
	return libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(t)))
}

// function is C's pointer to a Go function that is declared at the top.
func function(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// called is the Go function that C's pointer to it stands for.
func called[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&pointer)) }
