// Package symbol says what the names in a source file mean: what is defined where, what
// each use of a name stands for, which names are in scope at a place, and of which type
// the expressions are. It is data for tools (go to definition, references, rename,
// completion, hover); package compiler makes it.
package symbol

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// Kind is what a name stands for.
type Kind string

// The kinds of symbols.
const (
	Contract    Kind = "contract"
	Library     Kind = "library"
	Import      Kind = "import"
	Type        Kind = "type"
	Field       Kind = "field"
	Region      Kind = "region"
	Constant    Kind = "constant"
	Definition  Kind = "definition"
	Group       Kind = "group" // of roles
	Measure     Kind = "measure"
	Invariant   Kind = "invariant"
	Phase       Kind = "phase"
	Stage       Kind = "stage" // a delegate as well
	Parameter   Kind = "parameter"
	Condition   Kind = "condition" // a require or ensure of a stage, which owns it
	Variable    Kind = "variable"  // of each, or of a macro
	Role        Kind = "role"      // it is declared nowhere: its first use counts as the definition
	Composition Kind = "composition"
	Parallel    Kind = "parallel"
	Given       Kind = "given"   // a state of contract tests
	Builtin     Kind = "builtin" // of the language or of CEL; it has no place
)

// A Symbol is something that has a name.
type Symbol struct {
	Kind  Kind
	Name  string
	Span  source.Span // its name, where it is defined; zero for a builtin
	Whole source.Span // the whole declaration
	Scope source.Span // where the name can be used; zero for everywhere in its file
	Owner *Symbol     // of a field its type, of a parameter its stage, of a variable its rule; may be nil
	Type  string      // its type as an author would write it, where its keys come from, or the paths of a region; "" if it has none
	Doc   string      // the comment above the declaration
}

// A Use is a place where a symbol is named; its definition is one. A name may stand for
// several symbols at once: a member of a union, for that of each alternative.
type Use struct {
	Span   source.Span
	Symbol *Symbol
}

// A Typed is an expression, or the path up to a segment, and its type as text. Fields are
// the members that a value of it may have.
type Typed struct {
	Span   source.Span
	Type   string
	Fields []*Symbol
}

// A Table holds what is known about a file and about the libraries that it imports. Its
// lists are in order: symbols and uses by file and place, types with the outer before the
// inner. It is not changed after it was made.
type Table struct {
	Symbols []*Symbol
	Uses    []Use
	Types   []Typed
}

// At lists what the name at a byte offset of a file stands for; none if there is no name
// that is known. The end of a name counts as in it. Cost: linear in the uses.
func (t *Table) At(file *source.File, offset int) []*Symbol {
	var out []*Symbol
	for _, u := range t.Uses {
		if u.Span.File == file && u.Span.Start <= offset && offset <= u.Span.End {
			out = append(out, u.Symbol)
		}
	}
	return out
}

// References lists the places where a symbol is named, its definition included.
func (t *Table) References(s *Symbol) []source.Span {
	var out []source.Span
	for _, u := range t.Uses {
		if u.Symbol == s {
			out = append(out, u.Span)
		}
	}
	return out
}

// TypeAt is the innermost expression at a byte offset of a file.
func (t *Table) TypeAt(file *source.File, offset int) (Typed, bool) {
	var out Typed
	for _, x := range t.Types {
		if x.Span.File == file && x.Span.Start <= offset && offset <= x.Span.End &&
			(out.Span.IsZero() || x.Span.End-x.Span.Start < out.Span.End-out.Span.Start) {
			out = x
		}
	}
	return out, !out.Span.IsZero()
}

// InScope lists the symbols that can be named at a byte offset of a file, builtins
// included; fields are named behind what they belong to, and are not among them.
func (t *Table) InScope(file *source.File, offset int) []*Symbol {
	var out []*Symbol
	for _, s := range t.Symbols {
		here := s.Scope.IsZero() || s.Scope.Start <= offset && offset <= s.Scope.End
		if s.Kind == Builtin || s.Span.File == file && here && s.Kind != Field {
			out = append(out, s)
		}
	}
	return out
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Rename lists the edits that give a symbol another name, in all files that name it. ok is
// false if it cannot have it: a builtin, an import that is called after its file, or a name
// that is no plain word. Whether the name is taken, compiling tells.
func (t *Table) Rename(s *Symbol, name string) (edits []source.Fix, ok bool) {
	if s.Kind == Builtin || !word.MatchString(name) {
		return nil, false
	}
	for _, at := range t.References(s) {
		text, written := name, at.Text()
		if s.Kind == Import && written != s.Name {
			return nil, false
		}
		switch {
		case strings.HasPrefix(written, "`"):
			text = "`" + name + "`"
		case strings.ContainsAny(written, `"'`):
			text = `"` + name + `"`
		}
		edits = append(edits, source.Fix{Title: "rename to " + name, Span: at, Text: text})
	}
	return edits, true
}

// Finish puts a table in order and drops what it holds twice.
func (t *Table) Finish() {
	slices.SortStableFunc(t.Symbols, func(a, b *Symbol) int { return compare(a.Span, b.Span) })
	slices.SortStableFunc(t.Uses, func(a, b Use) int { return compare(a.Span, b.Span) })
	t.Uses = slices.Compact(t.Uses)
	slices.SortStableFunc(t.Types, func(a, b Typed) int { return compare(a.Span, b.Span) })
	t.Types = slices.CompactFunc(t.Types, func(a, b Typed) bool { return a.Span == b.Span })
}

func compare(a, b source.Span) int {
	return cmp.Or(cmp.Compare(fileName(a), fileName(b)), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

func fileName(s source.Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Name
}
