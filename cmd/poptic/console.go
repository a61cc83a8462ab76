package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/term"

	"github.com/patchoptic/poptic/internal/terminal"
)

// A console is where a verb reads and writes: its three streams, whether colour
// is wanted on each, and how wide lines may be.
type console struct {
	ctx   context.Context
	in    io.Reader
	raw   io.Writer // standard output as it is, for what a shell reads
	out   *terminal.PlainWriter
	err   *terminal.PlainWriter
	color string // auto, always or never

	inputs inputs // the files that were read
}

func newConsole(ctx context.Context, color string, in io.Reader, out, errOut io.Writer) *console {
	c := &console{ctx: ctx, in: in, raw: out, color: color}
	c.out = terminal.NewPlainWriter(out, terminal.WantsColor(color, out))
	c.err = terminal.NewPlainWriter(errOut, terminal.WantsColor(color, errOut))
	return c
}

// outText and errText are printers for people.
func (c *console) outText() *terminal.Printer { return c.text(c.out) }
func (c *console) errText() *terminal.Printer { return c.text(c.err) }

func (c *console) text(w *terminal.PlainWriter) *terminal.Printer {
	return &terminal.Printer{W: w, Paint: w.Painter(), Width: w.Width(term.GetSize)}
}

// silent is a console whose output nobody sees.
func silent() *console {
	return newConsole(context.Background(), "never", nil, io.Discard, io.Discard)
}

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
