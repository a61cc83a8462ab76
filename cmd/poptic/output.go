package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/alecthomas/kong"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

// forceFlag is for every verb that writes a file.
type forceFlag struct {
	Force bool `help:"Write over a file of another kind, too; never over one that is read."`
}

// An output is where a verb writes one thing.
type output struct {
	name    string // of the file; "-" is standard output
	kind    kind
	force   bool        // write over files of other kinds
	inPlace string      // what is read and may be written over all the same, "" for nothing
	perm    fs.FileMode // what a new file may be read and written by at most, 0 for anybody
}

// mayWrite refuses an output that would destroy something: a file that the verb
// reads, and a file of another kind.
func (c *console) mayWrite(o output) error {
	if o.name == "-" {
		return nil
	}
	if what, read := c.inputs.reads(o.name, o.inPlace); read {
		return fail("name another file", "cannot write %s: it is the %s that is read", o.name, what)
	}
	info, err := os.Stat(o.name)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || o.force || o.inPlace != "" {
		return nil
	}
	data, err := readExisting(o.name)
	if err != nil {
		return unwritable(o.name, fmt.Errorf("what is there cannot be read: %w", err))
	}
	if !blank(data) && !o.kind.is(data) {
		return fail("name another file, or write over it with --force", "cannot write %s: what is there is no %s", o.name, o.kind.noun)
	}
	return nil
}

func readExisting(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, causeOf(err)
	}
	defer f.Close()
	return readAll(f)
}

// A fileName is a flag that names a file. An empty one is a mistake of the caller's,
// such as a variable that is not set, and not the same as leaving the flag out.
type fileName string

// Decode implements kong.MapperValue.
func (n *fileName) Decode(ctx *kong.DecodeContext) error {
	text, err := given(ctx)
	if err == nil && text == "" {
		err = errors.New("an empty name is no file")
	}
	*n = fileName(text)
	return err
}

// A stated text is a flag that says something if it is there: an empty one is a variable
// that is not set, and must not pass for the flag's being left out.
type stated string

// Decode implements kong.MapperValue.
func (s *stated) Decode(ctx *kong.DecodeContext) error {
	text, err := given(ctx)
	if err == nil && text == "" {
		err = errors.New("it is empty, like a variable that is not set; say which is meant")
	}
	*s = stated(text)
	return err
}

// write puts data where o says, whole or not at all, unless mayWrite refuses.
func (c *console) write(o output, data []byte) error {
	if o.name == "-" {
		_, err := c.out.Write(data)
		return err
	}
	if err := c.mayWrite(o); err != nil {
		return err
	}
	if err := writeFile(o.name, data, o.perm); err != nil {
		return unwritable(o.name, err)
	}
	return nil
}

func unwritable(name string, err error) error {
	return fail("nothing was left behind", "cannot write %s: %s", name, causeOf(err))
}

// causeOf is an error without the name of the file, which the message has.
func causeOf(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// printJSON writes v to standard output, indented, ending in a line break.
func (c *console) printJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printIndented writes a JSON text to standard output, laid out for people.
func (c *console) printIndented(text []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := c.out.Write(b.Bytes())
	return err
}

// A kind is what a verb writes. A file of that kind may be written anew; any other
// file is somebody's, and an empty one nobody's.
type kind struct {
	noun string
	is   func(data []byte) bool
}

var (
	compiledKind    = kind{"compiled contract", ir.IsCompiled}
	certificateKind = kind{"certificate", certificate.Is}
	drawingKind     = kind{"drawing of a contract", plan.IsDrawing}
)

// stateKind is a state document of c: an object without members that the state of c
// does not have. Whether it is a valid state does not matter.
func stateKind(c *ir.Contract) kind {
	return kind{"state of " + c.Name, func(data []byte) bool {
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil || members == nil {
			return false
		}
		t := c.Type(c.State)
		if t.Kind != ir.RecordType || t.Rest != ir.NoType {
			return true
		}
		for name := range members {
			if _, known := t.Member(name); !known {
				return false
			}
		}
		return true
	}}
}

// blank reports whether a file holds nothing that could be lost.
func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// orEmpty makes a list that JSON writes as [] rather than null.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }
