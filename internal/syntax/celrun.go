package syntax

import "strings"

// celEnd is the end of the CEL in braces at pos, and whether its brace is
// closed. It knows just enough of CEL to find the matching brace: strings (plain,
// raw, of bytes, triple-quoted) and comments.
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
		case '"', '\'':
			i = celStringEnd(text, i, isRaw(text, i)) - 1
		case '/':
			if strings.HasPrefix(text[i:], "//") {
				i = commentEnd(text, i) - 1
			}
		case '\n':
			if startsDeclaration(text, i+1) {
				return i, false
			}
		}
	}
	return len(text), false
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
