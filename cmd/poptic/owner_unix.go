//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// An owner is the user and the group that a file belongs to.
type owner struct{ user, group int }

// ownerOf is the owner of the file called name, nil if there is none.
func ownerOf(name string) *owner {
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	return ownerIn(info)
}

func ownerIn(info fs.FileInfo) *owner {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return &owner{int(s.Uid), int(s.Gid)}
	}
	return nil
}

// take gives f to o. It reports whether the group is o's; the user stays who writes,
// where only the superuser could change that.
func (o *owner) take(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || o == nil {
		return false
	}
	if is := ownerIn(info); is != nil && *is == *o {
		return true
	}
	return f.Chown(o.user, o.group) == nil || f.Chown(-1, o.group) == nil
}

// sameGroup reports whether a new file gets the group of an existing one, as far as can
// be told before.
func sameGroup(info fs.FileInfo) bool {
	o := ownerIn(info)
	return o != nil && o.group == os.Getegid()
}
