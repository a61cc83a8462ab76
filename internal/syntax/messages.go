package syntax

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/lang/source"
)

// messages collects the diagnostics of a file. Its methods are the catalogue of
// what scanning and parsing can say; nothing else words a message.
type messages struct {
	file  *source.File
	room  int // diagnostics that may still be added; the others are dropped
	diags []source.Diagnostic

	fields map[string]bool // see namesField
}

// report adds a finding about the bytes from start to end.
func (m *messages) report(k *diagnostic.Kind, start, end int, message, help string, fixes ...source.Fix) *source.Diagnostic {
	d := k.Diagnostic(m.span(start, end), help, message)
	d.Fixes = fixes
	if m.room == 0 {
		return &d
	}
	m.room--
	m.diags = append(m.diags, d)
	return &m.diags[len(m.diags)-1]
}

func (m *messages) span(start, end int) source.Span {
	return source.Span{File: m.file, Start: start, End: end}
}

func (m *messages) fix(title string, start, end int, text string) source.Fix {
	return source.Fix{Title: title, Span: m.span(start, end), Text: text}
}

func (m *messages) textOf(start, end int) string { return m.file.Text[start:end] }

// The whole file.

func (m *messages) notText(offset int) {
	help := ""
	if strings.HasPrefix(m.file.Text, "\xff\xfe") || strings.HasPrefix(m.file.Text, "\xfe\xff") {
		help = "it looks like UTF-16; save it as UTF-8"
	}
	m.report(diagnostic.NotText, offset, offset+1,
		fmt.Sprintf("the file is not text (byte 0x%02x at offset %d)", m.file.Text[offset], offset), help)
}

func (m *messages) notUTF8(offset int) {
	m.report(diagnostic.NotText, offset, offset+1,
		fmt.Sprintf("the file is not valid UTF-8 (byte 0x%02x at offset %d)", m.file.Text[offset], offset), "save the file as UTF-8")
}

func (m *messages) empty() {
	m.report(diagnostic.EmptyFile, 0, 0, "the file is empty; a contract starts with `contract NAME`", "")
}

func (m *messages) limit(name string, bound, start, end int) {
	m.report(diagnostic.LimitExceeded, start, end, fmt.Sprintf("the %s limit of %d is exceeded", name, bound), "")
}

func (m *messages) tooMany(start int) {
	m.report(diagnostic.TooManyMistakes, start, start, "there are more mistakes than are shown; the rest of the file was not read", "")
}

func (m *messages) missingHeader(start int) {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(m.file.Name, `\`, "/")), ".poptic")
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && isWordPart(byte(r)) {
			return r
		}
		return '_'
	}, name)
	if name == "" || !isWordStart(name[0]) {
		name = "my_contract"
	}
	line := "contract " + name
	m.report(diagnostic.MissingHeader, start, start, "the file does not say what it is; it starts with `contract NAME` or `library NAME`", "",
		m.fix("add `"+line+"`", start, start, line+"\n\n"))
}

func (m *messages) misplacedHeader(start, end int, second bool) {
	message, help := "the header comes first, before every declaration", "move it to the first line"
	if second {
		message = "the file has a header already; one file holds one contract or library"
		help = "give it a file of its own; what both need stands in a library, which they import"
	}
	m.report(diagnostic.MisplacedHeader, start, end, message, help)
}

// Characters and literals.

func (m *messages) badCharacter(start, end int) {
	text := m.textOf(start, end)
	r := []rune(text)[0]
	switch {
	case text == ";":
		m.report(diagnostic.BadCharacter, start, end, "there are no separators between declarations, clauses or fields",
			"", m.fix("remove `;`", start, end, ""))
	case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r):
		m.report(diagnostic.BadCharacter, start, end, fmt.Sprintf("the invisible character U+%04X means nothing here", r),
			"", m.fix("replace it by a space", start, end, " "))
	case text == "'" || text == "`" || strings.ContainsRune("“”„‟«»‘’", r):
		m.report(diagnostic.BadCharacter, start, end, fmt.Sprintf("the quotation mark %s opens nothing; strings stand in double quotation marks", text), "")
	case unicode.IsPrint(r):
		m.report(diagnostic.BadCharacter, start, end, fmt.Sprintf("the character `%s` means nothing here", text),
			"outside CEL in braces only names, numbers, strings, paths and a few marks occur")
	default:
		m.report(diagnostic.BadCharacter, start, end, fmt.Sprintf("the control character U+%04X means nothing here", r), "")
	}
}

func (m *messages) openString(start, end int) {
	m.report(diagnostic.BadString, start, end, "the string is not closed; it ends with its line", "",
		m.fix(`add the closing "`, end, end, `"`))
}

func (m *messages) badString(start, end int) {
	m.report(diagnostic.BadString, start, end, "this is no JSON string",
		`the escapes are \" \\ \/ \b \f \n \r \t and \uXXXX, in pairs from \uD800 to \uDFFF`)
}

func (m *messages) foreignQuotes(start, end int, quoted string) {
	m.report(diagnostic.BadString, start, end, "strings stand in double quotation marks", "", m.fix("write "+quoted, start, end, quoted))
}

func (m *messages) badJSON(start, end int) {
	for start > 0 && !utf8.RuneStart(m.file.Text[start]) {
		start--
	}
	m.report(diagnostic.BadJSON, start, end, "the text stops being JSON here", "")
}

func (m *messages) badNumber(start, end int) {
	m.report(diagnostic.BadNumber, start, end, "this is no JSON number", "")
}

func (m *messages) badName(start, end int, field bool) {
	text := m.textOf(start, end)
	if field {
		quoted := strconv.Quote(text)
		m.report(diagnostic.BadName, start, end, "names consist of ASCII letters, digits and `_`; another field name is quoted", "",
			m.fix("write "+quoted, start, end, quoted))
		return
	}
	d := m.report(diagnostic.BadName, start, end, "names consist of ASCII letters, digits and `_`", "")
	plain := strings.ReplaceAll(text, "-", "_")
	if wordEnd(plain, 0) == len(plain) {
		d.Fixes = append(d.Fixes, m.fix("write "+plain, start, end, plain))
	}
}

func (m *messages) slashComment(start, end int) {
	text := m.textOf(start, end)
	m.report(diagnostic.BadComment, start, start+2, "comments begin with `#`", "",
		m.fix("begin the comment with `#`", start, end, "#"+strings.TrimPrefix(text, "//")))
}

func (m *messages) dashComment(start, end int) {
	m.report(diagnostic.BadComment, start, start+2, "comments begin with `#`", "",
		m.fix("begin the comment with `#`", start, end, "#"+strings.TrimPrefix(m.textOf(start, end), "--")))
}

func (m *messages) blockComment(start, end int) {
	text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(m.textOf(start, end), "/*"), "*"), "*/")
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight("# "+strings.TrimLeft(strings.TrimSpace(line), "* "), " "))
	}
	d := m.report(diagnostic.BadComment, start, end, "comments begin with `#` and end with the line", "")
	if rest := m.file.Text[end:]; len(lines) > 0 && (rest == "" || rest[0] == '\n' || rest[0] == '\r') {
		d.Fixes = append(d.Fixes, m.fix("begin every line with `#`", start, end, strings.Join(lines, "\n")))
	}
}

func (m *messages) fence(start, end int) {
	m.report(diagnostic.BadCharacter, start, end, "a fence of Markdown is no part of the file", "", m.fix("remove it", start, end, ""))
}

func (m *messages) longArrow(start, end int) {
	m.report(diagnostic.BadCharacter, start, end, "an arrow is written `->`", "", m.fix("write `->`", start, end, "->"))
}

func (m *messages) minus(start, end int) {
	m.report(diagnostic.BadCharacter, start, end, "what a grant leaves out stands behind `except`", "", m.fix("write `except`", start, end, "except"))
}

func (m *messages) lonePath(start, end int) {
	m.report(diagnostic.BadPath, start, end, "a lone `/` is no path; everything, the root included, is `/**`", "",
		m.fix("write `/**`", start, end, "/**"))
}

func (m *messages) badPath(start, end int, mistake string) {
	m.report(diagnostic.BadPath, start, end, "this segment is no part of a path: "+mistake, "")
}

// badSegment is about a segment of which it is known what was meant.
func (m *messages) badSegment(start, end int, message, meant string) {
	title := "write `" + meant + "`"
	if meant == "" {
		title = "remove it"
	}
	m.report(diagnostic.BadPath, start, end, message, "", m.fix(title, start, end, meant))
}

// Structure.

func (m *messages) unclosed(opener, place int, bracket string) {
	closing := map[string]string{"{": "}", "(": ")", "[": "]"}[bracket]
	d := m.report(diagnostic.Unclosed, place, place,
		fmt.Sprintf("expected `%s`; the `%s` of line %d is not closed", closing, bracket, m.file.Position(opener).Line), "")
	if strings.Count(m.textOf(opener, place), `"`)%2 == 0 { // else a string may have swallowed it
		d.Fixes = []source.Fix{m.fix("add `"+closing+"`", place, place, closing)}
	}
	d.Related = []source.Related{{Message: "it is opened here", Span: m.span(opener, min(opener+1, len(m.file.Text)))}}
}

func (m *messages) missingBrace(prev token) {
	m.report(diagnostic.Missing, prev.end, prev.end, fmt.Sprintf("expected `{` after %s", after(prev)), "", m.fix("add `{`", prev.end, prev.end, " {"))
}

func (m *messages) closesNothing(t token) {
	m.report(diagnostic.Unopened, t.start, t.end, fmt.Sprintf("this `%s` closes nothing", t.value), "",
		m.fix("remove it", t.start, t.end, ""))
}

func (m *messages) headerBraces(t token) {
	m.report(diagnostic.HeaderBraces, t.start, t.end, "the header has no braces; the declarations of the file follow it", "take away this `{`, and the `}` at the end of the file")
}

func (m *messages) unknownDeclaration(t token, meant string) {
	if meant == "" {
		m.report(diagnostic.UnknownDeclaration, t.start, t.end, fmt.Sprintf("expected a declaration, found %s", describe(t)),
			"declarations start with "+orList(declarationWords[2:]))
		return
	}
	m.report(diagnostic.UnknownDeclaration, t.start, t.end, fmt.Sprintf("there is no declaration `%s`", t.value), "",
		m.didYouMean(t, meant))
}

func (m *messages) strayClause(t token) {
	m.report(diagnostic.MisplacedClause, t.start, t.end,
		fmt.Sprintf("`%s` is a clause; it stands in the braces of a stage", t.value), "a `}` before it may close the stage too early")
}

// afterDeclaration is about what follows a declaration on its line.
func (m *messages) afterDeclaration(t token, help string) {
	m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("unexpected %s; the declaration before it is complete", describe(t)), help)
}

func (m *messages) unknownClause(t token, meant string, words []string) {
	if meant == "" {
		help := noClauses[t.value]
		if help == "" {
			help = "the clauses are " + orList(words)
		}
		m.report(diagnostic.UnknownClause, t.start, t.end, fmt.Sprintf("expected a clause, found %s", describe(t)), help)
		return
	}
	m.report(diagnostic.UnknownClause, t.start, t.end, fmt.Sprintf("there is no clause `%s`", t.value), "", m.didYouMean(t, meant))
}

func (m *messages) unknownWord(t token, meant string) {
	m.report(diagnostic.UnknownWord, t.start, t.end, fmt.Sprintf("unexpected %s, expected `%s`", describe(t), meant), "", m.didYouMean(t, meant))
}

func (m *messages) didYouMean(t token, meant string) source.Fix {
	return m.fix("did you mean `"+meant+"`?", t.start, t.end, meant)
}

// expected reports that something is missing or wrong: after prev, at t.
func (m *messages) expected(prev, t token, what string) {
	switch {
	case what == "":
		m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("unexpected %s", describe(t)), "")
	case t.lineStart || t.value == "}":
		m.report(diagnostic.Missing, prev.end, prev.end, fmt.Sprintf("expected %s after %s", what, after(prev)), "")
	case what == "a path" && (t.sym == symIdent || t.sym == symQualified):
		d := m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("expected a path after %s; a path starts with `/`", after(prev)), "")
		name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(t.value, "state."), "before."), "after.")
		if path := "/" + strings.ReplaceAll(name, ".", "/"); m.namesField(strings.Split(name, ".")[0]) && (t.sym == symIdent || name != t.value) {
			d.Fixes = append(d.Fixes, m.fix("write `"+path+"`", t.start, t.end, path))
		}
	default:
		m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("unexpected %s after %s, expected %s", describe(t), after(prev), what), "")
	}
}

// helped adds help to what was reported since n findings, where there is none.
func (m *messages) helped(n int, help string) {
	if len(m.diags) > n && help != "" {
		if d := &m.diags[len(m.diags)-1]; d.Help == "" && len(d.Fixes) == 0 {
			d.Help = help
		}
	}
}

// namesField reports whether the file has a field of a name, by its text. A name that was
// put in where one is missing is empty and names none.
func (m *messages) namesField(name string) bool {
	if m.fields == nil {
		m.fields = map[string]bool{}
		for text, at := m.file.Text, 0; at < len(text); at++ {
			if end := wordEnd(text, at); end > at {
				if followedByColon(text[end:]) {
					m.fields[text[at:end]] = true
				}
				at = end
			}
		}
	}
	return m.fields[name]
}

// Mistakes whose correction is known.

func (m *messages) fatArrow(t token) {
	m.report(diagnostic.Unexpected, t.start, t.end, "an arrow is written `->`", "", m.fix("write `->`", t.start, t.end, "->"))
}

func (m *messages) markAfterKeyword(keyword, t token) {
	m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("no `%s` follows the keyword `%s`", t.value, keyword.value), "",
		m.fix("remove `"+t.value+"`", t.start, t.end, ""))
}

func (m *messages) needlessComma(t token, things string) {
	m.report(diagnostic.NeedlessComma, t.start, t.end, things+" need no comma between them", "", m.fix("remove the comma", t.start, t.end, ""))
}

func (m *messages) missingComma(prev token) {
	m.report(diagnostic.Missing, prev.end, prev.end, "expected `,` between two paths", "", m.fix("add the comma", prev.end, prev.end, ","))
}

func (m *messages) danglingComma(t token) {
	m.report(diagnostic.DanglingComma, t.start, t.end, "nothing follows this comma", "", m.fix("remove the comma", t.start, t.end, ""))
}

func (m *messages) lateMessage(message, condition token) {
	d := m.report(diagnostic.Unexpected, message.start, message.end, "the message stands before the braces, not after them", "")
	if text := m.textOf(condition.start, message.end); strings.HasSuffix(text, m.textOf(message.start, message.end)) {
		d.Fixes = append(d.Fixes, m.fix("move the message", condition.start, message.end, m.textOf(message.start, message.end)+" "+m.textOf(condition.start, condition.end)))
	}
}

func (m *messages) lateName(name, message token) {
	m.report(diagnostic.Unexpected, name.start, name.end, "the name stands before the message", "",
		m.fix("put the name first", message.start, name.end, m.textOf(name.start, name.end)+" "+m.textOf(message.start, message.end)))
}

func (m *messages) bareMessage(keyword, first, last token) {
	text := m.textOf(first.start, last.end)
	m.report(diagnostic.Unexpected, first.start, last.end, fmt.Sprintf("the message of `%s` stands in quotation marks", keyword.value), "",
		m.fix("put it in quotation marks", first.start, last.end, strconv.Quote(text)))
}

func (m *messages) markAfterName(name, t token) {
	m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("no `%s` follows the name `%s`", t.value, name.value), "",
		m.fix("remove `"+t.value+"`", t.start, t.end, ""))
}

func (m *messages) bareCondition(keyword, first, last token) {
	m.report(diagnostic.Unexpected, first.start, last.end, fmt.Sprintf("the condition of `%s` stands in braces; it is CEL", keyword.value), "",
		m.fix("put it in braces", first.start, last.end, "{ "+m.textOf(first.start, last.end)+" }"))
}

func (m *messages) arrayBrackets(element, opening, closing token) {
	d := m.report(diagnostic.Unexpected, opening.start, closing.end, "a list type is written `list of T`", "")
	if element.sym == symIdent || element.sym == symQualified {
		d.Fixes = append(d.Fixes, m.fix("write `list of "+element.value+"`", element.start, closing.end, "list of "+element.value))
	}
}

func (m *messages) optionalType(field, mark token) {
	d := m.report(diagnostic.Unexpected, mark.start, mark.end, "the `?` of an optional member stands before its colon: `name?: T`", "")
	if field.kind == FieldToken {
		typ := m.textOf(field.end, mark.start)
		d.Fixes = append(d.Fixes, m.fix("move the `?`", field.end, mark.end, "?: "+strings.TrimLeft(typ, " \t:")))
	}
}

func (m *messages) missingColon(name, last, after token) {
	if after.value == "=" {
		m.report(diagnostic.MissingColon, after.start, after.end, "a field is written `name: type`", "", m.fix("write `:`", last.end, after.end, ":"))
		return
	}
	m.report(diagnostic.MissingColon, last.end, last.end, fmt.Sprintf("expected `:` after the field name `%s`", name.value), "",
		m.fix("add `:`", last.end, last.end, ":"))
}

func (m *messages) restNotLast(rest token) {
	m.report(diagnostic.MisplacedRest, rest.start, rest.end, "`*: T` comes after all fields of the record", "move it to the end of the record")
}

func (m *messages) missingMark(prev, t token, mark string) {
	if t.sym == symPunct && bracketStep(t) == 0 || slices.Contains(connectives, t.value) {
		d := m.report(diagnostic.Unexpected, t.start, t.end, fmt.Sprintf("expected `%s`, found %s", mark, describe(t)), "")
		text := mark
		if isWordStart(mark[0]) && t.start == prev.end {
			text = " " + text
		}
		if mark != "in" || strings.HasPrefix(strings.TrimLeft(m.file.Text[t.end:], " "), "/") || t.kind == WordToken {
			d.Fixes = append(d.Fixes, m.fix("write `"+mark+"`", t.start, t.end, text))
		} else {
			d.Help = "a parameter is a key of a map: `NAME in /PATH`"
		}
		return
	}
	if mark == "in" && t.sym != symPath && !m.namesField(t.value) {
		m.report(diagnostic.Missing, prev.end, prev.end, fmt.Sprintf("expected `%s` after %s", mark, after(prev)), "a parameter is a key of a map: `NAME in /PATH`")
		return
	}
	m.report(diagnostic.Missing, prev.end, prev.end, fmt.Sprintf("expected `%s` after %s", mark, after(prev)), "",
		m.fix("add `"+mark+"`", prev.end, prev.end, " "+mark))
}

func (m *messages) missingName(keyword, t token, what string) {
	m.report(diagnostic.MissingName, keyword.end, keyword.end, fmt.Sprintf("expected %s after `%s`", what, keyword.value), "")
}

// What a complete tree still gets wrong.

func (m *messages) reservedName(n *Name) {
	m.report(diagnostic.ReservedName, n.Span.Start, n.Span.End, fmt.Sprintf("`%s` is a keyword and cannot name a declaration", n.Text), "choose another name")
}

func (m *messages) dottedName(n *Name) {
	m.report(diagnostic.BadName, n.Span.Start, n.Span.End, "a declared name has no dots; only the header's and imported names do", "")
}

func (m *messages) unionAfterOf(union, first source.Span, start int) {
	elements := m.textOf(start, union.End)
	m.report(diagnostic.AmbiguousUnion, first.Start, union.End, "`|` after `of T` is ambiguous; parentheses say what is meant", "",
		m.fix("put the union in parentheses", start, union.End, "("+elements+")"),
		m.fix("put the container in parentheses", first.Start, first.End, "("+m.textOf(first.Start, first.End)+")"))
}

func (m *messages) unknownOf(n *Name, what string, words []string) {
	d := m.report(diagnostic.UnknownWord, n.Span.Start, n.Span.End, fmt.Sprintf("there is no %s `%s`", what, n.Text), "it is one of "+orList(words))
	if meant := spell.Nearest(n.Text, words); meant != "" {
		d.Fixes = append(d.Fixes, m.fix("did you mean `"+meant+"`?", n.Span.Start, n.Span.End, meant))
	}
}

func (m *messages) duplicateClause(c, first *TestClause) {
	word, where := c.Keyword, "a step has"
	if word.Text == "state" || word.Text == "phase" {
		where = "a test has"
	}
	d := m.report(diagnostic.DuplicateClause, word.Span.Start, word.Span.End, fmt.Sprintf("%s one clause `%s`", where, word.Text), "")
	d.Related = []source.Related{{Message: "the first is here", Span: first.Keyword.Span}}
}

func (m *messages) wrong(k *diagnostic.Kind, at source.Span, message, help string) {
	m.report(k, at.Start, at.End, message, help)
}

// How tokens and lists of words are named.

// describe names a token in a message. What the token holds is shown where it is
// short enough to help.
func describe(t token) string {
	switch t.sym {
	case symEOF:
		return "end of file"
	case symExpr:
		return "expression in braces"
	case symJSON:
		return "JSON"
	case symString:
		return "string"
	}
	text := strings.TrimSuffix(t.value, ":")
	if t.kind != FieldToken {
		text = t.value
	}
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	if t.kind == FieldToken {
		return "field name `" + strings.ToValidUTF8(text, "") + "`"
	}
	return "`" + strings.ToValidUTF8(text, "") + "`"
}

// after names a token that something follows.
func after(t token) string {
	if text := describe(t); text[0] != '`' {
		return "the " + text
	}
	return describe(t)
}

// orList joins words as "`a`, `b` or `c`".
func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "`" + w + "`"
	}
	return joinOr(quoted)
}

func joinOr(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " or " + parts[last]
}
