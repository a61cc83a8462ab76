package main

import (
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/patchoptic/poptic/compiler/ir"
)

// A plainWriter stands before each output of the program: what comes from a contract, a
// state, a patch or a log reaches a screen with its control characters as escapes
// (ir.AppendPlain), whoever prints it and in which format. Where colour is wanted, the
// program's own colours pass.
type plainWriter struct {
	w       io.Writer
	colored bool
	held    []byte // the beginning of a character whose rest is still to be written
	failed  error  // the first that writing gave: what came after it may be missing too
}

// colours are the sequences that printer and package report paint with.
var colours = regexp.MustCompile(`\x1b\[(0|1|2|4|1;3[1-6]|3[1-6])m`)

// Write implements io.Writer.
func (p *plainWriter) Write(data []byte) (int, error) {
	text := data
	if len(p.held) > 0 {
		text = append(p.held, data...)
	}
	whole := len(text) - unfinished(text)
	p.held = append([]byte(nil), text[whole:]...)
	return len(data), p.write(text[:whole])
}

func (p *plainWriter) write(text []byte) error {
	var out []byte
	if p.colored {
		for {
			found := colours.FindIndex(text)
			if found == nil {
				break
			}
			out = append(ir.AppendPlain(out, text[:found[0]]), text[found[0]:found[1]]...)
			text = text[found[1]:]
		}
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
