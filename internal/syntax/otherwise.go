package syntax

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
)

// More of what other languages would write, by the part of a file that it stands in: habits
// with a fix, and advice where what was meant is known and the text for it is not.

// Paths.

// segmentOtherwise reports a segment that is no part of a path: what was meant, if that is
// known, else the mistake.
func (s *scanner) segmentOtherwise(p pathPart, mistake string) {
	text := s.text[p.start:p.end]
	if text == "" {
		if rest := strings.TrimLeft(s.text[p.end:], " \t"); p.start > 1 && (rest == "" || strings.ContainsAny(rest[:1], "\r\n,})")) {
			s.badSegment(p.start-1, p.end, "a path does not end in a slash", "")
			return
		}
		s.badPath(p.start-1, p.end, mistake)
		return
	}
	for _, otherwise := range segmentsOtherwise {
		if found := otherwise.expr.FindStringSubmatchIndex(text); found != nil {
			s.badSegment(p.start, p.end, otherwise.message, string(otherwise.expr.ExpandString(nil, otherwise.meant, text, found)))
			return
		}
	}
	if end := alternativesEnd(s.text, p.start); end > 0 { // "{a,b}", "(a, b)"
		names := strings.FieldsFunc(s.text[p.start+1:end-1], func(r rune) bool { return r == ',' || r == ' ' || r == '|' })
		s.badSegment(p.start, end, "alternatives stand in parentheses, with `|` between them", "("+strings.Join(names, "|")+")")
		return
	}
	s.badPath(p.start, p.end, mistake)
}

// segmentsOtherwise are ways in which segments are written elsewhere.
var segmentsOtherwise = []struct {
	expr           *regexp.Regexp
	message, meant string
}{
	{regexp.MustCompile(`^(\w+)\[(?:\*|:|\.\.\.|)\]$`), "every entry is a segment of its own: `*`", "$1/*"},
	{regexp.MustCompile(`^\*\.(\w+)$`), "segments stand with `/` between them", "*/$1"},
	{regexp.MustCompile(`^\{(\w+)\}\.(\w+)$`), "segments stand with `/` between them, also behind a parameter", "{$1}/$2"},
	{regexp.MustCompile(`^\{(\w+)\.(\w+)\}$`), "a parameter stands alone in its braces; what is below it is a segment of its own", "{$1}/$2"},
	{regexp.MustCompile(`^\{\{(\w+)\}\}$`), "a parameter stands in one pair of braces", "{$1}"},
	{regexp.MustCompile(`^\{\$?(\w+)\}$`), "a parameter is a name in braces", "{$1}"},
	{regexp.MustCompile(`^(\w+(?:\|\w+)+)$`), "alternatives stand in parentheses: `(a|b)`", "($1)"},
}

// alternativesEnd is where names in one pair of brackets at start end, 0 if none stand there.
func alternativesEnd(text string, start int) int {
	closer := map[byte]byte{'{': '}', '(': ')'}[text[start]]
	if closer == 0 {
		return 0
	}
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == closer && strings.Contains(text[start:i], ","):
			return i + 1
		case !isWordPart(c) && c != ',' && c != ' ' && c != '|':
			return 0
		}
	}
	return 0
}

// pathBesideDollar: "/notes/${note}", which the scanner cuts before the brace; "[/a, /b]",
// whose last bracket it takes for a part of the path.
func (s *section) pathBesideDollar(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	if t.sym == symExpr && prev.sym == symPath && prev.end == t.start && strings.HasSuffix(prev.value, "/$") {
		text := strings.TrimSuffix(prev.value, "$") + s.textOf(t.start, t.end)
		return s.pathOtherwise(m, m.at-1, m.at+1, "a parameter stands in braces alone: `{name}`", text)
	}
	if t.value != "[" || !m.expectsPath() || s.inType() {
		return false
	}
	end := m.at + 1
	var parts []token
	for ; s.at(end).sym == symPath || s.at(end).value == "," || s.at(end).sym == symIdent && !s.at(end).lineStart; end++ {
		part := s.at(end)
		if strings.HasSuffix(part.value, "]") && part.sym == symPath {
			part.value, part.end = strings.TrimSuffix(part.value, "]"), part.end-1
			return s.rewrite(m.at, end+1, "a list stands without brackets", append(parts, part)...)
		}
		parts = append(parts, part)
	}
	return false
}

// pathOtherwise reports tokens in the place of which a path is meant that the file does not have,
// and takes out the clause or member that they stand in.
func (s *section) pathOtherwise(m mistake, from, to int, message, path string) bool {
	start, end := s.at(from).start, s.at(to-1).end
	if !s.silence(s.memberOf(from), to-1) {
		s.report(diagnostic.Unexpected, start, end, message, "", s.fix("write `"+path+"`", start, end, path))
	}
	s.lose(from, to)
	s.dropMember(m)
	return true
}

// The header and imports.

// headerOtherwise: "contract: notes".
func (s *section) headerOtherwise(m mistake) bool {
	if s.keyword() != "contract" && s.keyword() != "library" || s.at(m.at).value != ":" || m.at != s.pos+1 {
		return false
	}
	return s.rewrite(m.at, m.at+1, "no `:` follows `"+s.keyword()+"`")
}

// importOtherwise: "import std/pii", "import std.pii", `import { Email } from "std/pii"`.
func (s *section) importOtherwise(m mistake) bool {
	if s.keyword() != "import" || m.at != s.pos+1 {
		return false
	}
	t, next := s.at(m.at), s.at(m.at+1)
	library := func(text string) token { return token{kind: StringToken, sym: symString, value: strconv.Quote(text)} }
	const message = "the path of a library stands in quotation marks"
	switch {
	case t.sym == symIdent && next.sym == symPath && next.start == t.end:
		return s.rewrite(m.at, m.at+2, message, library(t.value+next.value))
	case t.sym == symQualified:
		return s.rewrite(m.at, m.at+1, message, library(strings.ReplaceAll(t.value, ".", "/")))
	case t.value == "{" || t.sym == symExpr || t.value == "*":
		for i := m.at; i < m.at+32 && !s.endsHead(s.at(i)); i++ {
			if s.at(i).value == "from" && s.at(i+1).sym == symString {
				return s.rewrite(m.at, i+1, "an import names a library alone; its types are called by its name: `pii.Email`")
			}
		}
	}
	return false
}

// doubleColon: "mail: pii::Email".
func (s *section) doubleColon(m mistake) bool {
	for i := m.at - 1; i <= m.at; i++ {
		t := s.at(i)
		if s.inType() && t.kind == FieldToken && s.at(i+1).value == ":" && s.at(i+2).value == ":" && s.at(i+3).sym == symIdent {
			name := strings.TrimSuffix(t.value, ":") + "." + s.at(i+3).value
			return s.rewrite(i, i+4, "the name of a library and that of its type stand with `.` between them", token{kind: WordToken, sym: symQualified, value: name})
		}
	}
	return false
}

// openingOtherwise: "contract notes:", "from std import pii", "count /a if { ... }" whose
// condition is taken for the next declaration. It reports whether it has mended the place.
func (s *section) openingOtherwise() bool {
	t, next := s.at(s.pos), s.at(s.pos+1)
	head := func(i int) string { return s.at(i).value }
	switch {
	case t.value == ":" && (head(s.pos-2) == "contract" || head(s.pos-2) == "library" || head(s.pos-3) == "contract"):
		return s.rewrite(s.pos, s.pos+1, "no `:` follows the header: the declarations of the file are not indented below it") && s.begins(s.pos)
	case t.value == "from" && t.lineStart && next.sym == symIdent && s.at(s.pos+2).value == "import" && s.at(s.pos+3).sym == symIdent:
		name := next.value + "/" + s.at(s.pos+3).value
		return s.rewrite(s.pos, s.pos+4, "a library is imported by its path", mark("import"), token{kind: StringToken, sym: symString, value: strconv.Quote(name)}) && s.begins(s.pos)
	case slices.Contains([]string{"def", "define", "func", "fn", "function", "fun", "proc"}, t.value) && t.lineStart && next.sym == symIdent && head(s.pos+2) == "(" && head(s.pos+3) == ")":
		end := s.pos + 4
		if head(end) == ":" && !s.at(end+1).lineStart {
			end++
		}
		return s.rewrite(s.pos, end, "what an actor may do is a `stage`", mark("stage"), next) && s.begins(s.pos)
	case (t.value == "if" || t.value == "when" || t.value == "having") && next.sym == symExpr && s.at(s.pos-1).sym == symPath && !t.lineStart:
		start, end := t.start, t.end
		s.report(diagnostic.Unexpected, start, end, "the condition of a measure stands behind `where`", "", s.fix("write `where`", start, end, "where"))
		s.lose(s.pos, s.pos+2)
		s.remove(s.pos, s.pos+2)
		return true
	}
	return false
}

// begins makes token i one that a declaration may begin with.
func (s *section) begins(i int) bool {
	if i < len(s.tokens) {
		s.tokens[i].lineStart, s.tokens[i].starts = true, true
	}
	return true
}

// behind is advice about a token that follows a complete declaration on its line.
func (s *section) behind(t token) string {
	start := s.pos - 1
	for start > 0 && !s.at(start).lineStart {
		start--
	}
	switch head := s.at(start).value; {
	case head == "contract" || head == "library":
		return "the header is a name, and `sealed` where the contract is: what else there is to say of it stands in comments above it"
	case head == "const":
		return "the value of a constant is a literal: write what it comes to, or `define " + s.at(start+1).value + " = { ... }`"
	case head == "type" && t.value == "&":
		return "types are not joined: write all members into one record"
	}
	return ""
}

// Types.

// braceless: "state(limit: int)", "(self >= 0)" behind a type.
func (s *section) braceless(m mistake) bool {
	if !s.inType() {
		return false
	}
	if s.keyword() == "state" && s.at(s.pos+1).value == "(" && s.at(s.pos+2).kind == FieldToken {
		if end := s.closing(s.pos + 1); end > 0 {
			return s.rewrite(s.pos+1, end+1, "the members of the state stand in braces", slices.Concat([]token{mark("{")}, s.slice(s.pos+2, end), []token{mark("}")})...)
		}
	}
	prev := s.at(m.at - 1)
	if t := s.at(m.at); t.sym == symPath && prev.sym == symIdent && prev.end == t.start && strings.Count(t.value, "/") == 1 && len(t.value) > 1 {
		return s.rewrite(m.at-1, m.at+1, "the name of a library and that of its type stand with `.` between them", token{kind: WordToken, sym: symQualified, value: prev.value + "." + t.value[1:]})
	}
	if end := s.closing(m.at); s.at(m.at).value == "(" && prev.kind == WordToken && end > m.at+1 && !s.at(m.at).lineStart && strings.Contains(s.textOf(s.at(m.at).start, s.at(end).end), "self") {
		text := "where { " + strings.TrimSpace(s.textOf(s.at(m.at).end, s.at(end).start)) + " }"
		return s.conditionOtherwise(m.at, end+1, text)
	}
	return false
}

// conditionOtherwise reports the tokens of what is meant for a condition of a type.
func (s *section) conditionOtherwise(from, to int, text string) bool {
	start, end := s.at(from).start, s.at(to-1).end
	s.report(diagnostic.Unexpected, start, end, "a condition on a type stands in braces behind `where`", "", s.fix("write `"+text+"`", start, end, text))
	s.remove(from, to)
	return true
}

// boundsInWords are words that schemas have for bounds.
var boundsInWords = map[string]string{
	"minimum": "self >= N", "min": "self >= N", "maximum": "self <= N", "max": "self <= N", "multipleOf": "self % N == 0",
	"minLength": "size(self) >= N", "maxLength": "size(self) <= N", "minItems": "size(self) >= N", "maxItems": "size(self) <= N",
	"pattern": "self.matches(N)", "format": "", "gte": "self >= N", "lte": "self <= N", "gt": "self > N", "lt": "self < N",
}

// boundInWords: "int minimum 0", "string pattern "^a"", "string(80)".
func (s *section) boundInWords(m mistake) bool {
	t, value := s.at(m.at), s.at(m.at+1)
	to := m.at + 2
	if value.value == ":" || value.value == "=" || value.value == "(" {
		to, value = to+1, s.at(m.at+2)
	}
	if s.at(m.at+1).value == "(" && s.at(to).value == ")" {
		to++
	}
	expr := boundsInWords[strings.TrimSuffix(t.value, ":")]
	if !s.inType() || expr == "" || t.lineStart || value.sym != symInt && value.sym != symNumber && value.sym != symString {
		return false
	}
	return s.conditionOtherwise(m.at, to, "where { "+strings.ReplaceAll(expr, "N", s.textOf(value.start, value.end))+" }")
}

// secretAlone: "pin: secret".
func (s *section) secretAlone(m mistake) bool {
	prev := s.at(m.at - 1)
	if !s.inType() || prev.value != "secret" || startsType(s.at(m.at)) || !s.insertOnce(m.at, symIdent, "string") {
		return false
	}
	s.report(diagnostic.Missing, prev.end, prev.end, "`secret` stands before the type of what is secret", "", s.fix("write `secret string`", prev.end, prev.end, " string"))
	return true
}

// referenceToType: "key of Person", where one container of the state holds what that type is.
func (s *section) referenceToType(m mistake) bool {
	t := s.at(m.at)
	if !s.inType() || t.sym != symIdent || s.at(m.at-1).value != "of" || s.at(m.at-2).value != "key" {
		return false
	}
	holders := regexp.MustCompile(`(\w+)\??\s*:\s*(?:map of|list of)\s+`+regexp.QuoteMeta(t.value)+`\b`).FindAllStringSubmatch(s.file.Text, 2)
	if len(holders) != 1 {
		return false
	}
	return s.pathOtherwise(m, m.at, m.at+1, "a reference is to the entries of what holds them, by its path", "/"+holders[0][1])
}

// Stages.

// paramOtherwise: "look(/notes/{note})", "look for note in /notes {".
func (s *section) paramOtherwise(m mistake) bool {
	if !slices.Contains(bracedDecls, s.keyword()) {
		return false
	}
	t := s.at(m.at)
	if i := strings.LastIndex(t.value, "/{"); t.sym == symPath && s.at(m.at-1).value == "(" && i > 0 && strings.HasSuffix(t.value, "}") && len(s.brackets(m.at)) == 1 {
		name := strings.TrimSuffix(t.value[i+2:], "}")
		s.rewrite(m.at, m.at+1, "a parameter is taken out of the container that holds its keys", word(name), word("in"),
			token{kind: PathToken, sym: symPath, start: t.start, end: t.start + i, value: t.value[:i]})
		return true
	}
	switch inside := len(s.brackets(m.at)) == 1; {
	case inside && t.value == "=" && s.at(m.at-2).value == ":" && s.at(m.at+1).sym != symPath:
		return s.rewrite(m.at, m.at+2, "a value has no default: the host gives it each time")
	case inside && t.value == "?:":
		return s.rewrite(m.at, m.at+1, "a value is always given; of one that may be missing the type says so: `string | null`", mark(":"))
	}
	if m.at == s.pos+2 && slices.Contains([]string{"for", "with", "on", "of", "each"}, t.value) {
		end := m.at + 1
		for !s.endsHead(s.at(end)) && s.at(end).value != "{" {
			end++
		}
		if second := s.at(m.at + 2).value; second == "in" || second == "new" || second == "=" {
			return s.rewrite(m.at, end, "the parameters of a stage stand in parentheses", slices.Concat([]token{mark("(")}, s.slice(m.at+1, end), []token{mark(")")})...)
		}
	}
	return false
}

// messageAfterComma: `ensure { ... }, "message"`.
func (s *section) messageAfterComma(m mistake) bool {
	condition, message := s.at(m.at-1), s.at(m.at+1)
	if s.at(m.at).value != "," || condition.sym != symExpr || message.sym != symString || s.at(m.at-2).sym == symString || message.lineStart {
		return false
	}
	return s.rewrite(m.at-1, m.at+2, "the message stands before the braces, not after them", message, condition)
}

var numbersInWords = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// phaseOfGate: "discloses next", without the phase whose guard is meant.
func (s *section) phaseOfGate(m mistake) bool {
	prev := s.at(m.at - 1)
	if prev.value != "next" || s.at(s.memberOf(m.at-1)).value != "discloses" || !s.insertOnce(m.at, symIdent, "") {
		return false
	}
	s.report(diagnostic.MissingName, prev.end, prev.end, "expected a phase after `next`", "the guard of a move is named by the phase that it leads to: `discloses next PHASE`")
	return true
}

// numberInWords: "attempts three", "attempts MAX".
func (s *section) numberInWords(m mistake) bool {
	t := s.at(m.at)
	if s.at(m.at-1).value != "attempts" || t.kind != WordToken || t.lineStart {
		return false
	}
	number := func(n string) token { return token{kind: NumberToken, sym: symInt, value: n} }
	if n := slices.Index(numbersInWords, strings.ToLower(t.value)); n > 0 {
		return s.rewrite(m.at, m.at+1, "a number is written in digits", number(strconv.Itoa(n)))
	}
	if value := regexp.MustCompile(`(?m)^const\s+` + regexp.QuoteMeta(t.value) + `\s*=\s*([1-9][0-9]*)\s*$`).FindStringSubmatch(s.file.Text); value != nil {
		return s.rewrite(m.at, m.at+1, "constants stand in expressions only: `attempts` takes a number", number(value[1]))
	}
	return false
}

// delegateParams: "delegate title(note in /notes) from edit".
func (s *section) delegateParams(m mistake) bool {
	open := s.pos + 2
	if s.keyword() != "delegate" || s.at(open).value != "(" {
		return false
	}
	end := s.closing(open)
	return end > 0 && s.at(end+1).value == "from" && s.rewrite(open, end+1, "a delegate has the parameters of the stage that it is from")
}

// Names of rules, roles and phases.

// nameOtherwise: `invariant "few notes" {`, `phases { "draft" -> "done" }`.
func (s *section) nameOtherwise(m mistake) bool {
	t := s.at(m.at)
	switch {
	case s.keyword() == "phases" && t.sym == symString:
		name := decode(t.value)
		return name != "" && isWordStart(name[0]) && wordEnd(name, 0) == len(name) && s.rewrite(m.at, m.at+1, "a name stands without quotation marks", word(name))
	case (s.keyword() == "invariant" || s.keyword() == "change") && m.at == s.pos+2 && t.sym == symPath && s.at(m.at+1).sym == symExpr:
		return s.rewrite(m.at, m.at+1, "a rule about every entry begins with `each`", word("each"), word("x"), word("in"), t)
	case (s.keyword() == "invariant" || s.keyword() == "change") && m.at == s.pos+1 && t.sym == symString && (s.at(m.at+1).sym == symExpr || s.at(m.at+1).value == "each"):
		name := nameOf(decode(t.value))
		if name == "" || s.inserted[t.start] > 0 {
			return false
		}
		s.inserted[t.start]++
		d := s.report(diagnostic.MissingName, s.at(s.pos).end, s.at(s.pos).end, "a rule has a name, and its message behind that", "")
		d.Fixes = append(d.Fixes, s.fix("name it `"+name+"`", s.at(s.pos).end, s.at(s.pos).end, " "+name))
		s.insert(m.at, symIdent, name)
		return true
	}
	return false
}

// nameOf makes a name of the first words of a message.
func nameOf(message string) string {
	words := strings.FieldsFunc(strings.ToLower(message), func(r rune) bool { return r >= 0x80 || !isWordPart(byte(r)) })
	name := strings.Join(words[:min(len(words), 3)], "_")
	if name == "" || !isWordStart(name[0]) || isDeclarationWord(name) || name == "each" || name == "unique" {
		return ""
	}
	return name
}

// Claims.

// claimOtherwise: "prove nobody reads /a", "prove a, b commute", "prove name: ...",
// "prove { ... }", `prove "..."`, "prove no stage look reads /a".
func (s *section) claimOtherwise(m mistake) bool {
	if s.keyword() != "prove" {
		return false
	}
	first, second, third := s.at(s.pos+1), s.at(s.pos+2), s.at(s.pos+3)
	verb := func(t token) bool { return nearestWord(t.value, verbWords, nil) != "" }
	switch {
	case (first.sym == symExpr || first.sym == symString) && m.at == s.pos+1:
		inner := strings.TrimSpace(strings.Trim(s.textOf(first.start, first.end), `{}"`))
		s.report(diagnostic.Unexpected, first.start, first.end, "a claim stands as it is, without braces and quotation marks", "", s.fix("write `"+inner+"`", first.start, first.end, inner))
		s.remove(s.pos, s.nextDeclaration(s.pos+1))
		return true
	case slices.Contains([]string{"nobody", "never", "none", "noone", "nothing"}, strings.ToLower(first.value)) && verb(second):
		return s.rewrite(s.pos+1, s.pos+2, "what no stage does is claimed by `no stage`", mark("no"), mark("stage"))
	case second.value == "," && third.sym == symIdent && strings.HasPrefix(s.at(s.pos+4).value, "commute"):
		return s.rewrite(s.pos+1, s.pos+5, "of two stages one `commutes with` the other", first, mark("commutes"), mark("with"), third)
	case second.value == ":" && first.sym == symIdent && m.at == s.pos+2:
		return s.rewrite(s.pos+1, s.pos+3, "a claim has no name")
	case first.value == "no" && second.value == "stage" && third.sym == symIdent && third.value != "except" && !verb(third) && verb(s.at(s.pos+4)):
		return s.rewrite(s.pos+3, s.pos+4, "`no stage` is about all stages; all but some are `no stage except NAME`", mark("except"), third)
	}
	return false
}

// Advice.

// otherwise is advice about a mistake for which there is no repair.
func (s *section) otherwise(m mistake) string {
	t, prev := s.at(m.at), s.at(m.at-1)
	switch {
	case s.keyword() == "const" && prev.value == "=":
		return "the value of a constant stands as it is: `const MAX = 3`"
	case s.keyword() == "define" && slices.Contains(m.literals, "("):
		return "a definition has its parameters behind its name: `define small(n) = { n < 3 }`"
	case s.inType() && t.value == "(" && prev.sym == symIdent:
		return "a type takes no arguments; what its values must be besides stands behind it: `where { ... }`"
	case s.keyword() == "roles" && t.value == "{":
		return "a group of roles has a name: `roles staff = clerk, manager`; a role needs no declaration, `by` names it"
	case (s.keyword() == "invariant" || s.keyword() == "change") && m.at == s.pos+1:
		return "a rule has a name, and may have a message behind it: `" + s.keyword() + " NAME \"what must hold\" { ... }`"
	case (s.keyword() == "invariant" || s.keyword() == "change") && t.value == "each" && prev.sym == symString:
		return "what a rule is about stands before its message: `" + s.keyword() + " NAME each x in /PATH \"what must hold\" { ... }`"
	case s.keyword() == "measure" && t.sym == symExpr && prev.value == "=":
		return "a measure counts or adds up what a path matches: `count /notes/*`, `sum /notes/*/price`; an expression with a name is a `define`"
	case s.inType() && t.value == "," && len(s.brackets(m.at)) > 0 && s.at(s.brackets(m.at)[len(s.brackets(m.at))-1]).value == "(":
		return "there are no tuples: a record names its parts, `{ x: int  y: int }`, and a `list of int` has any number"
	case s.inType() && prev.value == "of" && s.at(m.at-2).value == "key" && (t.sym == symIdent || t.sym == symQualified):
		return "a reference is to the entries of what holds them: `key of /people`"
	case slices.Contains(bracedDecls, s.keyword()) && t.value == ")" && prev.sym == symIdent && len(s.brackets(m.at)) == 1:
		return "say what holds its keys, `" + prev.value + " in /PATH`, or of what type it is, `" + prev.value + ": TYPE`"
	case s.keyword() == "prove" && prev.value == "commute" && s.at(m.at-2).value == "all":
		return "say in which phase: `all commute in PHASE`"
	case prev.value == "attempts":
		return "write how many proposals one step may make: `attempts 3`"
	}
	return ""
}
