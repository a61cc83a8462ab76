package expr

import (
	"strings"
	"unicode/utf8"
)

// The CEL parser keeps one position per node, often that of an operator. Exact
// ranges, and what is wrong with a text that does not parse, come from this plain
// tokenizer, which never fails.

type tokenKind uint8

const (
	nameToken tokenKind = iota
	numberToken
	textToken       // a string or bytes literal
	openTextToken   // one without its end
	punctuation     // an operator or bracket
	unknownToken    // a character that CEL has no use for
	longestOperator = 2
)

type token struct {
	kind       tokenKind
	start, end int
	mate       int // index of the matching bracket, -1 if there is none
}

const brackets = "()[]{}"

// tokenize splits src into tokens and pairs the brackets.
func tokenize(src string) []token {
	var out []token
	for at := 0; at < len(src); {
		switch c := src[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			at++
		case strings.HasPrefix(src[at:], "//"):
			at += lineLength(src[at:])
		default:
			t := scan(src, at)
			out = append(out, t)
			at = t.end
		}
	}
	pairBrackets(src, out)
	return out
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func scan(src string, at int) token {
	rest := src[at:]
	if n, closed := textLength(rest); n > 0 {
		kind := textToken
		if !closed {
			kind = openTextToken
		}
		return token{kind: kind, start: at, end: at + n, mate: -1}
	}
	switch c := rest[0]; {
	case isLetter(c):
		return token{kind: nameToken, start: at, end: at + spanOf(rest, isNameByte), mate: -1}
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return token{kind: numberToken, start: at, end: at + numberLength(rest), mate: -1}
	}
	for _, operator := range []string{"&&", "||", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, operator) {
			return token{kind: punctuation, start: at, end: at + longestOperator, mate: -1}
		}
	}
	if strings.IndexByte("()[]{}.,:?!<>+-*/%", rest[0]) >= 0 {
		return token{kind: punctuation, start: at, end: at + 1, mate: -1}
	}
	_, n := utf8.DecodeRuneInString(rest)
	return token{kind: unknownToken, start: at, end: at + n, mate: -1}
}

func spanOf(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool   { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) }

// numberLength is the length of the number at the start of s, its suffix included.
func numberLength(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		sign := (c == '+' || c == '-') && n > 0 && s[n-1]|0x20 == 'e' && !strings.HasPrefix(s, "0x")
		point := c == '.' && n+1 < len(s) && isDigit(s[n+1])
		if !isNameByte(c) && !sign && !point {
			break
		}
		n++
	}
	return n
}

// textLength is the length of the string literal at the start of s, 0 if there is
// none. closed is false if the literal has no end; it then reaches to the end of
// its line, or of s if it may have several.
func textLength(s string) (n int, closed bool) {
	prefix := 0
	for prefix < len(s) && prefix < 2 && strings.IndexByte("rRbB", s[prefix]) >= 0 {
		prefix++
	}
	if prefix == len(s) || s[prefix] != '"' && s[prefix] != '\'' {
		return 0, false
	}
	raw := strings.ContainsAny(s[:prefix], "rR")
	quote := s[prefix : prefix+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[prefix:], triple) {
		quote = triple
	}
	for at := prefix + len(quote); at < len(s); at++ {
		switch {
		case strings.HasPrefix(s[at:], quote):
			return at + len(quote), true
		case s[at] == '\\' && !raw:
			at++
		case s[at] == '\n' && len(quote) == 1:
			return at, false
		}
	}
	return len(s), false
}

// pairBrackets sets the mates. A bracket that closes the wrong kind has none.
func pairBrackets(src string, tokens []token) {
	var open []int
	for i := range tokens {
		if tokens[i].kind != punctuation {
			continue
		}
		switch kind := strings.IndexByte(brackets, src[tokens[i].start]); {
		case kind < 0:
		case kind%2 == 0:
			open = append(open, i)
		case len(open) > 0 && src[tokens[open[len(open)-1]].start] == brackets[kind-1]:
			mate := open[len(open)-1]
			tokens[i].mate, tokens[mate].mate = mate, i
			open = open[:len(open)-1]
		}
	}
}
