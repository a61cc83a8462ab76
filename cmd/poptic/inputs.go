package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// inputs are the regular files that a verb has read: none of them may be what it
// writes. Whatever opens a file for a verb notes it here.
type inputs struct{ all []input }

// An input is one file. A file beside a database that does not exist is known by
// its place; creating it would change the database as well.
type input struct {
	what   string // noun of messages
	isPipe bool
	info   fs.FileInfo
	dir    fs.FileInfo // of a file that does not exist
	base   string
}

// noteOpen notes a file that is open for reading.
func (in *inputs) noteOpen(what string, f interface{ Stat() (fs.FileInfo, error) }) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	switch {
	case info.Mode().IsRegular():
		in.all = append(in.all, input{what: what, info: info})
	case info.Mode()&fs.ModeNamedPipe != 0:
		in.all = append(in.all, input{what: what, isPipe: true})
	}
}

// noteDatabase notes a file of SQLite and those that it keeps beside it. It does not
// open them: closing them again would end SQLite's locks.
func (in *inputs) noteDatabase(name string) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		i := input{what: "log", base: filepath.Base(name) + suffix}
		i.info, _ = os.Stat(name + suffix)
		i.dir, _ = os.Stat(filepath.Dir(name))
		in.all = append(in.all, i)
	}
}

// reads says what the file called name is read as, if it is read as something else
// than except. All spellings, links and hard links of a file are that file.
func (in *inputs) reads(name, except string) (what string, is bool) {
	info, err := os.Stat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if target, linkErr := leadsTo(name); missing && linkErr == nil {
		name = target
	}
	dir, dirErr := os.Stat(filepath.Dir(name))
	for _, i := range in.all {
		switch {
		case i.what == except, i.isPipe:
		case err == nil && i.info != nil && os.SameFile(info, i.info):
			return i.what, true
		case missing && dirErr == nil && i.dir != nil && i.base == filepath.Base(name) && os.SameFile(dir, i.dir):
			return i.what, true
		}
	}
	return "", false
}

// perm is what a new file may be used by that holds what was read as one of the
// given inputs: by nobody who may not read all of them. 0 if there is none.
func (in *inputs) perm(of ...string) fs.FileMode {
	perm := fs.FileMode(0)
	for _, i := range in.all {
		if !slices.Contains(of, i.what) {
			continue
		}
		if i.isPipe {
			return 0o600 // nobody else can have read it
		}
		if i.info == nil {
			continue
		}
		if perm == 0 {
			perm = 0o666
		}
		mode := i.info.Mode().Perm()
		if !sameGroup(i.info) {
			mode = likeEverybody(mode)
		}
		perm &= mode | 0o200
	}
	return perm
}

// noted is a file system that notes the files that are opened.
type noted struct {
	fs.FS
	in *inputs
}

// Open implements fs.FS.
func (n noted) Open(name string) (fs.File, error) {
	f, err := n.FS.Open(name)
	if err == nil {
		n.in.noteOpen("contract", f)
	}
	return f, err
}
