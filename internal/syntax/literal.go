package syntax

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Where the literals of the language end, and what they mean: words, strings,
// numbers, and CEL and JSON in their brackets. Each function reads text from an
// offset on and needs to know nothing else.

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordStart(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isWordPart(c byte) bool { return isWordStart(c) || isDigit(c) }

// wordEnd is the end of the identifier at pos.
func wordEnd(text string, pos int) int {
	for pos < len(text) && isWordPart(text[pos]) {
		pos++
	}
	return pos
}

// stringEnd is the end of the JSON string at pos, and whether it is closed; an
// open one ends with its line.
func stringEnd(text string, pos int) (end int, closed bool) {
	for i := pos + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"':
			return i + 1, true
		case '\n', '\r':
			return i, false
		}
	}
	return len(text), false
}

// unquote decodes a JSON string literal.
func unquote(literal string) (string, bool) {
	out, err := jsontext.AppendUnquote(nil, literal) // strict: half a surrogate pair is none
	return string(out), err == nil
}

// decode undoes a JSON string's quoting; a broken string loses its quotation marks.
func decode(literal string) string {
	if !strings.HasPrefix(literal, `"`) {
		return literal
	}
	if value, ok := unquote(literal); ok {
		return value
	}
	return strings.Trim(literal, `"`)
}

// fieldKey is the name of a field from the value of its token.
func fieldKey(value string) string { return decode(strings.TrimSuffix(value, ":")) }

func numberEnd(text string, pos int) int {
	i := pos
	if text[i] == '-' {
		i++
	}
	i = digitsEnd(text, i)
	if i+1 < len(text) && text[i] == '.' && isDigit(text[i+1]) {
		i = digitsEnd(text, i+1)
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		j := i + 1
		if j < len(text) && (text[j] == '+' || text[j] == '-') {
			j++
		}
		if j < len(text) && isDigit(text[j]) {
			i = digitsEnd(text, j)
		}
	}
	return i
}

func digitsEnd(text string, pos int) int {
	for pos < len(text) && isDigit(text[pos]) {
		pos++
	}
	return pos
}

// celEnd is the end of the CEL in braces at pos, and whether its brace is
// closed. It knows just enough of CEL to find the matching brace: strings (plain,
// raw, of bytes, triple-quoted), names in backquotes, and comments.
func celEnd(text string, pos int) (end int, closed bool) {
	depth := 0
	for i := pos; i < len(text); i++ {
		switch c := text[i]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"', '\'', '`', '/':
			i = max(i, celAtomEnd(text, i)-1)
		case '\n':
			if startsDeclaration(text, i+1) {
				return i, false
			}
		}
	}
	return len(text), false
}

// celAtomEnd is the end of the string, name in backquotes or comment of CEL that opens at
// pos, pos if none does: what holds braces and white space that mean nothing.
func celAtomEnd(text string, pos int) int {
	switch text[pos] {
	case '"', '\'':
		return celStringEnd(text, pos, isRaw(text, pos))
	case '`':
		return celNameEnd(text, pos)
	case '/':
		if strings.HasPrefix(text[pos:], "//") {
			return commentEnd(text, pos)
		}
	}
	return pos
}

// isRaw reports whether the string that opens at pos has the prefix r, R, or one
// of them together with b or B.
func isRaw(text string, pos int) bool {
	start := pos
	for start > 0 && isWordPart(text[start-1]) {
		start--
	}
	switch strings.ToLower(text[start:pos]) {
	case "r", "br", "rb":
		return true
	}
	return false
}

// celNameEnd is the end of the name in backquotes that opens at pos, or of its line.
func celNameEnd(text string, pos int) int {
	for i := pos + 1; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			return i + 1
		}
	}
	return pos + 1
}

// celStringEnd is the end of the CEL string that opens at pos; one in single
// marks ends with its line at the latest.
func celStringEnd(text string, pos int, raw bool) int {
	mark := text[pos : pos+1]
	triple := strings.Repeat(mark, 3)
	long := strings.HasPrefix(text[pos:], triple)
	if long {
		mark = triple
	}
	for i := pos + len(mark); i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], mark):
			return i + len(mark)
		case text[i] == '\\' && !raw:
			i++
		case text[i] == '\n' && (!long || startsDeclaration(text, i+1)):
			return i
		}
	}
	return len(text)
}

func commentEnd(text string, pos int) int {
	if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
		return pos + i
	}
	return len(text)
}

// jsonEnd is the end of the bracketed JSON at pos, and whether it is closed. A
// closing bracket closes the innermost one of its kind and all within.
func jsonEnd(text string, pos int) (end int, closed bool) {
	var open []byte
	for i := pos; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end, _ := stringEnd(text, i)
			i = end - 1
		case '{', '[':
			open = append(open, c+2) // the closing bracket
		case '}', ']':
			if at := bytes.LastIndexByte(open, c); at >= 0 {
				open = open[:at]
			}
			if len(open) == 0 {
				return i + 1, true
			}
		case '\n':
			if startsDeclaration(text, i+1) {
				return i, false
			}
		}
	}
	return len(text), false
}

// startsDeclaration reports whether a declaration keyword stands at pos, which is
// in column 1, followed by what a declaration goes on with. (CEL may have a line
// that starts with state.)
func startsDeclaration(text string, pos int) bool {
	end := wordEnd(text, pos)
	if !isDeclarationWord(text[pos:end]) {
		return false
	}
	rest := strings.TrimLeft(text[end:], " \t")
	return len(rest) < len(text)-end && rest != "" && (isWordStart(rest[0]) || rest[0] == '"' || rest[0] == '{')
}

// StringEnd is the end of the JSON string that opens at pos in a JSON text.
func StringEnd(text string, pos int) int {
	end, _ := stringEnd(text, pos)
	return end
}

// WordAt is the identifier at pos, "" if none starts there.
func WordAt(text string, pos int) string {
	if pos >= len(text) || !isWordStart(text[pos]) {
		return ""
	}
	return text[pos:wordEnd(text, pos)]
}
