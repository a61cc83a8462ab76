package syntax

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/patchoptic/poptic/lang/source"
)

// The scanner turns text into tokens and never fails: bytes that fit nowhere
// become Bad tokens with a diagnostic and are not shown to the grammar.
//
// One character decides most tokens. Three things need to know where they stand,
// which is why the scanner follows the declaration it is in and the brackets
// open in it:
//
//   - "{" opens a block, CEL or JSON (brace.go): CEL and JSON are taken verbatim
//     to their closing bracket;
//   - a word before ":" is a field's name, in types only;
//   - a clause keyword that starts a line of a block is a Keyword and no name, so
//     that a forgotten name is noticed where it is missing.
//
// A declaration keyword in column 1 closes whatever was open before it.

// token is a lexical token as the parser needs it.
type token struct {
	kind      TokenKind
	sym       lexer.TokenType // class in the grammar; 0 for comments and bad tokens
	start     int
	end       int
	value     string // what the grammar compares; a field's name has a ":" at its end
	lineStart bool   // first token of its line
	starts    bool   // starts a declaration in column 1
	unopened  bool   // stands in a block whose "{" is missing before it
}

type scanner struct {
	messages
	text   string
	limits Limits
	pos    int
	tokens []token
	last   int // index of the last significant token, -1 if there is none

	declaration string // keyword of the declaration we are in
	declStart   int    // index of its first token
	open        []byte // brackets open in it
	prefixes    int    // "map of", "secret" and the like directly before the next token
	opened      bool   // a block was opened in it
	stopped     bool   // a limit was hit
}

func scan(file *source.File, limits Limits) *scanner {
	s := &scanner{messages: messages{file: file, room: limits.Diagnostics + 1}, text: file.Text, limits: limits, last: -1}
	s.pos = len(byteOrderMark(s.text))
	for !s.stopped && s.room > 0 {
		newLine := s.skipSpace()
		if s.pos >= len(s.text) {
			break
		}
		s.next(newLine)
	}
	return s
}

// byteOrderMark is the byte order mark at the start of text, or "".
func byteOrderMark(text string) string {
	const bom = "\uFEFF"
	if strings.HasPrefix(text, bom) {
		return bom
	}
	return ""
}

// skipSpace reports whether the next token is the first of its line.
func (s *scanner) skipSpace() bool {
	newLine := len(s.tokens) == 0
	for ; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\n':
			newLine = true
		case ' ', '\t', '\r':
		default:
			return newLine
		}
	}
	return newLine
}

// significant lists the tokens that the grammar sees.
func (s *scanner) significant() []token {
	out := make([]token, 0, len(s.tokens))
	for _, t := range s.tokens {
		if t.sym != 0 {
			out = append(out, t)
		}
	}
	return out
}

// column1 reports whether the next token stands in column 1.
func (s *scanner) column1() bool {
	return s.pos == len(byteOrderMark(s.text)) || s.text[s.pos-1] == '\n'
}

// before is the last significant token; its value is "" at the start.
func (s *scanner) before() token {
	if s.last < 0 {
		return token{}
	}
	return s.tokens[s.last]
}

func (s *scanner) add(t token) {
	t.end = s.pos
	if t.value == "" {
		t.value = s.text[t.start:t.end]
	}
	s.tokens = append(s.tokens, t)
	if t.sym != 0 {
		s.last = len(s.tokens) - 1
		s.prefix(t)
	}
}

// prefix follows the words that wrap a type in another: like brackets they nest.
func (s *scanner) prefix(t token) {
	switch t.value {
	case "map", "list", "set", "log", "secret":
		s.prefixes++
		s.nest(t.start)
	case "of":
	default:
		s.prefixes = 0
	}
}

// next adds the token that starts at s.pos.
func (s *scanner) next(newLine bool) {
	t := token{start: s.pos, lineStart: newLine}
	c := s.text[s.pos]
	switch {
	case c == '#':
		s.lineComment(t)
	case c == '/':
		s.slash(t)
	case c == '"':
		s.jsonString(t)
	case c == '\'' || c == '`':
		s.foreignString(t, string(c))
	case isDigit(c) || c == '-' && s.pos+1 < len(s.text) && isDigit(s.text[s.pos+1]):
		s.number(t)
	case isWordStart(c):
		s.word(t)
	case c == '{':
		s.brace(t)
	case c == '[' && s.declaration == "test" && len(s.open) > 0:
		s.json(t)
	case c >= utf8.RuneSelf:
		s.beyondASCII(t)
	default:
		s.punct(t)
	}
}

func (s *scanner) lineComment(t token) {
	s.pos = s.lineEnd(s.pos)
	t.kind = CommentToken
	s.add(t)
}

// lineEnd is the end of the line that pos is on, without its line break.
func (s *scanner) lineEnd(pos int) int {
	end := len(s.text)
	if i := strings.IndexByte(s.text[pos:], '\n'); i >= 0 {
		end = pos + i
	}
	for end > pos && s.text[end-1] == '\r' {
		end--
	}
	return end
}

var punctuation = []string{"->", "=>", "?:", "}", "(", ")", "[", "]", ":", ",", "=", "|", "+", "&", "*", "?", "<", ">", "."}

func (s *scanner) punct(t token) {
	for _, p := range punctuation {
		if strings.HasPrefix(s.text[s.pos:], p) {
			s.pos += len(p)
			s.bracket(p)
			t.kind, t.sym = PunctToken, symPunct
			s.add(t)
			return
		}
	}
	s.pos++
	t.kind = BadToken
	s.add(t)
	s.badCharacter(t.start, s.pos)
}

// bracket follows the brackets open in the declaration.
func (s *scanner) bracket(p string) {
	switch p {
	case "(", "{", "[":
		s.open = append(s.open, p[0])
		s.nest(s.pos - 1)
	case ")", "}", "]":
		opener := map[string]byte{")": '(', "}": '{', "]": '['}[p]
		if i := slices.Index(s.open, opener); i >= 0 {
			i = len(s.open) - 1
			for s.open[i] != opener {
				i--
			}
			s.open = s.open[:i]
		}
	}
}

// nest stops the scan at the token from start to s.pos if it nests too deeply.
func (s *scanner) nest(start int) {
	if len(s.open)+s.prefixes > s.limits.Nesting {
		s.stop("nesting", s.limits.Nesting, start, s.pos)
	}
}

// stop ends the scan: a limit is exceeded.
func (s *scanner) stop(limit string, bound, start, end int) {
	s.stopped = true
	s.limit(limit, bound, start, end)
}

// inBlock reports whether the innermost open bracket is a block's.
func (s *scanner) inBlock() bool { return len(s.open) > 0 && s.open[len(s.open)-1] == '{' }

// beyondASCII takes a quotation mark of typography, a letter or a character that
// fits nowhere.
func (s *scanner) beyondASCII(t token) {
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	switch {
	case strings.ContainsRune("“”„‟«»‘’", r):
		s.foreignString(t, string(r))
	case unicode.IsLetter(r):
		s.badWord(t)
	default:
		s.pos += size
		t.kind = BadToken
		s.add(t)
		s.badCharacter(t.start, s.pos)
	}
}
