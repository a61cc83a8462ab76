package report

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/patchoptic/poptic/lang/source"
)

// Document is what JSON writes.
type Document struct {
	Diagnostics []Finding `json:"diagnostics"`
	Summary     Summary   `json:"summary"`
}

// Finding is a diagnostic in JSON. File is "" and the positions are zero where a
// diagnostic points nowhere.
type Finding struct {
	Code     string    `json:"code"`
	Severity string    `json:"severity"`
	Message  string    `json:"message"`
	Help     string    `json:"help"`
	Place              // flattened: file, start, end
	Related  []Related `json:"related"`
	Fixes    []Fix     `json:"fixes"`
}

// Place is a range of a file; End is behind its last character.
type Place struct {
	File  string          `json:"file"`
	Start source.Position `json:"start"`
	End   source.Position `json:"end"`
}

// Related is another place that explains a finding.
type Related struct {
	Message string `json:"message"`
	Place
}

// Fix is an edit: replace the place by Text.
type Fix struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Place
}

// JSON writes diagnostics as {"diagnostics":[...],"summary":{...}} with a line
// feed at the end, sorted by file and position; the lists are never null. ds is
// not changed. The error is w's.
func JSON(w io.Writer, ds []source.Diagnostic) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(NewDocument(ds))
}

// NewDocument is the value that JSON writes.
func NewDocument(ds []source.Diagnostic) Document {
	ds = source.Sort(slices.Clone(ds))
	doc := Document{Diagnostics: []Finding{}, Summary: Summarize(ds)}
	for _, d := range ds {
		doc.Diagnostics = append(doc.Diagnostics, newFinding(d))
	}
	return doc
}

func newFinding(d source.Diagnostic) Finding {
	f := Finding{
		Code: d.Code, Severity: d.Severity.String(), Message: d.Message, Help: d.Help, Place: newPlace(d.Span),
		Related: []Related{}, Fixes: []Fix{},
	}
	for _, r := range d.Related {
		f.Related = append(f.Related, Related{Message: r.Message, Place: newPlace(r.Span)})
	}
	for _, x := range d.Fixes {
		f.Fixes = append(f.Fixes, Fix{Title: x.Title, Text: x.Text, Place: newPlace(x.Span)})
	}
	return f
}

func newPlace(s source.Span) Place {
	if s.IsZero() {
		return Place{}
	}
	return Place{File: s.File.Name, Start: s.File.Position(s.Start), End: s.File.Position(s.End)}
}
