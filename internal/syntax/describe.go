package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// describe names a token in a message. What the token holds is shown where it is
// short enough to help.
func describe(t token) string {
	switch t.sym {
	case lexer.EOF:
		return "end of file"
	case symExpr:
		return "expression in braces"
	case symJSON:
		return "JSON"
	case symString:
		return "string"
	}
	text := strings.TrimSuffix(t.value, ":")
	if t.kind != FieldToken {
		text = t.value
	}
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	if t.kind == FieldToken {
		return "field name `" + strings.ToValidUTF8(text, "") + "`"
	}
	return "`" + strings.ToValidUTF8(text, "") + "`"
}

// after names a token that something follows.
func after(t token) string {
	if text := describe(t); text[0] != '`' {
		return "the " + text
	}
	return describe(t)
}

// orList joins words as "`a`, `b` or `c`".
func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "`" + w + "`"
	}
	return joinOr(quoted)
}

func joinOr(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " or " + parts[last]
}

// productions are the human names of what the grammar may expect.
var productions = map[string]string{
	"Name": "a name", "FieldWord": "a field's name", "FieldSyntax": "a field",
	"TypeExpr": "a type", "TypeSyntax": "a type", "TypeTerm": "a type",
	"Path": "a path", "RegionExpr": "a path or region", "GrantExpr": "a path or region", "RegionAtom": "a path or region",
	"Expr": "CEL in braces", "StringLit": "a string", "Number": "a whole number",
	"Phase": "a phase", "Arrow": "a phase", "Param": "a parameter", "Clause": "a clause", "GateRef": "a gate",
	"DataRef": "JSON or the name of a file in quotation marks", "Arg": "an argument",
	"HypothesisExpr": "a parameter", "DifferencesExpr": "a parameter", "DifferenceExpr": "a parameter",
	"PairSyntax": "a claim", "NoStageSyntax": "a claim",
}

// opening are the productions that always start with one of a few words.
var opening = map[string][]string{"NoSyntax": {"stage", "flow"}, "NoFlowSyntax": {"from"}, "WhereSyntax": {"where"}, "Each": {"each"}, "Expect": outcomeWords}

// A mistake is where the grammar could not go on.
type mistake struct {
	at       int      // index of the token in the stream
	literals []string // words and marks that could have stood there
	classes  []string // productions that could have stood there
}

// expects reports whether the production could have stood at the mistake.
func (m mistake) expects(production string) bool { return slices.Contains(m.classes, production) }

// what words the expectation, "" if the grammar does not tell.
func (m mistake) what() string {
	var parts []string
	for _, c := range m.classes {
		if name := productions[c]; name != "" && !slices.Contains(parts, name) {
			parts = append(parts, name)
		}
	}
	for _, l := range m.literals {
		if part := "`" + l + "`"; !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return joinOr(parts)
}

// mistakeOf reads participle's error. The expectation is private to participle
// except in the text of the message, where it stands as EBNF; what can come first
// in it is all that is used.
func mistakeOf(err error) (mistake, bool) {
	perr, ok := err.(participle.Error)
	if !ok {
		return mistake{}, false
	}
	m := mistake{at: perr.Position().Line - 1}
	if _, ebnf, ok := strings.Cut(perr.Message(), " (expected "); ok {
		first := &firstSet{rest: strings.TrimSuffix(ebnf, ")")}
		first.alternatives()
		m.literals, m.classes = first.literals, first.classes
	}
	return m, m.at >= 0
}

// firstSet collects the symbols that can come first in EBNF.
type firstSet struct {
	rest     string
	literals []string
	classes  []string
}

// alternatives reads "sequence | sequence ..." up to a closing parenthesis.
func (f *firstSet) alternatives() {
	for {
		f.sequence()
		if !f.take("|") {
			return
		}
	}
}

// sequence notes the symbols up to and with the first that is not optional, and
// skips the others.
func (f *firstSet) sequence() {
	open := true
	for {
		f.rest = strings.TrimLeft(f.rest, " ")
		if f.rest == "" || f.rest[0] == '|' || f.rest[0] == ')' {
			return
		}
		if strings.HasPrefix(f.rest, "(?") {
			f.lookahead()
			continue
		}
		literals, classes := len(f.literals), len(f.classes)
		f.term()
		if !open {
			f.literals, f.classes = f.literals[:literals], f.classes[:classes]
		}
		optional := f.take("?") || f.take("*")
		open = open && optional
		_ = f.take("+") || f.take("!")
	}
}

// lookahead skips "(?= ...)" or "(?! ...)", which adds no symbol.
func (f *firstSet) lookahead() {
	literals, classes := len(f.literals), len(f.classes)
	f.rest = f.rest[len("(?="):]
	f.alternatives()
	f.take(")")
	f.literals, f.classes = f.literals[:literals], f.classes[:classes]
}

func (f *firstSet) term() {
	if f.take("(") {
		f.alternatives()
		f.take(")")
		return
	}
	end := strings.IndexAny(f.rest[1:], " ()|?*+!\"") + 1
	if f.rest[0] == '"' {
		end = strings.IndexByte(f.rest[1:], '"') + 2
		f.literals = append(f.literals, f.rest[1:end-1])
		f.rest = f.rest[end:]
		return
	}
	if end == 0 {
		end = len(f.rest)
	}
	if words, ok := opening[f.rest[:end]]; ok {
		f.literals = append(f.literals, words...)
	} else {
		f.classes = append(f.classes, f.rest[:end])
	}
	f.rest = f.rest[end:]
}

func (f *firstSet) take(mark string) bool {
	trimmed := strings.TrimLeft(f.rest, " ")
	if !strings.HasPrefix(trimmed, mark) {
		return false
	}
	f.rest = trimmed[len(mark):]
	return true
}
