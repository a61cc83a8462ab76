package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/diff"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/lang/source"
)

type diffVerb struct {
	Old    string   `arg:"" help:"The contract as it was: a .poptic file or a compiled contract. With --since, a contract as it is, or a folder with some." placeholder:"OLD"`
	New    []string `arg:"" optional:"" help:"The contract as it is. With --since, more of them." placeholder:"NEW"`
	Since  string   `help:"Compare contracts with what they were at this commit of git, with what they imported then." placeholder:"REF"`
	Root   string   `help:"Folder that imports may not leave; by default the current directory, or a contract's folder outside of it." placeholder:"DIR"`
	Format string   `enum:"text,json,markdown" default:"text" help:"How it is printed: ${enum}; markdown is a comment for a review."`
}

// Help is printed by --help.
func (diffVerb) Help() string {
	return `Says what a change of a contract allows and forbids: for every stage what it sees, writes and takes from, when and by whom it runs, its rules; for the contract its phases, invariants, types and claims. Paths show what was gained and lost; layout and names of parameters do not count.

"+" is wider, "-" is narrower, "~" cannot be compared and has to be looked at.

With --since, contracts are compared with what they were at a commit. A folder stands for the contracts in it; libraries and tests are none. A contract that was not there is wider.

Examples:

    poptic diff old.poptic new.poptic
    poptic diff --since origin/main contract.poptic
    poptic diff --since origin/main . --format markdown > comment.md

Exit codes:

    0  nothing became wider
    1  something became wider, or cannot be compared
    2  usage, unreadable input, a contract with errors`
}

// Validate asks for two contracts, or with --since for one at least.
func (v *diffVerb) Validate() error {
	switch {
	case v.Since == "" && len(v.New) == 0:
		return errors.New(`expected "<new>"`)
	case v.Since == "" && len(v.New) > 1:
		return fmt.Errorf("unexpected argument %s", v.New[1])
	}
	return nil
}

// A compared is what changed in a contract, and where its stages are.
type compared struct {
	File string `json:"file"`
	diff.Comparison
	lines map[string]int // of stages
}

// Run implements the verb.
func (v *diffVerb) Run(c *console) error {
	all, err := v.compare(c)
	if err != nil {
		return err
	}
	switch {
	case v.Format == "markdown":
		writeMarkdown(c.out, all)
	case v.Format == "json" && v.Since != "":
		err = c.printJSON(orEmpty(all))
	case v.Format == "json":
		err = c.printJSON(all[0].Comparison)
	case len(all) == 0:
		c.outText().Line("no authority changed")
	default:
		for i := range all {
			if v.Since != "" {
				c.outText().Line("%s", all[i].File)
			}
			writeComparison(c.out, all[i].Comparison)
		}
	}
	if err == nil && slices.ContainsFunc(all, func(x compared) bool { return x.Widened }) {
		err = errNo
	}
	return err
}

// compare compares two contracts; or contracts with what they were, and lists those that changed.
func (v *diffVerb) compare(c *console) (all []compared, err error) {
	if v.Since == "" {
		was, err := contractArg{Contract: v.Old, Root: v.Root}.load(c)
		if err != nil {
			return nil, err
		}
		is, err := contractArg{Contract: v.New[0], Root: v.Root}.load(c)
		if err != nil {
			return nil, err
		}
		text, _ := os.ReadFile(v.New[0])
		_, lines := headed(v.New[0], text)
		return []compared{{filepath.ToSlash(v.New[0]), diff.Contracts(was, is), lines}}, nil
	}
	files, err := contractFiles(append([]string{v.Old}, v.New...))
	if err != nil {
		return nil, err
	}
	then, err := readRevision(c.ctx, folderOf(v.Old), v.Since)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := c.readFile("contract", f)
		if err != nil {
			return nil, err
		}
		if ir.IsCompiled(text) {
			return nil, fail("name the source", "%s is a compiled contract, and --since compares sources", f)
		}
		is, lines := headed(f, text)
		if !is {
			continue
		}
		x, err := v.since(c, then, f)
		if err != nil {
			return nil, err
		}
		if x.lines = lines; len(x.Changes) > 0 {
			all = append(all, x)
		}
	}
	return all, nil
}

// since compares a contract with what it was.
func (v *diffVerb) since(c *console, then *revision, file string) (compared, error) {
	inside, err := then.within(file)
	if err != nil {
		return compared{}, err
	}
	is, err := contractArg{Contract: file, Root: v.Root}.load(c)
	if err != nil {
		return compared{}, err
	}
	was, err := then.contract(c, file, inside, v.Root)
	if errors.Is(err, fs.ErrNotExist) {
		d := diff.Comparison{Contract: is.Name, New: is.Digest(), Widened: true}
		for _, s := range is.Stages {
			d.Changes = append(d.Changes, diff.Change{Effect: diff.Widened, Stage: s.Name, What: "stage", Detail: "is new, and runs in " + strings.Join(s.In, ", ")})
		}
		d.Changes = append(d.Changes, diff.Change{Effect: diff.Widened, What: "contract", Detail: "is new"})
		return compared{File: inside, Comparison: d}, nil
	}
	if err != nil {
		return compared{}, err
	}
	return compared{File: inside, Comparison: diff.Contracts(was, is)}, nil
}

// contract is a contract as it was, with what it imported then, below the root that it would have
// today; fs.ErrNotExist if it was not there.
func (r *revision) contract(c *console, file, inside, root string) (*ir.Contract, error) {
	if _, err := fs.Stat(r.files, inside); err != nil {
		return nil, err
	}
	if root == "" {
		root = defaultRoot(file)
	}
	at, err := r.within(root)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(r.files, at)
	if err != nil {
		return nil, err
	}
	if at != "." {
		inside = strings.TrimPrefix(inside, at+"/")
	}
	show := func(p string) string { return filepath.Join(root, filepath.FromSlash(p)) }
	out, err := compiler.Compile(c.ctx, compiler.Input{FS: files, Path: inside, Show: show})
	if err != nil {
		return nil, err
	}
	if out.Lowered != nil { // claims that were not proved do not change what is allowed
		return out.Lowered, nil
	}
	return c.accept(file+" as it was", out)
}

// headed reports whether a source is that of a contract, and where its stages are.
func headed(name string, text []byte) (is bool, lines map[string]int) {
	file, _ := syntax.Parse(source.NewFile(name, string(text)))
	lines = map[string]int{}
	for _, d := range file.Decls {
		if s, ok := d.(*syntax.StageDecl); ok {
			lines[s.Name.Text] = s.Name.Span.File.Position(s.Name.Span.Start).Line
		}
	}
	return file.Header != nil && !file.Header.Library && !strings.HasSuffix(name, compiler.TestSuffix), lines
}

// writeComparison writes for people what became wider ("+"), narrower ("-"), and what has
// to be looked at ("~").
func writeComparison(w io.Writer, c diff.Comparison) {
	marks := map[diff.Effect]string{diff.Widened: "+", diff.Narrowed: "-", diff.Changed: "~"}
	count := map[diff.Effect]int{}
	at := ""
	for _, x := range c.Changes {
		title := "contract " + c.Contract
		if x.Stage != "" {
			title = "stage " + x.Stage
		}
		if title != at {
			fmt.Fprintln(w, title)
			at = title
		}
		fmt.Fprintf(w, "  %s %s\n", marks[x.Effect], x.Detail)
		count[x.Effect]++
	}
	switch {
	case len(c.Changes) == 0 && c.Old == c.New:
		fmt.Fprintln(w, "the contracts are the same")
	case len(c.Changes) == 0:
		fmt.Fprintln(w, "no authority changed")
	default:
		fmt.Fprintf(w, "%d widened, %d narrowed, %d changed\n", count[diff.Widened], count[diff.Narrowed], count[diff.Changed])
	}
}

// maxRows is how many rows a table has at most: comments on the platforms have an end.
const maxRows = 100

// writeMarkdown writes a comment for a review: what may be done that could not be before comes first.
func writeMarkdown(w io.Writer, all []compared) {
	changed := false
	for i := range all {
		x := &all[i]
		if len(x.Changes) == 0 {
			continue
		}
		changed = true
		fmt.Fprintf(w, "### Contract [%s](%s)\n", markdown(x.Contract), link(x.File, 0))
		for _, part := range []struct {
			effect diff.Effect
			title  string
		}{{diff.Widened, "Allows more"}, {diff.Changed, "To be looked at: cannot be compared"}, {diff.Narrowed, "Allows less"}} {
			x.table(w, part.effect, part.title)
		}
		fmt.Fprintln(w)
	}
	if !changed {
		fmt.Fprintln(w, "No contract changed in what it allows.")
	}
}

func (x *compared) table(w io.Writer, effect diff.Effect, title string) {
	rows := slices.DeleteFunc(slices.Clone(x.Changes), func(c diff.Change) bool { return c.Effect != effect })
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n**%s** (%d)\n\n| where | what |\n|---|---|\n", title, len(rows))
	for i, row := range rows {
		if i == maxRows {
			fmt.Fprintf(w, "| | and %s more |\n", terminal.Grouped(len(rows)-i))
			break
		}
		where := "contract"
		if row.Stage != "" {
			where = "stage " + markdown(row.Stage)
			if line := x.lines[row.Stage]; line > 0 {
				where = "[" + where + "](" + link(x.File, line) + ")"
			}
		}
		fmt.Fprintf(w, "| %s | %s |\n", where, markdown(row.Detail))
	}
}

// link is a relative link to a line of a file, 0 for the file.
func link(file string, line int) string {
	at := (&url.URL{Path: file}).EscapedPath()
	at = strings.NewReplacer("(", "%28", ")", "%29").Replace(at)
	if line > 0 {
		at += fmt.Sprint("#L", line)
	}
	return at
}

// markdown is text as it is: nothing in it is taken for Markdown, HTML, or a mention of somebody.
func markdown(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(terminal.Visible(text)), " ") {
		switch {
		case strings.ContainsRune("\\`*_{}[]()|~!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune("<>&@#", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
