package guide

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// A Shape says what a value may be. Kind says which of the other members are set.
type Shape struct {
	Kind         ShapeKind       `json:"kind"`
	Name         string          `json:"name,omitempty"` // of a named one: see Guide.Types
	Literal      json.RawMessage `json:"literal,omitempty"`
	Alternatives []Shape         `json:"alternatives,omitempty"`
	Of           *Shape          `json:"of,omitempty"`      // of what has entries or elements
	KeyField     string          `json:"by,omitempty"`      // of a keyed list: the member that the key of an entry must equal
	Members      []Member        `json:"members,omitempty"` // of a record
	Rest         *Shape          `json:"rest,omitempty"`    // of a record that may have other members
	Target       string          `json:"target,omitempty"`  // of a key: the container whose keys are meant
	Doc          string          `json:"doc,omitempty"`     // of a literal: what the contract says of it
	Where        []string        `json:"where,omitempty"`   // what else must hold of it, in words or as the contract has it
}

// A Member is one of a record.
type Member struct {
	Name     string `json:"name"`
	Optional bool   `json:"optional,omitempty"`
	Shape    Shape  `json:"shape"`
	Doc      string `json:"doc,omitempty"`
}

// A NamedShape is a shape that others name.
type NamedShape struct {
	Name  string `json:"name"`
	Shape Shape  `json:"shape"`
}

// A ShapeKind is a form of values.
type ShapeKind string

// The kinds of shapes: those of the language's types, and a name for one of them.
const (
	StringShape  ShapeKind = "string"
	NumberShape  ShapeKind = "number"
	IntShape     ShapeKind = "int"
	BoolShape    ShapeKind = "bool"
	NullShape    ShapeKind = "null"
	AnyShape     ShapeKind = "any"
	LiteralShape ShapeKind = "literal"
	UnionShape   ShapeKind = "union"
	MapShape     ShapeKind = "map"
	ListShape    ShapeKind = "list"
	SetShape     ShapeKind = "set"
	LogShape     ShapeKind = "log"
	KeyedShape   ShapeKind = "keyed"
	KeyShape     ShapeKind = "key"
	RecordShape  ShapeKind = "record"
	NamedKind    ShapeKind = "named"
)

// shapeOf is the shape of what may have one of some types.
func (b *builder) shapeOf(types []ir.TypeID) Shape {
	if len(types) == 1 {
		return b.shape(types[0])
	}
	out := Shape{Kind: UnionShape}
	for _, id := range types {
		out.Alternatives = append(out.Alternatives, b.shape(id))
	}
	return out
}

// shape is that of a type. A type with a name is described once; if two have one name, the
// second is described where it stands.
func (b *builder) shape(id ir.TypeID) Shape {
	t := &b.contract.Types[id]
	if t.Name == "" {
		return b.describe(id)
	}
	first, known := b.named[t.Name]
	if !known {
		b.named[t.Name] = id
		at := len(b.guide.Types)
		b.guide.Types = append(b.guide.Types, NamedShape{Name: t.Name})
		described := b.describe(id)
		b.guide.Types[at].Shape = described
	} else if first != id && !b.alike(first, id) {
		return b.describe(id)
	}
	return Shape{Kind: NamedKind, Name: t.Name}
}

// alike reports whether two types differ in no more than in being secret.
func (b *builder) alike(x, y ir.TypeID) bool {
	s, t := b.contract.Types[x], b.contract.Types[y]
	same := func(v, w ir.Expr) bool { return v.Source == w.Source && v.Message == w.Message }
	return s.Kind == t.Kind && s.Elem == t.Elem && s.Rest == t.Rest && s.Literal == t.Literal && s.KeyField == t.KeyField &&
		slices.Equal(s.Members, t.Members) && slices.Equal(s.Alternatives, t.Alternatives) && slices.EqualFunc(s.Where, t.Where, same)
}

func (b *builder) describe(id ir.TypeID) Shape {
	t := &b.contract.Types[id]
	kind := ShapeKind(t.Kind)
	if t.Kind == ir.DecimalType {
		kind = NumberShape // which is how it is written
	}
	out := Shape{Kind: kind, KeyField: t.KeyField, Doc: t.Doc, Where: wordsOf(t)}
	if t.Elem != ir.NoType {
		of := b.shape(t.Elem)
		out.Of = &of
	}
	if t.Rest != ir.NoType {
		rest := b.shape(t.Rest)
		out.Rest = &rest
	}
	if t.Literal != "" {
		out.Literal = json.RawMessage(t.Literal)
	}
	if t.Target != nil {
		out.Target = b.pointerOf(*t.Target)
	}
	for _, a := range t.Alternatives {
		out.Alternatives = append(out.Alternatives, b.shape(a))
	}
	for _, m := range t.Members {
		out.Members = append(out.Members, Member{m.Name, m.Optional, b.shape(m.Type), m.Doc})
	}
	return out
}

// wordsOf says what the constraints of a type demand: by their messages, and in words where
// there are some for what they ask and the message does not say it.
func wordsOf(t *ir.Type) []string {
	unit := "entries"
	if t.Kind == ir.StringType {
		unit = "characters"
	}
	var out []string
	for _, x := range t.Where {
		text := x.Message
		if words, plain := inWords(x.Source, unit); text == "" || plain && !saysAsMuch(text, words) {
			text = strings.TrimPrefix(text+": "+words, ": ")
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// saysAsMuch reports whether a message has the numbers that the words are about.
func saysAsMuch(message, words string) bool {
	numbers := digits.FindAllString(words, -1)
	return len(numbers) > 0 && !strings.Contains(words, "matches") && !slices.ContainsFunc(numbers, func(n string) bool {
		return !slices.Contains(digits.FindAllString(message, -1), n)
	})
}

// phrases are words for what constraints commonly ask.
var phrases = []struct {
	expr  *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^!text\.blank\(self\)$`), "not blank"},
	{regexp.MustCompile(`^self(?: != "|\.size\(\) > 0|\s*!= ")"$`), "not empty"},
	{regexp.MustCompile(`^size\(self\) (?:> 0|>= 1|!= 0)$`), "not empty"},
	{regexp.MustCompile(`^text\.lines\(self\) == 1$`), "one line"},
	{regexp.MustCompile(`^text\.(words|lines|letters)\(self\) <= (\d+)$`), "at most $2 $1"},
	{regexp.MustCompile(`^text\.(words|lines|letters)\(self\) >= (\d+)$`), "at least $2 $1"},
	{regexp.MustCompile(`^size\(self\) <= (\d+)$`), "at most $1 UNIT"},
	{regexp.MustCompile(`^size\(self\) >= (\d+)$`), "at least $1 UNIT"},
	{regexp.MustCompile(`^size\(self\) == (\d+)$`), "$1 UNIT"},
	{regexp.MustCompile(`^self (<=|>=|<|>|==|!=) ([-\d.]+?)(?:\.0)?$`), "$1 $2"},
	{regexp.MustCompile(`^self\.matches\(r?"(.*)"\)$`), "matches /$1/"},
	{regexp.MustCompile(`^time\.instant\(self\)$`), "date-time as 2024-05-01T09:30:00Z"},
	{regexp.MustCompile(`^time\.date\(self\)$`), "date as 2024-05-01"},
	{regexp.MustCompile(`^money\.cents\(self\)$`), "at most two decimals"},
	{regexp.MustCompile(`^money\.currency\(self\)$`), "currency code as EUR"},
	{regexp.MustCompile(`^pii\.email\(self\)$`), "e-mail address"},
	{regexp.MustCompile(`^pii\.phone\(self\)$`), "phone number as +49 30 901820"},
	{regexp.MustCompile(`^pii\.luhn\(self\)$`), "payment card number"},
}

// inWords writes an expression of a constraint in words, as far as there are some. plain is
// true if all of it is; unit is what size counts.
func inWords(source, unit string) (text string, plain bool) {
	plain = true
	var out []string
	for _, part := range conjuncts(inline(source)) {
		words := part
		for _, p := range phrases {
			if p.expr.MatchString(part) {
				words = strings.ReplaceAll(p.expr.ReplaceAllString(part, p.words), "UNIT", unit)
				break
			}
		}
		plain = plain && words != part
		out = append(out, words)
	}
	return strings.Join(out, ", "), plain
}

// conjuncts takes an expression apart at the && that stand in no parentheses and no text.
func conjuncts(source string) []string {
	if strings.Contains(source, "||") || strings.Contains(source, "?") && !strings.Contains(source, `"`) {
		return []string{source}
	}
	var out []string
	depth, from, quote := 0, 0, byte(0)
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '&' && depth == 0 && strings.HasPrefix(source[i:], "&&"):
			out = append(out, strings.TrimSpace(source[from:i]))
			i++
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(source[from:]))
}
