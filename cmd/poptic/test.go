package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/suite"
)

type testVerb struct {
	Paths          []string `arg:"" name:"path" help:"Test files, contracts, or folders that are searched for test files (testdata and hidden ones are left out)." placeholder:"PATH"`
	Only           string   `name:"run" help:"Run only tests whose name matches a regular expression. A name is the title, and behind a / that of the case." placeholder:"RE"`
	Format         string   `enum:"text,json,junit" default:"text" help:"How results are printed: ${enum}."`
	Coverage       bool     `help:"Say which parts of the contracts the tests exercised."`
	CoverageFormat string   `enum:",text,json,lcov,html" default:"" help:"How coverage is printed: text, json, lcov or html. But for text it is all that is printed on standard output." placeholder:"FORMAT"`
	Mutate         bool     `help:"Run the tests on contracts with one clause less, and say which of these no test notices."`
	Watch          bool     `help:"Run the tests again whenever a file changes that they depend on, until it is interrupted."`
	Root           string   `help:"Folder that imports and fixtures may not leave; by default the current directory, or a file's folder outside of it." placeholder:"DIR"`
}

// Help is printed by --help.
func (testVerb) Help() string {
	return `Runs contract tests: of desk.poptic those in desk_test.poptic, beside it. A test starts from a state, lets a stage propose something, and says what must come of it:

    given morning = "state.json"

    test "a ticket is not solved without a reply" {
      state  morning
      phase  triage
      stage  classify(ticket: "T1")
      patch  [{"op": "replace", "path": "/tickets/T1/status", "value": "solved"}]
      expect reject invariant solved_has_reply
    }

A step may also say what the stage is shown (expect shown, hidden, view), what is there afterwards (expect /path = VALUE, no /path, state, { CEL }) and what the actor is told (expect reply). Several stages in a test are steps, one after the other; "advance PHASE" is a move of the host. With "case" a test is run for a table of values. Section 12 of the language chapter has all of it.

Coverage is by parts of the contract: a rule is to hold for a proposal that is accepted and to refuse one, a grant to be used, an exception to keep something away, an edge to be walked.

With --mutate the contract is changed, one clause at a time: a condition that always holds, an exception, a by or a produce that is dropped, a * for a segment of a grant. If no test fails then, the clause is reported.

Examples:

    poptic test desk_test.poptic
    poptic test .
    poptic test --run 'solved|labels/urgent' contracts/
    poptic test --format junit . > tests.xml
    poptic test --coverage .
    poptic test --coverage-format html . > coverage.html
    poptic test --mutate desk_test.poptic
    poptic test --watch .

Exit codes:

    0  all tests passed
    1  a test failed; with --mutate also, a clause can be changed and no test fails
    2  usage; a contract, a test file or a fixture that cannot be used; no test to run`
}

// Run implements the verb.
func (v *testVerb) Run(c *console) error {
	var only *regexp.Regexp
	if v.Only != "" {
		var err error
		if only, err = regexp.Compile(v.Only); err != nil {
			return fail("write one as RE2 has them", "--run is no regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	if v.Watch {
		return v.watch(c, only)
	}
	return v.runAll(c, only, &seenFiles{})
}

// runAll runs the tests of all paths, and prints what came of them; seen are the files that it
// depends on.
func (v *testVerb) runAll(c *console, only *regexp.Regexp, seen *seenFiles) error {
	files, err := testFiles(v.Paths)
	if err != nil {
		return err
	}
	var out suite.Report
	if v.Coverage || v.CoverageFormat != "" {
		out.Coverage = &suite.Coverage{}
	}
	var suites []*suite.Suite
	for _, f := range files {
		seen.note(f)
		at, err := locate(f, v.Root)
		if err != nil {
			return err
		}
		defer at.close()
		tests, err := v.runFile(c, at, only, &out, seen)
		if err != nil {
			return err
		}
		if tests != nil {
			suites = append(suites, tests)
		}
	}
	sum := out.Summary()
	broken := source.HasErrors(out.Diagnostics)
	if v.Mutate && !broken && sum.Failed == 0 {
		if out.Mutation, err = v.mutate(c, suites); err != nil {
			return err
		}
	}
	if err := v.print(c, &out); err != nil {
		return err
	}
	switch {
	case broken:
		return fail("", "some tests could not be run")
	case sum.Tests == 0 && only != nil:
		return fail("--run is matched with TITLE or TITLE/CASE", "no test is called like %s", v.Only)
	case sum.Failed > 0:
		if v.Mutate {
			c.errText().Line("nothing is mutated before all tests pass")
		}
		return errNo
	case out.Mutation != nil && out.Mutation.Survived() > 0:
		return errNo
	}
	return nil
}

// runFile runs the tests of one file; nil if they cannot be run.
func (v *testVerb) runFile(c *console, at *location, only *regexp.Regexp, out *suite.Report, seen *seenFiles) (*suite.Suite, error) {
	tests, found, err := suite.Load(c.ctx, suite.Input{FS: seeing{at.fs(), at.dir, seen}, Path: at.path, Show: at.show})
	if err != nil {
		return nil, err
	}
	out.Diagnostics = withoutRepeats(append(out.Diagnostics, found...))
	if tests == nil {
		return nil, nil
	}
	result, err := tests.Run(c.ctx, suite.Options{Only: only, Cover: out.Coverage})
	if err != nil {
		return nil, err
	}
	if len(result.Tests) > 0 || only == nil {
		out.Suites = append(out.Suites, result)
	}
	return tests, nil
}

// mutate tells on a terminal how far it has come.
func (v *testVerb) mutate(c *console, suites []*suite.Suite) (*suite.Mutation, error) {
	var progress func(done, total int)
	if c.err.Painter() != nil {
		var mu sync.Mutex
		progress = func(done, total int) {
			if tenth := max(1, total/10); done%tenth == 0 {
				mu.Lock()
				defer mu.Unlock()
				c.errText().Line("%d of %d mutants tried", done, total)
			}
		}
	}
	return suite.Mutate(c.ctx, suites, 0, progress)
}

// print prints results, and coverage where it was measured: coverage that is not for people has
// standard output for itself.
func (v *testVerb) print(c *console, out *suite.Report) error {
	to, p := c.out, c.outText()
	switch v.CoverageFormat {
	case "json", "lcov", "html":
		to, p = c.err, c.errText()
	}
	opts := report.Options{Paint: p.Paint, Width: p.Width}
	switch v.Format {
	case "json":
		if err := out.JSON(to); err != nil {
			return err
		}
	case "junit":
		if err := out.JUnit(to); err != nil {
			return err
		}
	default:
		if e := c.errText(); len(out.Diagnostics) > 0 {
			report.Text(c.err, out.Diagnostics, report.Options{Paint: e.Paint, Width: e.Width})
		}
		if err := out.Text(to, opts); err != nil {
			return err
		}
		if out.Mutation != nil {
			if err := out.Mutation.Text(to, opts); err != nil {
				return err
			}
		}
	}
	switch {
	case v.CoverageFormat == "json":
		return out.Coverage.JSON(c.out)
	case v.CoverageFormat == "lcov":
		return out.Coverage.LCOV(c.out)
	case v.CoverageFormat == "html":
		return out.Coverage.HTML(c.out)
	case out.Coverage != nil && v.Format == "text":
		if err := out.Coverage.Text(to, opts); err != nil {
			return err
		}
	}
	return nil
}

// testFiles are the test files that the paths stand for: of a contract the one beside it, of
// a folder those below it.
func testFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		all, err := contractFiles([]string{p})
		if err != nil {
			return nil, err
		}
		found := 0
		for _, f := range all {
			switch {
			case strings.HasSuffix(f, compiler.TestSuffix):
			case f == p:
				f = strings.TrimSuffix(f, ".poptic") + compiler.TestSuffix
			default:
				continue
			}
			files, found = append(files, f), found+1
		}
		if found == 0 {
			return nil, fail("tests stand in files whose names end in "+compiler.TestSuffix, "there is no test file in %s", p)
		}
	}
	return files, nil
}

// watch runs the tests, and again whenever a file changes that they depend on, until it is
// interrupted.
func (v *testVerb) watch(c *console, only *regexp.Regexp) error {
	for {
		seen := &seenFiles{}
		err := v.runAll(c, only, seen)
		if len(seen.stamps) == 0 && err != nil { // there is nothing to wait for
			return err
		}
		c.finish(err)
		c.out.Flush()
		c.errText().Line("waiting for a change of %s", terminal.Plural(len(seen.stamps), "file"))
		if !v.changed(c.ctx, seen) {
			return nil
		}
	}
}

// between is how long watch waits before it looks again.
const between = 300 * time.Millisecond

// changed waits until a file is another one than when it was read, or there are other test
// files; false if ctx ends first.
func (v *testVerb) changed(ctx context.Context, seen *seenFiles) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(between):
		}
		files, _ := testFiles(v.Paths)
		for _, name := range files {
			if _, known := seen.stamps[name]; !known {
				return true
			}
		}
		for name, stamp := range seen.stamps {
			if stampOf(name) != stamp {
				return true
			}
		}
	}
}

// stampOf tells when a file was changed; "" of one that is not there.
func stampOf(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// seenFiles are the files that tests were read from, be they there or not, with their stamps from
// before. It is safe for concurrent use.
type seenFiles struct {
	mu     sync.Mutex
	stamps map[string]string
}

func (s *seenFiles) note(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.stamps[name]; known {
		return
	}
	if s.stamps == nil {
		s.stamps = map[string]string{}
	}
	s.stamps[name] = stampOf(name)
}

// seeing is a file system that notes which files were asked for.
type seeing struct {
	fs.FS
	dir  string
	seen *seenFiles
}

// Open implements fs.FS.
func (s seeing) Open(name string) (fs.File, error) {
	s.seen.note(filepath.Join(s.dir, filepath.FromSlash(name)))
	return s.FS.Open(name)
}
