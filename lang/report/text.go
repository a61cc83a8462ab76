// Package report renders diagnostics. It knows nothing of what they are about:
// every rendering is made from source.Diagnostic alone.
//
// Text is for people, JSON for programs.
package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// Options say how Text draws.
type Options struct {
	// Paint wraps text in a colour; nil for none. A style is what stands between "ESC ["
	// and "m" in the sequence of a terminal, e.g. "1;31".
	Paint func(style, text string) string
	Width int // columns; longer source lines are cut around what they show. 0: no bound
}

// Text writes diagnostics with the source lines they are about, sorted by file
// and position, and a summary line; nothing if there are none. ds is not changed.
// The error is w's.
//
//	ticket.poptic:7:9: error[unknown_clause]: there is no clause `red`
//	    |
//	  7 |   red /tickets
//	    |   ^^^
//	    = did you mean `read`?
func Text(w io.Writer, ds []source.Diagnostic, opts Options) error {
	ds = source.Sort(slices.Clone(ds))
	if len(ds) == 0 {
		return nil
	}
	t := &texter{w: bufio.NewWriter(w), paint: opts.Paint, width: opts.Width}
	for _, d := range ds {
		t.diagnostic(d)
	}
	fmt.Fprintln(t.w, Summarize(ds))
	return t.w.Flush()
}

type texter struct {
	w     *bufio.Writer
	paint painter
	width int
}

func (t *texter) diagnostic(d source.Diagnostic) {
	label := t.paint.severity(d.Severity, d.Severity.String()+"["+d.Code+"]")
	if where := place(d.Span); where != "" {
		fmt.Fprintf(t.w, "%s: ", t.paint.bold(where))
	}
	fmt.Fprintf(t.w, "%s: %s\n", label, t.paint.bold(d.Message))
	gutter := t.gutter(d)
	t.frame(d.Span, gutter, '^', func(s string) string { return t.paint.severity(d.Severity, s) })
	t.note(gutter, d.Help)
	for _, r := range d.Related {
		t.related(r, gutter)
	}
	for _, f := range d.Fixes {
		t.note(gutter, f.Title)
	}
	fmt.Fprintln(t.w)
}

// gutter is the width of the widest line number shown with d.
func (t *texter) gutter(d source.Diagnostic) int {
	widest := lastLine(d.Span)
	for _, r := range d.Related {
		widest = max(widest, lastLine(r.Span))
	}
	return max(2, len(fmt.Sprint(widest)))
}

func lastLine(s source.Span) int {
	if s.IsZero() {
		return 0
	}
	return s.File.Position(s.End).Line
}

func (t *texter) note(gutter int, text string) {
	if text != "" {
		fmt.Fprintf(t.w, " %*s %s %s\n", gutter, "", t.paint.dim("="), text)
	}
}

func (t *texter) related(r source.Related, gutter int) {
	t.note(gutter, strings.TrimPrefix(place(r.Span)+": ", ": ")+r.Message)
	t.frame(r.Span, gutter, '-', t.paint.dim)
}

// place is "file:line:column", "" for a span that points nowhere.
func place(s source.Span) string {
	if s.IsZero() {
		return ""
	}
	p := s.File.Position(s.Start)
	return fmt.Sprintf("%s:%d:%d", s.File.Name, p.Line, p.Column)
}
