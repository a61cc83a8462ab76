// Package compiler turns a contract's source into its compiled form. The
// pipeline is parse (lang/syntax), read imports, check and lower (compiler/check);
// Compile is all of it.
package compiler

import (
	"io/fs"
	"strings"

	"github.com/patchoptic/poptic/compiler/check"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// An Input says what to compile.
type Input struct {
	FS   fs.FS                    // the root directory; imports never leave it
	Path string                   // the file, slash-separated, relative to FS
	Show func(path string) string // a path as messages name it; nil leaves it as it is
}

// An Output is all that compiling says. Contract is nil if a diagnostic is an
// error, and for libraries and test files, which compile to nothing.
type Output struct {
	Contract    *ir.Contract
	Diagnostics []source.Diagnostic // sorted
}

// TestSuffix ends the names of contract test files.
const TestSuffix = "_test.poptic"

// Compile parses, checks and lowers one file. It reads files through in.FS only;
// what it cannot read is a diagnostic, not an error.
func Compile(in Input) Output {
	l := newLoader(in)
	unit := l.load(in.Path, nil)
	if unit == nil || strings.HasSuffix(in.Path, TestSuffix) {
		return Output{Diagnostics: source.Sort(l.diagnostics)}
	}
	if unit.File.Header != nil && unit.File.Header.Library {
		return Output{Diagnostics: source.Sort(append(l.diagnostics, check.Library(unit)...))}
	}
	contract, found := check.Contract(unit)
	diagnostics := source.Sort(append(l.diagnostics, found...))
	if source.HasErrors(diagnostics) {
		contract = nil
	}
	return Output{Contract: contract, Diagnostics: diagnostics}
}
