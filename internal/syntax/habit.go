package syntax

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
)

// Habits are the repairs of what other languages would write: each knows what was meant,
// says so, and rewrites the tokens as its fix rewrites the text. A rewriting happens once
// in a place, so that recovery ends.

var habits = []func(*section, mistake) bool{
	(*section).quotedName,
	(*section).quotedPath,
	(*section).needlessMark,
	(*section).anyOtherMembers,
	(*section).generic,
	(*section).listInBrackets,
	(*section).unionOtherwise,
	(*section).optionalOtherwise,
	(*section).fieldModifier,
	(*section).bareWhere,
	(*section).boundOrDefault,
	(*section).keyOfMap,
	(*section).reference,
	(*section).newOtherwise,
	(*section).paramBrackets,
	(*section).keyWithColon,
	(*section).bindingOtherwise,
	(*section).twoEquals,
	(*section).pathInBrackets,
	(*section).everything,
	(*section).rightOtherwise,
	(*section).exceptOtherwise,
	(*section).joinedOtherwise,
	(*section).delegateOtherwise,
	(*section).phasesOtherwise,
	(*section).eachOtherwise,
	(*section).entriesOf,
	(*section).bareBody,
	(*section).typedName,
	(*section).headerOtherwise,
	(*section).importOtherwise,
	(*section).doubleColon,
	(*section).braceless,
	(*section).boundInWords,
	(*section).secretAlone,
	(*section).referenceToType,
	(*section).paramOtherwise,
	(*section).pathBesideDollar,
	(*section).messageAfterComma,
	(*section).numberInWords,
	(*section).phaseOfGate,
	(*section).delegateParams,
	(*section).nameOtherwise,
	(*section).claimOtherwise,
}

// a mark is a token that is put in: a word or mark of the grammar.
func mark(value string) token { return token{kind: PunctToken, sym: symPunct, value: value} }

func word(value string) token { return token{kind: WordToken, sym: symIdent, value: value} }

// rewrite says message of the tokens from index from up to index to, and puts parts in
// their place: tokens of the text, or such as mark and word make. It reports whether
// it did, which it does once in a place.
func (s *section) rewrite(from, to int, message string, parts ...token) bool {
	place, end := s.at(from).start, s.at(to-1).end
	if s.inserted[-1-place] > 0 {
		return false
	}
	s.inserted[-1-place]++
	text := s.spell(parts)
	if text != "" && isWordPart(text[len(text)-1]) && end < len(s.file.Text) && isWordPart(s.file.Text[end]) {
		text += " "
	}
	fix := s.fix("write `"+strings.TrimSpace(text)+"`", place, end, text)
	if text == "" {
		fix.Title = "remove it"
	}
	if !s.silence(s.memberOf(from), to-1) {
		s.report(diagnostic.Unexpected, place, end, message, "", fix)
	}
	in := slices.Clone(parts)
	for i := range in {
		if in[i].end == 0 {
			in[i].start, in[i].end = place, place
		}
		place = in[i].end
		in[i].lineStart = i == 0 && s.at(from).lineStart
	}
	s.tokens = slices.Replace(s.tokens, from, to, in...)
	return true
}

// spell writes tokens as a text: those of the file as they stand there.
func (s *section) spell(parts []token) string {
	var out strings.Builder
	for i, t := range parts {
		text := t.value
		if t.end > 0 {
			text = s.textOf(t.start, t.end)
		}
		switch {
		case i == 0:
		case t.end > 0 && parts[i-1].end > 0 && parts[i-1].end <= t.start && strings.TrimLeft(s.textOf(parts[i-1].end, t.start), " \t") == "":
			out.WriteString(s.textOf(parts[i-1].end, t.start))
		case t.value != "," && t.value != ")" && parts[i-1].value != "(" && t.value != "?:" && t.value != ":":
			out.WriteByte(' ')
		}
		out.WriteString(text)
	}
	return out.String()
}

// memberOf is where the member, clause or head with token i starts.
func (s *section) memberOf(i int) int {
	block := s.innermostBlock(s.brackets(i))
	if block < 0 {
		return s.pos
	}
	starts, _ := s.members(block)
	for _, st := range slices.Backward(starts) {
		if st <= i {
			return st
		}
	}
	return i
}

// closing is the index of the bracket that closes the one with index open, -1 if none does.
func (s *section) closing(open int) int {
	closers := map[string]string{"(": ")", "[": "]", "<": ">", "{": "}"}
	opener, closer := s.at(open).value, closers[s.at(open).value]
	depth := 0
	for i := open; i < len(s.tokens); i++ {
		switch s.at(i).value {
		case opener:
			depth++
		case closer:
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

func (s *section) slice(from, to int) []token { return slices.Clone(s.tokens[from:to]) }

// quotedName: `stage "close"`, `by "clerk"`.
func (s *section) quotedName(m mistake) bool {
	t := s.at(m.at)
	if t.sym != symString || s.keyword() == "test" || !m.expects("Name") && !m.expects("Phase") && !m.expects("Arrow") && !m.expects("Param") {
		return false
	}
	name := decode(t.value)
	if name == "" || !isWordStart(name[0]) || wordEnd(name, 0) != len(name) {
		return false
	}
	return s.rewrite(m.at, m.at+1, "a name stands without quotation marks", word(name))
}

// expectsPath reports whether a path could have stood at the mistake.
func (m mistake) expectsPath() bool {
	return m.expects("Path") || m.expects("RegionExpr") || m.expects("GrantExpr") || m.expects("RegionAtom") || m.expects("GateRef")
}

// quotedPath: `read "/notes"`.
func (s *section) quotedPath(m mistake) bool {
	t := s.at(m.at)
	if t.sym != symString || !m.expectsPath() || !strings.HasPrefix(decode(t.value), "/") || t.end-t.start < 3 {
		return false
	}
	path := token{kind: PathToken, sym: symPath, start: t.start + 1, end: t.end - 1, value: t.value[1 : len(t.value)-1]}
	return s.rewrite(m.at, m.at+1, "a path stands without quotation marks", path)
}

// needlessMark: "stage close: {", "state = {", "invariant i = {".
func (s *section) needlessMark(m mistake) bool {
	t, next := s.at(m.at), s.at(m.at+1)
	if t.value != ":" && t.value != "=" || next.value != "{" && next.sym != symExpr && !(s.keyword() == "phases" && next.value == "[") ||
		!slices.Contains([]string{"stage", "delegate", "state", "phases", "invariant", "change", "test"}, s.keyword()) || s.at(m.at-1).value == "where:" {
		return false
	}
	return s.rewrite(m.at, m.at+1, "no `"+t.value+"` stands before the braces")
}

// containers are what other languages call the types with elements.
var containers = map[string]string{
	"map": "map", "dict": "map", "record": "map", "object": "map", "hash": "map", "hashmap": "map", "mapping": "map",
	"list": "list", "array": "list", "vec": "list", "vector": "list", "slice": "list", "sequence": "list", "tuple": "list", "readonlyarray": "list",
	"set": "set", "hashset": "set", "frozenset": "set", "log": "log",
	"optional": "optional", "maybe": "optional", "option": "optional", "nullable": "optional", "partial": "",
	"enum": "enum", "literal": "enum", "oneof": "enum", "union": "enum",
}

// generic: "map[string]T", "Map<string, T>", "list(T)", "[]T", "[T]", "enum("a", "b")".
func (s *section) generic(m mistake) bool {
	if !s.inType() {
		return false
	}
	open := m.at
	if !slices.Contains([]string{"<", "[", "("}, s.at(open).value) {
		return false
	}
	end := s.closing(open)
	if end < 0 {
		return false
	}
	name := s.at(open - 1)
	kind := ""
	if name.kind == WordToken && !name.corrected {
		kind = containers[strings.ToLower(name.value)]
	}
	from, inner := open-1, s.slice(open+1, end)
	switch {
	case kind == "" && s.at(open).value == "[" && name.kind != WordToken: // "[]T", "[T]", "[...T]"
		for len(inner) > 0 && inner[0].value == "." {
			inner = inner[1:]
		}
		return s.rewrite(open, end+1, "a list type is written `list of T`", append([]token{mark("list"), mark("of")}, inner...)...)
	case kind == "":
		return false
	case kind == "enum":
		return s.enumeration(from, end+1, inner)
	}
	parts := splitAtCommas(inner)
	if len(parts) == 0 {
		return false
	}
	elem := parts[len(parts)-1]
	if kind == "map" && len(parts) == 1 && startsType(s.at(end+1)) && s.at(open).value == "[" { // "map[string]T"
		elem = nil
	}
	if slices.ContainsFunc(elem, func(t token) bool { return t.value == "|" }) {
		elem = slices.Concat([]token{mark("(")}, elem, []token{mark(")")})
	}
	if kind == "optional" {
		return s.optional(from, end+1, elem)
	}
	return s.rewrite(from, end+1, "the type is written `"+kind+" of T`", append([]token{mark(kind), mark("of")}, elem...)...)
}

// enumeration makes a union of the values between the brackets of an enum.
func (s *section) enumeration(from, to int, values []token) bool {
	var parts []token
	for i, v := range splitAtCommas(values) {
		if len(v) != 1 || v[0].sym != symString && v[0].sym != symInt && v[0].sym != symIdent {
			return false
		}
		if i > 0 {
			parts = append(parts, mark("|"))
		}
		if v[0].sym == symIdent {
			v[0] = token{kind: StringToken, sym: symString, value: `"` + v[0].value + `"`}
		}
		parts = append(parts, v[0])
	}
	return len(parts) > 0 && s.rewrite(from, to, "the values of a type stand with `|` between them", parts...)
}

func splitAtCommas(tokens []token) [][]token {
	var out [][]token
	depth, from := 0, 0
	for i, t := range tokens {
		switch {
		case strings.Contains("([{<", t.value) && t.sym == symPunct:
			depth++
		case strings.Contains(")]}>", t.value) && t.sym == symPunct:
			depth--
		case t.value == "," && depth == 0:
			out, from = append(out, tokens[from:i]), i+1
		}
	}
	if from < len(tokens) {
		out = append(out, tokens[from:])
	}
	return out
}

// optional makes the field before the type at from optional: elem is its type.
func (s *section) optional(from, to int, elem []token) bool {
	if s.at(from-1).value != ":" || s.at(from-2).kind != FieldToken {
		return false
	}
	return s.rewrite(from-1, to, "a member that may be absent has a `?` before its colon: `name?: T`", append([]token{mark("?:")}, elem...)...)
}

// optionalOtherwise: "memo: optional string".
func (s *section) optionalOtherwise(m mistake) bool {
	prev := s.at(m.at - 1)
	if !s.inType() || prev.sym != symIdent || containers[strings.ToLower(prev.value)] != "optional" || !startsType(s.at(m.at)) || s.at(m.at).lineStart {
		return false
	}
	return s.optional(m.at-1, m.at, nil)
}

// listInBrackets: "by [clerk, manager]", "read [/a, /b]", "draft -> [a, b]", "phases [a, b]".
func (s *section) listInBrackets(m mistake) bool {
	if s.at(m.at).value != "[" || s.inType() {
		return false
	}
	end := s.closing(m.at)
	inner := s.slice(m.at+1, max(end, m.at+1))
	for _, t := range inner {
		if t.sym != symIdent && t.sym != symPath && t.sym != symString && t.value != "," {
			return false
		}
	}
	switch {
	case end < 0 || len(inner) == 0:
		return false
	case s.keyword() == "phases" && m.at == s.pos+1:
		inner = slices.DeleteFunc(inner, func(t token) bool { return t.value == "," })
		return s.rewrite(m.at, end+1, "the phases stand in braces, without commas", slices.Concat([]token{mark("{")}, inner, []token{mark("}")})...)
	case m.expects("Name") || m.expectsPath() || m.expects("Arrow") || m.expects("Phase"):
		return s.rewrite(m.at, end+1, "a list stands without brackets", inner...)
	}
	return false
}

// unionOtherwise: `"a" || "b"`, `"a" or "b"`, `"a", "b"`, `| "a"`.
func (s *section) unionOtherwise(m mistake) bool {
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	if !s.inType() || t.kind == FieldToken {
		return false
	}
	literal := next.sym == symString || next.sym == symInt || next.sym == symNumber
	switch {
	case t.value == "|" && prev.value == "|":
		return s.rewrite(m.at-1, m.at+1, "one `|` stands between the alternatives of a type", mark("|"))
	case t.value == "|" && (prev.value == "=" || prev.value == ":" || prev.value == "?:"):
		return s.rewrite(m.at, m.at+1, "no `|` stands before the first alternative")
	case t.value == "or" && startsType(next) && !t.lineStart,
		t.value == "," && literal && (prev.sym == symString || prev.sym == symInt || prev.sym == symNumber):
		return s.rewrite(m.at, m.at+1, "the alternatives of a type stand with `|` between them", mark("|"))
	}
	return false
}

// fieldModifier: "readonly title: string", "@secret pin: string", "pin: string secret".
func (s *section) fieldModifier(m mistake) bool {
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	if !s.inType() || t.sym != symIdent {
		return false
	}
	switch {
	case t.value == "secret" && prev.sym == symIdent && s.at(m.at-2).value == ":" && !startsType(next):
		return s.rewrite(m.at-1, m.at+1, "`secret` stands before the type", t, prev)
	case next.kind != FieldToken || next.lineStart || s.innermostBlock(s.brackets(m.at)) != m.at-1 && !t.lineStart && prev.value != ",":
		return false
	case t.value == "secret" && s.at(m.at+2).value == ":":
		return s.rewrite(m.at, m.at+3, "`secret` stands before the type", next, mark(":"), mark("secret"))
	case t.value == "optional" && s.at(m.at+2).value == ":":
		return s.rewrite(m.at, m.at+3, "a member that may be absent has a `?` before its colon: `name?: T`", next, mark("?:"))
	}
	return s.rewrite(m.at, m.at+1, "nothing stands before the name of a field; who may change it is said by stages")
}

// bareWhere: "int where self > 0", and "where: { ... }".
func (s *section) bareWhere(m mistake) bool {
	if !s.inType() {
		return false
	}
	open := s.innermostBlock(s.brackets(m.at))
	if open > 1 && s.at(open-1).value == ":" && s.at(open-2).value == "where:" {
		end := s.closing(open)
		s.markAfterKeyword(token{value: "where"}, s.at(open-1))
		s.remove(open-2, end+1)
		return true
	}
	if s.at(m.at-1).value != "where" || s.at(m.at-1).kind != WordToken || s.at(m.at).lineStart || s.at(m.at).sym == symString || bracketStep(s.at(m.at)) < 0 {
		return false
	}
	end := m.at
	for depth := 0; end < len(s.tokens) && !s.at(end).lineStart && s.at(end).kind != FieldToken && s.at(end).value != ","; end++ {
		if depth += bracketStep(s.at(end)); depth < 0 {
			break
		}
	}
	if end == m.at {
		return false
	}
	s.bareCondition(s.at(m.at-1), s.at(m.at), s.at(end-1))
	s.remove(m.at-1, end)
	return true
}

// boundOrDefault: "int >= 0", "int & >=0", "int = 3", "int | *3".
func (s *section) boundOrDefault(m mistake) bool {
	if !s.inType() || s.innermostBlock(s.brackets(m.at)) < 0 || s.at(m.at).lineStart {
		return false
	}
	t, next := s.at(m.at), s.at(m.at+1)
	isValue := func(t token) bool {
		return t.sym == symInt || t.sym == symNumber || t.sym == symString || t.value == "true" || t.value == "false"
	}
	const noDefault = "a type has no default value: what a member holds is said by the state that is loaded"
	switch {
	case t.value == "=" && isValue(next) && s.at(m.at-1).kind == WordToken:
		return s.rewrite(m.at, m.at+2, noDefault)
	case t.value == "*" && s.at(m.at-1).value == "|" && isValue(next):
		return s.rewrite(m.at-1, m.at+2, noDefault)
	case t.value != "<" && t.value != ">" && t.value != "&":
		return false
	}
	from, operator := m.at, ""
	for i := m.at; s.at(i).sym == symPunct && strings.Contains("<>=&", s.at(i).value); i++ {
		operator, from = operator+s.at(i).value, i+1
	}
	operator = strings.TrimLeft(operator, "&")
	if !isValue(s.at(from)) || operator == "" {
		return false
	}
	text := "where { self " + operator + " " + s.textOf(s.at(from).start, s.at(from).end) + " }"
	s.report(diagnostic.Unexpected, t.start, s.at(from).end, "a condition on a type stands in braces behind `where`", "", s.fix("write `"+text+"`", t.start, s.at(from).end, text))
	s.remove(m.at, from+1)
	return true
}

// keyOfMap: "map of string to T".
func (s *section) keyOfMap(m mistake) bool {
	t := s.at(m.at)
	if !s.inType() || t.value != "to" && t.value != "->" && t.value != "=>" && t.value != "," || s.at(m.at+1).lineStart || s.at(m.at-3).value != "map" || s.at(m.at-2).value != "of" || !startsType(s.at(m.at+1)) {
		return false
	}
	return s.rewrite(m.at-1, m.at+1, "the keys of a map are strings and have no type: `map of T` says what its entries are")
}

// reference: "ref to /people".
func (s *section) reference(m mistake) bool {
	prev := s.at(m.at - 1)
	if !s.inType() || s.at(m.at+1).sym != symPath || s.at(m.at).kind != WordToken || prev.sym != symIdent ||
		!slices.Contains([]string{"ref", "reference", "refs", "references", "pointer", "link", "id", "foreign"}, prev.value) {
		return false
	}
	return s.rewrite(m.at-1, m.at+1, "a reference is written `key of /PATH`", mark("key"), mark("of"))
}

// anyOtherMembers: "...", "[key: string]: T".
func (s *section) anyOtherMembers(m mistake) bool {
	if !s.inType() || s.innermostBlock(s.brackets(m.at)) < 0 {
		return false
	}
	at := m.at
	if s.at(at).value == "," && s.at(at+1).value == "." {
		at++
	}
	switch end := s.closing(at); {
	case s.at(at).value == "[" && s.at(at+1).kind == FieldToken && end > 0 && s.at(end+1).value == ":":
		return s.rewrite(at, end+1, "other members are written `*: T`, behind those with a name", mark("*"))
	case s.at(at).value == "." && s.at(at+1).value == "." && s.at(at+2).value == ".":
		return s.rewrite(m.at, at+3, "other members are written `*: T`, behind those with a name", mark("*"), mark(":"), mark("any"))
	}
	return false
}

// newOtherwise: "new note in /notes", "note in new /notes", "note in /notes new".
func (s *section) newOtherwise(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	const message = "`new` stands behind the parameter: `name new in /PATH`"
	switch {
	case !slices.Contains(bracedDecls, s.keyword()):
	case prev.value == "new" && t.sym == symIdent && s.at(m.at+1).value == "in":
		return s.rewrite(m.at-1, m.at+1, message, t, prev)
	case t.value == "new" && prev.value == "in":
		return s.rewrite(m.at-1, m.at+1, message, t, prev)
	case t.value == "new" && prev.sym == symPath && s.at(m.at-2).value == "in":
		return s.rewrite(m.at-2, m.at+1, message, t, s.at(m.at-2), prev)
	}
	return false
}

// paramBrackets: "stage look[note in /notes]".
func (s *section) paramBrackets(m mistake) bool {
	if second := s.at(m.at + 2).value; second != "in" && second != "new" && second != "=" {
		return false
	}
	end := s.closing(m.at)
	for i := m.at; end < 0 && i < len(s.tokens) && !s.endsHead(s.at(i)); i++ {
		if t := s.at(i); t.sym == symPath && strings.HasSuffix(t.value, "]") { // the scanner took the bracket for a part of the path
			s.tokens[i].value, s.tokens[i].end = strings.TrimSuffix(t.value, "]"), t.end-1
			s.tokens = slices.Insert(s.tokens, i+1, token{kind: PunctToken, sym: symPunct, start: t.end - 1, end: t.end, value: "]"})
			end = i + 1
		}
	}
	if s.at(m.at).value != "[" || m.at != s.pos+2 || end < 0 || !slices.Contains(bracedDecls, s.keyword()) {
		return false
	}
	return s.rewrite(m.at, end+1, "parameters stand in parentheses", slices.Concat([]token{mark("(")}, s.slice(m.at+1, end), []token{mark(")")})...)
}

// keyWithColon: "note: /notes" as a stage's parameter, which is a key.
func (s *section) keyWithColon(m mistake) bool {
	if s.at(m.at).sym != symPath || s.at(m.at-1).value != ":" || s.keyword() != "stage" {
		return false
	}
	return s.rewrite(m.at-2, m.at, "a key is taken `in` a path; behind `:` stands the type of a value", s.at(m.at-2), word("in"))
}

// bindingOtherwise: "note in /notes if { ... }", "note in /notes { ... }", "where: { ... }",
// "where name { ... }", "where { ... } where { ... }", and a condition without braces.
func (s *section) bindingOtherwise(m mistake) bool {
	open := s.brackets(m.at)
	if s.keyword() != "stage" || len(open) != 1 || s.at(open[0]).value != "(" {
		return false
	}
	const behindWhere = "the condition on a parameter stands in braces behind `where`"
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	switch {
	case t.sym == symExpr && prev.sym == symPath:
		return s.rewrite(m.at, m.at+1, behindWhere, mark("where"), t)
	case next.sym == symExpr && prev.sym == symPath && slices.Contains([]string{"if", "when", "with", "on", "require"}, t.value):
		return s.rewrite(m.at, m.at+1, behindWhere, mark("where"))
	case next.sym == symExpr && prev.value == "where" && t.value == ":":
		return s.rewrite(m.at, m.at+1, "no colon stands behind `where`")
	case next.sym == symExpr && prev.value == "where" && t.sym == symIdent:
		return s.rewrite(m.at, m.at+1, "the condition on a parameter has no name of its own; a message stands in quotation marks")
	case t.value == "where" && prev.sym == symExpr && next.sym == symExpr:
		s.report(diagnostic.Unexpected, t.start, next.end, "a parameter has one condition", "join them with `&&`")
		s.remove(m.at, m.at+2)
		return true
	case t.sym == symExpr && prev.value == ":":
		s.report(diagnostic.Unexpected, t.start, t.end, "the type of a value stands here by its name, or without braces", "declare the record above the stage, with `type NAME { ... }`")
		s.tokens[m.at] = token{kind: WordToken, sym: symIdent, value: "any", start: t.start, end: t.end}
		return true
	case prev.value != "where" || t.sym == symString || bracketStep(t) < 0:
		return false
	}
	end := m.at
	for depth := 0; end < len(s.tokens) && s.at(end).value != ","; end++ {
		if depth += bracketStep(s.at(end)); depth < 0 {
			break
		}
	}
	s.bareCondition(prev, t, s.at(end-1))
	s.remove(m.at-1, end)
	return true
}

// twoEquals: "who == /a", ":=".
func (s *section) twoEquals(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	switch {
	case t.value == "=" && prev.value == "=":
		return s.rewrite(m.at-1, m.at+1, "one `=` says what a name stands for", mark("="))
	case t.value == ":" && s.at(m.at+1).value == "=":
		return s.rewrite(m.at, m.at+2, "one `=` says what a name stands for", mark("="))
	}
	return false
}

// pathInBrackets: "count(/notes/*)", "unique { /notes/* }", "read { /a, /b }", "region r { /a }".
func (s *section) pathInBrackets(m mistake) bool {
	t := s.at(m.at)
	if t.value == "(" && m.expects("Path") && s.at(m.at+1).sym == symPath && s.at(m.at+2).value == ")" {
		return s.rewrite(m.at, m.at+3, "a path stands without parentheses", s.at(m.at+1))
	}
	equals := s.keyword() == "region" && slices.Contains(m.literals, "=")
	if t.sym != symExpr || !m.expectsPath() && !equals {
		return false
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(s.textOf(t.start, t.end), "{"), "}")
	if inner = strings.TrimSpace(inner); !strings.HasPrefix(inner, "/") {
		return false
	}
	message := "paths stand without braces"
	if equals {
		inner, message = "= "+inner, "a region is written `region NAME = /PATH`"
	}
	s.report(diagnostic.Unexpected, t.start, t.end, message, "", s.fix("write `"+inner+"`", t.start, t.end, inner))
	s.lose(m.at, m.at+1)
	s.dropMember(m)
	return true
}

// dropMember takes out the clause or declaration with a mistake that was reported.
func (s *section) dropMember(m mistake) {
	start := s.memberOf(m.at)
	if start == s.pos {
		s.remove(s.pos, s.nextDeclaration(s.pos+1))
		return
	}
	s.remove(start, m.at+1)
}

// everything: "read *", "read **".
func (s *section) everything(m mistake) bool {
	if s.at(m.at).value != "*" || !m.expectsPath() && !slices.Contains([]string{"read", "write", "source"}, s.at(m.at-1).value) {
		return false
	}
	end := m.at + 1
	for s.at(end).value == "*" && s.at(end).start == s.at(end-1).end {
		end++
	}
	place := s.at(m.at).start
	s.report(diagnostic.Unexpected, place, s.at(end-1).end, "everything, the root included, is `/**`", "", s.fix("write `/**`", place, s.at(end-1).end, "/**"))
	s.tokens = slices.Replace(s.tokens, m.at, end, token{kind: WordToken, sym: symIdent, start: place, end: place})
	return true
}

// rightsMeant are the rights that other words for doing something mean.
var rightsMeant = map[string][]string{
	"create": {"create"}, "creates": {"create"}, "add": {"create"}, "adds": {"create"}, "insert": {"create"}, "append": {"create"}, "new": {"create"}, "post": {"create"},
	"update": {"update"}, "updates": {"update"}, "modify": {"update"}, "change": {"update"}, "edit": {"update"}, "replace": {"update"}, "patch": {"update"},
	"delete": {"delete"}, "deletes": {"delete"}, "remove": {"delete"}, "removes": {"delete"}, "drop": {"delete"}, "erase": {"delete"},
	"upsert": {"create", "update"}, "put": {"create", "update"}, "set": {"create", "update"},
}

// rightOtherwise: "write add /a", "write create and update /a", "write no delete /a",
// "write create blind /a", "write create /a update /b", "write /a create", "create /a".
func (s *section) rightOtherwise(m mistake) bool {
	if !slices.Contains(bracedDecls, s.keyword()) {
		return false
	}
	start := s.memberOf(m.at)
	if start == m.at && s.innermostBlock(s.brackets(m.at)) == s.body() {
		return s.rightAsClause(m)
	}
	if s.at(start).value != "write" {
		return false
	}
	from, to := m.at, m.at
	for from > start+1 && s.saysRight(from-1) {
		from--
	}
	for s.saysRight(to) && !s.at(to).lineStart {
		to++
	}
	for from < to && (s.at(from).value == "," || s.at(from).value == ")") {
		from++
	}
	for to > from && s.at(to-1).value == "(" {
		to--
	}
	for from < to && s.at(from).value == "(" && s.closing(from) >= to {
		from++
	}
	var meant []string
	negated, blind := false, false
	for _, t := range s.tokens[from:to] {
		meant = append(meant, rightsMeant[strings.ToLower(t.value)]...)
		negated = negated || slices.Contains([]string{"no", "not", "never", "without"}, t.value)
		blind = blind || t.value == "blind"
	}
	if len(meant) == 0 {
		return false
	}
	prev, next := s.at(from-1), s.at(to)
	ended := prev.sym == symPath || prev.value == ")"
	follows := !next.lineStart && (next.sym == symPath || next.sym == symQualified || next.value == "(")
	var rights []token
	for _, right := range rightWords {
		if slices.Contains(meant, right) == negated {
			continue
		}
		if len(rights) > 0 {
			rights = append(rights, mark(","))
		}
		rights = append(rights, word(right))
	}
	const message = "what may happen at a path stands before it: `create`, `update`, `delete`"
	switch {
	case prev.value == "except" || prev.value == "(" && s.at(from-2).value == "except":
		return s.rewrite(from, to, "what is excepted is excepted whole: no right stands before it")
	case ended && follows && !negated:
		return rightsMeant[s.at(from).value] != nil && s.commaBefore(from)
	case prev.sym == symPath && !negated && !blind:
		return s.rewrite(from-1, to, message, append(rights, prev)...)
	case !follows || ended:
		return false
	case blind:
		return s.rewrite(from, to, "`blind` stands alone: it says that something new may be added", word("blind"))
	case len(rights) == 0:
		return false
	case negated:
		return s.rewrite(from, to, "a grant says what may happen, not what may not", rights...)
	}
	return s.rewrite(from, to, message, rights...)
}

// commaBefore puts the comma in that is missing between two grants.
func (s *section) commaBefore(i int) bool {
	if !s.insertOnce(i, symPunct, ",") {
		return false
	}
	s.missingComma(s.at(i - 1))
	return true
}

// saysRight reports whether token i may be meant for a part of what says what may happen.
func (s *section) saysRight(i int) bool {
	t := s.at(i)
	return t.sym != symKeyword && (rightsMeant[strings.ToLower(t.value)] != nil || slices.Contains([]string{",", "&", "|", "+", ":", "(", ")", "and", "or", "only", "no", "not", "never", "without", "blind"}, t.value))
}

// rightAsClause: "create /a" where a clause is expected.
func (s *section) rightAsClause(m mistake) bool {
	t := s.at(m.at)
	rights := rightsMeant[t.value]
	switch {
	case rights == nil || s.at(m.at+1).sym != symPath:
		return false
	case s.at(s.memberOf(m.at-1)).value == "write" && s.at(m.at-1).sym == symPath:
		return s.commaBefore(m.at)
	}
	parts := []token{word("write"), word(rights[0])}
	for _, right := range rights[1:] {
		parts = append(parts, mark(","), word(right))
	}
	return s.rewrite(m.at, m.at+1, "what a stage may do with the state is said by its clause `write`", parts...)
}

// exceptOtherwise: "/a but /a/b", "/a except /a/b except /a/c".
func (s *section) exceptOtherwise(m mistake) bool {
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	atom := func(t token) bool { return t.sym == symPath || t.sym == symIdent }
	if s.inType() || !atom(prev) || !atom(next) || t.sym != symIdent {
		return false
	}
	switch {
	case t.value == "except" && s.at(m.at-2).value == "except":
		parts, end := []token{mark("("), prev}, m.at
		for s.at(end).value == "except" && atom(s.at(end+1)) {
			parts, end = append(parts, mark(","), s.at(end+1)), end+2
		}
		return s.rewrite(m.at-1, end, "several exceptions of one grant stand in parentheses", append(parts, mark(")"))...)
	case prev.sym == symPath && slices.Contains([]string{"but", "minus", "without", "excluding", "not", "unless", "excepting", "exclude", "omit", "hide"}, t.value):
		return s.rewrite(m.at, m.at+1, "what a grant leaves out stands behind `except`", mark("except"))
	}
	return false
}

// joinedOtherwise: "/a and /b", "/a + /b", "clerk or manager", "clerk manager".
func (s *section) joinedOtherwise(m mistake) bool {
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	if s.inType() || s.keyword() == "prove" || s.keyword() == "parallel" || s.keyword() == "compose" {
		return false
	}
	joins := slices.Contains([]string{"and", "or", "+", "|", "plus"}, t.value) && !t.lineStart
	switch {
	case joins && (prev.sym == symPath || prev.value == "secrets") && (next.sym == symPath || next.sym == symIdent && !next.lineStart),
		joins && prev.sym == symIdent && next.sym == symIdent && !next.lineStart:
		return s.rewrite(m.at, m.at+1, "the members of a list stand with `,` between them", mark(","))
	}
	return false
}

// missingNameComma: "by clerk manager". It comes after what knows more of the second word.
func (s *section) missingNameComma(m mistake) bool {
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	if t.sym == symIdent && s.at(m.at-2).value == "by" && (prev.value == "role" || prev.value == "roles") {
		return s.rewrite(m.at-1, m.at, "the role stands directly behind `by`")
	}
	if t.sym != symIdent || t.lineStart || prev.sym != symIdent || !s.namesOf(m.at-1) || next.sym == symPath || next.sym == symExpr || next.sym == symString ||
		nearestWord(t.value, clausesOf(s.keyword()), misnomers[s.keyword()]) != "" || !s.insertOnce(m.at, symPunct, ",") {
		return false
	}
	if !s.silence(s.memberOf(m.at-1), m.at) {
		s.report(diagnostic.Missing, prev.end, prev.end, "expected `,` between two names", "", s.fix("add the comma", prev.end, prev.end, ","))
	}
	return true
}

// namesOf reports whether token i is one of the names that a clause such as by lists.
func (s *section) namesOf(i int) bool {
	if !slices.Contains(bracedDecls, s.keyword()) {
		return false
	}
	for s.at(i).sym == symIdent && s.at(i-1).value == "," {
		i -= 2
	}
	return slices.Contains([]string{"in", "by", "next", "after"}, s.at(i-1).value)
}

// delegateOtherwise: "delegate d of s".
func (s *section) delegateOtherwise(m mistake) bool {
	t := s.at(m.at)
	if s.keyword() != "delegate" || m.at != s.pos+2 || s.at(m.at+1).sym != symIdent || !slices.Contains([]string{"of", "extends", "for", "under", "in", ":", "with"}, t.value) {
		return false
	}
	return s.rewrite(m.at, m.at+1, "a delegate is `from` its stage", mark("from"))
}

// phasesOtherwise: "phases a -> b", "a -> b -> c", "a: b", "a -> b | c", "if { ... }", "by clerk".
func (s *section) phasesOtherwise(m mistake) bool {
	if s.keyword() != "phases" {
		return false
	}
	t, prev, next := s.at(m.at), s.at(m.at-1), s.at(m.at+1)
	switch {
	case m.at == s.pos+1 && t.sym == symIdent:
		end := s.nextDeclaration(m.at)
		return s.rewrite(m.at, end, "the phases stand in braces", slices.Concat([]token{mark("{")}, s.slice(m.at, end), []token{mark("}")})...)
	case t.value == "->" && prev.sym == symIdent && s.at(m.at-2).value == "->":
		return s.rewrite(m.at-1, m.at, "an arrow leads from the phase at the start of its line: a phase that leads on has a line of its own", prev, word(prev.value))
	case t.value == ":" && prev.sym == symIdent && next.sym == symIdent:
		return s.rewrite(m.at, m.at+1, "an arrow is written `->`", mark("->"))
	case t.value == "|" && prev.sym == symIdent && next.sym == symIdent:
		return s.rewrite(m.at, m.at+1, "the targets of a phase stand with `,` between them", mark(","))
	case t.sym == symExpr && slices.Contains([]string{"if", "where", "on", "guard"}, prev.value):
		return s.rewrite(m.at-1, m.at, "the condition of an arrow stands behind `when`", mark("when"))
	case prev.value == "by" && t.sym == symIdent && nearestWord(t.value, []string{"host"}, nil) == "":
		return s.rewrite(m.at-1, m.at+1, "an arrow is walked by a stage that says `next`, or `by host`; roles stand in the stage")
	}
	return false
}

// eachOtherwise: "for n in /a/*", "each (k, n) in /a/*".
func (s *section) eachOtherwise(m mistake) bool {
	t := s.at(m.at)
	switch {
	case s.keyword() == "measure" && t.value == "if" && s.at(m.at+1).sym == symExpr:
		return s.rewrite(m.at, m.at+1, "the condition of a measure stands behind `where`", mark("where"))
	case s.keyword() != "invariant" && s.keyword() != "change":
	case t.value == "(" && s.at(m.at-1).value == "each":
		if end := s.closing(m.at); end > 0 {
			return s.rewrite(m.at, end+1, "the names of `each` stand without parentheses", s.slice(m.at+1, end)...)
		}
	case slices.Contains([]string{"for", "forall", "foreach", "every", "all"}, strings.ToLower(t.value)) && s.at(m.at+1).sym == symIdent:
		end := m.at + 1
		if s.at(end).value == "each" || s.at(end).value == "all" {
			end++
		}
		return s.rewrite(m.at, end, "a rule about every entry begins with `each`", mark("each"))
	}
	return false
}

// entriesOf: "each n in state.notes".
func (s *section) entriesOf(m mistake) bool {
	t := s.at(m.at)
	if s.keyword() != "invariant" && s.keyword() != "change" || s.at(m.at-1).value != "in" || t.sym != symIdent && t.sym != symQualified {
		return false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(t.value, "state."), "before.")
	if !s.namesField(strings.Split(name, ".")[0]) {
		return false
	}
	path := "/" + strings.ReplaceAll(name, ".", "/") + "/*"
	s.report(diagnostic.Unexpected, t.start, t.end, "`each` goes over the entries at a path; a path starts with `/`", "", s.fix("write `"+path+"`", t.start, t.end, path))
	s.dropMember(m)
	return true
}

// bareBody: "invariant few: size(x) < 10", "define f(x): x > 1", "when state.x > 1", `measure m = { ... }`.
func (s *section) bareBody(m mistake) bool {
	start := m.at
	switch {
	case (s.keyword() == "invariant" || s.keyword() == "change") && m.at >= s.pos+2 && s.at(s.pos+1).value != "each" && s.at(s.pos+1).value != "unique" && (m.expects("Expr") || slices.Contains(m.literals, "unique")):
	case s.keyword() == "define" && slices.Contains(m.literals, "=") && s.at(m.at).value == ":":
	case s.keyword() == "define" && m.expects("Expr"):
	case s.keyword() == "phases" && s.at(m.at-1).value == "when":
	default:
		return false
	}
	body := start
	if s.at(body).value == ":" || s.at(body).value == "=" {
		body++
	}
	end := body
	for end < len(s.tokens) && (!s.at(end).lineStart || end == body) && s.at(end).sym != symExpr && s.at(end).sym != symEOF {
		if bracketStep(s.at(end)) < 0 && len(s.brackets(end)) <= len(s.brackets(body)) {
			break
		}
		end++
	}
	if end == body || s.at(body).sym == symString || s.at(body).sym == symPath || s.at(body).lineStart && s.keyword() != "invariant" || s.at(end).sym == symExpr && !s.at(end).lineStart || s.at(body).lineStart && isDeclarationWord(s.at(body).value) {
		return false
	}
	if end-body == 1 && s.at(body).sym == symIdent && s.keyword() == "invariant" {
		return false // a name too many
	}
	if t := s.at(start); t.kind == WordToken && nearestWord(t.value, m.literals, nil) != "" {
		return false
	}
	last := s.at(end - 1)
	text := "{ " + s.textOf(s.at(body).start, last.end) + " }"
	if s.keyword() == "define" && slices.Contains(m.literals, "=") {
		text = "= " + text
	}
	if !s.silence(s.memberOf(start), end-1) {
		s.report(diagnostic.Unexpected, s.at(start).start, last.end, "an expression stands in braces; it is CEL", "", s.fix("put it in braces", s.at(start).start, last.end, text))
	}
	s.lose(s.pos, end)
	if s.keyword() == "phases" {
		s.remove(m.at-1, end)
		return true
	}
	s.remove(s.pos, s.nextDeclaration(s.pos+1))
	return true
}

// typedName: "const MAX: int = 3", "define f(x: int)".
func (s *section) typedName(m mistake) bool {
	t, next := s.at(m.at), s.at(m.at+1)
	if t.value != ":" || next.sym != symIdent {
		return false
	}
	switch {
	case s.keyword() == "const" && s.at(m.at+2).value == "=":
		return s.rewrite(m.at, m.at+2, "a constant has no type: it is what its value is")
	case s.keyword() == "define" && len(s.brackets(m.at)) == 1:
		return s.rewrite(m.at, m.at+2, "the parameters of a definition have no types: they have those of the arguments")
	}
	return false
}

// openings are the habits at the start of a declaration that the grammar would take for
// something else; they are mended before it reads.
func (s *section) openings() {
	t, name, next := s.at(s.pos), s.at(s.pos+1), s.at(s.pos+2)
	switch {
	case t.value == "state" && name.sym == symIdent && name.value != "any" && next.value == "{" && !next.lineStart:
		s.rewrite(s.pos+1, s.pos+2, "the state has no name: there is one")
	case t.value == "type" && next.sym == symIdent && !next.lineStart && slices.Contains([]string{"struct", "class", "record", "object", "interface"}, next.value):
		s.rewrite(s.pos+2, s.pos+3, "the type stands directly behind the name: `type NAME { name: T }`")
		if body := s.at(s.pos + 2); body.sym == symExpr {
			s.lose(s.pos, s.nextDeclaration(s.pos+1))
			s.remove(s.pos, s.nextDeclaration(s.pos+1))
		}
	case t.value == "prove" && name.value == "no" && next.value == "stage":
		s.claimOtherwise(mistake{at: s.pos + 3})
	case t.value == "compose" || t.value == "parallel":
		sign := map[string]string{"compose": "+", "parallel": "|"}[t.value]
		for i := s.pos + 4; s.at(i-1).sym == symIdent && s.at(i+1).sym == symIdent && !s.at(i+1).lineStart && !s.spent(); i += 2 {
			if v := s.at(i).value; v == "," || v == "and" || v == "&" || v == "|" && sign == "+" || v == "+" && sign == "|" {
				s.rewrite(i, i+1, "the stages of `"+t.value+"` stand with `"+sign+"` between them", mark(sign))
			}
		}
	case t.kind == WordToken && !isDeclarationWord(t.value) && name.kind == WordToken && !name.lineStart && isDeclarationWord(name.value) && t.value != "no":
		message := "nothing stands before the keyword of a declaration"
		if t.value == "sealed" && name.value == "contract" {
			message = "`sealed` stands behind the name: `contract NAME sealed`"
			if next.sym == symIdent || next.sym == symQualified {
				s.rewrite(s.pos, s.pos+3, message, name, next, t)
				s.tokens[s.pos].lineStart, s.tokens[s.pos].starts = true, true
				return
			}
		}
		if s.rewrite(s.pos, s.pos+1, message) {
			s.tokens[s.pos].lineStart = true
		}
	}
}

// lose notes that what the tokens name could not be read.
func (s *section) lose(from, to int) {
	for i := from; i < to && i < len(s.tokens); i++ {
		t := s.at(i)
		if t.kind != WordToken {
			continue
		}
		if s.tree.Lost == nil {
			s.tree.Lost = map[string]bool{}
		}
		s.tree.Lost[strings.TrimSuffix(t.value, ":")] = true
	}
}
