package compiler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/stdlib"
)

// stdPrefix starts the import paths of the embedded libraries.
const stdPrefix = "std/"

// extension ends the names of source files.
const extension = ".poptic"

// A loader reads and parses a file and, through its imports, its libraries, each
// once.
type loader struct {
	ctx         context.Context
	in          Input
	units       map[string]*check.Unit // by path; nil while its imports are being read
	files       []*syntax.File         // each behind those that it imports
	diagnostics []source.Diagnostic
}

func newLoader(ctx context.Context, in Input) *loader {
	if in.Show == nil {
		in.Show = func(path string) string { return path }
	}
	return &loader{ctx: ctx, in: in, units: map[string]*check.Unit{}}
}

// load reads the file at p, which from imports; nil if there is no such file or
// it is being read already.
func (l *loader) load(p string, from *syntax.Import) *check.Unit {
	if unit, ok := l.units[p]; ok {
		if unit == nil {
			l.report(importFault(diagnostic.ImportCycle, from, "a library cannot import a file that imports it", p+" imports itself, in the end"))
		}
		return unit
	}
	if l.ctx.Err() != nil {
		return nil
	}
	text, err := l.read(p)
	if err != nil {
		l.report(l.unreadable(p, from, err))
		return nil
	}
	l.units[p] = nil
	file, found := l.in.Cache.parse(l.in.Show(p), string(text))
	l.diagnostics = append(l.diagnostics, found...)
	unit := &check.Unit{Faulty: source.HasErrors(found), Path: p, Standard: strings.HasPrefix(p, stdPrefix), File: file, Imports: map[*syntax.Import]*check.Unit{}}
	for _, d := range file.Decls {
		if d, ok := d.(*syntax.Import); ok {
			if lib := l.loadImport(p, d); lib != nil {
				unit.Imports[d] = lib
			}
		}
	}
	l.units[p], l.files = unit, append(l.files, file)
	return unit
}

// loadImport reads what a file imports; only libraries can be imported.
func (l *loader) loadImport(from string, d *syntax.Import) *check.Unit {
	p, problem := resolveImport(from, d.Path.Value)
	if problem != "" {
		fault := importFault(diagnostic.ImportPath, d, "write `std/NAME`, or `./FILE.poptic` for a file of yours", problem)
		if slices.Contains(l.siblings(stdPrefix+"x"), d.Path.Value+extension) {
			fault = importInstead(fault, d, stdPrefix+d.Path.Value)
		}
		l.report(fault)
		return nil
	}
	unit := l.load(p, d)
	if isContract(unit) && !strings.HasSuffix(from, TestSuffix) {
		l.report(importFault(diagnostic.NotALibrary, d, "move what you want to share to a file that starts with `library NAME`", d.Path.Value+" is a contract; only libraries can be imported"))
		return nil
	}
	return unit
}

// resolveImport finds the path that an import means, or says why there is none.
func resolveImport(from, name string) (p, problem string) {
	if std, ok := strings.CutPrefix(name, stdPrefix); ok {
		if !fs.ValidPath(std) {
			return "", fmt.Sprintf("%q names no standard library", name)
		}
		return stdPrefix + strings.TrimSuffix(std, extension) + extension, ""
	}
	if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		return "", fmt.Sprintf("%q is neither a standard library nor a relative path", name)
	}
	dir := path.Dir(from)
	if strings.HasPrefix(from, stdPrefix) {
		return "", "a standard library imports standard libraries only"
	}
	p = path.Join(dir, name)
	if !fs.ValidPath(p) {
		return "", fmt.Sprintf("%q lies outside the root directory", name)
	}
	return p, ""
}

func (l *loader) read(p string) ([]byte, error) {
	if std, ok := strings.CutPrefix(p, stdPrefix); ok {
		return fs.ReadFile(stdlib.FS, std)
	}
	return fs.ReadFile(l.in.FS, p)
}

func (l *loader) report(d source.Diagnostic) { l.diagnostics = append(l.diagnostics, d) }

// unreadable says what is wrong with a file that cannot be read, with the nearest
// name there is.
func (l *loader) unreadable(p string, from *syntax.Import, err error) source.Diagnostic {
	if from == nil {
		at := source.Span{File: source.NewFile(l.in.Show(p), "")}
		return diagnostic.Unreadable.Diagnostic(at, "", fmt.Sprintf("%s cannot be read: %v", l.in.Show(p), reason(err)))
	}
	d := importFault(diagnostic.ImportNotFound, from, "", fmt.Sprintf("there is no library %q: %v", from.Path.Value, reason(err)))
	var others []string
	for _, name := range l.siblings(p) {
		if path.Join(path.Dir(p), name) != from.Path.Span.File.Name {
			others = append(others, strings.TrimSuffix(name, extension))
		}
	}
	written := from.Path.Value
	if near := spell.Nearest(strings.TrimSuffix(path.Base(p), extension), others); near != "" {
		if !strings.HasPrefix(p, stdPrefix) {
			near += extension
		}
		return importInstead(d, from, written[:strings.LastIndex(written, "/")+1]+near)
	}
	if strings.HasPrefix(p, stdPrefix) {
		d.Help = "the libraries that come with the compiler are " + strings.Join(others, ", ")
	}
	return d
}

// importInstead proposes another path of an import.
func importInstead(d source.Diagnostic, from *syntax.Import, meant string) source.Diagnostic {
	d.Help = "did you mean `" + meant + "`?"
	d.Fixes = append(d.Fixes, source.Fix{Title: "write `" + meant + "`", Span: from.Path.Span, Text: strconv.Quote(meant)})
	return d
}

// reason is the part of an error that does not repeat the path.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// siblings lists the source files beside p.
func (l *loader) siblings(p string) []string {
	from, dir := l.in.FS, path.Dir(p)
	if strings.HasPrefix(p, stdPrefix) {
		from, dir = stdlib.FS, "."
	}
	entries, err := fs.ReadDir(from, dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			out = append(out, e.Name())
		}
	}
	return out
}

func importFault(k *diagnostic.Kind, d *syntax.Import, help, message string) source.Diagnostic {
	return k.Diagnostic(d.Path.Span, help, message)
}
