package certificate

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// Whether the rules of one stage stand in another is a question about text: rules are
// compared token by token, operand by operand of their outermost &&, after the names
// of parameters have been replaced. Whatever that does not find equal counts as not shown.

// operands lists what a rule says, one operand after the other. ok is false if a variable
// bound inside the rule has a name that one of taken has.
func operands(x ir.Expr, rename func(string) string, taken []string) (list []string, ok bool) {
	tokens := tokenize(x.Source)
	for _, v := range boundIn(tokens) {
		if contains(taken, v) {
			return nil, false
		}
	}
	for i, t := range tokens {
		if isName(t) && (i == 0 || !isSelector(tokens[i-1])) {
			tokens[i] = rename(t)
		}
	}
	for _, part := range conjuncts(tokens) {
		list = append(list, strings.Join(part, " "))
	}
	return list, true
}

// conjuncts cuts tokens at the && outside all brackets, unless something there binds
// less than && does.
func conjuncts(tokens []string) [][]string {
	tokens = bare(tokens)
	var out [][]string
	depth, start := 0, 0
	for i, t := range tokens {
		depth += bracket(t)
		switch {
		case depth == 0 && (t == "||" || t == "?"):
			return [][]string{tokens}
		case depth == 0 && t == "&&":
			out = append(out, conjuncts(tokens[start:i])...)
			start = i + 1
		}
	}
	if start == 0 {
		return [][]string{tokens}
	}
	return append(out, conjuncts(tokens[start:])...)
}

// bare takes off parentheses around all of it.
func bare(tokens []string) []string {
	for len(tokens) > 1 && tokens[0] == "(" {
		depth := 0
		end := slices.IndexFunc(tokens, func(t string) bool { depth += bracket(t); return depth == 0 })
		if end != len(tokens)-1 {
			break
		}
		tokens = tokens[1:end]
	}
	return tokens
}

func bracket(t string) int {
	switch t {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}

// boundIn lists the names that may be variables of macros: the first two arguments of
// whatever is called with a dot.
func boundIn(tokens []string) []string {
	var out []string
	for i := 2; i+2 < len(tokens); i++ {
		if tokens[i] != "(" || !isName(tokens[i-1]) || !isSelector(tokens[i-2]) {
			continue
		}
		for j := i + 1; j+1 < len(tokens) && j <= i+3 && isName(tokens[j]) && tokens[j+1] == ","; j += 2 {
			out = append(out, tokens[j])
		}
	}
	return out
}

func isName(t string) bool { return isLetter(t[0]) && !strings.ContainsAny(t, `"'`) }

func isSelector(t string) bool { return t == "." || t == "?." }

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// tokenize cuts CEL into its words, without white space and comments.
func tokenize(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		start := i
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], "//"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
			continue
		case c <= ' ':
			i++
			continue
		case isLetter(c) || isDigit(c):
			for i < len(s) && (isLetter(s[i]) || isDigit(s[i])) {
				i++
			}
			if i < len(s) && (s[i] == '"' || s[i] == '\'') && isPrefix(s[start:i]) {
				i = stringEnd(s, i, strings.ContainsAny(s[start:i], "rR"))
			}
		case c == '"' || c == '\'':
			i = stringEnd(s, i, false)
		case len(s) > i+1 && contains([]string{"&&", "||", "?."}, s[i:i+2]):
			i += 2
		default:
			i++
		}
		out = append(out, s[start:i])
	}
	return out
}

// isPrefix reports whether a word before a quote belongs to the string.
func isPrefix(word string) bool {
	return contains([]string{"r", "b", "br", "rb"}, strings.ToLower(word))
}

// stringEnd is where the string that opens at i ends.
func stringEnd(s string, i int, raw bool) int {
	mark := s[i : i+1]
	if strings.HasPrefix(s[i:], strings.Repeat(mark, 3)) {
		mark = strings.Repeat(mark, 3)
	}
	for i += len(mark); i < len(s); i++ {
		if strings.HasPrefix(s[i:], mark) {
			return i + len(mark)
		}
		if s[i] == '\\' && !raw {
			i++
		}
	}
	return len(s)
}
