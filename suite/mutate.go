package suite

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

// Mutation: would the tests notice if the contract said less? Each mutant is the contract with one
// clause that always holds, is dropped, or allows more. It is an edit of the source, which is
// compiled again, so that a mutant is what an author could have written. It ends in one of three
// ways: the compiler refuses it, or a claim of it is false; a test fails, and it is killed; or it
// survives, and is reported with its line: then a test is missing, or the clause says nothing.

// Mutation is what came of the mutants of some contracts.
type Mutation struct {
	Contracts []*ContractMutation `json:"contracts"`
}

// ContractMutation is what came of the mutants of one contract, and of the libraries that it
// imports from files.
type ContractMutation struct {
	File     string    `json:"file"`
	Name     string    `json:"name"`
	Killed   int       `json:"killed"`
	Refused  int       `json:"refused"`
	Survived int       `json:"survived"`
	Mutants  []*Mutant `json:"mutants"` // in the order of the files
}

// Survived counts the mutants that no test noticed.
func (m *Mutation) Survived() int {
	n := 0
	for _, c := range m.Contracts {
		n += c.Survived
	}
	return n
}

// A Mutant is a contract with one change.
type Mutant struct {
	Name   string `json:"name"`   // the clause
	Change string `json:"change"` // what is done to it
	File   string `json:"file"`
	Line   int    `json:"line"`
	Status string `json:"status"` // killed, refused or survived
	By     string `json:"by"`     // the test that failed, or the code of what the compiler found

	at   source.Span
	path string
	edit source.Fix
}

// The statuses of mutants.
const (
	Killed   = "killed"
	Refused  = "refused"
	Survived = "survived"
)

// At is the clause that was changed.
func (m *Mutant) At() source.Span { return m.at }

// Mutate makes the mutants of contracts and runs tests on them, several at once: those of all the
// suites whose contract it is. All tests of the suites must pass on the contracts as they are.
// progress, if it is not nil, is told how many mutants are done, by any goroutine. The result
// does not depend on how many run at once. The error is that of ctx.
func Mutate(ctx context.Context, suites []*Suite, parallel int, progress func(done, total int)) (*Mutation, error) {
	var out Mutation
	var all []func()
	done := atomic.Int64{}
	for _, group := range byContract(suites) {
		s := group[0]
		of := &ContractMutation{File: s.subjectFile, Name: s.contract.Name}
		out.Contracts = append(out.Contracts, of)
		cache := &compiler.Cache{}
		for _, x := range s.clauses() {
			of.Mutants = append(of.Mutants, mutantsOf(x)...)
		}
		for _, m := range of.Mutants {
			all = append(all, func() { m.run(ctx, group, cache) })
		}
	}
	inParallel(len(all), parallel, func(i int) {
		if ctx.Err() == nil {
			all[i]()
		}
		if progress != nil {
			progress(int(done.Add(1)), len(all))
		}
	})
	for _, of := range out.Contracts {
		for _, m := range of.Mutants {
			switch m.Status {
			case Killed:
				of.Killed++
			case Refused:
				of.Refused++
			default:
				of.Survived++
			}
		}
	}
	return &out, ctx.Err()
}

// byContract groups suites by what they test, in their order.
func byContract(suites []*Suite) [][]*Suite {
	var out [][]*Suite
	for _, s := range suites {
		i := slices.IndexFunc(out, func(g []*Suite) bool { return g[0].subjectFile == s.subjectFile })
		if i < 0 {
			out = append(out, []*Suite{s})
			continue
		}
		out[i] = append(out[i], s)
	}
	return out
}

// run compiles a mutant and runs the tests on it, up to the first that fails.
func (m *Mutant) run(ctx context.Context, suites []*Suite, cache *compiler.Cache) {
	s := suites[0]
	text := m.edit.Span.File.Text
	text = text[:m.edit.Span.Start] + m.edit.Text + text[m.edit.Span.End:]
	out, err := compiler.Compile(ctx, compiler.Input{FS: changedFS{s.input.FS, m.path, text}, Path: s.subjectPath, Show: s.input.Show, Cache: cache, LeaveClaims: true})
	if err != nil {
		return
	}
	if s.subjectPath == s.input.Path && out.Subject != nil {
		out = *out.Subject
	}
	if out.Lowered == nil {
		m.Status, m.By = Refused, firstError(out.Diagnostics)
		return
	}
	program, err := verify.Load(out.Lowered, verify.DefaultLimits())
	if err != nil {
		m.Status, m.By = Refused, "limit_exceeded"
		return
	}
	for _, s := range suites {
		if name := s.firstFailure(ctx, program); name != "" {
			m.Status, m.By = Killed, name
			return
		}
	}
	m.Status = Survived
	if len(out.Lowered.Claims) > 0 && out.Decide(ctx, nil) == nil && source.HasErrors(out.Diagnostics) {
		m.Status, m.By = Refused, firstError(out.Diagnostics)
	}
}

func firstError(ds []source.Diagnostic) string {
	for _, d := range ds {
		if d.Severity == source.Error {
			return d.Code
		}
	}
	return ""
}

// firstFailure is the name of the first test that fails on a program, "" if none does.
func (s *Suite) firstFailure(ctx context.Context, program *verify.Program) string {
	r, err := newRunner(program)
	if err != nil {
		return "(none can be run)"
	}
	for i := range s.tests {
		if t := r.run(ctx, &s.tests[i]); !t.Passed {
			return t.Name
		}
	}
	return ""
}

// changedFS is a file system with another text in one file.
type changedFS struct {
	fs.FS
	path, text string
}

// ReadFile implements fs.ReadFileFS.
func (c changedFS) ReadFile(path string) ([]byte, error) {
	if path == c.path {
		return []byte(c.text), nil
	}
	return fs.ReadFile(c.FS, path)
}

// mutantsOf are the mutants that differ in one clause.
func mutantsOf(x check.Clause) []*Mutant {
	mutant := func(change string, span source.Span, text string) *Mutant {
		return &Mutant{Name: x.Name, Change: change, File: x.At.File.Name, Line: lineOf(x.At), at: x.At, path: x.Path, edit: source.Fix{Span: span, Text: text}}
	}
	switch x.Kind {
	case check.BindClause, check.RequireClause, check.EnsureClause, check.InvariantClause, check.ChangeClause, check.WhereClause, check.GuardClause:
		if strings.TrimSpace(strings.Trim(x.Body.Text(), "{}")) == "true" {
			return nil
		}
		return []*Mutant{mutant("always holds", x.Body, "{ true }")}
	case check.ByClause, check.ProduceClause:
		return []*Mutant{mutant("dropped", x.At, "")}
	case check.ExceptClause:
		return []*Mutant{mutant("dropped", withoutException(x.Grant), exceptions(x.Grant, x.Except))}
	case check.GrantClause:
		return widened(x, mutant)
	}
	return nil
}

// withoutException is where the exceptions of a grant stand, from behind what it grants.
func withoutException(g *syntax.GrantExpr) source.Span {
	at := g.Span
	at.Start = g.Intersect[len(g.Intersect)-1].Span.End
	return at
}

// exceptions writes the exceptions of a grant, but for one.
func exceptions(g *syntax.GrantExpr, but *syntax.RegionAtom) string {
	var left []string
	for _, e := range g.Except {
		if e != but {
			left = append(left, e.Span.Text())
		}
	}
	switch len(left) {
	case 0:
		return ""
	case 1:
		return " except " + left[0]
	default:
		return " except (" + strings.Join(left, ", ") + ")"
	}
}

// widened are the mutants that grant more: all rights in the place of some, or any key in the place
// of one segment. A name on the way is left alone: what has another name is another kind of thing,
// and is mostly not there.
func widened(x check.Clause, mutant func(string, source.Span, string) *Mutant) []*Mutant {
	var out []*Mutant
	creates := len(x.Grant.Rights) == 1 && x.Grant.Rights[0].Text == "create"
	if g := x.Grant; g.Blind || len(g.Rights) > 0 && !(creates && x.Fresh) { // whatever is done to what was not there creates it
		at := g.Span
		at.End = g.Intersect[0].Span.Start
		out = append(out, mutant("without "+strings.TrimSpace(at.Text()), at, ""))
	}
	for _, a := range x.Grant.Intersect {
		if a.Path == nil {
			continue
		}
		for i, s := range a.Path.Segments {
			switch {
			case s.Kind == syntax.ParamSegment, s.Kind == syntax.ChoiceSegment, s.Kind == syntax.LiteralSegment && i == len(a.Path.Segments)-1:
				m := mutant("* for "+s.Span.Text(), s.Span, "*")
				m.at = s.Span
				out = append(out, m)
			}
		}
	}
	return out
}

// Text writes, for people, how many mutants of each contract came to what end, and those that
// survived, with their lines. The error is w's.
func (m *Mutation) Text(w io.Writer, opts report.Options) error {
	t := &writer{w: w, opts: opts}
	for _, of := range m.Contracts {
		t.line("%s", t.paint("1", fmt.Sprintf("mutants of %s: %d killed by tests, %d refused by the compiler, %d survived", of.File, of.Killed, of.Refused, of.Survived)))
		for _, x := range of.Mutants {
			if x.Status != Survived {
				continue
			}
			t.line("%s:%d: %s %s: %s, and no test fails", x.File, x.Line, t.paint("1;33", "survived"), t.paint("1", x.Name), x.Change)
			if err := report.Frame(w, x.at, opts); err != nil && t.err == nil {
				t.err = err
			}
		}
	}
	return t.err
}
