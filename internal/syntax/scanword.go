package syntax

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/spell"
)

func isDigit(c byte) bool     { return '0' <= c && c <= '9' }
func isWordStart(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isWordPart(c byte) bool  { return isWordStart(c) || isDigit(c) }

// wordEnd is the end of the identifier at pos.
func wordEnd(text string, pos int) int {
	for pos < len(text) && isWordPart(text[pos]) {
		pos++
	}
	return pos
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

// isField reports whether what ends at end is the name of a field: in a type,
// directly before ":" or "?:".
func (s *scanner) isField(end int) bool {
	if (s.declaration != "state" && s.declaration != "type") || len(s.open) == 0 {
		return false
	}
	rest := strings.TrimLeft(s.text[end:], " \t")
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "?:")
}

// classify notes a declaration that starts with the word, and whether the word
// can be nothing but a keyword.
func (s *scanner) classify(t *token, column1 bool) {
	known := isDeclarationWord(t.value)
	switch {
	case column1 && known && !followedByColon(s.text[s.pos:]):
		t.starts, t.sym = true, symKeyword
		s.enter(t.value)
	case len(s.open) == 0 && known && s.before().value != "no" && !s.namesDeclaration():
		s.enter(t.value)
	case len(s.open) == 0 && column1 && !continues(s.before()):
		t.starts = true
		s.enter(nearestWord(t.value, declarationWords, misnomers[""]))
	case s.startsClause(t):
		t.sym = symKeyword
	}
}

func followedByColon(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "?:")
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

// continues reports whether a declaration, clause or member cannot end with t.
func continues(t token) bool {
	if t.sym == symPunct {
		return strings.Contains(",->=>|&=+([?:", t.value)
	}
	return t.sym == symIdent && slices.Contains(continuingWords, t.value)
}

// nearestWord is what word was meant to be: a misnomer's meaning or the word of
// the list closest to it, "" if there is none.
func nearestWord(word string, words []string, misnomers map[string]string) string {
	if slices.Contains(words, word) {
		return word
	}
	if meant := misnomers[strings.ToLower(word)]; meant != "" {
		return meant
	}
	return spell.Nearest(word, words)
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
