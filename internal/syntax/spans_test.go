package syntax

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

func TestSpansCoverExactlyTheirText(t *testing.T) {
	text := `contract a.b sealed # end
import "x" as y # end
state { s?: map of (string where { self != "" }) } # end
stage go(p new in /s/{q}) { # end
  read /s/"k"/(a|b) except secrets, r # end
  ensure {  after.x > 1 # no comment
  }
  discloses next q , /t
}
`
	tree, ds := parse("a.poptic", text)
	require.Empty(t, ds)
	var got []string
	Walk(tree, func(n any) bool {
		if e, ok := n.(*Expr); ok {
			require.Equal(t, "{"+e.Text+"}", e.Outer.Text())
			require.Equal(t, e.Text, e.Span.Text())
		}
		if has, ok := n.(interface{ GetSpan() source.Span }); ok {
			got = append(got, has.GetSpan().Text())
		}
		return true
	})
	require.Equal(t, []string{
		"contract a.b sealed", "a.b",
		`import "x" as y`, `"x"`, "y",
		`state { s?: map of (string where { self != "" }) }`, `{ s?: map of (string where { self != "" }) }`,
		`s?: map of (string where { self != "" })`, "s", `map of (string where { self != "" })`, "map",
		`string where { self != "" }`, "string", "string", ` self != "" `,
		text[len(text)-len(tree.Decls[2].GetSpan().Text())-1 : len(text)-1], "go",
		"p new in /s/{q}", "p", "/s/{q}", "s", "{q}",
		`read /s/"k"/(a|b) except secrets, r`, "read", `/s/"k"/(a|b) except secrets, r`, `/s/"k"/(a|b) except secrets`,
		`/s/"k"/(a|b)`, `/s/"k"/(a|b)`, "s", `"k"`, "(a|b)", "a", "b", "secrets", "r", "r", "r",
		"ensure {  after.x > 1 # no comment\n  }", "ensure", "  after.x > 1 # no comment\n  ",
		"discloses next q , /t", "discloses", "next q", "next", "q", "/t", "/t", "t",
	}, got)
}

func TestCommentsDirectlyAboveAreDocumentation(t *testing.T) {
	tree, ds := parse("a.poptic", `# not this

# Head
#   two
contract c # nor this
# of T
type T { # trailing
  # of a
  a: int
  # lost

  b: int }
# of s
stage s {
  # of read
  read /a  # beside
  write /a
}
`)
	require.Empty(t, ds)
	require.Equal(t, "Head\n  two", tree.Header.Doc)
	record := tree.Decls[0].(*TypeDecl)
	require.Equal(t, "of T", record.Doc)
	require.Equal(t, "of a", record.Type.(*RecordType).Fields[0].Doc)
	require.Empty(t, record.Type.(*RecordType).Fields[1].Doc)
	stage := tree.Decls[1].(*StageDecl)
	require.Equal(t, "of s", stage.Doc)
	require.Equal(t, "of read", stage.Clauses[0].Doc)
	require.Empty(t, stage.Clauses[1].Doc)
}

func TestTokensTellTheirClass(t *testing.T) {
	tree, _ := parse("a_test.poptic", "test \"x\" { state {\"a\":1} expect view { v } } # c\ntype T { a: 1 \"b\": x } region r = /a @")
	kinds := map[string]TokenKind{}
	for _, tok := range tree.Tokens {
		kinds[tok.Span.Text()] = tok.Kind
	}
	require.Equal(t, map[string]TokenKind{
		"test": WordToken, `"x"`: StringToken, "{": PunctToken, "state": WordToken, `{"a":1}`: JSONToken, "expect": WordToken,
		"view": WordToken, "{ v }": ExprToken, "}": PunctToken, "# c": CommentToken, "type": WordToken, "T": WordToken,
		"a": FieldToken, ":": PunctToken, "1": NumberToken, `"b"`: FieldToken, "x": WordToken, "region": WordToken, "r": WordToken,
		"=": PunctToken, "/a": PathToken, "@": BadToken,
	}, kinds)
}

func TestExpressionsEndAtTheirMatchingBrace(t *testing.T) {
	for _, cel := range []string{
		``, ` a `, `{}`, `{"}": 1}`, `'}'`, `"\"}"`, `'''}'''`, `""" " } """`, `r'\'`, `br"\"`, `b'}'`, "a // }\n", `'\'}'`, `"{"`, "'''\n'}'\n'''", `a / b`,
	} {
		tree, ds := parse("a.poptic", "contract c\ninvariant i {"+cel+"}\nregion r = /a")
		require.Empty(t, ds, cel)
		require.Equal(t, cel, tree.Decls[0].(*InvariantDecl).Expr.Text)
		require.Len(t, tree.Decls, 2, cel)
	}
}

func TestPathsEndWhereTheLanguageSays(t *testing.T) {
	for text, want := range map[string]string{
		"/a b": "/a", "/a,b": "/a", "/a&b": "/a", "/a#b": "/a", "/a)": "/a", "/a}": "/a", "/a{b}": "/a", "/{b}c": "/{b}c", "/{b}{": "/{b}",
		"/(a|b))": "/(a|b)", `/"a b,)"/c d`: `/"a b,)"/c`, `/a"b c`: `/a"b`, `/(x|"y)|")z`: `/(x|"y)|")z`, "/**": "/**", "/a\tb": "/a", "/": "/",
	} {
		require.Equal(t, want, text[:pathEnd(text, 0)], text)
	}
}

func TestMistakesKeepWhatWasMeant(t *testing.T) {
	tree, ds := parse("a.poptic", "contract c\nstgae s {\n  red /a\n  by\n  write /b foo\n  ensure { true\n}\ntype T { a int, b: mpa of string }\n")
	require.Len(t, ds, 8)
	stage := tree.Decls[0].(*StageDecl)
	var clauses []string
	for _, c := range stage.Clauses {
		clauses = append(clauses, c.Keyword.Text)
	}
	require.Equal(t, []string{"read", "write", "ensure"}, clauses)
	require.Equal(t, "/b", stage.Clauses[1].Region.Grants[0].Intersect[0].Path.Text)
	require.Equal(t, " true", stage.Clauses[2].Expr.Text)
	record := tree.Decls[1].(*TypeDecl).Type.(*RecordType)
	require.Equal(t, "a", record.Fields[0].Name.Text)
	require.Equal(t, "map", record.Fields[1].Type.(*ContainerType).Keyword.Text)
}

func TestTheGrammarTextNamesEveryDeclaration(t *testing.T) {
	for _, word := range append(declarationWords, clauseWords...) {
		require.Contains(t, Grammar(), `"`+word+`"`)
	}
}
