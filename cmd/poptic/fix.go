package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diff"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/lang/format"
	"github.com/patchoptic/poptic/lang/source"
)

// "check --fix" applies the fixes that findings carry, until none is left that helps.
//
// A fix is kept if the file is better after it: it has fewer mistakes in its syntax, or as
// many and fewer names that are not known, or as many and fewer errors, or as many and fewer
// findings. (What is not understood hides other errors.) Every step makes it better, so that
// this ends. What lets a stage see or do more is left to the author, and so is a choice of
// several fixes. At the end the lines that were touched are formatted.

// A judgement is what is found in a text.
type judgement struct {
	text     []byte
	contract *ir.Contract // nil while it has errors
	found    []source.Diagnostic
	counts   [4]int // of mistakes in syntax, names that are not known, errors, findings
}

// A fixer mends one file.
type fixer struct {
	name  string // of the file, in messages
	judge func(text []byte) (*ir.Contract, []source.Diagnostic, error)
	fixed []string // what was done, in order
	room  int      // how many texts may still be judged
}

// mostJudged bounds the work on one file.
const mostJudged = 300

// fix mends a file's text. The text comes back as it was if nothing helps.
func (f *fixer) fix(text []byte) ([]byte, error) {
	f.room = mostJudged
	now, err := f.look(text)
	if err != nil {
		return nil, err
	}
	for {
		next, done, err := f.better(now, f.suggestions(now))
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		f.fixed = append(f.fixed, done...)
		now = next
	}
	if bytes.Equal(now.text, text) {
		return text, nil
	}
	if form, err := format.Touched(f.name, text, now.text); err == nil {
		return form, nil
	}
	return now.text, nil // it still has mistakes
}

func (f *fixer) look(text []byte) (*judgement, error) {
	f.room--
	contract, found, err := f.judge(text)
	if err != nil {
		return nil, err
	}
	_, mistakes := syntax.Parse(source.NewFile(f.name, string(text)))
	errs := errorsOf(found)
	unknown := 0
	for _, d := range errs {
		if strings.HasPrefix(d.Code, "unknown_") || strings.HasPrefix(d.Code, "import_") {
			unknown++
		}
	}
	return &judgement{text, contract, found, [...]int{len(mistakes), unknown, len(errs), len(found)}}, nil
}

// A suggestion is a fix and the finding that it belongs to.
type suggestion struct {
	source.Fix
	of source.Diagnostic
}

// suggestions are the fixes of a judgement that may be made without asking, in the order of their places.
func (f *fixer) suggestions(now *judgement) []suggestion {
	var out []suggestion
	for _, d := range now.found {
		if len(d.Fixes) != 1 || d.Fixes[0].Widens || d.Fixes[0].Choice {
			continue
		}
		x := d.Fixes[0]
		if x.Span.IsZero() || x.Span.File.Text != string(now.text) || x.Span.Text() == x.Text {
			continue
		}
		out = append(out, suggestion{x, d})
	}
	slices.SortStableFunc(out, func(a, b suggestion) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return out
}

// better makes fixes that help: all that do not overlap, or else the first that helps by
// itself. It returns nil if none does.
func (f *fixer) better(now *judgement, suggestions []suggestion) (*judgement, []string, error) {
	together := apart(suggestions)
	for _, some := range append([][]suggestion{together}, each(suggestions)...) {
		if len(some) == 0 || f.room <= 0 {
			continue
		}
		next, err := f.look(applied(now.text, some))
		if err != nil {
			return nil, nil, err
		}
		if next.betterThan(now) {
			return next, f.described(some), nil
		}
	}
	return nil, nil, nil
}

// apart are those of suggestions, which are in order, that do not touch each other.
func apart(suggestions []suggestion) []suggestion {
	var out []suggestion
	for _, c := range suggestions {
		if n := len(out); n == 0 || out[n-1].Span.End < c.Span.Start {
			out = append(out, c)
		}
	}
	return out
}

func each(suggestions []suggestion) [][]suggestion {
	var out [][]suggestion
	for _, c := range suggestions {
		out = append(out, []suggestion{c})
	}
	return out
}

// applied is a text after fixes that are in order and do not overlap.
func applied(text []byte, fixes []suggestion) []byte {
	var out []byte
	end := 0
	for _, c := range fixes {
		out = append(append(out, text[end:c.Span.Start]...), c.Text...)
		end = c.Span.End
	}
	return append(out, text[end:]...)
}

// betterThan reports whether what is found is less, and grants no more.
func (j *judgement) betterThan(before *judgement) bool {
	if slices.Compare(j.counts[:], before.counts[:]) >= 0 {
		return false
	}
	return j.contract == nil || before.contract == nil || !diff.Contracts(before.contract, j.contract).Widened
}

// described says what fixes do.
func (f *fixer) described(fixes []suggestion) []string {
	var out []string
	for _, c := range fixes {
		at := c.Span.File.Position(c.Span.Start)
		out = append(out, fmt.Sprintf("%s:%d:%d: %s: %s", f.name, at.Line, at.Column, c.of.Code, c.Title))
	}
	return out
}

// fixFiles mends files in place and says what it did.
func (v *checkVerb) fixFiles(c *console, files []string, states []namedState, configs configurations) error {
	for _, name := range files {
		text, err := c.readFile("contract", name)
		if err != nil {
			return err
		}
		if ir.IsCompiled(text) {
			continue
		}
		f := &fixer{name: name, judge: func(text []byte) (*ir.Contract, []source.Diagnostic, error) {
			return judgeText(c, name, text, v.Root, states, configs)
		}}
		fixed, err := f.fix(text)
		if err != nil {
			return err
		}
		if bytes.Equal(fixed, text) {
			continue
		}
		if err := writeFile(name, fixed, 0); err != nil {
			return unwritable(name, err)
		}
		for _, what := range f.fixed {
			c.errText().Line("fixed %s", terminal.Visible(what))
		}
	}
	return nil
}
