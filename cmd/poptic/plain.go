package main

import (
	"bytes"
	"crypto/rand"
	"io"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/ir"
)

// A plainWriter stands before each output of the program: what comes from a contract, a
// state, a patch or a log reaches a screen with its control characters as escapes
// (ir.AppendPlain), whoever prints it and in which format. Where colour is wanted, the
// program paints with marks, MARK STYLE "m", that become the sequences of a terminal here.
// Nothing that the program reads can hold a mark, because it is drawn anew in every run.
type plainWriter struct {
	w      io.Writer
	mark   []byte // nil where no colour is wanted
	held   []byte // what was not written yet: the beginning of a character or mark
	failed error  // the first that writing gave: what came after it may be missing too
}

func newPlainWriter(w io.Writer, colored bool) *plainWriter {
	p := &plainWriter{w: w}
	if colored {
		p.mark = []byte("<" + rand.Text() + ">")
	}
	return p
}

// maxStyle is how long a mark's style with its "m" may be.
const maxStyle = 8

// painter wraps text in marks of the writer; it is nil where no colour is wanted.
func (p *plainWriter) painter() func(style, text string) string {
	if p.mark == nil {
		return nil
	}
	mark := string(p.mark)
	return func(style, text string) string { return mark + style + "m" + text + mark + "0m" }
}

// Write implements io.Writer.
func (p *plainWriter) Write(data []byte) (int, error) {
	text := data
	if len(p.held) > 0 {
		text = append(p.held, data...)
	}
	whole := len(text) - max(unfinished(text), p.unfinishedMark(text))
	p.held = append([]byte(nil), text[whole:]...)
	return len(data), p.write(text[:whole])
}

func (p *plainWriter) write(text []byte) error {
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

// flush writes what is held: it has no rest.
func (p *plainWriter) flush() error {
	if len(p.held) == 0 {
		return nil
	}
	held := p.held
	p.held = nil
	return p.write(held)
}

// unfinishedMark is how many bytes at the end of text begin a mark or its style.
func (p *plainWriter) unfinishedMark(text []byte) int {
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
