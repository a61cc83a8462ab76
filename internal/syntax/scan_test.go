package syntax

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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

func TestHalfASurrogatePairIsNoText(t *testing.T) {
	for _, text := range []string{`state { "\ud800": int }`, `type T = "\udc00"`, `region r = /"\ud83d"`, `invariant i "\ud800" { true }`} {
		_, ds := parse("a.poptic", "contract c\n"+text)
		require.Len(t, ds, 1, text)
	}
	_, ds := parse("a.poptic", `contract c state { "\ud83d\ude00": int }`)
	require.Empty(t, ds)
}
