package lsp

import (
	"context"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/symbol"
)

// Colours. A token is coloured by what it stands for: a name by its symbol, a word by the
// grammar, anything else by its class. What is within a path or an expression is coloured by
// the names in it, expressions by the literals of CEL too.

// The legend: a token's type is its place in tokenTypes, a modifier its bit in the other.
var (
	tokenTypes     = []string{"comment", "keyword", "string", "number", "operator", "type", "property", "variable", "parameter", "function", "enumMember", "namespace", "regexp", "event", "macro"}
	tokenModifiers = []string{"declaration", "readonly", "defaultLibrary"}
)

// symbolTokens are the types of names, by what they stand for.
var symbolTokens = map[symbol.Kind]string{
	symbol.Contract: "namespace", symbol.Library: "namespace", symbol.Import: "namespace", symbol.Type: "type", symbol.Field: "property",
	symbol.Region: "macro", symbol.Constant: "variable", symbol.Definition: "function", symbol.Group: "enumMember", symbol.Measure: "variable",
	symbol.Given: "variable", symbol.Invariant: "event", symbol.Phase: "enumMember", symbol.Stage: "function", symbol.Parameter: "parameter", symbol.Condition: "event",
	symbol.Variable: "variable", symbol.Role: "enumMember", symbol.Composition: "function", symbol.Parallel: "function",
}

// A colour is a part of one line with its place in the legend.
type colour struct {
	start, end int
	kind       string
	modifiers  uint32
}

func (s *server) semanticTokens(ctx context.Context, docs *snapshot, p documentParams) (semanticTokens, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return semanticTokens{}, err
	}
	return v.encoded(v.colours(), 0, len(v.doc.text)), nil
}

func (s *server) semanticTokensRange(ctx context.Context, docs *snapshot, p rangeParams) (semanticTokens, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return semanticTokens{}, err
	}
	return v.encoded(v.colours(), v.at(p.Range.Start), v.at(p.Range.End)), nil
}

// encoded is what the protocol makes of colours between two bytes: five numbers each, places
// counted from the one before.
func (v *view) encoded(colours []colour, start, end int) semanticTokens {
	out := semanticTokens{Data: []uint32{}}
	last := position{}
	for _, c := range colours {
		if c.end <= start || c.start >= end {
			continue
		}
		at := v.rangeOf(c.start, c.end)
		if at.Start.Line != at.End.Line || at.Start == at.End {
			continue
		}
		column := at.Start.Character
		if at.Start.Line == last.Line {
			column -= last.Character
		}
		out.Data = append(out.Data, uint32(at.Start.Line-last.Line), uint32(column), uint32(at.End.Character-at.Start.Character), uint32(slices.Index(tokenTypes, c.kind)), c.modifiers)
		last = at.Start
	}
	return out
}

// colours are those of a file, in order and apart.
func (v *view) colours() []colour {
	f := v.file(v.doc.name)
	keywords := syntax.AllKeywords().All()
	var names []colour // in order
	for _, u := range v.symbols().Uses {
		if u.Span.File != f.Source || len(names) > 0 && u.Span.Start < names[len(names)-1].end {
			continue
		}
		c := colour{start: u.Span.Start, end: u.Span.End, kind: symbolTokens[u.Symbol.Kind]}
		switch text := u.Span.Text(); {
		case u.Symbol.Kind == symbol.Builtin && slices.Contains([]string{"state", "before", "after", "self", "phase", "view", "role", "actor", "now"}, text):
			c.kind, c.modifiers = "variable", 4
		case u.Symbol.Kind == symbol.Builtin && (text == "secrets" || slices.Contains(keywords, text)):
			c.kind = "keyword"
		case u.Symbol.Kind == symbol.Builtin && builtinType(text):
			c.kind, c.modifiers = "type", 4
		case u.Symbol.Kind == symbol.Builtin:
			c.kind, c.modifiers = "function", 4
		case u.Symbol.Kind == symbol.Constant:
			c.modifiers = 2
		}
		if u.Span == u.Symbol.Span {
			c.modifiers |= 1
		}
		names = append(names, c)
	}
	var out []colour
	for _, t := range f.Tokens {
		var inner []colour
		for len(names) > 0 && names[0].start < t.Span.End {
			if names[0].start >= t.Span.Start {
				inner = append(inner, names[0])
			}
			names = names[1:]
		}
		out = append(out, v.token(t, inner, keywords)...)
	}
	return out
}

func builtinType(name string) bool {
	return slices.Contains([]string{"string", "bool", "null", "number", "int", "decimal", "any"}, name)
}

// token colours one token, in which some names stand.
func (v *view) token(t syntax.Token, names []colour, keywords []string) []colour {
	plain := func(kind string) []colour { return []colour{{start: t.Span.Start, end: t.Span.End, kind: kind}} }
	switch t.Kind {
	case syntax.CommentToken:
		return plain("comment")
	case syntax.NumberToken:
		return plain("number")
	case syntax.StringToken:
		return plain("string")
	case syntax.ExprToken:
		for i := range names {
			if names[i].kind == "keyword" { // it is none there
				names[i].kind, names[i].modifiers = "function", 4
			}
		}
		return between(names, celColours(t.Span.Text()[1:], t.Span.Start+1))
	case syntax.JSONToken:
		return between(nil, celColours(t.Span.Text(), t.Span.Start))
	case syntax.WordToken:
		if len(names) > 0 {
			return names
		}
		if text := t.Span.Text(); slices.Contains(keywords, text) {
			return plain("keyword")
		} else if builtinType(text) {
			return []colour{{t.Span.Start, t.Span.End, "type", 4}}
		}
	case syntax.FieldToken:
		if len(names) == 0 {
			return plain("property")
		}
	}
	return names
}

// between joins colours of names and of other things; a name goes first where they meet.
func between(names, others []colour) []colour {
	out := slices.Clone(names)
	for _, c := range others {
		if !slices.ContainsFunc(names, func(n colour) bool { return n.start < c.end && c.start < n.end }) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b colour) int { return a.start - b.start })
	return out
}

// celColours are the literals and comments of CEL or JSON that starts at a byte of the file.
func celColours(text string, at int) (out []colour) {
	add := func(start, end int, kind string) {
		out = append(out, colour{start: at + start, end: at + end, kind: kind})
	}
	for i := 0; i < len(text); {
		start := i
		switch b := text[i]; {
		case b == '"' || b == '\'' || b == '`':
			for i++; i < len(text) && text[i] != b && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
			add(start, i, "string")
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' && text[i] != '\r' {
				i++
			}
			add(start, i, "comment")
		case b >= '0' && b <= '9':
			for i < len(text) && (isWordByte(text[i]) || text[i] == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9') {
				i++
			}
			add(start, i, "number")
		case isWordByte(b):
			for i < len(text) && isWordByte(text[i]) {
				i++
			}
			if word := text[start:i]; (start == 0 || text[start-1] != '.') && slices.Contains([]string{"true", "false", "null", "in"}, word) {
				add(start, i, "keyword")
			}
		default:
			i++
		}
	}
	return out
}
