// Package format puts source files in canonical form: one spelling of white space for each
// arrangement of tokens in lines.
//
// Source formats a file, Touched only what an edit has touched. layout.go says which tokens
// share a line, render.go where each line and column begins. Both work on tokens, not on the
// tree: comments need no node to hang on, and stay where they stand.
package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// An Error says why a text has no canonical form: it has mistakes, which are the diagnostics.
type Error struct {
	Name        string
	Diagnostics []source.Diagnostic
}

func (e *Error) Error() string {
	d := e.Diagnostics[0]
	at := d.Span.File.Position(d.Span.Start)
	return fmt.Sprintf("%s has mistakes, and is not formatted; line %d, column %d: %s", e.Name, at.Line, at.Column, d.Message)
}

// errChanged is a fault of this package: what it made says something else.
var errChanged = errors.New("its canonical form would say something else, which is a fault of the formatter; the text is left as it is")

// Source returns the canonical form of a source file; name is used in diagnostics, and tells
// a test file. The form says what text says: it has the same tree but for places and white
// space, and the same comments in the same order; otherwise there is an error. A text with
// mistakes gives an *Error. The form of a form is itself. The time is linear in the text.
func Source(name string, text []byte) ([]byte, error) {
	tree, err := parsed(name, string(text))
	if err != nil {
		return nil, err
	}
	formatted := render(layout(tree))
	if err := sayTheSame(tree, name, formatted); err != nil {
		return nil, err
	}
	return []byte(formatted), nil
}

// sayTheSame is an error unless formatted says what the tree says.
func sayTheSame(tree *syntax.File, name, formatted string) error {
	if formatted == tree.Source.Text {
		return nil
	}
	after, err := parsed(name, formatted)
	var mistaken *Error
	switch {
	case errors.As(err, &mistaken) && mistaken.Diagnostics[0].Code == "limit_exceeded":
		return err // it was within the limits by a hair
	case err != nil || !syntax.Same(tree, after) || !slices.Equal(comments(tree), comments(after)):
		return fmt.Errorf("%s: %w", name, errChanged)
	}
	return nil
}

func parsed(name, text string) (*syntax.File, error) {
	tree, found := syntax.Parse(source.NewFile(name, text))
	if len(found) > 0 {
		return nil, &Error{Name: name, Diagnostics: found}
	}
	return tree, nil
}

func comments(tree *syntax.File) []string {
	var out []string
	for _, t := range tree.Tokens {
		if t.Kind == syntax.CommentToken {
			out = append(out, commentText(t))
		}
	}
	return out
}

func commentText(t syntax.Token) string { return strings.TrimRight(t.Span.Text(), " \t\r") }

// Touched returns after with those lines in canonical form that differ from before, and with
// them the lines beside them whose columns change. The rest stays as it is. The errors are those of Source.
func Touched(name string, before, after []byte) ([]byte, error) {
	tree, err := parsed(name, string(after))
	if err != nil {
		return nil, err
	}
	form := render(layout(tree))
	touched := touchedLines(string(before), string(after))
	var edits []udiff.Edit
	for _, e := range udiff.Lines(string(after), form) {
		if slices.ContainsFunc(touched, func(t udiff.Edit) bool { return overlap(t, e) }) {
			edits = append(edits, e)
		}
	}
	out, err := udiff.Apply(string(after), edits)
	if err != nil {
		return nil, err
	}
	if err := sayTheSame(tree, name, out); err != nil {
		return nil, err
	}
	return []byte(out), nil
}

// overlap reports whether two ranges have text in common, or one of them is empty and in the other.
func overlap(a, b udiff.Edit) bool {
	if a.Start == a.End || b.Start == b.End {
		return a.Start <= b.End && b.Start <= a.End
	}
	return a.Start < b.End && b.Start < a.End
}

// touchedLines are the ranges of after that differ from before, in whole lines.
func touchedLines(before, after string) []udiff.Edit {
	var out []udiff.Edit
	for _, e := range udiff.Lines(after, before) {
		out = append(out, udiff.Edit{Start: e.Start, End: e.End})
	}
	return out
}
