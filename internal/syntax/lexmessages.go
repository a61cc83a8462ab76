package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/diagnostic"
)

// Characters and literals.

func (m *messages) badCharacter(start, end int) {
	text := m.textOf(start, end)
	r := []rune(text)[0]
	switch {
	case text == ";":
		m.report(diagnostic.BadCharacter, start, end, "there are no separators; every clause starts with its keyword",
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

func (m *messages) blockComment(start, end int) {
	m.report(diagnostic.BadComment, start, end, "comments begin with `#` and end with the line", "")
}

func (m *messages) lonePath(start, end int) {
	m.report(diagnostic.BadPath, start, end, "a lone `/` is no path; everything, the root included, is `/**`", "",
		m.fix("write `/**`", start, end, "/**"))
}

func (m *messages) badPath(start, end int, mistake string) {
	m.report(diagnostic.BadPath, start, end, "this segment is no part of a path: "+mistake, "")
}
