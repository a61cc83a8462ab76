package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxInput bounds every file the command line reads.
const maxInput = 256 << 20

// read returns the bytes of the file called name; "-" is standard input. what names
// the input in messages.
func (c *console) read(what, name string) ([]byte, error) {
	if name != "-" {
		return c.readFile(what, name)
	}
	if f, isFile := c.in.(*os.File); isFile {
		c.inputs.noteOpen(what, f)
	}
	data, err := readAll(c.in)
	if err != nil {
		return nil, unreadable(what, "standard input", err)
	}
	return data, nil
}

func (c *console) readFile(what, name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable(what, name, err)
	}
	defer f.Close()
	c.inputs.noteOpen(what, f)
	data, err := readAll(f)
	if err != nil {
		return nil, unreadable(what, name, err)
	}
	return data, nil
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = errors.New("it is larger than 256 MiB")
	}
	return data, err
}

// unreadable says in the user's words why a file cannot be read.
func unreadable(what, name string, err error) error {
	var cause error
	var path *fs.PathError
	if cause = err; errors.As(err, &path) {
		cause = path.Err
	}
	help := ""
	if errors.Is(err, fs.ErrNotExist) {
		help = "check the name; it is taken relative to the current directory"
	}
	return fail(help, "cannot read the %s %s: %s", what, name, cause)
}
