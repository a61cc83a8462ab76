package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// writeFile replaces the file called name by data, or leaves it as it was: data
// goes to a new file beside it, which takes its place once it is on disk. An
// existing file keeps its permissions, a new one has at most those of perm, if that
// is not 0; a symbolic link keeps pointing where it did. What is no regular file (a
// terminal, a pipe) is written to directly.
//
// It is the only place that replaces files. renameio would do the naming, the sync and
// the rename, about fifteen lines, and leave owner, permissions and links to be done here
// all the same; and it has no code for Windows, where this must work as well.
func writeFile(name string, data []byte, perm fs.FileMode) error {
	target, mode, err := destination(name)
	if err != nil {
		return err
	}
	if mode&fs.ModeType != 0 {
		return writeThrough(target, data)
	}
	temporary, err := writeBeside(target, data, mode, perm, ownerOf(target))
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, target); err != nil {
		os.Remove(temporary)
		return err
	}
	return nil
}

// ownerOnly is what of permissions is the owner's.
func ownerOnly(mode fs.FileMode) fs.FileMode { return mode & 0o700 }

// likeEverybody takes from the group what not everybody may do.
func likeEverybody(mode fs.FileMode) fs.FileMode { return mode&^0o070 | mode&0o070&(mode&0o007<<3) }

// writeThrough writes data to something that is no regular file.
func writeThrough(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// destination resolves links and finds the mode the written file shall have; 0
// stands for whatever new files get. What is there is asked before where it lies: a
// link to an open pipe has a text that is no path.
func destination(name string) (target string, mode fs.FileMode, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		target, err = leadsTo(name)
		return target, 0, err
	case err != nil:
		return "", 0, err
	case info.IsDir():
		return "", 0, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}
	case !info.Mode().IsRegular():
		return name, info.Mode(), nil
	}
	target, err = filepath.EvalSymlinks(name)
	return target, info.Mode(), err
}

// leadsTo is the file that would be made by writing to name, which does not exist:
// name itself, or what links lead to.
func leadsTo(name string) (string, error) {
	const most = 40 // links in a row, as systems allow
	for range most {
		text, err := os.Readlink(name)
		if err != nil {
			return name, nil
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(name), text)
		}
		name = text
	}
	return "", &fs.PathError{Op: "write", Path: name, Err: errors.New("too many links")}
}

// writeBeside writes data to a new file in target's folder and returns its name;
// on an error nothing is left behind. The file has the permissions mode and the owner
// and group of, or, where mode is 0, those of perm that new files get. It never has
// others, not for a moment: where the group cannot be kept, the new one may do no more
// than everybody.
func writeBeside(target string, data []byte, mode, perm fs.FileMode, of *owner) (name string, err error) {
	dir, base := filepath.Split(target)
	name = filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(ownerOnly(mode.Perm()), perm, 0o666)|0o200)
	if err != nil {
		return "", err
	}
	if _, err = f.Write(data); err == nil && mode != 0 {
		if !of.take(f) {
			mode = likeEverybody(mode)
		}
		err = f.Chmod(mode.Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(name)
		return "", err
	}
	return name, nil
}
