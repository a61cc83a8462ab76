package compiler

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Test files. The tests of a file are about the contract in it, if it has the header of one; else
// about the contract that it imports; else about the one beside it: of desk_test.poptic that is
// desk.poptic.

// checkTests checks a test file against its contract.
func (out *Output) checkTests(ctx context.Context, l *loader, unit *check.Unit) {
	before := len(l.diagnostics)
	subject, own := l.subject(unit)
	if !own { // what is wrong in the contract's file is its own matter
		out.Diagnostics = l.diagnostics[:before:before]
	}
	if subject == nil {
		out.Diagnostics = append(out.Diagnostics, l.diagnostics[before:]...)
		return
	}
	out.Subject = &Output{Diagnostics: l.diagnostics[before:]}
	if own {
		out.Subject.Diagnostics = out.Diagnostics
	}
	out.Subject.check(ctx, subject)
	out.Subject.Diagnostics = source.Sort(out.Subject.Diagnostics)
	if own {
		out.Diagnostics, out.symbols = out.Subject.Diagnostics, out.Subject.symbols
	}
	if out.Subject.Lowered == nil {
		return
	}
	tests, found := check.Tests(unit, out.Subject.checked, l.fixtures(l.in.Path))
	out.Tests, out.Diagnostics = tests, append(out.Diagnostics, found...)
}

// TestsBeside reads the tests that stand beside a contract: of desk.poptic those in
// desk_test.poptic, if they are about it. ok is false if out is no contract without errors, if
// there are none, or some that are wrong.
func (out *Output) TestsBeside(ctx context.Context, in Input) (tests []check.Test, text string, ok bool) {
	name := strings.TrimSuffix(in.Path, extension) + TestSuffix
	if out.Lowered == nil || strings.HasSuffix(in.Path, TestSuffix) {
		return nil, "", false
	}
	in.Path = name
	l := newLoader(ctx, in)
	if _, err := l.read(name); err != nil {
		return nil, "", false
	}
	unit := l.load(name, nil)
	if unit == nil || unit.Faulty || isContract(unit) || slices.ContainsFunc(unit.File.Decls, func(d syntax.Decl) bool {
		i, imports := d.(*syntax.Import)
		return imports && isContract(unit.Imports[i])
	}) {
		return nil, "", false
	}
	tests, found := check.Tests(unit, out.checked, l.fixtures(name))
	if source.HasErrors(append(found, l.diagnostics...)) {
		return nil, "", false
	}
	return tests, unit.File.Source.Text, true
}

// subject is the contract that the tests of a file are about, nil if there is none, which it
// reports; own tells that it is in the same file.
func (l *loader) subject(tests *check.Unit) (subject *check.Unit, own bool) {
	if isContract(tests) {
		return tests, true
	}
	for _, d := range tests.File.Decls {
		if d, ok := d.(*syntax.Import); ok && isContract(tests.Imports[d]) {
			if subject != nil {
				l.report(importFault(diagnostic.NoContract, d, "write a test file for each", "the tests of a file are about one contract, and this is a second one"))
				return nil, false
			}
			subject = tests.Imports[d]
		}
	}
	if subject != nil || tests.Faulty && len(tests.File.Decls) == 0 {
		return subject, false
	}
	beside := strings.TrimSuffix(l.in.Path, TestSuffix) + extension
	if _, err := l.read(beside); err == nil {
		if subject = l.load(beside, nil); isContract(subject) {
			return subject, false
		}
	}
	at := source.Span{File: tests.File.Source}
	l.report(diagnostic.NoContract.Diagnostic(at, "import it, as in `import \"./desk.poptic\"`, or begin the file with `contract NAME` and what it declares",
		fmt.Sprintf("there is no contract %s for these tests", l.in.Show(beside))))
	return nil, false
}

func isContract(u *check.Unit) bool {
	return u != nil && u.File.Header != nil && !u.File.Header.Library
}

// longestFixture bounds the files that tests name.
const longestFixture = 1 << 26

// fixtures reads the files that a test file names, relative to it and below the root.
func (l *loader) fixtures(tests string) check.Files {
	return func(name string) (data []byte, near string, err error) {
		p := path.Join(path.Dir(tests), name)
		if !fs.ValidPath(p) || path.IsAbs(name) {
			return nil, "", fmt.Errorf("it lies outside the root directory")
		}
		if info, err := fs.Stat(l.in.FS, p); err == nil && info.Size() > longestFixture {
			return nil, "", fmt.Errorf("it is larger than %d bytes", longestFixture)
		}
		if data, err = fs.ReadFile(l.in.FS, p); err == nil {
			return data, "", nil
		}
		entries, _ := fs.ReadDir(l.in.FS, path.Dir(p))
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if near = spell.Nearest(path.Base(p), names); near != "" {
			near = name[:len(name)-len(path.Base(name))] + near
		}
		return nil, near, reason(err)
	}
}

// testsElsewhere reports tests in a file that holds none: nobody would run them.
func testsElsewhere(u *check.Unit) []source.Diagnostic {
	for _, d := range u.File.Decls {
		switch d := d.(type) {
		case *syntax.TestDecl, *syntax.GivenDecl:
			return []source.Diagnostic{diagnostic.MisplacedTest.Diagnostic(d.GetSpan(), "move it to a file beside this one whose name ends in "+TestSuffix, "tests stand in a test file, and nobody would run this one")}
		}
	}
	return nil
}
