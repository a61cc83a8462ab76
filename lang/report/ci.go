package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// Renderings for build servers: JUnit's XML, which they show as tests, and the commands by
// which GitHub's runners annotate the lines of a change.

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		File      string        `xml:"file,attr,omitempty"`
		Line      int           `xml:"line,attr,omitempty"`
		Failure   *junitFailure `xml:"failure,omitempty"`
		Out       string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a suite for each of the files that were checked. Each finding is a case of
// its own, which fails if counts says so, and else passes with the finding as its output; a
// file without any has one case, which passes. ds is not changed. The error is w's.
func JUnit(w io.Writer, files []string, ds []source.Diagnostic, counts func(source.Diagnostic) bool) error {
	ds = source.Sort(slices.Clone(ds))
	out := junitSuites{Name: "poptic check"}
	for _, d := range ds {
		if name := fileOf(d.Span); !slices.Contains(files, name) {
			files = append(slices.Clone(files), name)
		}
	}
	for _, name := range files {
		s := junitSuite{Name: name}
		for _, d := range ds {
			if fileOf(d.Span) != name {
				continue
			}
			x := junitCase{Name: d.Code, ClassName: name, File: name}
			if !d.Span.IsZero() {
				x.Line = d.Span.File.Position(d.Span.Start).Line
				x.Name += fmt.Sprintf(" at %d:%d", x.Line, d.Span.File.Position(d.Span.Start).Column)
			}
			text := strings.TrimPrefix(place(d.Span)+": ", ": ") + d.Severity.String() + ": " + d.Message + "\n" + d.Help
			if counts(d) {
				x.Failure = &junitFailure{Message: d.Message, Type: d.Severity.String() + "." + d.Code, Text: text}
				s.Failures++
			} else {
				x.Out = text
			}
			s.Cases = append(s.Cases, x)
		}
		if len(s.Cases) == 0 {
			s.Cases = []junitCase{{Name: "nothing found", ClassName: name, File: name}}
		}
		s.Tests = len(s.Cases)
		out.Tests, out.Failures, out.Suites = out.Tests+s.Tests, out.Failures+s.Failures, append(out.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func fileOf(s source.Span) string {
	if s.IsZero() {
		return ""
	}
	return s.File.Name
}

// GitHub writes a workflow command for each diagnostic, sorted by file and position, by which
// a runner shows it at its lines. ds is not changed. The error is w's.
func GitHub(w io.Writer, ds []source.Diagnostic) error {
	for _, d := range source.Sort(slices.Clone(ds)) {
		command := map[source.Severity]string{source.Error: "error", source.Warning: "warning", source.Info: "notice"}[d.Severity]
		var at []string
		if !d.Span.IsZero() {
			a, b := d.Span.File.Position(d.Span.Start), d.Span.File.Position(d.Span.End)
			at = append(at, "file="+property(d.Span.File.Name), fmt.Sprintf("line=%d,endLine=%d", a.Line, b.Line))
			if a.Line == b.Line { // the runner takes columns of one line only
				at = append(at, fmt.Sprintf("col=%d,endColumn=%d", a.Column, b.Column))
			}
		}
		at = append(at, "title="+property(d.Code))
		text := d.Message
		if d.Help != "" {
			text += "\n" + d.Help
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", command, strings.Join(at, ","), data(text)); err != nil {
			return err
		}
	}
	return nil
}

// data and property escape a text, as the runner reads it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
