package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// What a "{" opens follows from the declaration it stands in: stages, phases and
// invariants hold nothing but CEL in inner braces; in types a brace opens a
// record where a type is expected and CEL elsewhere (after where, or a
// misspelling of it); tests hold JSON, and CEL after an outcome.
//
// CEL and JSON are one token to the matching brace. Where the brace is not
// closed, the token must not swallow the rest of the file: it ends before a
// declaration in column 1; a "}" that stands further left than the line of the
// opening brace belongs to the block around, and then the token ends with the
// lines before the next clause.

func (s *scanner) brace(t token) {
	switch s.braceOpens() {
	case ExprToken:
		s.cel(t)
	case JSONToken:
		s.json(t)
	default:
		s.pos++
		s.opened = true
		s.bracket("{")
		t.kind, t.sym = PunctToken, symPunct
		s.add(t)
		if len(s.open) == 1 && (s.declaration == "contract" || s.declaration == "library") {
			s.open = s.open[:0] // a mistake; what follows are declarations
		}
	}
}

// braceOpens is ExprToken, JSONToken, or PunctToken for a block.
func (s *scanner) braceOpens() TokenKind {
	prev := s.before()
	switch s.declaration {
	case "state", "type":
		if prev.value == "where" || len(s.tokens) > s.declStart+2 && !opensRecord(prev) {
			return ExprToken
		}
	case "stage", "delegate", "phases":
		if s.inBlock() {
			return ExprToken
		}
	case "test":
		if len(s.open) > 0 && (prev.value == "commit" || prev.value == "view") {
			return ExprToken
		}
		if len(s.open) > 0 {
			return JSONToken
		}
	case "invariant", "region", "measure", "compose", "parallel", "prove":
		return ExprToken
	}
	return PunctToken
}

// opensRecord reports whether a type is expected after t.
func opensRecord(t token) bool {
	return t.sym == symPunct && t.value != "]" && t.value != ")" && t.value != "}" ||
		t.value == "of" || t.value == "secret" || t.value == "state"
}

func (s *scanner) cel(t token) {
	end, closed := celEnd(s.text, s.pos)
	s.verbatim(t, ExprToken, end, closed)
}

func (s *scanner) json(t token) {
	end, closed := jsonEnd(s.text, s.pos)
	s.verbatim(t, JSONToken, end, closed)
}

// verbatim adds a token that reaches to end if it is closed there by a bracket
// of its own.
func (s *scanner) verbatim(t token, kind TokenKind, end int, closed bool) {
	t.kind, t.sym = kind, symExpr
	if kind == JSONToken {
		t.sym = symJSON
	}
	if !closed || s.isOutdented(t.start, end-1) {
		end = s.openEnd(t.start, end)
		s.unclosed(t.start, end, s.text[t.start:t.start+1])
	} else if kind == JSONToken {
		s.checkJSON(t.start, end)
	}
	if kind == ExprToken && end-t.start > s.limits.ExprLength {
		s.limit("expression length", s.limits.ExprLength, t.start, end)
	}
	s.pos = end
	s.add(t)
}

// checkJSON reports the place where JSON stops being JSON.
func (s *scanner) checkJSON(start, end int) {
	var ignored any
	var mistake *json.SyntaxError
	err := json.Unmarshal([]byte(s.text[start:end]), &ignored)
	if errors.As(err, &mistake) {
		at := start + max(0, int(mistake.Offset)-1)
		s.badJSON(at, at+1)
	}
}

// isOutdented reports whether the bracket at end is the first of its line and
// further left than the first token of the line of start.
func (s *scanner) isOutdented(start, end int) bool {
	return startsLine(s.text, end) && indentation(s.text, end) < indentation(s.text, start)
}

// startsLine reports whether only white space stands before pos on its line.
func startsLine(text string, pos int) bool {
	before := strings.TrimRight(text[:pos], " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// indentation is the width of the white space that starts the line of pos.
func indentation(text string, pos int) int {
	line := text[strings.LastIndexByte(text[:pos], '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// openEnd is where an unclosed run from start ends: before the first line, up to
// end, that starts with a clause keyword, a declaration in column 1 or a closing
// bracket further left.
func (s *scanner) openEnd(start, end int) int {
	for at := s.lineEnd(start); at < end; {
		lineStart := commentEnd(s.text, at) + 1
		if lineStart > end {
			break
		}
		word := lineStart + len(s.text[lineStart:]) - len(strings.TrimLeft(s.text[lineStart:], " \t"))
		if s.endsOpenRun(start, lineStart, word) {
			return len(strings.TrimRight(s.text[:at], " \t\r\n"))
		}
		at = s.lineEnd(lineStart)
	}
	return len(strings.TrimRight(s.text[:end], " \t\r\n"))
}

func (s *scanner) endsOpenRun(start, line, word int) bool {
	if startsDeclaration(s.text, line) {
		return true
	}
	if word < len(s.text) && s.text[word] == '}' {
		return s.isOutdented(start, word)
	}
	end := wordEnd(s.text, word)
	if s.declaration == "phases" {
		return end > word
	}
	return slices.Contains(clausesOf(s.declaration), s.text[word:end]) && end < len(s.text) && s.text[end] == ' '
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
