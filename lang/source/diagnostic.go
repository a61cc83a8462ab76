package source

import "sort"

// Severity orders diagnostics: only an Error keeps a contract from compiling.
type Severity uint8

// The severities, least severe first.
const (
	Info Severity = iota
	Warning
	Error
)

// String is the lower-case name used in every rendering.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// A Diagnostic is one finding about a source file. Every phase reports with it;
// text, JSON and editor renderings are made from it alone.
type Diagnostic struct {
	Code     string // stable, snake_case
	Severity Severity
	Message  string // one sentence: what is wrong, and what was expected
	Help     string // what to do about it; may be empty
	Span     Span
	Related  []Related
	Fixes    []Fix
}

// Related points at another place that explains a diagnostic.
type Related struct {
	Message string
	Span    Span
}

// A Fix is a suggested edit: replace Span by Text. Several of one diagnostic are a choice.
type Fix struct {
	Title  string
	Span   Span
	Text   string
	Widens bool // a stage would see or do more: that is for the author to decide
	Choice bool // it is one way among others, and changes what is meant: somebody has to choose it
}

// HasErrors reports whether any diagnostic is an Error.
func HasErrors(ds []Diagnostic) bool {
	for _, d := range ds {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Sort orders diagnostics by file, position and code, and drops exact repeats.
func Sort(ds []Diagnostic) []Diagnostic {
	less := func(a, b Diagnostic) bool {
		an, bn := fileName(a.Span), fileName(b.Span)
		switch {
		case an != bn:
			return an < bn
		case a.Span.Start != b.Span.Start:
			return a.Span.Start < b.Span.Start
		case a.Code != b.Code:
			return a.Code < b.Code
		}
		return a.Message < b.Message
	}
	sort.SliceStable(ds, func(i, j int) bool { return less(ds[i], ds[j]) })
	out := ds[:0]
	for i, d := range ds {
		if i > 0 && !less(ds[i-1], d) && ds[i-1].Span == d.Span {
			continue
		}
		out = append(out, d)
	}
	return out
}

func fileName(s Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Name
}
