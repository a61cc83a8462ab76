package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// logFlags say whose log is meant.
type logFlags struct {
	Store    storeURL `help:"Instead of the database as an argument: the store, as sqlite:FILE." placeholder:"URL"`
	Instance stated   `help:"Instance that is meant, where there are several." placeholder:"ID"`
}

// logArg names what was recorded of instances.
type logArg struct {
	Log string `arg:"" optional:"" help:"Database of a store; the bytes tell it from a trace." placeholder:"FILE"`
	logFlags
}

// settle puts the store's file in the place of the argument.
func (a *logArg) settle() error {
	switch {
	case a.Store.given() && a.Log != "":
		return fail("give one of them", "the log is named twice: %s, and --store %s", a.Log, a.Store.text)
	case a.Store.given():
		a.Log = a.Store.file
	case a.Log == "":
		return fail("name the database of a store, a trace, or --store sqlite:FILE", "which log? None is named")
	}
	return nil
}

// openDatabase opens the store in the file, nil if it is no database. What is no
// regular file gives its bytes only once, and can only be a trace.
func (a logArg) openDatabase(c *console) (*sqlite.Store, error) {
	if a.isStream() {
		return nil, nil
	}
	is, err := storeURL{file: a.Log}.isDatabase()
	switch {
	case err != nil:
		return nil, unreadable("log", a.Log, err)
	case !is && a.Store.given():
		return nil, fail("without --store, a trace can be named as well", "%s is no store", a.Log)
	case !is:
		return nil, nil
	}
	c.inputs.noteDatabase(a.Log)
	st, err := sqlite.OpenReadOnly(c.ctx, a.Log)
	if err != nil {
		return nil, a.unusable(err)
	}
	return st, nil
}

// isStream reports whether the log is standard input.
func (a logArg) isStream() bool { return a.Log == "-" && !a.Store.given() }

// name is what a message calls the log.
func (a logArg) name() string {
	if a.isStream() {
		return "standard input"
	}
	return a.Log
}

// versionWanted is what helps where a log is of another format.
const versionWanted = "use the version of poptic that wrote it"

// otherFormat explains that a log that is whole cannot be read; any other err it gives back.
func (a logArg) otherFormat(err error) error {
	var other *runtime.FormatError
	if errors.As(err, &other) {
		return fail(versionWanted, "%s was %s", a.name(), other)
	}
	return err
}

// unusable explains why a database cannot be read as a store.
func (a logArg) unusable(err error) error {
	var other *sqlite.VersionError
	if errors.As(err, &other) {
		return fail(versionWanted, "%s was %s", a.name(), other)
	}
	return err
}

// ids are the instances of a store that are meant.
func (a logArg) ids(c *console, st store.Store) ([]string, error) {
	ids, err := instancesOf(c, st)
	switch {
	case err != nil || a.Instance == "":
		return ids, err
	case !slices.Contains(ids, string(a.Instance)):
		return nil, noInstance(c, st, a.Log, string(a.Instance))
	}
	return []string{string(a.Instance)}, nil
}

// recorded are the instances whose records are looked at. An anchor says that something was
// recorded: where its instance is not there, the store lost it. A name alone may be mistaken.
func (a logArg) recorded(c *console, st store.Store, anchored bool) ([]string, error) {
	all, err := instancesOf(c, st)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0 && anchored && a.Instance == "":
		return nil, &sqlite.DamageError{Name: a.Log, Reason: "all instances are gone"}
	case a.Instance != "" && anchored && !slices.Contains(all, string(a.Instance)):
		return nil, &sqlite.DamageError{Name: a.Log, Reason: "the instance " + strconv.Quote(string(a.Instance)) + " is gone"}
	case anchored && a.Instance == "" && len(all) != 1:
		_, err = a.one(c, st, "an anchor")
		return nil, err
	}
	return a.ids(c, st)
}

// one is the instance that is meant, where only one can be.
func (a logArg) one(c *console, st store.Store, what string) (string, error) {
	ids, err := a.ids(c, st)
	if err != nil {
		return "", err
	}
	if len(ids) != 1 {
		return "", fail("name one with --instance", "%s has %s, and %s is about one", a.Log, terminal.Plural(len(ids), "instance"), what)
	}
	return ids[0], nil
}

// scanTrace reads the file as a trace and checks its chain.
func (a logArg) scanTrace(c *console, each func(line []byte) error) (trace.Head, error) {
	in := c.in
	if !a.isStream() {
		f, err := os.Open(a.Log)
		if err != nil {
			return trace.Head{}, unreadable("log", a.Log, err)
		}
		defer f.Close()
		c.inputs.noteOpen("log", f)
		in = io.Reader(f)
	}
	stream := bufio.NewReader(in)
	if head, _ := stream.Peek(sqlite.MagicSize); sqlite.IsMagic(head) {
		return trace.Head{}, fail("name the file itself", "%s is a database, which cannot be read from a pipe", a.name())
	}
	return trace.Scan(stream, each)
}

// damage is what is wrong with a log that is there, "" if err says that it could not be read.
func damage(err error) string {
	var line *trace.BrokenError
	var record *runtime.CorruptLogError
	var file *sqlite.DamageError
	var name *runtime.IDError
	switch {
	case errors.As(err, &name):
		return "an instance has a name that none can have: " + name.Reason
	case errors.As(err, &line):
		return line.Error()
	case errors.As(err, &record):
		return recordNumber(record.Seq) + ": " + record.Reason
	case errors.As(err, &file):
		return file.Error()
	}
	return ""
}
