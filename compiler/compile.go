// Package compiler turns a contract's source into its compiled form.
//
// The concepts, and where they enter:
//
//   - Compile is all of it: it parses (internal/syntax), reads imports, checks and lowers
//     (internal/check), and decides claims (internal/footprint).
//   - Input: the file, and the folder it is in. Output: diagnostics, which package report
//     shows, and if none is an error, the contract; Output.Compiled are the bytes that
//     package runtime loads.
//   - A tool that compiles a file again and again gives it a Cache, and decides claims
//     when it has time (Output.Decide). A Draft is what holds in spite of errors.
//   - Answers put what is known of each claim into words.
//
// What has types of internal packages in it (Output.Lowered, Results, Files, Input.Replay) is for
// this project's own tools.
package compiler

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// An Input says what to compile.
type Input struct {
	FS     fs.FS                    // the root directory; imports never leave it
	Path   string                   // the file, slash-separated, relative to FS
	Show   func(path string) string // a path as messages name it; nil leaves it as it is
	Replay footprint.Replayer       // shows that stages do not commute; nil leaves such claims unknown
	Cache  *Cache                   // of files parsed before; nil parses all
	// LeaveClaims leaves claims undecided, which may take longer than all the rest: until
	// Decide has answered them, a contract that has any is not in Output.Contract.
	LeaveClaims bool
}

// An Output is all that compiling says. Contract is what may be run: it is nil if a
// diagnostic is an error, if claims were left undecided, and for libraries and test files,
// which compile to nothing. Lowered is the contract even if a claim about it is false.
// Results[i] answers Lowered.Claims[i].
type Output struct {
	Contract    *ir.Contract
	Lowered     *ir.Contract
	Draft       *Draft // of a contract, whatever errors it has
	Results     []footprint.Result
	Diagnostics []source.Diagnostic // sorted
	Files       []*syntax.File      // as parsed, the file that was compiled first, then what it imports; to be read only

	// Of a test file: what its tests are about, and those that no error touches. Subject is nil
	// where the contract cannot be read; the tests are left unchecked where it has errors.
	Subject *Output
	Tests   []check.Test

	checked check.Result // what Decide answers claims about
	decided bool
	symbols func() *symbol.Table
}

// Grants lists the grants that a stage of a contract without errors states in a clause
// ("read", "write", "source", "delegable"), in order; nil where there is none.
func (out *Output) Grants(stage, clause string) []check.Written {
	if out.Lowered == nil || out.checked.Grants == nil {
		return nil
	}
	return out.checked.Grants(stage, clause)
}

// A Draft is what holds of a contract in spite of errors: the declarations that no error
// touches. Stages, compositions and claims with an error are left out; a type that is not
// known counts as any. It is for tools that show a contract while it is being written, and
// no ir.Contract, so that nothing encodes or runs it by accident.
type Draft ir.Contract

// TestSuffix ends the names of contract test files.
const TestSuffix = "_test.poptic"

// Compile parses, checks and lowers one file, and decides its claims. It reads
// files through in.FS only; what it cannot read is a diagnostic, not an error. Once ctx
// ends it stops soon, and returns nothing but the error of ctx; there is no other.
func Compile(ctx context.Context, in Input) (Output, error) {
	out, err := compile(ctx, in)
	if err == nil && !in.LeaveClaims {
		err = out.Decide(ctx, in.Replay)
	}
	if err != nil {
		return Output{}, err
	}
	return out, nil
}

// compile is Compile without the claims.
func compile(ctx context.Context, in Input) (Output, error) {
	l := newLoader(ctx, in)
	unit := l.load(in.Path, nil)
	out := Output{Diagnostics: l.diagnostics, Files: l.files, decided: true}
	slices.Reverse(out.Files)
	switch {
	case unit == nil:
	case strings.HasSuffix(in.Path, TestSuffix):
		out.checkTests(ctx, l, unit)
	case unit.File.Header != nil && unit.File.Header.Library:
		found, symbols := check.Library(ctx, unit)
		out.Diagnostics, out.symbols = append(out.Diagnostics, found...), symbols
	default:
		out.check(ctx, unit)
		out.Diagnostics = append(out.Diagnostics, testsElsewhere(unit)...)
	}
	out.Diagnostics = source.Sort(out.Diagnostics)
	return out, ctx.Err()
}

// check checks a contract, whose file and imports were read.
func (out *Output) check(ctx context.Context, unit *check.Unit) {
	out.checked, out.decided = check.Contract(ctx, unit), false
	out.Draft, out.symbols = (*Draft)(out.checked.Sound), out.checked.Symbols
	out.Diagnostics = append(out.Diagnostics, out.checked.Diagnostics...)
	if !source.HasErrors(out.Diagnostics) {
		out.Lowered = out.checked.Sound
	}
	if out.Lowered != nil && len(out.Lowered.Claims) == 0 {
		out.Contract = out.Lowered
	}
}

// Decide answers the claims of a contract that Compile left, as if it had not: a claim
// that is false, or could not be decided, is one more diagnostic. It does nothing where
// there is nothing to answer. The error is that of ctx, which changes nothing.
func (out *Output) Decide(ctx context.Context, replay footprint.Replayer) error {
	if out.decided || out.Lowered == nil && (out.checked.Faultless || !out.checked.Decidable) {
		return ctx.Err() // where the errors are those of another file, what it lacks is not known
	}
	m := footprint.Measured(out.checked.Sound)
	m.Meter.Until(ctx)
	results, found := out.answers(m, unlessEnded(ctx, replay))
	if err := ctx.Err(); err != nil {
		return err
	}
	out.decided, out.Results = true, results
	out.Diagnostics = source.Sort(append(out.Diagnostics, found...))
	if !source.HasErrors(out.Diagnostics) {
		out.Contract = out.Lowered
	}
	return nil
}

// answers decides the claims, and says of each that is wrong what is. In a contract without
// errors, results[i] answers the i-th claim, and one that is unknown is as wrong as one
// that is false. In one with errors the claims about what no error touches are refuted or
// left open: mending the errors does not make a false one true.
func (out *Output) answers(m *footprint.Model, replay footprint.Replayer) (results []footprint.Result, found []source.Diagnostic) {
	for i, claim := range m.Contract.Claims {
		result := m.Decide(claim, replay)
		if _, refuted := result.(footprint.Refuted); out.Lowered == nil && !refuted {
			continue
		}
		if d, ok := explain.Claim(m, claim, result); ok {
			d.Span, d.Related = out.checked.Claims[i], explain.Related(m, result, out.checked.Places)
			found = append(found, d)
		}
		if out.Lowered != nil {
			results = append(results, result)
		}
	}
	return results, found
}

// unlessEnded is a replayer that looks for nothing once ctx has ended.
func unlessEnded(ctx context.Context, replay footprint.Replayer) footprint.Replayer {
	if replay == nil {
		return nil
	}
	return func(c *ir.Contract, p footprint.Pair, conflict footprint.Conflict) (*footprint.Counterexample, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return replay(c, p, conflict)
	}
}

// File is the contract's file, as messages name it and as Input.Path does; "" if it has errors.
func (out Output) File() (name, path string) {
	if out.Lowered == nil {
		return "", ""
	}
	return out.checked.File()
}

// Clauses lists the parts of a contract that a run can exercise, with where they were written;
// nil if it has errors. It costs about what checking its regions did.
func (out Output) Clauses() []check.Clause {
	if out.Lowered == nil {
		return nil
	}
	return out.checked.Clauses()
}

// Compiled is the compiled form of Contract, which package runtime loads and "poptic
// build" writes: canonical, so that the same source gives the same bytes. ok is false if
// there is no Contract.
func (out Output) Compiled() (compiled []byte, ok bool) {
	if out.Contract == nil {
		return nil, false
	}
	return ir.Encode(out.Contract), true
}

// Symbols says what the names in the file, and in the libraries that it imports, mean, in
// spite of errors. It is empty for test files and what could not be read. The first call
// costs about as much as checking did, others nothing; it is safe for concurrent use.
func (out Output) Symbols() *symbol.Table {
	if out.symbols == nil {
		return &symbol.Table{}
	}
	return out.symbols()
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
