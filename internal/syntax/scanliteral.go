package syntax

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

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

func (s *scanner) jsonString(t token) {
	end, closed := stringEnd(s.text, s.pos)
	s.pos = end
	t.kind, t.sym, t.value = StringToken, symString, s.text[t.start:end]
	if s.isField(end) {
		t.kind, t.sym, t.value = FieldToken, symField, t.value+":"
	}
	s.add(t)
	switch _, valid := unquote(s.text[t.start:end]); {
	case !closed:
		s.openString(t.start, end)
	case !valid:
		s.badString(t.start, end)
	case end-t.start > s.limits.StringLength:
		s.limit("string length", s.limits.StringLength, t.start, end)
	}
}

// closingQuotes are the marks that close a string opened by a mark of other
// languages or of typography.
var closingQuotes = map[string]string{
	"'": "'", "`": "`", "“": "”“\"", "”": "”\"", "„": "“”\"", "‟": "”\"", "«": "»", "»": "«", "‘": "’'", "’": "’'",
}

// foreignString takes a string in quotation marks that are not JSON's; the
// grammar sees a string.
func (s *scanner) foreignString(t token, opening string) {
	line := s.text[s.pos:s.lineEnd(s.pos)]
	body := line[len(opening):]
	length := strings.IndexAny(body, closingQuotes[opening])
	if length < 0 {
		s.pos += len(opening)
		t.kind = BadToken
		s.add(t)
		s.badCharacter(t.start, s.pos)
		return
	}
	_, closing := utf8.DecodeRuneInString(body[length:])
	s.pos += len(opening) + length + closing
	quoted, _ := json.Marshal(body[:length])
	t.kind, t.sym, t.value = StringToken, symString, string(quoted)
	if s.isField(s.pos) {
		t.kind, t.sym, t.value = FieldToken, symField, t.value+":"
	}
	s.add(t)
	s.foreignQuotes(t.start, s.pos, string(quoted))
}

// number takes a JSON number. Whole numbers that fit an int are a class of their own.
func (s *scanner) number(t token) {
	end := numberEnd(s.text, s.pos)
	valid := json.Valid([]byte(s.text[s.pos:end]))
	for end < len(s.text) && isWordPart(s.text[end]) {
		end, valid = end+1, false
	}
	s.pos = end
	t.kind, t.sym = NumberToken, symNumber
	digits := strings.TrimPrefix(s.text[t.start:end], "-")
	if valid && len(digits) <= 18 && strings.Trim(digits, "0123456789") == "" {
		t.sym = symInt
	}
	s.add(t)
	if !valid {
		s.badNumber(t.start, end)
	}
}

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
