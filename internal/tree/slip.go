package tree

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// What is mistaken for JSON. Most texts that are none are JavaScript, Python or an answer
// to a person; what stands at the place where JSON ends tells which, and JSON has another
// spelling for nearly all of it. None of this decides anything: a text with a slip is
// refused like any other.

// A slip is what stands where a text stops being JSON, and what JSON writes instead. Its
// texts show none of what they are about.
type slip struct{ what, hint string }

const (
	nothingElse = "send the JSON and nothing else"
	quoteNames  = `every member name and every text stands in double quotes: {"op": "add"}`
	lastComma   = "leave out the comma behind the last one"
	noComments  = "leave out comments: JSON has none"
	finite      = "JSON has finite numbers only; write one, or null where that is allowed"
)

type wordOf struct{ word, means string }

// words are those that other languages write for a value.
var words = []wordOf{
	{"True", "true"}, {"False", "false"}, {"TRUE", "true"}, {"FALSE", "false"},
	{"None", "null"}, {"undefined", "null"}, {"nil", "null"}, {"NULL", "null"}, {"Null", "null"},
}

// numbers are those that JSON has not.
var numbers = []string{"NaN", "-NaN", "nan", "Infinity", "-Infinity", "+Infinity", "inf", "-inf"}

// spellings are slips by how they begin.
var spellings = []struct {
	begins string
	slip
}{
	{"```", slip{"a Markdown code fence stands here", "send what stands between the fences and nothing else"}},
	{"~~~", slip{"a Markdown code fence stands here", "send what stands between the fences and nothing else"}},
	{"//", slip{"a comment stands here", noComments}},
	{"/*", slip{"a comment stands here", noComments}},
	{"#", slip{"a comment stands here", noComments}},
	{"...", slip{"an ellipsis stands here", "write out all of it"}},
	{"…", slip{"an ellipsis stands here", "write out all of it"}},
	{"'", slip{"a single quote stands here", `texts and names stand in double quotes: "add"`}},
	{"`", slip{"a backquote stands here", `texts and names stand in double quotes: "add"`}},
	{"“", slip{"a typographic quote stands here", `texts and names stand in straight double quotes: "add"`}},
	{"”", slip{"a typographic quote stands here", `texts and names stand in straight double quotes: "add"`}},
	{"‘", slip{"a typographic quote stands here", `texts and names stand in straight double quotes: "add"`}},
	{"=", slip{"an equals sign stands where a colon belongs", `write a member as "name": value`}},
	{";", slip{"a semicolon stands here", "write a comma between two of them, and nothing behind the last"}},
	{"(", slip{"a parenthesis stands here", "arrays stand in [ ], objects in { }"}},
	{"<", slip{"a tag stands here", nothingElse}},
	{"+", slip{"a number begins with +", "write it without the +"}},
	{".", slip{"a number begins with a point", "write a 0 before the point"}},
}

// slipAt says what stands at offset of data, where it stops being JSON; ok if that is known.
func slipAt(data []byte, offset int) (s slip, ok bool) {
	offset = min(max(offset, 0), len(data))
	if inside, open := openText(data[:offset]); inside {
		return slipInText(data[offset:], open)
	}
	before := bytes.TrimRight(data[:offset], " \t\r\n")
	rest := bytes.TrimLeft(data[offset:], " \t\r\n")
	if len(rest) == 0 {
		return slipAtEnd(data)
	}
	if len(before) > 0 && before[len(before)-1] == ',' && bytes.IndexByte([]byte("]}"), rest[0]) >= 0 {
		return slip{"a comma stands before the closing bracket", lastComma}, true
	}
	if rest[0] == ',' && bytes.IndexByte([]byte("]}"), first(rest[1:])) >= 0 {
		return slip{"a comma stands before the closing bracket", lastComma}, true
	}
	if len(before) == 0 {
		if s, ok := slipAtStart(rest); ok {
			return s, true
		}
	}
	if s, ok := slipOfWord(before, rest); ok {
		return s, true
	}
	for i := range spellings {
		if bytes.HasPrefix(rest, []byte(spellings[i].begins)) {
			return spellings[i].slip, true
		}
	}
	return slipBetween(before, rest)
}

// slipBehind says what stands at the beginning of rest, behind a whole JSON value.
func slipBehind(rest []byte) (s slip, ok bool) {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	switch c := first(rest); {
	case bytes.HasPrefix(rest, []byte("```")):
		return slip{"a Markdown code fence follows the JSON value", "send what stands between the fences and nothing else"}, true
	case bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) || c == '#':
		return slip{"a comment follows the JSON value", noComments}, true
	case c == '{' || c == '[':
		return slip{"a second JSON value follows the first", "put all operations into one array: [{...}, {...}]"}, true
	case c == ']' || c == '}':
		return slip{"a closing bracket too many follows the JSON value", "leave it out"}, true
	case c == ',':
		return slip{"a comma follows the JSON value", "put all operations into one array: [{...}, {...}]"}, true
	default:
		return slip{"something follows the JSON value", nothingElse}, true
	}
}

func first(text []byte) byte {
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) > 0 {
		return text[0]
	}
	return 0
}

// openText reports whether text ends inside of a JSON text, and the brackets that are open.
func openText(text []byte) (inside bool, open []byte) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			open = append(open, c)
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return inside, open
}

// slipInText is about what a text may not hold as it is.
func slipInText(rest, open []byte) (slip, bool) {
	switch {
	case len(rest) == 0:
		return slip{"a text is not closed", `end it with ", and close what is open behind it: "` + closing(open) + `"`}, true
	case rest[0] == '\n' || rest[0] == '\r':
		return slip{"a line break stands inside of a text", `write it as \n`}, true
	case rest[0] == '\t':
		return slip{"a tab stands inside of a text", `write it as \t`}, true
	case rest[0] < 0x20:
		return slip{"a control character stands inside of a text", `write it as \u and four hexadecimal digits`}, true
	case len(rest) > 1 && rest[0] == '\\' && rest[1] == '\'':
		return slip{`\' is no escape`, "write an apostrophe as it is: '"}, true
	case rest[0] == '\\':
		return slip{"this is no escape", `JSON has \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits; a backslash itself is \\`}, true
	default:
		return slip{}, false
	}
}

func slipAtEnd(data []byte) (slip, bool) {
	if _, open := openText(data); len(open) > 0 && len(open) <= 8 {
		return slip{"the text ends too early", "what is open must be closed: " + closing(open) + " is missing at its end"}, true
	}
	return slip{"the text ends too early", "send all of it"}, true
}

// closing is the brackets that close those that are open.
func closing(open []byte) string {
	var b strings.Builder
	for i := len(open) - 1; i >= 0 && len(open)-i <= 8; i-- {
		b.WriteByte(open[i] + 2) // ] behind [, } behind {
	}
	return b.String()
}

// slipAtStart is about a text that does not begin as JSON.
func slipAtStart(rest []byte) (slip, bool) {
	word := bytes.IndexFunc(rest, func(r rune) bool { return !isWordRune(r) })
	if r, _ := utf8.DecodeRune(rest); word == 0 || !isWordRune(r) || '0' <= r && r <= '9' {
		return slip{}, false
	}
	if bytes.ContainsAny(rest, "[{") {
		return slip{"words stand before the JSON", nothingElse}, true
	}
	return slip{"these are words, and no JSON", "answer with the JSON and nothing else; [] changes nothing"}, true
}

func isWordRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= 0xC0 && r != utf8.RuneError && (r < 0x2000 || r > 0x206F)
}

// slipOfWord is about a word, or a number that JSON has not.
func slipOfWord(before, rest []byte) (slip, bool) {
	for _, n := range numbers {
		if isWord(rest, n) {
			return slip{n + " is no number of JSON", finite}, true
		}
	}
	for _, w := range words {
		if isWord(rest, w.word) {
			return slip{w.word + " stands here", "JSON writes " + w.means}, true
		}
	}
	r, _ := utf8.DecodeRune(rest)
	digit := '0' <= r && r <= '9'
	switch last := last(before); {
	case digit && (last == '0' || last == '-' && rest[0] == '0'):
		return slip{"a number begins with 0", "write it without the 0 in front; a fraction is 0.5"}, true
	case !isWordRune(r):
		return slip{}, false
	case last == '"':
		return slip{"a quote inside of a text ended it", `write a quote inside of a text as \"`}, true
	case last == '{' || last == ',' && !digit:
		return slip{"a name or text without quotes stands here", quoteNames}, true
	case digit || '0' <= last && last <= '9':
		return slip{"this is no number", "JSON writes numbers as in -1, 2.5 and 1e3"}, true
	default:
		return slip{"a text without quotes stands here", quoteNames}, true
	}
}

func isWord(text []byte, word string) bool {
	if !bytes.HasPrefix(text, []byte(word)) {
		return false
	}
	r, size := utf8.DecodeRune(text[len(word):])
	return size == 0 || !isWordRune(r)
}

func last(text []byte) byte {
	if len(text) == 0 {
		return 0
	}
	return text[len(text)-1]
}

// slipBetween is about what lacks a comma, a colon or a bracket.
func slipBetween(before, rest []byte) (slip, bool) {
	ends := bytes.IndexByte([]byte(`"}]0123456789el`), last(before)) >= 0
	switch c := rest[0]; {
	case ends && bytes.IndexByte([]byte(`"{[`), c) >= 0:
		return slip{"a comma is missing before this", "write a comma between two members or elements, and a colon between a name and its value"}, true
	case c == '}' || c == ']':
		return slip{"a closing bracket stands here that closes nothing", "close what was opened last first: { with }, [ with ]"}, true
	case last(before) == ',' && c == ',':
		return slip{"two commas stand here", "write one"}, true
	case c == ':':
		return slip{"a colon stands here", `write a member as "name": value, in { }`}, true
	default:
		return slip{}, false
	}
}

// excerpt is a little of a text around an offset, where ⟨here⟩ marks it. It shows how the
// text is built: words that every patch may have, and brackets; the rest, which may be
// secret, is dots.
func excerpt(data []byte, offset int) string {
	const around = 40
	offset = min(max(offset, 0), len(data))
	from, to := offset, offset
	for from > 0 && (offset-from < around || isWordRune(rune(data[from-1])) && offset-from < 2*around) {
		from--
	}
	for to < len(data) && (to-offset < around || isWordRune(rune(data[to])) && to-offset < 2*around) {
		to++
	}
	out := outline(data[from:offset]) + " ⟨here⟩ " + outline(data[offset:to])
	if from > 0 {
		out = ellipsis + strings.TrimPrefix(out, ellipsis)
	}
	if to < len(data) {
		out = strings.TrimSuffix(out, ellipsis) + ellipsis
	}
	return strings.ReplaceAll(strings.TrimSpace(out), "  ", " ")
}

// outline is a text with dots for all but the words and signs of patches.
func outline(text []byte) string {
	var b strings.Builder
	for len(text) > 0 {
		end := 1
		if bytes.IndexByte([]byte("[]{}\":,'=+#;()<>"), text[0]) < 0 {
			end = bytes.IndexAny(text, "[]{}\":,'=+#;()<>")
			if end < 0 {
				end = len(text)
			}
			b.WriteString(publicWords(string(text[:end])))
		} else {
			b.WriteByte(text[0])
		}
		text = text[end:]
	}
	return b.String()
}

// publicWords is a stretch without signs, as it is if it is made of words of patches.
func publicWords(text string) string {
	all := strings.Fields(text)
	for i, w := range all {
		if !isPublic(w) {
			all[i] = ellipsis
		}
	}
	out := strings.Join(slices.Compact(all), " ")
	if out == "" && text != "" {
		return " "
	}
	return out
}

func isPublic(word string) bool {
	switch word {
	case "true", "false", "null", "patch", "next", "json", "//", "/*", "*/", "...", "```", "```json":
		return true
	}
	return opWord([]byte(word)) != "" || slices.Contains(numbers, word) ||
		slices.ContainsFunc(words, func(w wordOf) bool { return w.word == word })
}
