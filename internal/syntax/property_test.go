package syntax

import (
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

func readTestdata(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(text)
}

func parse(name, text string) (*File, []source.Diagnostic) {
	return Parse(source.NewFile(name, text))
}

// requireSound checks what holds for every input: every span lies in the text,
// children lie in their parents, and the tokens with the gaps between them are
// the text, the gaps holding nothing but white space.
func requireSound(t testing.TB, tree *File, ds []source.Diagnostic) {
	text := tree.Source.Text
	for _, d := range ds {
		requireInside(t, d.Span, 0, len(text))
		require.NotEmpty(t, d.Code)
		require.NotEmpty(t, d.Message)
		for _, f := range d.Fixes {
			requireInside(t, f.Span, 0, len(text))
		}
		for _, r := range d.Related {
			requireInside(t, r.Span, 0, len(text))
		}
	}
	at := 0
	for _, tok := range tree.Tokens {
		requireInside(t, tok.Span, at, len(text))
		require.Empty(t, strings.Trim(text[at:tok.Span.Start], " \t\r\n\uFEFF"))
		at = tok.Span.End
	}
	for _, d := range tree.Decls {
		requireNested(t, d, 0, len(text))
	}
	if tree.Header != nil {
		requireNested(t, tree.Header, 0, len(text))
	}
}

func requireInside(t testing.TB, s source.Span, start, end int) {
	if s.File == nil || s.Start < start || s.End < s.Start || s.End > end {
		require.Failf(t, "span out of range", "%d-%d is not in %d-%d", s.Start, s.End, start, end)
	}
}

// requireNested checks that n and the nodes below it lie between start and end.
func requireNested(t testing.TB, n any, start, end int) {
	Walk(n, func(below any) bool {
		s := below.(interface{ GetSpan() source.Span }).GetSpan()
		requireInside(t, s, start, end)
		if below == n {
			return true
		}
		if e, ok := below.(*Expr); ok {
			s = e.Outer
		}
		requireNested(t, below, s.Start, s.End)
		return false
	})
}

func TestDeletingOneTokenSparesDistantDeclarations(t *testing.T) {
	for _, name := range []string{"support.poptic", "support_test.poptic"} {
		text := readTestdata(t, name)
		whole, _ := parse(name, text)
		for _, tok := range whole.Tokens {
			if tok.Kind == CommentToken {
				continue
			}
			cut := text[:tok.Span.Start] + text[tok.Span.End:]
			tree, ds := parse(name, cut)
			requireSound(t, tree, ds)
			requireSpared(t, whole, tree, tok)
		}
	}
}

// requireSpared checks that all declarations but the one with the token and its
// neighbours are still there, whole.
func requireSpared(t *testing.T, whole, tree *File, tok Token) {
	have := map[string]int{}
	for _, d := range tree.Decls {
		have[d.GetSpan().Text()]++
	}
	hit := len(whole.Decls)
	for i, d := range whole.Decls {
		if d.GetSpan().Start <= tok.Span.Start && tok.Span.Start < d.GetSpan().End {
			hit = i
		}
	}
	if hit == len(whole.Decls) {
		hit = -1 // the header
	}
	for i, d := range whole.Decls {
		if i < hit-1 || i > hit+1 {
			require.NotZero(t, have[d.GetSpan().Text()], "without %q at %d: %q is lost", tok.Span.Text(), tok.Span.Start, d.GetSpan().Text())
		}
	}
}

func TestRandomEditsNeverBreakTheParser(t *testing.T) {
	rounds := 500
	if testing.Short() || raceEnabled {
		rounds = 100
	}
	rnd := rand.New(rand.NewSource(1))
	pieces := append([]string{
		"{", "}", "(", ")", "[", "]", "\"", "'", ",", ":", "?:", "?", "=", "->", "=>", "|", "&", "+", "/", "//", "/*", "/a/{b}", "#", "\n", "\n\n", " ",
		"\t", "\r\n", "0", "-1", "1.5e3", "*", "*:", ";", "é", "“", "\u00a0", "\x01", "x", "a.b", "\"s\"", "{ a > 0 }", "list of", "where {", "[{}]", "'''",
	}, declarationWords...)
	pieces = append(pieces, clauseWords...)
	for range rounds {
		name := []string{"support.poptic", "support_test.poptic"}[rnd.Intn(2)]
		text := readTestdata(t, name)
		for range 1 + rnd.Intn(6) {
			text = edit(rnd, text, pieces)
		}
		tree, ds := parse(name, text)
		requireSound(t, tree, ds)
	}
}

// edit removes, replaces or inserts a piece of text at random.
func edit(rnd *rand.Rand, text string, pieces []string) string {
	if text == "" {
		return pieces[0]
	}
	from := rnd.Intn(len(text))
	to := min(len(text), from+rnd.Intn(20))
	switch rnd.Intn(3) {
	case 0:
		return text[:from] + text[to:]
	case 1:
		return text[:from] + pieces[rnd.Intn(len(pieces))] + text[to:]
	}
	return text[:from] + pieces[rnd.Intn(len(pieces))] + text[from:]
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"support.poptic", "support_test.poptic"} {
		f.Add(readTestdata(f, name))
	}
	f.Add("contract a\ntype T { a: list of { b?: string where { self != '}' } } }")
	f.Add("contract a stage s(p in /a) { read (/a, /b except /c { } ensure {")
	f.Add("state { a b\n}}} phases { a => b, } test \"x\" { patch [ }")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.poptic", "a_test.poptic"} {
			tree, ds := parse(name, text)
			requireSound(t, tree, ds)
		}
	})
}

func ExampleParse() {
	tree, diagnostics := Parse(source.NewFile("a.poptic", "contract shop\nstage pay { red /cart }\n"))
	fmt.Println(tree.Header.Name.Text, len(tree.Decls))
	for _, d := range diagnostics {
		fmt.Println(d.Message, "-", d.Fixes[0].Title)
	}
	// Output:
	// shop 1
	// there is no clause `red` - did you mean `read`?
}
