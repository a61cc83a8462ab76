package syntax

import (
	"slices"

	"github.com/patchoptic/poptic/internal/spell"
)

// repairs are the mistakes whose correction is known, most of them habits from
// other languages. Each looks at the stream around the mistake and, where it
// applies, reports it and edits the stream as its fix would edit the text.
var repairs = []func(*section, mistake) bool{
	(*section).repairArrow,
	(*section).repairMarkAfterKeyword,
	(*section).repairComma,
	(*section).repairMissingComma,
	(*section).repairNamelessClause,
	(*section).repairNamelessInvariant,
	(*section).repairNamelessParam,
	(*section).repairNamelessException,
	(*section).repairLateMessage,
	(*section).repairLateName,
	(*section).repairBareCondition,
	(*section).repairWhere,
	(*section).repairArray,
	(*section).repairOptional,
	(*section).repairContainer,
	(*section).repairColon,
	(*section).repairWord,
	(*section).repairMissingMark,
	(*section).missingNameComma,
}

func (s *section) repair(m mistake) bool {
	for _, r := range slices.Concat(habits, repairs) {
		if r(s, m) {
			return true
		}
	}
	return false
}

// repairArrow: "a => b".
func (s *section) repairArrow(m mistake) bool {
	if s.at(m.at).value != "=>" || !slices.Contains(m.literals, "->") && s.keyword() != "phases" {
		return false
	}
	s.fatArrow(s.at(m.at))
	s.tokens[m.at].value = "->"
	return true
}

// repairMarkAfterKeyword: "read: /x", "read = /x".
func (s *section) repairMarkAfterKeyword(m mistake) bool {
	t, keyword := s.at(m.at), s.at(m.at-1)
	if t.value != ":" && t.value != "=" && t.value != "->" || m.at-1 == s.pos || !slices.Contains(clausesOf(s.keyword()), keyword.value) {
		return false
	}
	s.markAfterKeyword(keyword, t)
	s.remove(m.at, m.at+1)
	return true
}

// repairComma: a comma after which nothing of its list follows.
func (s *section) repairComma(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	block := s.innermostBlock(s.brackets(m.at))
	switch {
	case t.value == "," && block >= 0 && !continues(prev) && s.at(block).value == "{" && len(s.brackets(m.at)) > 0 && s.brackets(m.at)[len(s.brackets(m.at))-1] == block && s.endsMember(block, m.at+1):
		s.needlessComma(t, s.membersName(block))
		s.remove(m.at, m.at+1)
	case prev.value == "," && (s.endsMember(block, m.at) || s.endsHead(t)):
		s.danglingComma(prev)
		s.remove(m.at-1, m.at)
	case prev.value == "next" && s.at(s.memberOf(m.at-1)).value == "discloses":
		return false // it is the gate of a move, and lacks its phase
	case s.at(m.at-2).value == "," && block >= 0 && slices.Contains(clausesOf(s.keyword()), prev.value):
		s.danglingComma(s.at(m.at - 2)) // the clause after the comma was read as a name
		s.remove(m.at-2, m.at-1)
	case s.keyword() == "phases" && t.value == "->" && prev.lineStart && s.at(m.at-2).value == ",":
		s.danglingComma(s.at(m.at - 2)) // the phase of the next line was read as a target
		s.remove(m.at-2, m.at-1)
	default:
		return false
	}
	return true
}

// endsMember reports whether a member of the block before token i ends there.
func (s *section) endsMember(block, i int) bool {
	t := s.at(i)
	switch {
	case bracketStep(t) < 0, block >= 0 && s.isMember(block, i):
		return true
	case s.keyword() == "phases":
		return t.lineStart && s.at(i+1).value == "->"
	}
	return block >= 0 && s.inType() && s.at(i-1).value == ","
}

// inType reports whether the declaration being read is a type.
func (s *section) inType() bool { return s.keyword() == "state" || s.keyword() == "type" }

func (s *section) membersName(block int) string {
	switch {
	case s.keyword() == "phases":
		return "phases"
	case clausesOf(s.keyword()) != nil && block == s.body():
		return "clauses"
	}
	return "fields"
}

// repairMissingComma: "read /a /b".
func (s *section) repairMissingComma(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	if t.sym != symPath || prev.sym != symPath || !slices.Contains(bracedDecls, s.keyword()) && s.keyword() != "region" {
		return false
	}
	s.missingComma(prev)
	s.insert(m.at, symPunct, ",")
	return true
}

// repairNamelessClause: "by next drafting", "read write /a": a keyword was read as the
// name that is missing.
func (s *section) repairNamelessClause(m mistake) bool {
	words := clausesOf(s.keyword())
	keyword, name := s.at(m.at-2), s.at(m.at-1)
	swallowed := slices.Contains(words, name.value) || name.lineStart && nearestWord(name.value, words, nil) != ""
	what := "a name"
	if slices.Contains(regionWords, keyword.value) {
		what = "a path or region"
	}
	if m.at-2 <= s.pos || !swallowed || !slices.Contains(words, keyword.value) ||
		what == "a name" && !slices.Contains(listedWords, keyword.value) || s.at(m.at).sym == symPunct {
		return false
	}
	s.missingName(keyword, name, what)
	s.insert(m.at-1, symIdent, "")
	return true
}

// repairNamelessInvariant: "invariant each t in /a", where each was read as the name.
func (s *section) repairNamelessInvariant(m mistake) bool {
	word := s.at(m.at - 1)
	if s.keyword() != "invariant" && s.keyword() != "change" || m.at != s.pos+2 || word.value != "each" && word.value != "unique" {
		return false
	}
	s.missingName(s.at(s.pos), word, "a name")
	s.insert(m.at-1, symIdent, "")
	return true
}

// repairNamelessParam: "stage s(in /a)", where "in" was read as the name, and "(= /a)".
func (s *section) repairNamelessParam(m mistake) bool {
	at := m.at
	if s.at(at).value != "=" {
		at--
	}
	mark, before := s.at(at), s.at(at-1)
	open := s.brackets(at)
	if mark.value != "=" && mark.value != "in" || len(open) != 1 || !slices.Contains(bracedDecls, s.keyword()) ||
		before.value != "(" && before.value != "," || s.at(m.at).value == "in" {
		return false
	}
	s.missingName(before, mark, "a name")
	s.insert(at, symIdent, "")
	return true
}

// repairNamelessException: "no stage except reads /a", "no stage except a, reads /a":
// the verb was read as a name.
func (s *section) repairNamelessException(m mistake) bool {
	verb, before := s.at(m.at-1), s.at(m.at-2)
	if s.keyword() != "prove" || s.at(s.pos+2).value != "stage" || before.value != "except" && before.value != "," ||
		nearestWord(verb.value, verbWords, nil) == "" {
		return false
	}
	if before.value == "," {
		s.danglingComma(before)
		s.remove(m.at-2, m.at-1)
		return true
	}
	s.missingName(before, verb, "a stage")
	s.insert(m.at-1, symIdent, "")
	return true
}

// repairLateMessage: `ensure { ... } "message"`, and behind where. Behind an invariant, which
// is complete there, noDeclaration sees it.
func (s *section) repairLateMessage(m mistake) bool {
	if !s.isLateMessage(m.at) || s.at(m.at).lineStart {
		return false
	}
	s.lateMessage(s.at(m.at), s.at(m.at-1))
	s.remove(m.at, m.at+1)
	return true
}

// isLateMessage reports whether token i is a message behind a condition that has none.
func (s *section) isLateMessage(i int) bool {
	return i > 1 && s.at(i).sym == symString && s.at(i-1).sym == symExpr && s.at(i-2).sym != symString
}

// repairLateName: `ensure "message" name { ... }`.
func (s *section) repairLateName(m mistake) bool {
	name, message, keyword := s.at(m.at), s.at(m.at-1), s.at(m.at-2)
	if !slices.Contains(conditionWords, keyword.value) || message.sym != symString || name.sym != symIdent || name.lineStart || s.at(m.at+1).sym != symExpr {
		return false
	}
	s.lateName(name, message)
	s.tokens[m.at-1], s.tokens[m.at] = name, message
	return true
}

// repairBareCondition: "ensure after.x > 1", without braces.
func (s *section) repairBareCondition(m mistake) bool {
	start := m.at - 1
	if !slices.Contains(bracedDecls, s.keyword()) || start <= s.pos {
		return false
	}
	if !slices.Contains(conditionWords, s.at(start).value) {
		start--
	}
	block := s.innermostBlock(s.brackets(m.at))
	t := s.at(start + 1)
	if block < 0 || !slices.Contains(conditionWords, s.at(start).value) || !s.isMember(block, start) || t.sym == symExpr || t.lineStart || s.isMember(block, start+1) || bracketStep(t) < 0 {
		return false
	}
	end := start + 1
	for depth := 0; end < len(s.tokens) && !s.at(end).lineStart && s.at(end).sym != symExpr; end++ {
		if depth += bracketStep(s.at(end)); depth < 0 {
			break
		}
	}
	if s.at(end).sym == symExpr && !s.at(end).lineStart {
		return s.repairBareMessage(start, end)
	}
	s.bareCondition(s.at(start), t, s.at(end-1))
	s.remove(start, end)
	return true
}

// repairBareMessage: `ensure it is open { ... }` without quotation marks, and `ensure name: { ... }`.
func (s *section) repairBareMessage(keyword, condition int) bool {
	first, last := s.at(keyword+1), s.at(condition-1)
	if last.value == ":" && condition == keyword+3 && first.sym == symIdent {
		s.markAfterName(first, last)
		s.remove(condition-1, condition)
		return true
	}
	for i := keyword + 1; i < condition; i++ {
		if s.at(i).kind != WordToken {
			return false
		}
	}
	s.bareMessage(s.at(keyword), first, last)
	s.remove(keyword+1, condition)
	return true
}

// repairWhere: "string wher { ... }".
func (s *section) repairWhere(m mistake) bool {
	t := s.at(m.at)
	if t.kind != WordToken || s.corrected(m.at) || t.lineStart || !s.inType() || s.at(m.at+1).sym != symExpr && (s.at(m.at+1).sym != symString || s.at(m.at+2).sym != symExpr) {
		return false
	}
	s.unknownWord(t, "where")
	s.become(m.at, "where")
	return true
}

// repairArray: "string[]".
func (s *section) repairArray(m mistake) bool {
	if s.at(m.at).value != "[" || s.at(m.at+1).value != "]" {
		return false
	}
	s.arrayBrackets(s.at(m.at-1), s.at(m.at), s.at(m.at+1))
	s.remove(m.at, m.at+2)
	return true
}

// repairOptional: "name: string?".
func (s *section) repairOptional(m mistake) bool {
	if s.at(m.at).value != "?" || s.at(m.at-1).sym == symField {
		return false
	}
	s.optionalType(s.at(m.at-3), s.at(m.at))
	s.remove(m.at, m.at+1)
	return true
}

// repairContainer: "mpa of T".
func (s *section) repairContainer(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	if t.value != "of" || prev.sym != symIdent || s.corrected(m.at-1) || !s.inType() {
		return false
	}
	meant := spell.Nearest(prev.value, append([]string{"key"}, containerWords...))
	if meant == "" {
		return false
	}
	s.unknownWord(prev, meant)
	s.become(m.at-1, meant)
	return true
}

// repairColon: "name string", "name = string" in a record.
func (s *section) repairColon(m mistake) bool {
	if !s.inType() || s.innermostBlock(s.brackets(m.at)) < 0 || !slices.Contains(m.literals, "}") {
		return false
	}
	name, after := s.at(m.at), s.at(m.at+1)
	optional := after.value == "?"
	if optional {
		after = s.at(m.at + 2)
	}
	equals := after.value == "="
	if name.kind != WordToken && name.kind != StringToken || !equals && !startsType(after) || !s.mayBeField(m.at) {
		return false
	}
	if !s.silence(m.at, m.at+1) {
		if optional && !equals {
			name = s.at(m.at + 1)
		}
		s.missingColon(s.at(m.at), name, after)
	}
	s.tokens[m.at].kind, s.tokens[m.at].sym, s.tokens[m.at].value = FieldToken, symField, name.value+":"
	if equals {
		s.remove(m.at+1, m.at+2)
	}
	mark := ":"
	if optional {
		mark = "?:"
		s.remove(m.at+1, m.at+2)
	}
	s.insert(m.at+1, symPunct, mark)
	return true
}

// mayBeField reports whether token i, which starts no line and follows no mark, is believed to
// be the name of a field without its colon: what follows is a type by its look.
func (s *section) mayBeField(i int) bool {
	t, prev, next := s.at(i), s.at(i-1), s.at(i+1)
	if t.lineStart || prev.value == "{" || prev.value == "," || prev.value == "}" || next.value == "=" || next.value == "?" {
		return true
	}
	return next.sym == symIdent && !slices.Contains(connectives, t.value) || next.value == "{"
}

func startsType(t token) bool {
	switch t.sym {
	case symIdent, symQualified, symString, symInt, symNumber, symExpr:
		return true
	}
	return t.value == "{" || t.value == "("
}

// repairWord: a misspelt keyword.
func (s *section) repairWord(m mistake) bool {
	t := s.at(m.at)
	if t.kind != WordToken || t.sym == symKeyword || s.corrected(m.at) {
		return false
	}
	words, confused := m.literals, map[string]string(nil)
	block := s.innermostBlock(s.brackets(m.at))
	clause := block >= 0 && s.holdsClauses(block) && slices.Contains(m.literals, "}")
	if clause {
		words, confused = clausesOf(s.keyword()), misnomers[s.keyword()]
	}
	meant := nearestWord(t.value, slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !isWordStart(w[0]) }), confused)
	if meant == "" || meant == t.value {
		return false
	}
	if !s.silence(m.at, m.at) {
		if clause {
			s.unknownClause(t, meant, nil)
		} else {
			s.unknownWord(t, meant)
		}
	}
	s.become(m.at, meant)
	return true
}

// repairMissingMark: "region money /a", "map Ticket", "type T: string".
func (s *section) repairMissingMark(m mistake) bool {
	t := s.at(m.at)
	mark := ""
	switch {
	case s.keyword() == "type" && slices.Contains(m.literals, "="):
		mark = "="
	case len(m.literals) == 1 && len(m.classes) == 0 && slices.Contains([]string{"=", "of", "in", "from", "to", "with", ":"}, m.literals[0]):
		mark = m.literals[0]
	default:
		return false
	}
	if s.endsHead(t) || bracketStep(t) < 0 || slices.Contains([]string{",", "<", ">", "[", "]"}, t.value) ||
		t.kind == FieldToken || t.sym == symKeyword || !s.insertOnce(m.at, symPunct, mark) {
		return false
	}
	if s.at(m.at+2).value == mark && t.kind == WordToken { // a word too many, not a mark too few
		s.remove(m.at, m.at+1)
		if !s.silence(s.pos, m.at+1) {
			s.expected(s.at(m.at-1), t, m.what())
		}
		s.remove(m.at, m.at+1)
		return true
	}
	if !s.silence(s.pos, m.at+1) {
		s.missingMark(s.at(m.at-1), t, mark)
	}
	if t.sym == symPunct && bracketStep(t) == 0 || slices.Contains(connectives, t.value) {
		s.remove(m.at+1, m.at+2)
	}
	return true
}
