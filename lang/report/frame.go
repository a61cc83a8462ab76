package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/patchoptic/poptic/lang/source"
)

const (
	tabWidth = 4
	// maxFrame is how many lines of a span are shown; the middle of a longer one
	// is left out.
	maxFrame = 6
)

// Frame draws the lines of a span, with the part that it covers marked, as Text does below a
// message; nothing of a span that points nowhere. The error is w's.
func Frame(w io.Writer, s source.Span, opts Options) error {
	t := &texter{w: bufio.NewWriter(w), paint: opts.Paint, width: opts.Width}
	t.frame(s, t.gutter(source.Diagnostic{Span: s}), '^', func(text string) string { return t.paint.wrap(red, text) })
	return t.w.Flush()
}

// frame draws the lines of a span and marks below each the part the span covers.
// An empty span gets one mark.
func (t *texter) frame(s source.Span, gutter int, mark rune, paint func(string) string) {
	if s.IsZero() {
		return
	}
	first, last := s.File.Position(s.Start).Line, s.File.Position(s.End).Line
	if last > first && s.File.Text[s.End-1] == '\n' {
		last--
	}
	fmt.Fprintf(t.w, " %*s %s\n", gutter, "", t.paint.dim("|"))
	for n := first; n <= last; n++ {
		if last-first >= maxFrame && n == first+maxFrame-2 {
			fmt.Fprintf(t.w, " %*s %s\n", gutter, "", t.paint.dim("..."))
			n = last
		}
		t.line(s, n, gutter, mark, paint)
	}
}

// line draws line n of the file and marks the part of s on it.
func (t *texter) line(s source.Span, n, gutter int, mark rune, paint func(string) string) {
	text := s.File.Line(n)
	start, end := covered(s, n, text)
	text, start, end = t.near(text, start, end)
	before, marked := displayWidth(text[:start], 0), 0
	marked = max(1, displayWidth(text[start:end], before))
	shown, before := t.excerpt(expand(text), before, marked)
	fmt.Fprintf(t.w, " %s %s\n", t.paint.dim(fmt.Sprintf("%*d |", gutter, n)), shown)
	if t.width > 0 {
		marked = max(1, min(marked, t.room(gutter)-before))
	}
	fmt.Fprintf(t.w, " %*s %s %s%s\n", gutter, "", t.paint.dim("|"),
		strings.Repeat(" ", before), paint(strings.Repeat(string(mark), marked)))
}

// covered is the byte range of line n that s covers; on a line after its first
// without the indentation.
func covered(s source.Span, n int, text string) (start, end int) {
	lineStart := s.File.LineStart(n)
	if s.Start >= lineStart {
		start = min(s.Start-lineStart, len(text))
	} else {
		start = len(text) - len(strings.TrimLeft(text, " \t"))
	}
	return start, min(len(text), max(start, s.End-lineStart))
}

// near cuts a line to what can matter for its excerpt around the bytes from start
// to end: the cost of showing a part of a line does not grow with the line.
func (t *texter) near(text string, start, end int) (string, int, int) {
	reach := 16 * t.room(0)
	if t.width == 0 || len(text) <= 2*reach {
		return text, start, end
	}
	from, to := max(0, start-reach), min(len(text), start+reach)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:to], start - from, min(end, to) - from
}

// room is how many columns a source line may take.
func (t *texter) room(gutter int) int { return max(20, t.width-gutter-4) }

// excerpt cuts a line, tabs expanded, so that the marked part is seen within the
// width; it returns what is shown and the column of the marks in it.
func (t *texter) excerpt(text string, before, marked int) (string, int) {
	room := t.room(2)
	if t.width == 0 || displayWidth(text, 0) <= room {
		return text, before
	}
	from := 0
	if before+marked > room {
		from = max(0, before-room/3)
	}
	var out strings.Builder
	column, skipped := 0, 0
	for _, r := range text {
		w := runeWidth(r, column)
		switch {
		case column < from:
			skipped += w
		case column+w <= from+room:
			out.WriteRune(r)
		}
		column += w
	}
	return out.String(), before - skipped
}

// expand replaces tabs by spaces, to the next stop, and characters that are no signs
// by one that is.
func expand(text string) string {
	var out strings.Builder
	column := 0
	for _, r := range text {
		w := runeWidth(r, column)
		switch {
		case r == '\t':
			out.WriteString(strings.Repeat(" ", w))
		case unseen(r):
			out.WriteRune('\uFFFD')
		default:
			out.WriteRune(r)
		}
		column += w
	}
	return out.String()
}

// unseen reports a character that is no sign on a screen, but does something there, or
// changes how others look.
func unseen(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// displayWidth is how many columns text takes if it starts in the given one.
func displayWidth(text string, column int) int {
	start := column
	for _, r := range text {
		column += runeWidth(r, column)
	}
	return column - start
}

// runeWidth is 2 for the wide characters of East Asia and emoji, 0 for marks that
// join the character before them; a tab reaches to the next stop.
func runeWidth(r rune, column int) int {
	switch {
	case r == '\t':
		return tabWidth - column%tabWidth
	case unseen(r):
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
