package suite

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

// A Report is the results of several files, and what was found in those that could not be run
// or were run all the same. Nothing in it depends on when, where and how fast the tests ran.
type Report struct {
	Suites      []Result
	Diagnostics []source.Diagnostic
	Coverage    *Coverage // nil if it was not measured
	Mutation    *Mutation // nil if nothing was mutated
}

// A Summary counts the tests of a report.
type Summary struct {
	Files  int `json:"files"`
	Tests  int `json:"tests"`
	Passed int `json:"passed"`
	Failed int `json:"failed"`
}

// Summary counts r.
func (r *Report) Summary() Summary {
	s := Summary{Files: len(r.Suites)}
	for i := range r.Suites {
		s.Tests += len(r.Suites[i].Tests)
		s.Failed += r.Suites[i].Failed()
	}
	s.Passed = s.Tests - s.Failed
	return s
}

// JSON writes r as one object: "suites", "diagnostics" as report.JSON has them "summary", and
// where they were asked for "coverage" and "mutation". The error is w's.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Suites      []Result         `json:"suites"`
		Diagnostics []report.Finding `json:"diagnostics"`
		Summary     Summary          `json:"summary"`
		Coverage    *Coverage        `json:"coverage,omitempty"`
		Mutation    *Mutation        `json:"mutation,omitempty"`
	}{append([]Result{}, r.Suites...), report.NewDocument(r.Diagnostics).Diagnostics, r.Summary(), r.Coverage, r.Mutation})
}

// Text writes, for people, the tests that failed, with what was expected and what came, a line
// for each file, and the sum. Diagnostics are not among it. The error is w's.
func (r *Report) Text(w io.Writer, opts report.Options) error {
	t := &writer{w: w, opts: opts}
	for i := range r.Suites {
		s := &r.Suites[i]
		for j := range s.Tests {
			t.test(s.File, &s.Tests[j])
		}
	}
	for i := range r.Suites {
		t.suite(&r.Suites[i])
	}
	if s := r.Summary(); s.Files > 0 {
		line := fmt.Sprintf("%s in %s: %d passed, %d failed", count(s.Tests, "test"), count(s.Files, "file"), s.Passed, s.Failed)
		if s.Files > 1 || s.Failed > 0 {
			t.line("%s", t.paint("1", line))
		}
	}
	return t.err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// A writer writes text, and keeps the first error.
type writer struct {
	w    io.Writer
	opts report.Options
	err  error
}

func (t *writer) line(format string, args ...any) {
	if _, err := fmt.Fprintf(t.w, format+"\n", args...); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *writer) paint(style, text string) string {
	if t.opts.Paint == nil || text == "" {
		return text
	}
	return t.opts.Paint(style, text)
}

func (t *writer) suite(s *Result) {
	switch failed := s.Failed(); {
	case len(s.Tests) == 0:
	case failed == 0:
		t.line("%s   %s: %s", t.paint("1;32", "ok"), s.File, count(len(s.Tests), "test"))
	default:
		t.line("%s %s: %d of %s failed", t.paint("1;31", "FAIL"), s.File, failed, count(len(s.Tests), "test"))
	}
}

func (t *writer) test(file string, test *Test) {
	if test.Passed {
		return
	}
	t.line("%s %s", t.paint("1;31", "FAIL"), t.paint("1", test.Name))
	for i := range test.Failures {
		t.failure(file, &test.Failures[i])
	}
}

func (t *writer) failure(file string, f *Failure) {
	where := fmt.Sprintf("%s:%d: ", file, f.Line)
	switch {
	case f.Step > 0 && f.Stage != "":
		where += fmt.Sprintf("step %d, stage %s: ", f.Step, f.Stage)
	case f.Step > 0:
		where += fmt.Sprintf("step %d, the host: ", f.Step)
	}
	t.line("%s%s", where, t.paint("1", f.Message))
	if err := report.Frame(t.w, f.at, t.opts); err != nil && t.err == nil {
		t.err = err
	}
	for _, why := range f.Reasons {
		t.line("    %s", why)
	}
	shown := f.Differences[:min(len(f.Differences), mostShown)]
	for _, d := range shown {
		t.line("    %s", t.paint("1", "at "+orRoot(d.Path)))
		t.side("1;31", "- expected", d.Expected)
		t.side("1;32", "+ actual  ", d.Actual)
	}
	if more := len(f.Differences) - len(shown); more > 0 {
		t.line("    and at %s more", count(more, "place"))
	}
	t.line("")
}

// mostShown bounds the differences that are shown to people; JSON has up to mostDifferences.
const mostShown = 20

// side writes one side of a difference: a short value in a line, another laid out.
func (t *writer) side(style, mark string, value *string) {
	if value == nil {
		t.line("      %s", t.paint(style, mark+"  (nothing)"))
		return
	}
	lines := []string{*value}
	if len(*value) > 72 {
		lines = laidOut(*value)
	}
	for i, l := range lines {
		if i > 0 {
			mark = mark[:1] + strings.Repeat(" ", len(mark)-1)
		}
		t.line("      %s", t.paint(style, mark+"  "+l))
	}
}

// mostLines bounds how much of a value is laid out.
const mostLines = 24

func laidOut(value string) []string {
	n, err := tree.Parse([]byte(value), tree.DefaultLimits)
	if err != nil {
		return []string{value}
	}
	lines := strings.Split(string(tree.AppendIndent(nil, n)), "\n")
	if len(lines) > mostLines {
		lines = append(slices.Clone(lines[:mostLines]), fmt.Sprintf("... and %s more", count(len(lines)-mostLines, "line")))
	}
	return lines
}

func orRoot(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

// JUnit writes r as the XML that build servers read: a suite for each file, a case for each test.
// Files that could not be run have one case with an error. The error is w's.
func (r *Report) JUnit(w io.Writer) error {
	sum := r.Summary()
	doc := junitSuites{Tests: sum.Tests, Failures: sum.Failed}
	for i := range r.Suites {
		doc.Suites = append(doc.Suites, junitOf(&r.Suites[i]))
	}
	for _, d := range report.NewDocument(r.Diagnostics).Diagnostics {
		if d.Severity != source.Error.String() {
			continue
		}
		text := fmt.Sprintf("%s:%d:%d: %s", d.File, d.Start.Line, d.Start.Column, d.Message)
		doc.Suites = append(doc.Suites, junitSuite{Name: d.File, Tests: 1, Errors: 1, Cases: []junitCase{{
			Class: d.File, Name: d.Code, File: d.File, Line: d.Start.Line, Error: &junitFailure{Message: d.Message, Type: d.Code, Text: text},
		}}})
		doc.Errors++
		doc.Tests++
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(s *Result) junitSuite {
	out := junitSuite{Name: s.File, Tests: len(s.Tests), Failures: s.Failed()}
	for i := range s.Tests {
		test := &s.Tests[i]
		c := junitCase{Class: s.File, Name: test.Name, File: s.File, Line: test.Line}
		if !test.Passed {
			var text strings.Builder
			(&writer{w: &text}).test(s.File, test)
			c.Failure = &junitFailure{Message: test.Failures[0].Message, Type: "failure", Text: text.String()}
		}
		out.Cases = append(out.Cases, c)
	}
	return out
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Error   *junitFailure `xml:"error,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}
