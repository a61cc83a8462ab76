package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A location is a source file inside the folder that its imports may not leave.
type location struct {
	root *os.Root
	dir  string // the folder, as messages show it
	path string // the file, slash-separated and relative to the folder
}

// locate finds the folder for a file: root if it is given, the current directory
// for a file below it, the file's own folder otherwise, as below a folder whose name is
// not UTF-8, which no import can name. The caller closes it.
func locate(file, root string) (*location, error) {
	dir := root
	if dir == "" {
		dir = defaultRoot(file)
	}
	rel, err := relativeTo(dir, file)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable("root folder", dir, err)
	}
	return &location{root: opened, dir: dir, path: filepath.ToSlash(rel)}, nil
}

func defaultRoot(file string) string {
	rel, err := relativeTo(".", file)
	if err == nil && filepath.IsLocal(rel) && utf8.ValidString(filepath.Dir(rel)) {
		return "."
	}
	return filepath.Dir(file)
}

// relativeTo is the path of file inside dir.
func relativeTo(dir, file string) (string, error) {
	absoluteDir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	absoluteFile, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(absoluteDir, absoluteFile)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fail("give a --root that contains it", "%s is outside of the root folder %s", file, dir)
	}
	return rel, nil
}

func (l *location) fs() fs.FS { return l.root.FS() }

func (l *location) close() { l.root.Close() }

// show writes a path inside the folder as the user may type it.
func (l *location) show(path string) string {
	return filepath.Join(l.dir, filepath.FromSlash(path))
}
