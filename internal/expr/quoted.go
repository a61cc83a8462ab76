package expr

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Members of any name. A member may be called as any JSON string, and CEL's own names in
// backquotes hold few characters. So what stands in backquotes is a JSON string here, of
// which CEL is shown as many characters that it takes; the name is put into the tree
// afterwards.

// reserved are the words of CEL that name nothing in an expression. The first four are no
// members either, unless in backquotes.
var reserved = []string{
	"in", "true", "false", "null",
	"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace",
	"return", "var", "void", "while",
}

// IsReserved reports whether a word can name nothing in expressions: a parameter, an entry,
// a measure. A member may have any name.
func IsReserved(word string) bool { return slices.Contains(reserved, word) }

// isMemberName reports whether a member of that name is written without backquotes.
func isMemberName(name string) bool { return isName(name) && !slices.Contains(reserved[:4], name) }

// memberSpelling is how a member is written after a dot.
func memberSpelling(name string) string {
	if isMemberName(name) {
		return name
	}
	text := strings.TrimSuffix(strings.TrimPrefix(jsonText(name), `"`), `"`)
	return "`" + strings.ReplaceAll(strings.ReplaceAll(text, "`", `\u0060`), `\"`, `"`) + "`"
}

// jsonText is a JSON string that escapes no more than it must.
func jsonText(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// quotedName is the name that a token in backquotes spells.
func quotedName(text string) (name string, ok bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "`"), "`")
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		switch {
		case inner[i] == '\\' && i+1 < len(inner):
			b.WriteByte(inner[i])
			i++
		case inner[i] == '"':
			b.WriteByte('\\') // needs no escape here
		}
		b.WriteByte(inner[i])
	}
	return name, json.Unmarshal([]byte(`"`+b.String()+`"`), &name) == nil && utf8.ValidString(name)
}

// quotedLength is the length of the name in backquotes at the start of s; one without an
// end reaches to the end of its line.
func quotedLength(s string) (n int, closed bool) {
	for at := 1; at < len(s) && s[at] != '\n'; at++ {
		switch s[at] {
		case '\\':
			at++
		case '`':
			return at + 1, true
		}
	}
	return spanOf(s, func(c byte) bool { return c != '\n' }), false
}

// hideNames is src as CEL reads it, of as many characters.
func hideNames(src string, tokens []token) string {
	var out strings.Builder
	at := 0
	for _, t := range tokens {
		if t.kind != quotedToken {
			continue
		}
		out.WriteString(src[at:t.start])
		if n := utf8.RuneCountInString(src[t.start+1 : t.end-1]); n > 0 {
			out.WriteString("`" + strings.Repeat("-", n) + "`")
		} else {
			out.WriteString("__") // CEL has no empty name
		}
		at = t.end
	}
	return out.String() + src[at:]
}

// showNames puts the names of a source into the tree that was made of it without them; ok
// is false if one has no place there.
func showNames(tree *ast.AST, x *extents) (ok bool) {
	left := map[int]bool{}
	for i, t := range x.tokens {
		if t.kind == quotedToken {
			left[i] = true
		}
	}
	if len(left) == 0 {
		return true
	}
	factory := ast.NewExprFactory()
	name := func(e ast.Expr) (string, bool) {
		i := x.tokenAt(x.memberName(e).start)
		if x.tokens[i].kind != quotedToken {
			return "", false
		}
		delete(left, i)
		return quotedName(x.text(i))
	}
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.SelectKind:
			s := e.AsSelect()
			text, quoted := name(e)
			switch {
			case !quoted:
			case s.IsTestOnly():
				e.SetKindCase(factory.NewPresenceTest(e.ID(), s.Operand(), text))
			default:
				e.SetKindCase(factory.NewSelect(e.ID(), s.Operand(), text))
			}
		case callName(e) == operators.OptSelect:
			if text, quoted := name(e); quoted {
				at := e.AsCall().Args()[1]
				at.SetKindCase(factory.NewLiteral(at.ID(), types.String(text)))
			}
		}
	}))
	return len(left) == 0
}
