package syntax

import (
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchoptic/poptic/lang/source"
)

// The scanner turns text into tokens and never fails: bytes that fit nowhere
// become Bad tokens with a diagnostic and are not shown to the grammar.
//
// One character decides most tokens. Three things need to know where they stand,
// which is why the scanner follows the declaration it is in and the brackets
// open in it:
//
//   - "{" opens a block, CEL or JSON; which of them follows from the declaration.
//     Stages, phases and invariants hold nothing but CEL in inner braces; in types
//     a brace opens a record where a type is expected and CEL elsewhere (after
//     where, or a misspelling of it); tests hold JSON, CEL after what they expect,
//     and the block of a case after its title or values.
//   - A word before ":" is a field's name, in types only.
//   - A clause keyword that starts a line of a block is a Keyword and no name, so
//     that a forgotten name is noticed where it is missing.
//
// CEL and JSON are one token to the matching brace. Where the brace is not
// closed, the token must not swallow the rest of the file: it ends before a
// declaration in column 1; a "}" that stands further left than the line of the
// opening brace belongs to the block around, and then the token ends with the
// lines before the next clause.
//
// A declaration keyword in column 1 closes whatever was open before it.

// token is a lexical token as the parser needs it.
type token struct {
	kind      TokenKind
	sym       symbol // class in the grammar; 0 for comments and bad tokens
	start     int
	end       int
	value     string // what the grammar compares; a field's name has a ":" at its end
	lineStart bool   // first token of its line
	starts    bool   // starts a declaration in column 1
	unopened  bool   // stands in a block whose "{" is missing before it
	corrected bool   // its value is the word that was meant in its place
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

// next adds the token that starts at s.pos.
func (s *scanner) next(newLine bool) {
	t := token{start: s.pos, lineStart: newLine}
	c := s.text[s.pos]
	switch {
	case c == '#':
		s.pos = s.lineEnd(s.pos)
		t.kind = CommentToken
		s.add(t)
	case c == '/':
		s.slash(t)
	case c == '"':
		s.jsonString(t)
	case strings.HasPrefix(s.text[s.pos:], "```") && newLine:
		s.pos = s.lineEnd(s.pos)
		t.kind = CommentToken
		s.add(t)
		s.fence(t.start, s.pos)
	case c == '\'' || c == '`':
		s.foreignString(t, string(c))
	case isDigit(c) || c == '-' && s.pos+1 < len(s.text) && isDigit(s.text[s.pos+1]):
		s.number(t)
	case isWordStart(c):
		s.word(t)
	case c == '{':
		s.brace(t)
	case c == '[' && (s.declaration == "test" && len(s.open) > 0 || s.declaration == "given"):
		s.json(t)
	case c >= utf8.RuneSelf:
		s.beyondASCII(t)
	case strings.HasPrefix(s.text[s.pos:], "-- ") && newLine:
		s.pos = s.lineEnd(s.pos)
		t.kind = CommentToken
		s.add(t)
		s.dashComment(t.start, s.pos)
	case strings.HasPrefix(s.text[s.pos:], "-->"):
		s.pos += len("-->")
		t.kind, t.sym, t.value = PunctToken, symPunct, "->"
		s.add(t)
		s.longArrow(t.start, s.pos)
	case strings.HasPrefix(s.text[s.pos:], "- /") && slices.Contains(bracedDecls, s.declaration), strings.HasPrefix(s.text[s.pos:], "- /") && s.declaration == "region":
		s.pos++
		t.kind, t.sym, t.value = WordToken, symIdent, "except"
		s.add(t)
		s.minus(t.start, s.pos)
	default:
		s.punct(t)
	}
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

// checkPath reports the first mistake in a path.
func (s *scanner) checkPath(start, end int) {
	parts := pathParts(s.text, start, end)
	if len(parts) == 1 && parts[0].start == parts[0].end {
		s.lonePath(start, end)
		return
	}
	for _, p := range parts {
		if m, ok := segmentMistake(s.text[p.start:p.end]); ok {
			s.segmentOtherwise(p, m)
			return
		}
	}
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

// isField reports whether what ends at end is the name of a field: in a type,
// directly before ":" or "?:".
func (s *scanner) isField(end int) bool {
	return (s.declaration == "state" || s.declaration == "type") && len(s.open) > 0 && followedByColon(s.text[end:])
}

func followedByColon(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "?:")
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

// closingQuotes are the marks that close a string opened by a mark of other
// languages or of typography.
var closingQuotes = map[string]string{
	"'": "'", "`": "`", "“": "”“\"", "”": "”\"", "„": "“”\"", "‟": "”\"", "«": "»", "»": "«", "‘": "’'", "’": "’'",
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

// word takes a name, keyword or field name.
func (s *scanner) word(t token) {
	column1 := s.column1()
	end := wordEnd(s.text, s.pos)
	t.sym = symIdent
	for end+1 < len(s.text) && s.text[end] == '.' && isWordStart(s.text[end+1]) {
		end = wordEnd(s.text, end+1)
		t.sym = symQualified
	}
	if isBadWordPart(s.text, end) {
		s.badWord(t)
		return
	}
	s.pos = end
	t.kind, t.value = WordToken, s.text[t.start:end]
	if !column1 && s.lacksBrace(t) {
		t.unopened, s.opened, s.open = true, true, append(s.open, '{')
	}
	if s.isField(end) {
		t.kind, t.sym, t.value = FieldToken, symField, t.value+":"
	} else if t.sym == symIdent {
		s.classify(&t, column1)
	}
	s.add(t)
}

// column1 reports whether the next token stands in column 1.
func (s *scanner) column1() bool {
	return s.pos == len(byteOrderMark(s.text)) || s.text[s.pos-1] == '\n'
}

// isBadWordPart reports whether an identifier goes on at end with a letter or a
// hyphen that names cannot have.
func isBadWordPart(text string, end int) bool {
	if end+1 < len(text) && text[end] == '-' && isWordPart(text[end+1]) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(text[end:])
	return r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsLetter(r)
}

// badWord takes a name with characters that names cannot have; the grammar sees
// a name.
func (s *scanner) badWord(t token) {
	for s.pos < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.pos:])
		if r < utf8.RuneSelf && !isWordPart(byte(r)) && !isBadWordPart(s.text, s.pos) {
			break
		}
		if r >= utf8.RuneSelf && !unicode.IsLetter(r) {
			break
		}
		s.pos += size
	}
	t.kind, t.sym = WordToken, symIdent
	t.value = s.text[t.start:s.pos]
	if s.isField(s.pos) {
		t.kind, t.sym, t.value = FieldToken, symField, t.value+":"
	}
	s.add(t)
	s.badName(t.start, s.pos, t.kind == FieldToken)
}

// lacksBrace reports whether t, at the start of a line, can only belong to a
// block that the declaration we are in has not opened.
func (s *scanner) lacksBrace(t token) bool {
	if !t.lineStart || s.opened || len(s.open) > 0 {
		return false
	}
	switch s.declaration {
	case "state", "type":
		return s.before().value != "=" && followedByColon(s.text[s.pos:])
	case "phases":
		return s.namesDeclaration() && t.sym == symIdent && !isDeclarationWord(t.value)
	}
	return slices.Contains(clausesOf(s.declaration), t.value) && !s.namesDeclaration()
}

// classify notes a declaration that starts with the word, and whether the word
// can be nothing but a keyword.
func (s *scanner) classify(t *token, column1 bool) {
	known := isDeclarationWord(t.value)
	switch {
	case column1 && known && !followedByColon(s.text[s.pos:]):
		t.starts, t.sym = true, symKeyword
		s.enter(t.value)
	case len(s.open) == 0 && known && s.before().value != "no" && !(s.namesDeclaration() && isDeclarationWord(s.before().value)) && (t.lineStart || !slices.Contains(lineWords, t.value)):
		s.enter(t.value)
	case len(s.open) == 0 && column1 && !continues(s.before()):
		t.starts = true
		s.enter(nearestWord(t.value, declarationWords, misnomers[""]))
	case s.startsClause(t):
		t.sym = symKeyword
	}
}

// enter starts a declaration at the token about to be added.
func (s *scanner) enter(word string) {
	s.declaration, s.declStart, s.open, s.opened = word, len(s.tokens), s.open[:0], false
}

// namesDeclaration reports whether the last token is the keyword of the
// declaration we are in, so that a word here is its name.
func (s *scanner) namesDeclaration() bool {
	return s.last >= 0 && s.last == s.declStart && s.declaration != ""
}

// startsClause reports whether a word is the keyword of a clause because it
// starts a line in a block. After a comma the name of a gate may stand there.
func (s *scanner) startsClause(t *token) bool {
	if !t.lineStart || len(s.open) == 0 || !slices.Contains(clausesOf(s.declaration), t.value) {
		return false
	}
	if !s.inBlock() && continues(s.before()) {
		return false
	}
	return s.before().value != "," || !slices.Contains(gateWords, t.value)
}

func (s *scanner) brace(t token) {
	switch s.braceOpens() {
	case ExprToken:
		end, closed := celEnd(s.text, s.pos)
		s.verbatim(t, ExprToken, end, closed)
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
		if s.inBlock() || len(s.open) > 0 && (s.behindWhere() || s.endsParameter()) {
			return ExprToken
		}
	case "test":
		switch {
		case len(s.open) == 0, prev.kind == StringToken, prev.value == ")", prev.value == "case":
			return PunctToken // of the test, or of a case
		case prev.value == "commit", prev.value == "view", prev.value == "expect":
			return ExprToken
		default:
			return JSONToken
		}
	case "given":
		return JSONToken
	case "invariant", "change", "define", "region", "measure", "compose", "parallel", "prove":
		return ExprToken
	}
	return PunctToken
}

// behindWhere reports whether what comes is behind "where", or its message.
func (s *scanner) behindWhere() bool {
	prev := s.before()
	if prev.sym == symString {
		for i := len(s.tokens) - 2; i >= 0; i-- {
			if t := s.tokens[i]; t.kind != CommentToken {
				return t.value == "where"
			}
		}
	}
	return prev.value == "where"
}

// endsParameter reports whether a brace among parameters is closed where one of these ends: a
// condition behind something else than "where", and not the body of a stage whose parenthesis
// is missing.
func (s *scanner) endsParameter() bool {
	end, closed := celEnd(s.text, s.pos)
	rest := strings.TrimLeft(s.text[end:], " \t\r\n")
	return closed && rest != "" && (rest[0] == ',' || rest[0] == ')')
}

// opensRecord reports whether a type is expected after t.
func opensRecord(t token) bool {
	return t.sym == symPunct && t.value != "]" && t.value != ")" && t.value != "}" || slices.Contains(recordWords, t.value) ||
		t.value == "of" || t.value == "secret" || t.value == "state"
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

// beyondASCII takes a quotation mark of typography, a letter or a character that
// fits nowhere.
func (s *scanner) beyondASCII(t token) {
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	switch {
	case strings.ContainsRune("“”„‟«»‘’", r):
		s.foreignString(t, string(r))
	case strings.ContainsRune("→⟶⇒", r):
		s.pos += size
		t.kind, t.sym, t.value = PunctToken, symPunct, "->"
		s.add(t)
		s.longArrow(t.start, s.pos)
	case unicode.IsLetter(r):
		s.badWord(t)
	default:
		s.pos += size
		t.kind = BadToken
		s.add(t)
		s.badCharacter(t.start, s.pos)
	}
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

// inBlock reports whether the innermost open bracket is a block's.
func (s *scanner) inBlock() bool { return len(s.open) > 0 && s.open[len(s.open)-1] == '{' }

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

// before is the last significant token; its value is "" at the start.
func (s *scanner) before() token {
	if s.last < 0 {
		return token{}
	}
	return s.tokens[s.last]
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

// publicTokens is the token list of the tree.
func publicTokens(file *source.File, tokens []token) []Token {
	out := make([]Token, len(tokens))
	for i, t := range tokens {
		out[i] = Token{Span: source.Span{File: file, Start: t.start, End: t.end}, Kind: t.kind}
	}
	return out
}

// tokenAfter is the first of tokens, which are in order, that starts at offset or later.
func tokenAfter(tokens []token, offset int) token {
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i].start >= offset })
	if i == len(tokens) {
		return token{}
	}
	return tokens[i]
}
