package main

import (
	"regexp"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/suite"
)

type testVerb struct {
	Paths  []string `arg:"" name:"path" help:"Test files, contracts, or folders that are searched for test files (testdata and hidden ones are left out)." placeholder:"PATH"`
	Run_   string   `name:"run" help:"Run only tests whose name matches a regular expression. A name is the title, and behind a / that of the case." placeholder:"RE"`
	Format string   `enum:"text,json,junit" default:"text" help:"How results are printed: ${enum}."`
	Root   string   `help:"Folder that imports and fixtures may not leave; by default the current directory, or a file's folder outside of it." placeholder:"DIR"`
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

Examples:

    poptic test desk_test.poptic
    poptic test .
    poptic test --run 'solved|labels/urgent' contracts/
    poptic test --format junit . > tests.xml

Exit codes:

    0  all tests passed
    1  a test failed
    2  usage; a contract, a test file or a fixture that cannot be used; no test to run`
}

// Run implements the verb.
func (v *testVerb) Run(c *console) error {
	var only *regexp.Regexp
	if v.Run_ != "" {
		var err error
		if only, err = regexp.Compile(v.Run_); err != nil {
			return fail("write one as RE2 has them", "--run is no regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	files, err := testFiles(v.Paths)
	if err != nil {
		return err
	}
	var out suite.Report
	for _, f := range files {
		if err := v.runFile(c, f, only, &out); err != nil {
			return err
		}
	}
	if err := v.print(c, &out); err != nil {
		return err
	}
	switch sum := out.Summary(); {
	case source.HasErrors(out.Diagnostics):
		return fail("", "some tests could not be run")
	case sum.Tests == 0 && only != nil:
		return fail("--run is matched with TITLE or TITLE/CASE", "no test is called like %s", v.Run_)
	case sum.Failed > 0:
		return errNo
	}
	return nil
}

// runFile runs the tests of one file.
func (v *testVerb) runFile(c *console, file string, only *regexp.Regexp, out *suite.Report) error {
	at, err := locate(file, v.Root)
	if err != nil {
		return err
	}
	defer at.close()
	tests, found, err := suite.Load(c.ctx, suite.Input{FS: noted{at.fs(), &c.inputs}, Path: at.path, Show: at.show})
	if err != nil {
		return err
	}
	out.Diagnostics = withoutRepeats(append(out.Diagnostics, found...))
	if tests == nil {
		return nil
	}
	result, err := tests.Run(c.ctx, suite.Options{Only: only})
	if err != nil {
		return err
	}
	if len(result.Tests) > 0 || only == nil {
		out.Suites = append(out.Suites, result)
	}
	return nil
}

func (v *testVerb) print(c *console, out *suite.Report) error {
	p := c.outText()
	opts := report.Options{Paint: p.Paint, Width: p.Width}
	switch v.Format {
	case "json":
		return out.JSON(c.out)
	case "junit":
		return out.JUnit(c.out)
	}
	if e := c.errText(); len(out.Diagnostics) > 0 {
		report.Text(c.err, out.Diagnostics, report.Options{Paint: e.Paint, Width: e.Width})
	}
	return out.Text(c.out, opts)
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
