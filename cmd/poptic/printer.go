package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patchoptic/poptic/internal/ir"
)

// A printer writes text for people: coloured where that is wanted, wrapped to a
// width. Write errors are left to the stream's owner, as with fmt.Fprint.
type printer struct {
	w      io.Writer
	colour func(style, text string) string // nil for none
	width  int
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// heading writes a title line.
func (p *printer) heading(text string) { p.line("%s", p.bold(text)) }

// wrapped writes text broken at spaces; first starts the first line and rest the
// following ones. Line breaks in text are kept.
func (p *printer) wrapped(first, rest, text string) {
	prefix := first
	for _, paragraph := range strings.Split(text, "\n") {
		for _, l := range wrap(paragraph, p.width-utf8.RuneCountInString(rest)) {
			p.line("%s", strings.TrimRight(prefix+l, " "))
			prefix = rest
		}
	}
}

// field writes a name and its value, aligned with its neighbours in one block.
func (p *printer) field(indent string, nameWidth int, name, value string) {
	if value == "" {
		return
	}
	pad := strings.Repeat(" ", nameWidth-len(name)+2)
	rest := indent + strings.Repeat(" ", nameWidth+2)
	p.wrapped(indent+p.dim(name)+pad, rest, value)
}

// visible is text as plainWriter lets it through, for what is cut or wrapped to a width
// before it is written.
func visible(text string) string { return string(ir.Plain([]byte(text))) }

// word is text in the place of one word: quoted as in JSON if it has spaces, line breaks,
// quotes, or characters that are not shown as they are.
func word(text string) string {
	odd := func(r rune) bool { return r == '"' || r == '\\' || unicode.IsSpace(r) || ir.Unplain(r) }
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // its only error reports replaced bytes
	return visible(string(quoted))
}

// excerpt is field for lines that are cut rather than broken.
func (p *printer) excerpt(indent string, nameWidth int, name string, lines []string) {
	first := indent + p.dim(name) + strings.Repeat(" ", nameWidth-len(name)+2)
	rest := indent + strings.Repeat(" ", nameWidth+2)
	for i, l := range lines {
		if i > 0 {
			first = rest
		}
		p.line("%s%s", first, ellipsis(visible(l), p.width-len(rest)))
	}
}

// ellipsis cuts text to width code points.
func ellipsis(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-3]) + "..."
}

// wrap breaks text at spaces into lines of at most width code points; a longer
// word gets a line of its own. Spaces inside a line are kept.
func wrap(text string, width int) []string {
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

func (p *printer) paint(style, text string) string {
	if p.colour == nil || text == "" {
		return text
	}
	return p.colour(style, text)
}

func (p *printer) bold(text string) string   { return p.paint("1", text) }
func (p *printer) dim(text string) string    { return p.paint("2", text) }
func (p *printer) red(text string) string    { return p.paint("1;31", text) }
func (p *printer) green(text string) string  { return p.paint("1;32", text) }
func (p *printer) yellow(text string) string { return p.paint("1;33", text) }
