// Package compiler turns a contract's source into its compiled form. The
// pipeline is parse (internal/syntax), read imports, check and lower (internal/check),
// decide claims (internal/footprint); Compile is all of it.
package compiler

import (
	"io/fs"
	"strings"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// An Input says what to compile.
type Input struct {
	FS     fs.FS                    // the root directory; imports never leave it
	Path   string                   // the file, slash-separated, relative to FS
	Show   func(path string) string // a path as messages name it; nil leaves it as it is
	Replay footprint.Replayer       // shows that stages do not commute; nil leaves such claims unknown
}

// An Output is all that compiling says. Contract is nil if a diagnostic is an
// error, and for libraries and test files, which compile to nothing. Lowered is
// the contract even if a claim about it is false. Results[i] answers
// Lowered.Claims[i].
type Output struct {
	Contract    *ir.Contract
	Lowered     *ir.Contract
	Results     []footprint.Result
	Diagnostics []source.Diagnostic // sorted
}

// TestSuffix ends the names of contract test files.
const TestSuffix = "_test.poptic"

// Compile parses, checks and lowers one file, and decides its claims. It reads
// files through in.FS only; what it cannot read is a diagnostic, not an error.
func Compile(in Input) Output {
	l := newLoader(in)
	unit := l.load(in.Path, nil)
	if unit == nil || strings.HasSuffix(in.Path, TestSuffix) {
		return Output{Diagnostics: source.Sort(l.diagnostics)}
	}
	if unit.File.Header != nil && unit.File.Header.Library {
		return Output{Diagnostics: source.Sort(append(l.diagnostics, check.Library(unit)...))}
	}
	checked := check.Contract(unit)
	out := Output{Lowered: checked.Contract, Diagnostics: append(l.diagnostics, checked.Diagnostics...)}
	if source.HasErrors(out.Diagnostics) {
		out.Lowered = nil
	}
	if out.Lowered != nil {
		out.decideClaims(checked, in.Replay)
	}
	if checked.Sound != nil {
		out.refuteClaims(checked, in.Replay)
	}
	if !source.HasErrors(out.Diagnostics) {
		out.Contract = out.Lowered
	}
	out.Diagnostics = source.Sort(out.Diagnostics)
	return out
}

// Unproved counts the claims that are refuted or unknown.
func (out Output) Unproved() int {
	n := 0
	for _, r := range out.Results {
		if _, proved := r.(footprint.Proved); !proved {
			n++
		}
	}
	return n
}
