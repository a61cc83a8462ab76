// Package terminal writes text for people: wrapped to the width of a screen, coloured
// where that is wanted, and with nothing of what the program read that a terminal would
// obey.
package terminal

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patchoptic/poptic/internal/ir"
)

// A Printer writes text for people: coloured where that is wanted, wrapped to a
// width. Write errors are left to the stream's owner, as with fmt.Fprint.
type Printer struct {
	W     io.Writer
	Paint func(style, text string) string // colours text; nil for none
	Width int                             // of a line, in code points
}

// Line writes a formatted line.
func (p *Printer) Line(format string, args ...any) { fmt.Fprintf(p.W, format+"\n", args...) }

// Heading writes a title line.
func (p *Printer) Heading(text string) { p.Line("%s", p.Bold(text)) }

// Wrapped writes text broken at spaces; first starts the first line and rest the
// following ones. Line breaks in text are kept.
func (p *Printer) Wrapped(first, rest, text string) {
	prefix := first
	for _, paragraph := range strings.Split(text, "\n") {
		for _, l := range Wrap(paragraph, p.Width-utf8.RuneCountInString(rest)) {
			p.Line("%s", strings.TrimRight(prefix+l, " "))
			prefix = rest
		}
	}
}

// Field writes a name and its value, aligned with its neighbours in one block.
func (p *Printer) Field(indent string, nameWidth int, name, value string) {
	if value == "" {
		return
	}
	pad := strings.Repeat(" ", nameWidth-len(name)+2)
	rest := indent + strings.Repeat(" ", nameWidth+2)
	p.Wrapped(indent+p.Dim(name)+pad, rest, value)
}

// Visible is text as PlainWriter lets it through, for what is cut or wrapped to a width
// before it is written.
func Visible(text string) string { return string(ir.Plain([]byte(text))) }

// Word is text in the place of one word: quoted as in JSON if it has spaces, line breaks,
// quotes, or characters that are not shown as they are.
func Word(text string) string {
	odd := func(r rune) bool { return r == '"' || r == '\\' || unicode.IsSpace(r) || ir.Unplain(r) }
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // its only error reports replaced bytes
	return Visible(string(quoted))
}

// Excerpt is field for lines that are cut rather than broken.
func (p *Printer) Excerpt(indent string, nameWidth int, name string, lines []string) {
	first := indent + p.Dim(name) + strings.Repeat(" ", nameWidth-len(name)+2)
	rest := indent + strings.Repeat(" ", nameWidth+2)
	for i, l := range lines {
		if i > 0 {
			first = rest
		}
		p.Line("%s%s", first, Ellipsis(Visible(l), p.Width-len(rest)))
	}
}

// Ellipsis cuts text to width code points.
func Ellipsis(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-3]) + "..."
}

// Wrap breaks text at spaces into lines of at most width code points; a longer
// Word gets a line of its own. Spaces inside a line are kept.
func Wrap(text string, width int) []string {
	var lines []string
	for utf8.RuneCountInString(text) > width {
		cut := breakPoint(text, width)
		if cut < 0 {
			break
		}
		lines = append(lines, text[:cut])
		text = strings.TrimLeft(text[cut:], " ")
	}
	return append(lines, text)
}

// breakPoint is the offset of the last space within width code points, or of the
// first one behind them, or -1.
func breakPoint(text string, width int) int {
	best, column := -1, 0
	for i, r := range text {
		if r == ' ' && i > 0 && (column <= width || best < 0) {
			best = i
		}
		if column > width && best >= 0 {
			break
		}
		column++
	}
	return best
}

// paint leaves text as it is where no colour is wanted.
func (p *Printer) paint(style, text string) string {
	if p.Paint == nil || text == "" {
		return text
	}
	return p.Paint(style, text)
}

// Bold, Dim, Red, Green and Yellow paint text, where colour is wanted.
func (p *Printer) Bold(text string) string   { return p.paint("1", text) }
func (p *Printer) Dim(text string) string    { return p.paint("2", text) }
func (p *Printer) Red(text string) string    { return p.paint("1;31", text) }
func (p *Printer) Green(text string) string  { return p.paint("1;32", text) }
func (p *Printer) Yellow(text string) string { return p.paint("1;33", text) }

// A PlainWriter stands before each output of the program: what comes from a contract, a
// state, a patch or a log reaches a screen with its control characters as escapes
// (ir.AppendPlain), whoever prints it and in which format. Where colour is wanted, the
// program paints with marks, MARK STYLE "m", that become the sequences of a terminal here.
// Nothing that the program reads can hold a mark, because it is drawn anew in every run.
type PlainWriter struct {
	w      io.Writer
	mark   []byte // nil where no colour is wanted
	held   []byte // what was not written yet: the beginning of a character or mark
	failed error  // the first that writing gave: what came after it may be missing too
}

// NewPlainWriter makes one that writes to w.
func NewPlainWriter(w io.Writer, colored bool) *PlainWriter {
	p := &PlainWriter{w: w}
	if colored {
		p.mark = []byte("<" + rand.Text() + ">")
	}
	return p
}

// maxStyle is how long a mark's style with its "m" may be.
const maxStyle = 8

// Painter wraps text in marks of the writer; it is nil where no colour is wanted.
func (p *PlainWriter) Painter() func(style, text string) string {
	if p.mark == nil {
		return nil
	}
	mark := string(p.mark)
	return func(style, text string) string { return mark + style + "m" + text + mark + "0m" }
}

// Write implements io.Writer.
func (p *PlainWriter) Write(data []byte) (int, error) {
	text := data
	if len(p.held) > 0 {
		text = append(p.held, data...)
	}
	whole := len(text) - max(unfinished(text), p.unfinishedMark(text))
	p.held = append([]byte(nil), text[whole:]...)
	return len(data), p.write(text[:whole])
}

func (p *PlainWriter) write(text []byte) error {
	var out []byte
	for p.mark != nil {
		before, after, found := bytes.Cut(text, p.mark)
		if !found {
			break
		}
		style, rest, _ := bytes.Cut(after, []byte("m"))
		out = append(append(append(ir.AppendPlain(out, before), "\x1b["...), style...), 'm')
		text = rest
	}
	_, err := p.w.Write(ir.AppendPlain(out, text))
	if p.failed == nil {
		p.failed = err
	}
	return err
}

// Failed is the first error that writing gave: what came after it may be missing too.
func (p *PlainWriter) Failed() error { return p.failed }

// Flush writes what is held: it has no rest.
func (p *PlainWriter) Flush() error {
	if len(p.held) == 0 {
		return nil
	}
	held := p.held
	p.held = nil
	return p.write(held)
}

// unfinishedMark is how many bytes at the end of text begin a mark or its style.
func (p *PlainWriter) unfinishedMark(text []byte) int {
	if p.mark == nil {
		return 0
	}
	tail := text[max(0, len(text)-len(p.mark)-maxStyle):]
	if i := bytes.LastIndex(tail, p.mark); i >= 0 && !bytes.Contains(tail[i+len(p.mark):], []byte("m")) {
		return len(tail) - i
	}
	for n := min(len(p.mark)-1, len(text)); n > 0; n-- {
		if bytes.HasSuffix(text, p.mark[:n]) {
			return n
		}
	}
	return 0
}

// unfinished is how many bytes at the end of text begin a character that goes on.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		tail := text[len(text)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Plural counts things: "no files", "1 file", "2 files".
func Plural(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Listed joins names as a sentence does: "a", "a and b", "a, b and c".
func Listed(names []string, conjunction string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + conjunction + " " + names[last]
}

// OrElse is text, or otherwise if it is empty.
func OrElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// When is text if condition holds, and empty if not.
func When(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

// Grouped writes a number with a comma after every three digits.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// WantsColor follows https://no-color.org: a terminal unless NO_COLOR is set to
// anything; wish, "always" or "never", overrides both.
func WantsColor(wish string, w io.Writer) bool {
	switch wish {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// IsTerminal reports whether what is written to p is seen by somebody as it comes.
func (p *PlainWriter) IsTerminal() bool { return isTerminal(p.w) }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The widths text is wrapped to: a terminal's own within bounds, and a fixed one
// where there is no terminal, so that captured output is the same everywhere.
const (
	defaultWidth = 100
	minWidth     = 40
	maxWidth     = 140
)

// Width is how wide the lines of what is written to p may be. size tells the width of a
// terminal; nil leaves it at the fixed one.
func (p *PlainWriter) Width(size func(fd int) (width, height int, err error)) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return min(max(n, minWidth), maxWidth)
	}
	if f, ok := p.w.(*os.File); ok && size != nil {
		if n, _, err := size(int(f.Fd())); err == nil && n > 0 {
			return min(max(n, minWidth), maxWidth)
		}
	}
	return defaultWidth
}
