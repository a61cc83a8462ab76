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
func writeFile(name string, data []byte, perm fs.FileMode) error {
	target, mode, err := destination(name)
	if err != nil {
		return err
	}
	if mode&fs.ModeType != 0 {
		return os.WriteFile(target, data, 0)
	}
	temporary, err := writeBeside(target, data, mode, perm)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, target); err != nil {
		os.Remove(temporary)
		return err
	}
	return nil
}

// destination resolves links and finds the mode the written file shall have; 0
// stands for whatever new files get.
func destination(name string) (target string, mode fs.FileMode, err error) {
	target, err = filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", 0, err
	}
	if info.IsDir() {
		return "", 0, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}
	}
	return target, info.Mode(), nil
}

// writeBeside writes data to a new file in target's folder and returns its name;
// on an error nothing is left behind. The file has the permissions mode, or, where
// that is 0, those of perm that new files get. It never has others, not for a moment.
func writeBeside(target string, data []byte, mode, perm fs.FileMode) (name string, err error) {
	dir, base := filepath.Split(target)
	name = filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(mode.Perm(), perm, 0o666)|0o200)
	if err != nil {
		return "", err
	}
	if _, err = f.Write(data); err == nil && mode != 0 {
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
