// Package suite runs contract tests: the *_test.poptic files of spec/language.md section 12.
//
//   - Load reads a test file with its contract and the files that it names; what is wrong is
//     a list of diagnostics, as a compiler's.
//   - Suite.Run runs its tests, each on a state of its own, and says of each whether it passed,
//     or what was expected and what came (Result).
//   - Report writes results as text, JSON and JUnit's XML (report.go).
//   - Mutate runs the tests on contracts with one clause less (mutate.go).
//   - Coverage is what tests exercise of a contract (coverage.go; page.go draws it).
//
// A test is judged by what embeds judge by: the verification of package runtime, on the compiled
// contract. It needs no store and no clock; whatever a test depends on is in its file, so that a
// run gives the same result at any time, in any order.
//
// The files: suite.go (loading, running all), run.go (one test), expect.go (one expectation),
// difference.go (two JSON values), report.go (results for people and programs).
package suite

import (
	"context"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

// Suffix ends the names of test files.
const Suffix = compiler.TestSuffix

// An Input says which tests to load.
type Input struct {
	FS    fs.FS                    // the root directory; imports and fixtures never leave it. Safe for concurrent use
	Path  string                   // the test file, slash-separated, relative to FS
	Show  func(path string) string // a path as messages name it; nil leaves it as it is
	Cache *compiler.Cache          // of files parsed before; nil parses all
}

// A Suite is the tests of one file and the contract that they are about. It is immutable and
// safe for concurrent use.
type Suite struct {
	input    Input
	file     string
	contract *ir.Contract
	program  *verify.Program
	tests    []check.Test

	subjectFile string                // the contract's file as messages have it
	subjectPath string                // and as the compiler was given it
	clauses     func() []check.Clause // of the contract; what is measured and changed
}

// Load compiles a test file. The diagnostics are those of the file and, if that has errors, of
// its contract, sorted; the suite is nil if one is an error. Claims of the contract are not
// decided. The error is that of ctx, or says that the contract cannot be loaded at all. The cost
// is that of compiling the contract and reading the files that the tests name.
func Load(ctx context.Context, in Input) (*Suite, []source.Diagnostic, error) {
	out, err := compiler.Compile(ctx, compiler.Input{FS: in.FS, Path: in.Path, Show: in.Show, Cache: in.Cache, LeaveClaims: true})
	if err != nil {
		return nil, nil, err
	}
	found := out.Diagnostics
	if out.Subject != nil && source.HasErrors(out.Subject.Diagnostics) {
		found = source.Sort(append(found, out.Subject.Diagnostics...))
	}
	if source.HasErrors(found) || out.Subject == nil {
		return nil, found, nil
	}
	program, err := verify.Load(out.Subject.Lowered, verify.DefaultLimits())
	if err != nil {
		return nil, found, err
	}
	show := in.Path
	if in.Show != nil {
		show = in.Show(in.Path)
	}
	s := &Suite{input: in, file: show, contract: out.Subject.Lowered, program: program, tests: out.Tests}
	s.subjectFile, s.subjectPath = out.Subject.File()
	s.clauses = sync.OnceValue(func() []check.Clause { return measured(out.Subject.Clauses(), s.subjectFile == s.file) })
	return s, found, nil
}

// measured are the clauses that tests are measured by: those of the contract and of the libraries
// that it imports from files. A contract in the test file is there for its libraries, if it has any.
func measured(all []check.Clause, own bool) []check.Clause {
	if !own || len(all) == 0 {
		return all
	}
	imported := slices.DeleteFunc(slices.Clone(all), func(c check.Clause) bool { return strings.HasSuffix(c.Path, Suffix) })
	if len(imported) == 0 {
		return all
	}
	return imported
}

// File is the test file's name as messages have it.
func (s *Suite) File() string { return s.file }

// Names lists the tests by name, in the order of the file: a title, and behind a "/" that of
// the case.
func (s *Suite) Names() []string {
	var out []string
	for i := range s.tests {
		out = append(out, s.tests[i].Name())
	}
	return out
}

// Options say how to run tests.
type Options struct {
	Only     *regexp.Regexp // the tests to run, by name; nil for all
	Parallel int            // how many at once; 0 for as many as there are processors
	Cover    *Coverage      // to which what the tests exercise is added; nil if it is not measured
}

// A Result is what came of the tests of one file, in their order.
type Result struct {
	File     string `json:"file"`
	Contract string `json:"contract"` // its name
	Digest   string `json:"digest"`   // of the contract
	Tests    []Test `json:"tests"`
}

// Failed counts the tests that failed.
func (r *Result) Failed() int {
	n := 0
	for i := range r.Tests {
		if !r.Tests[i].Passed {
			n++
		}
	}
	return n
}

// Run runs the tests. The error is that of ctx; a test that fails is none.
func (s *Suite) Run(ctx context.Context, o Options) (Result, error) {
	var chosen []*check.Test
	for i := range s.tests {
		if o.Only == nil || o.Only.MatchString(s.tests[i].Name()) {
			chosen = append(chosen, &s.tests[i])
		}
	}
	out := Result{File: s.file, Contract: s.contract.Name, Digest: s.program.Digest(), Tests: make([]Test, len(chosen))}
	program, cover := s.program, (*cover)(nil)
	if o.Cover != nil {
		observed, err := verify.LoadObserved(s.contract, verify.DefaultLimits(), observe)
		if err != nil {
			return Result{}, err
		}
		program, cover = observed, newCover(s, o.Cover)
		defer cover.of.sum()
	}
	r, err := newRunner(program)
	if err != nil {
		return Result{}, err
	}
	r.cover = cover
	inParallel(len(chosen), o.Parallel, func(i int) { out.Tests[i] = r.run(ctx, chosen[i]) })
	return out, ctx.Err()
}

// inParallel calls do for 0 to n-1, by as many goroutines as are asked for.
func inParallel(n, parallel int, do func(i int)) {
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(n, parallel) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
