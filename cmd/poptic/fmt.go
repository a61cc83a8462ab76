package main

import (
	"bytes"
	"errors"

	"github.com/aymanbagabas/go-udiff"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/lang/format"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

type fmtVerb struct {
	Paths []string `arg:"" name:"path" help:"Source files, or folders that are searched for .poptic files (testdata and hidden ones are left out); - is standard input, whose form is printed." placeholder:"PATH"`
	Check bool     `help:"Write nothing: list the files that are not in canonical form, and exit 1 if there are any."`
	Diff  bool     `help:"Write nothing: show what would change, and exit 1 if anything would."`
}

// Help is printed by --help.
func (fmtVerb) Help() string {
	return `Puts source files in canonical form and lists those that changed. Only white space and line breaks change: what a file says, and its comments, stay as they are. A file with mistakes is left alone, and they are shown.

A block with its braces on one line stays on one line; any other has one item a line. Lines break where you broke them, if it reads well there.

Examples:

    poptic fmt contract.poptic
    poptic fmt --check .
    poptic fmt --diff contracts/
    poptic fmt - < draft.poptic > contract.poptic

Exit codes:

    0  every file is in canonical form now (with --check or --diff: was)
    1  with --check or --diff: a file is not in canonical form
    2  usage, a file with mistakes, or one that cannot be read or written`
}

// Run implements the verb.
func (v *fmtVerb) Run(c *console) error {
	files, err := formattable(v.Paths)
	if err != nil {
		return err
	}
	var mistakes []source.Diagnostic
	broken, changed := 0, false
	for _, name := range files {
		did, err := v.file(c, name)
		var mistaken *format.Error
		if errors.As(err, &mistaken) {
			mistakes = append(mistakes, mistaken.Diagnostics...)
			broken++
			err = nil
		}
		if err != nil {
			return err
		}
		changed = changed || did
	}
	if broken > 0 {
		p := c.errText()
		report.Text(c.err, source.Sort(mistakes), report.Options{Paint: p.Paint, Width: p.Width})
		return fail("mend what is shown, and format again", "%s with mistakes, left as it was", terminal.Plural(broken, "file"))
	}
	if changed && (v.Check || v.Diff) {
		return errNo
	}
	return nil
}

// formattable lists the source files that are meant, standard input among them.
func formattable(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if p == "-" {
			files = append(files, p)
			continue
		}
		found, err := contractFiles([]string{p})
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// file formats one file, or says that it would. It reports whether the file was not in
// canonical form.
func (v *fmtVerb) file(c *console, name string) (changed bool, err error) {
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	before, err := c.read("source", name)
	if err != nil {
		return false, err
	}
	if ir.IsCompiled(before) {
		return false, fail("format the source that it was made of", "%s is a compiled contract", shown)
	}
	after, err := format.Source(shown, before)
	if err != nil {
		var mistaken *format.Error
		if !errors.As(err, &mistaken) {
			err = fail("please report it, with the file", "%s", err)
		}
		return false, err
	}
	changed = !bytes.Equal(before, after)
	switch {
	case v.Diff && changed:
		_, err = c.out.Write([]byte(unified(shown, string(before), string(after))))
	case v.Check && changed, v.Diff, v.Check:
	case name == "-":
		_, err = c.out.Write(after)
	case changed:
		if err := writeFile(name, after, 0); err != nil {
			return false, unwritable(name, err)
		}
	}
	if err == nil && changed && !v.Diff && (v.Check || name != "-") {
		c.outText().Line("%s", terminal.Visible(shown))
	}
	return changed, err
}

// unified shows what changed between two texts of a file.
func unified(name, before, after string) string {
	diff, err := udiff.ToUnifiedDiff(name, name, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		panic("poptic: the edits that were computed do not fit the text: " + err.Error())
	}
	longer := 0 // the library numbers the new lines of a hunk without those that earlier ones kept
	for _, hunk := range diff.Hunks {
		hunk.ToLine = hunk.FromLine + longer
		for _, l := range hunk.Lines {
			switch l.Kind {
			case udiff.Insert:
				longer++
			case udiff.Delete:
				longer--
			}
		}
	}
	return diff.String()
}
