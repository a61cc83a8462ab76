package region

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The text form of a pattern is a JSON Pointer (RFC 6901) in which some tokens
// mean more than themselves. A key that reads like such a token, or ends in the
// "!" of a shallow pattern, is written as a JSON string: /"*", /:"a/b", /"x!".
// Inside the quotes JSON's escapes hold, outside ~0 and ~1.

var (
	errNoSlash    = errors.New(`a pattern is empty or starts with "/"`)
	errUTF8       = errors.New("a pattern must be valid UTF-8")
	errQuote      = errors.New("malformed quoted key")
	errAfterQuote = errors.New(`a quoted key ends its segment`)
	errEscape     = errors.New(`"~" must be written ~0 and "/" inside a key ~1`)
	errIndex      = errors.New("an index segment is [*] or [n] without leading zeros")
	errParam      = errors.New("a parameter segment is {name}")
)

// ParsePattern reads the text form of spec/semantics.md section 3.1: "" is the
// root, a final "!" makes the pattern shallow. Every error says which rule of
// the form was broken and at which segment. ParsePattern(p.String()) gives p
// back.
func ParsePattern(text string) (Pattern, error) {
	if !utf8.ValidString(text) {
		return Pattern{}, errUTF8
	}
	var p Pattern
	rest := text
	for n := 1; rest != "" && rest != "!"; n++ {
		if rest[0] != '/' {
			return Pattern{}, segmentError(n, errNoSlash)
		}
		seg, after, err := cutSegment(rest[1:])
		if err != nil {
			return Pattern{}, segmentError(n, err)
		}
		p.Segments = append(p.Segments, seg)
		rest = after
	}
	p.Shallow = rest == "!"
	return p, nil
}

func segmentError(n int, err error) error {
	if err == errNoSlash && n > 1 {
		err = errAfterQuote
	}
	return fmt.Errorf("segment %d: %w", n, err)
}

// MustParse is ParsePattern for patterns known to be well formed; it panics on
// others.
func MustParse(text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		panic(fmt.Sprintf("region: %q: %v", text, err))
	}
	return p
}

// cutSegment reads the segment that text starts with. What follows it starts
// with "/", or is empty or the final "!".
func cutSegment(text string) (seg Segment, rest string, err error) {
	kind, body := Literal, text
	if strings.HasPrefix(text, ":") {
		kind, body = KeyLiteral, text[1:]
	}
	if strings.HasPrefix(body, `"`) {
		key, rest, err := cutQuoted(body)
		return Segment{Kind: kind, Text: key}, rest, err
	}
	end := strings.IndexByte(text, '/')
	if end < 0 {
		end = len(strings.TrimSuffix(text, "!"))
	}
	seg, err = parseToken(text[:end])
	return seg, text[end:], err
}

// cutQuoted reads the JSON string that text starts with.
func cutQuoted(text string) (key, rest string, err error) {
	end := closingQuote(text)
	if end < 0 {
		return "", "", errQuote
	}
	raw, err := jsontext.AppendUnquote(nil, text[:end+1])
	if err != nil {
		return "", "", errQuote
	}
	return string(raw), text[end+1:], nil
}

// closingQuote finds the quote that ends the JSON string at the start of text,
// -1 if there is none.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// parseToken reads a segment without quotes.
func parseToken(token string) (Segment, error) {
	switch {
	case token == "*":
		return Segment{Kind: AnySegment}, nil
	case token == "**":
		return Segment{Kind: AnyDepth}, nil
	case token == "-":
		return Segment{Kind: FreshSegment}, nil
	case token == ":*":
		return Segment{Kind: AnyKey}, nil
	case strings.HasPrefix(token, "["):
		return parseIndex(token)
	case strings.HasPrefix(token, "{"):
		return parseParam(token)
	}
	kind := Literal
	if strings.HasPrefix(token, ":") {
		kind, token = KeyLiteral, token[1:]
	}
	key, err := unescape(token)
	return Segment{Kind: kind, Text: key}, err
}

func parseIndex(token string) (Segment, error) {
	if token == "[*]" {
		return Segment{Kind: AnyIndex}, nil
	}
	inner, closed := strings.CutSuffix(token[1:], "]")
	n, ok := asIndex(inner)
	if !closed || !ok {
		return Segment{}, errIndex
	}
	return Segment{Kind: IndexLiteral, Index: n}, nil
}

func parseParam(token string) (Segment, error) {
	inner, closed := strings.CutSuffix(token[1:], "}")
	if !closed || inner == "" {
		return Segment{}, errParam
	}
	name, err := unescape(inner)
	return Segment{Kind: ParamSegment, Text: name}, err
}

// asIndex reads an array index as RFC 6901 section 4 spells it. An index beyond
// the range of int is none.
func asIndex(text string) (int, bool) {
	if text == "" || text[0] < '0' || text[0] > '9' || text[0] == '0' && text != "0" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

var tokenUnescaper = strings.NewReplacer("~0", "~", "~1", "/")

func unescape(token string) (string, error) {
	for i := 0; i < len(token); i++ {
		if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
			return "", errEscape
		}
	}
	return tokenUnescaper.Replace(token), nil
}

// String writes p so that ParsePattern reads it back. The owner of a fresh
// segment (Region.Own) is not part of the text.
func (p Pattern) String() string {
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteByte('/')
		b.WriteString(s.String())
	}
	if p.Shallow {
		b.WriteByte('!')
	}
	return b.String()
}

// String writes s as a pattern does, without the slash.
func (s Segment) String() string {
	switch s.Kind {
	case Literal:
		return quoteUnless(plainLiteral(s.Text), s.Text)
	case KeyLiteral:
		return ":" + quoteUnless(plainKey(s.Text), s.Text)
	case IndexLiteral:
		return "[" + strconv.Itoa(s.Index) + "]"
	case AnySegment:
		return "*"
	case AnyKey:
		return ":*"
	case AnyIndex:
		return "[*]"
	case AnyDepth:
		return "**"
	case ParamSegment:
		return "{" + EscapeToken(s.Text) + "}"
	default:
		return "-"
	}
}

// plainLiteral reports whether key means only itself as a whole segment.
func plainLiteral(key string) bool {
	return plainKey(key) && key != "**" && key != "-" && (key == "" || !strings.ContainsRune(":[{", rune(key[0])))
}

// plainKey reports whether key means only itself after a ":".
func plainKey(key string) bool {
	return key != "*" && !strings.HasSuffix(key, "!") && !strings.ContainsFunc(key, needsQuotes)
}

func needsQuotes(r rune) bool { return r == '"' || r < ' ' || r == 0x7f }

func quoteUnless(plain bool, key string) string {
	if plain {
		return EscapeToken(key)
	}
	quoted, _ := jsontext.AppendQuote(nil, key) // fails on invalid UTF-8 only, and still quotes
	return string(quoted)
}

// MarshalText is String; it never fails.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParsePattern.
func (p *Pattern) UnmarshalText(text []byte) error {
	read, err := ParsePattern(string(text))
	if err == nil {
		*p = read
	}
	return err
}

// Source writes p as a contract would, for people: typed segments lose their mark,
// and family keys (parameters that start with "@") are wildcards.
func (p Pattern) Source() string {
	var stack [64]byte
	return string(p.AppendSource(stack[:0], nil))
}

// AppendSource appends the source of p with the parameters of args bound.
func (p Pattern) AppendSource(dst []byte, args Binding) []byte {
	if len(p.Segments) == 0 {
		return append(dst, "/**"...)
	}
	for _, s := range p.Segments {
		dst = append(append(dst, '/'), s.bound(args).Source()...)
	}
	return dst
}

// Source writes s as a contract would.
func (s Segment) Source() string {
	switch s.Kind {
	case Literal, KeyLiteral:
		if isWord(s.Text) {
			return s.Text
		}
		if strings.ContainsAny(s.Text, "*(){}|\"&,#") || strings.ContainsFunc(s.Text, isSpaceOrControl) || s.Text == "-" || s.Text == "" {
			quoted, _ := json.Marshal(s.Text)
			return string(quoted)
		}
		return EscapeToken(s.Text)
	case IndexLiteral:
		return strconv.Itoa(s.Index)
	case AnyDepth:
		return "**"
	case FreshSegment:
		return "-"
	case ParamSegment:
		if strings.HasPrefix(s.Text, "@") {
			return "*"
		}
		return "{" + s.Text + "}"
	}
	return "*"
}

// isWord reports whether a text is of letters, digits and a few signs that mean nothing, as
// nearly all are.
func isWord(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		letter, digit := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9'
		if !letter && !digit && c != '_' && c != '-' {
			return false
		}
	}
	return text != "" && text != "-"
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
