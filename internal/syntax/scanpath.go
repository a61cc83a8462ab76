package syntax

import "strings"

// slash takes what starts with "/": a path, or a comment of other languages.
func (s *scanner) slash(t token) {
	if strings.HasPrefix(s.text[s.pos:], "//") {
		s.pos = s.lineEnd(s.pos)
		t.kind = CommentToken
		s.add(t)
		s.slashComment(t.start, s.pos)
		return
	}
	if end := blockCommentEnd(s.text, s.pos, t.lineStart); end > 0 {
		s.pos = end
		t.kind = CommentToken
		s.add(t)
		s.blockComment(t.start, end)
		return
	}
	s.pos = pathEnd(s.text, s.pos)
	t.kind, t.sym = PathToken, symPath
	s.add(t)
	if s.pos-t.start > s.limits.PathLength {
		s.limit("pattern length", s.limits.PathLength, t.start, s.pos)
		return
	}
	s.checkPath(t.start, s.pos)
}

// longestBlockComment bounds the search for the end of a block comment.
const longestBlockComment = 4 << 10

// blockCommentEnd is the end of a comment as C has it at pos, 0 if there is none:
// "/*" is a path as well. Only one that starts a line may go on after its line.
func blockCommentEnd(text string, pos int, lineStart bool) int {
	rest := text[pos:]
	if len(rest) < 3 || rest[:2] != "/*" || !strings.ContainsRune(" \t\r\n*", rune(rest[2])) || rest[2] == '*' && strings.HasPrefix(rest, "/**/") {
		return 0
	}
	rest = rest[:min(len(rest), longestBlockComment)]
	if !lineStart {
		rest = rest[:commentEnd(rest, 0)]
	}
	if i := strings.Index(rest, "*/"); i > 1 && (i+2 == len(rest) || strings.ContainsRune(" \t\r\n", rune(rest[i+2]))) {
		return pos + i + 2
	}
	return 0
}

// pathEnd is the end of the path at pos: white space, ",", "&", "#", a bracket
// that nothing in the path opened, or a "{" that does not stand directly after "/".
func pathEnd(text string, pos int) int {
	var open []byte
	for i := pos; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n', ',', '&', '#':
			return i
		case '"':
			if previous := text[i-1]; previous == '/' || previous == '(' || previous == '|' {
				end, _ := stringEnd(text, i)
				i = end - 1
			}
		case '(':
			open = append(open, ')')
		case '{':
			if text[i-1] != '/' {
				return i
			}
			open = append(open, '}')
		case ')', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	return len(text)
}

// pathPart is one segment of a path as written, without its "/".
type pathPart struct{ start, end int }

// pathParts cuts the path text[start:end] at the slashes outside quotation marks.
func pathParts(text string, start, end int) []pathPart {
	var parts []pathPart
	from := start + 1
	for i := from; i < end; i++ {
		switch text[i] {
		case '"':
			if previous := text[i-1]; previous == '/' || previous == '(' || previous == '|' {
				closing, _ := stringEnd(text[:end], i)
				i = closing - 1
			}
		case '/':
			parts = append(parts, pathPart{from, i})
			from = i + 1
		}
	}
	return append(parts, pathPart{from, end})
}

// checkPath reports the first mistake in a path.
func (s *scanner) checkPath(start, end int) {
	parts := pathParts(s.text, start, end)
	if len(parts) == 1 && parts[0].start == parts[0].end {
		s.lonePath(start, end)
		return
	}
	for _, p := range parts {
		if m, ok := segmentMistake(s.text[p.start:p.end]); ok {
			if p.start == p.end {
				p.start-- // the slash
			}
			s.badPath(p.start, p.end, m)
			return
		}
	}
}

// segmentMistake says what is wrong with a segment, if something is.
func segmentMistake(text string) (string, bool) {
	switch {
	case text == "":
		return `an empty segment; an empty key is written "" (with its quotation marks)`, true
	case text == "*" || text == "**" || text == "-":
		return "", false
	case text[0] == '"':
		return quotedMistake(text)
	case text[0] == '{':
		return paramMistake(text)
	case text[0] == '(':
		return choiceMistake(text)
	}
	return literalMistake(text)
}

func quotedMistake(text string) (string, bool) {
	end, closed := stringEnd(text, 0)
	switch _, valid := unquote(text[:end]); {
	case !closed:
		return "the quotation mark is not closed", true
	case !valid:
		return "a quoted segment is a JSON string, and this is none", true
	case end < len(text):
		return "a quoted segment ends with its quotation mark", true
	}
	return "", false
}

func paramMistake(text string) (string, bool) {
	if text[len(text)-1] != '}' {
		return "a parameter is a whole segment: {name}", true
	}
	name := text[1 : len(text)-1]
	if name == "" || !isWordStart(name[0]) || wordEnd(name, 0) != len(name) {
		return "a parameter is a name in braces: {name}", true
	}
	return "", false
}

func choiceMistake(text string) (string, bool) {
	if text[len(text)-1] != ')' {
		return "a choice is a whole segment: (a|b)", true
	}
	for _, c := range choices(text) {
		member := text[c.start:c.end]
		switch {
		case member == "":
			return "an alternative of the choice is missing", true
		case member == "*" || member == "**" || member == "-" || strings.ContainsAny(member[:1], "{("):
			return "a choice is between keys; " + member + " is none (a key of that name is quoted)", true
		case member[0] == '"':
			if m, bad := quotedMistake(member); bad {
				return m, true
			}
		default:
			if m, bad := literalMistake(member); bad {
				return m, true
			}
		}
	}
	return "", false
}

// choices cuts "(a|b)" at its bars.
func choices(text string) []pathPart {
	var parts []pathPart
	from := 1
	for i := 1; i < len(text)-1; i++ {
		switch text[i] {
		case '"':
			if text[i-1] == '(' || text[i-1] == '|' {
				end, _ := stringEnd(text[:len(text)-1], i)
				i = end - 1
			}
		case '|':
			parts = append(parts, pathPart{from, i})
			from = i + 1
		}
	}
	return append(parts, pathPart{from, len(text) - 1})
}

func literalMistake(text string) (string, bool) {
	if i := strings.IndexAny(text, `*(){}|"`); i >= 0 {
		return text[i:i+1] + " means something in a path; quote the segment if the key contains it", true
	}
	for i := 0; i < len(text); i++ {
		if text[i] == '~' && (i+1 == len(text) || text[i+1] != '0' && text[i+1] != '1') {
			return "~ is written ~0, and / is written ~1 (RFC 6901)", true
		}
	}
	return "", false
}
