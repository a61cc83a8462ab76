package main

import (
	"encoding/json"
	"errors"
	"io/fs"
)

// write puts data into the file called name, whole or not at all; "-" is
// standard output.
func (c *console) write(name string, data []byte) error {
	if name == "-" {
		_, err := c.out.Write(data)
		return err
	}
	if err := writeFile(name, data); err != nil {
		return unwritable(name, err)
	}
	return nil
}

func unwritable(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fail("nothing was left behind", "cannot write %s: %s", name, err)
}

// printJSON writes v to standard output, indented, ending in a line break.
func (c *console) printJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
