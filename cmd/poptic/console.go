package main

import (
	"context"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// A console is where a verb reads and writes: its three streams, whether colour
// is wanted on each, and how wide lines may be.
type console struct {
	ctx   context.Context
	in    io.Reader
	out   *plainWriter
	err   *plainWriter
	color string // auto, always or never

	inputs inputs // the files that were read
}

func newConsole(ctx context.Context, color string, in io.Reader, out, errOut io.Writer) *console {
	c := &console{ctx: ctx, in: in, color: color}
	c.out = newPlainWriter(out, c.wantsColor(out))
	c.err = newPlainWriter(errOut, c.wantsColor(errOut))
	return c
}

// outText and errText are printers for people.
func (c *console) outText() *printer { return c.text(c.out) }
func (c *console) errText() *printer { return c.text(c.err) }

func (c *console) text(w *plainWriter) *printer {
	return &printer{w: w, colour: w.painter(), width: width(w.w)}
}

// wantsColor follows https://no-color.org: a terminal unless NO_COLOR is set to
// anything; --color overrides both.
func (c *console) wantsColor(w io.Writer) bool {
	switch c.color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// The widths text is wrapped to: a terminal's own within bounds, and a fixed one
// where there is no terminal, so that captured output is the same everywhere.
const (
	defaultWidth = 100
	minWidth     = 40
	maxWidth     = 140
)

func width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return min(max(n, minWidth), maxWidth)
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return min(max(n, minWidth), maxWidth)
		}
	}
	return defaultWidth
}

// silent is a console whose output nobody sees.
func silent() *console {
	return newConsole(context.Background(), "never", nil, io.Discard, io.Discard)
}
