package ir

import (
	"regexp"
	"slices"
	"strings"
)

// Constraints in words: what a prompt says of a value that is to be written, and a reply of
// one that does not fit, is the same.

// Demands says what the constraints of a type demand: by their messages, and in words where
// there are some for what they ask and the message does not say it. Of what a library's
// function asks the words say all. Each is said once.
func (t *Type) Demands() []string {
	unit := "entries"
	if t.Kind == StringType {
		unit = "characters"
	}
	var out []string
	for _, x := range t.Where {
		text := x.Message
		switch words, plain := inWords(x.Source, unit); {
		case plain && ofLibrary.MatchString(oneLine(x.Source)):
			text = words
		case text == "" || plain && !saysAsMuch(text, words):
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
	numbers := numerals.FindAllString(words, -1)
	return len(numbers) > 0 && !strings.Contains(words, "matches") && !slices.ContainsFunc(numbers, func(n string) bool {
		return !slices.Contains(numerals.FindAllString(message, -1), n)
	})
}

// ofLibrary matches a constraint that a function of the standard library is.
var ofLibrary = regexp.MustCompile(`^!?(text|time|money|pii)\.\w+\(self\)( [<>=]+ \d+)?$`)

var numerals = regexp.MustCompile(`-?\d+(?:\.\d+)?`)

// oneLine is an expression on one line.
func oneLine(source string) string { return strings.Join(strings.Fields(source), " ") }

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
	{regexp.MustCompile(`^size\(self\) < (\d+)$`), "fewer than $1 UNIT"},
	{regexp.MustCompile(`^size\(self\) > (\d+)$`), "more than $1 UNIT"},
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
	for _, part := range conjuncts(oneLine(source)) {
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
