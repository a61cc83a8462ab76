package syntax

import (
	"fmt"
	"os"
	"strings"
	"sync"
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
// children lie in their parents, the tokens with the gaps between them are the
// text, the gaps holding nothing but white space, and no node of a type is one
// that the text does not have.
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
		switch below := below.(type) {
		case *UnionType:
			require.Greater(t, len(below.Alternatives), 1)
		case *WhereType:
			require.NotEmpty(t, below.Constraints)
		case *typeGroup:
			require.Fail(t, "parentheses in the tree")
		}
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

func FuzzParse(f *testing.F) {
	for _, name := range []string{"support.poptic", "support_test.poptic"} {
		f.Add(readTestdata(f, name))
	}
	f.Add("contract a\ntype T { a: list of { b?: string where { self != '}' } } }")
	f.Add("contract a stage s(p in /a) { read (/a, /b except /c { } ensure {")
	f.Add("state { a b\n}}} phases { a => b, } test \"x\" { patch [ }")
	for _, text := range []string{
		"contract a\nconst MOST = 3\nconst OPEN = \"open\"\nroles staff = clerk, bosses\nroles bosses = boss\ndefine low(e, most) = { e.a < most && e.s != OPEN }",
		"contract a\ntype T = { ok: true  v: decimal where \"v is small\" { self * 0.5 <= 1e3 } } | { ok: false  \"x-y\": OPEN | null }\nstate { m: map of T }",
		"contract a\nmeasure b = sum /m/*/v where { self.ok }\ninvariant c each k, x in /m/* \"m\" { k != x.`x-y` }\ninvariant d \"m\" unique /m/*/a, /m/*/b",
		"contract a\nchange c { after.n >= before.n || role == \"u\" && actor != \"\" && now > timestamp(\"2026-01-01T00:00:00Z\") }\nchange d each k, x in /m/* \"m\" { before == after }",
		"contract a\nstage s(p in /m where { state.m[p].u == user }, q new in /n, v: Said, w: secret (\"a\" | 1.50)) {\n  by staff\n  write create, update /m/{p}, delete (/n, /o), blind /m/*\n  require own \"m\" { w == \"a\" }\n  ensure { v.n > 0 }\n  discloses own, c\n}",
		"contract a\nstate { const: int  define: int  roles: int  change: int  create: int }\nstage s { write create, update }\nregion update = /const",
		"given a = { \"m\": {} }\ntest \"t\" {\n  state a with [{ \"op\": \"add\", \"path\": \"/m/x\", \"value\": 1 }]\n  role u  actor \"ann\"  now \"2026-01-01T00:00:00Z\"\n  stage s(p: \"x\", v: { \"n\": 1 })\n  case \"c\" (x: 1) { expect reject invariant c }\n}",
	} {
		f.Add(text)
	}
	for _, c := range mistakeChunks(f) {
		f.Add(c.plain())
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.poptic", "a_test.poptic"} {
			tree, ds := parse(name, text)
			requireSound(t, tree, ds)
		}
	})
}

// only requires that a text has exactly one diagnostic, and returns it.
func only(t *testing.T, text string, limits Limits) source.Diagnostic {
	t.Helper()
	tree, ds := ParseWithLimits(source.NewFile("a.poptic", text), limits)
	requireSound(t, tree, ds)
	require.Len(t, ds, 1, "%v", ds)
	return ds[0]
}

func TestEveryLimitIsReportedWithItsNameAndBound(t *testing.T) {
	with := func(change func(*Limits)) Limits {
		l := DefaultLimits
		change(&l)
		return l
	}
	for _, c := range []struct {
		name, fits, exceeds string
		limits              Limits
	}{
		{"file size limit of 12", "contract abc", "contract abcd", with(func(l *Limits) { l.FileSize = 12 })},
		{"nesting limit of 2", "contract c\ntype T = ((a))", "contract c\ntype T = (((a)))", with(func(l *Limits) { l.Nesting = 2 })},
		{"nesting limit of 2", "contract c\ntype T = map of secret a", "contract c\ntype T = map of secret set of a", with(func(l *Limits) { l.Nesting = 2 })},
		{"declarations limit of 1", "contract c\ntype T = a", "contract c\ntype T = a\ntype U = a\ntype V = a", with(func(l *Limits) { l.Declarations = 1 })},
		{"pattern length limit of 4", "contract c\nregion a = /abc", "contract c\nregion a = /abcd", with(func(l *Limits) { l.PathLength = 4 })},
		{"string length limit of 5", "contract c\ntype T = \"abc\"", "contract c\ntype T = \"abcd\"", with(func(l *Limits) { l.StringLength = 5 })},
		{"expression length limit of 5", "contract c\ninvariant a {abc}", "contract c\ninvariant a {abcd}", with(func(l *Limits) { l.ExprLength = 5 })},
	} {
		_, ds := ParseWithLimits(source.NewFile("a.poptic", c.fits), c.limits)
		require.Empty(t, ds, c.name)
		d := only(t, c.exceeds, c.limits)
		require.Equal(t, "limit_exceeded", d.Code)
		require.Contains(t, d.Message, c.name)
	}
}

func TestTheNumberOfDiagnosticsIsBounded(t *testing.T) {
	limits := DefaultLimits
	limits.Diagnostics = 3
	_, ds := ParseWithLimits(source.NewFile("a.poptic", "contract c\n"+strings.Repeat("foo /x\n", 10)), limits)
	require.Len(t, ds, 4)
	require.Equal(t, "too_many_mistakes", ds[3].Code)
}

func TestHostileFilesAreAnsweredWithFewDiagnostics(t *testing.T) {
	size := 1 << 15
	if testing.Short() || raceEnabled {
		size = 1 << 14
	}
	for _, unit := range []string{"{", "(", "}", ")", "@", "\"", "'", "/", "/a{", "/(", "/*\n", "stage s { ensure {\n", "x\n", "a: ", "[", "\\", "'''"} {
		for _, start := range []string{"", "contract c\nstate {\n", "contract c\nstage s {\n", "contract c\ninvariant a { ", "contract c\ntest \"x\" { patch ["} {
			tree, ds := parse("a.poptic", start+strings.Repeat(unit, size/len(unit)))
			requireSound(t, tree, nil)
			require.NotEmpty(t, ds, "%q %q", start, unit)
			require.LessOrEqual(t, len(ds), DefaultLimits.Diagnostics+1)
		}
	}
	d := only(t, strings.Repeat("{", 10<<20), DefaultLimits)
	require.Contains(t, d.Message, "file size limit of 1048576")
}

func TestFilesThatAreNoTextSaySoWithTheOffset(t *testing.T) {
	require.Equal(t, "the file is not text (byte 0x00 at offset 9)", only(t, "contract \x00", DefaultLimits).Message)
	require.Equal(t, "the file is not valid UTF-8 (byte 0xff at offset 10)", only(t, "contract \uFFFD\xff"[:9]+"c\xff", DefaultLimits).Message)
	require.Equal(t, "the file is empty; a contract starts with `contract NAME`", only(t, "", DefaultLimits).Message)
	require.Equal(t, "empty_file", only(t, "\uFEFF \n# only a comment\n", DefaultLimits).Code)
}

func TestAFileInUTF16IsToldToBeSavedAsUTF8(t *testing.T) {
	require.Equal(t, "it looks like UTF-16; save it as UTF-8", only(t, "\xff\xfec\x00o\x00", DefaultLimits).Help)
}

func TestAWholeContractMayStandOnOneLine(t *testing.T) {
	tree, ds := parse("a.poptic", "contract c state { a: int } stage s { read /a }")
	require.Empty(t, ds)
	require.Len(t, tree.Decls, 2)
	require.Equal(t, "header_braces", only(t, "contract c sealed { }", DefaultLimits).Code)
}

func TestByteOrderMarkTabsAndCRLFAreWhiteSpace(t *testing.T) {
	text := readTestdata(t, "support.poptic")
	plain, _ := parse("support.poptic", text)
	crlf, ds := parse("support.poptic", "\uFEFF"+strings.ReplaceAll(strings.ReplaceAll(text, "  ", "\t"), "\n", "\r\n"))
	require.Empty(t, ds)
	requireSound(t, crlf, ds)
	require.Len(t, crlf.Decls, len(plain.Decls))
	require.Equal(t, plain.Header.Doc, crlf.Header.Doc)
	require.Equal(t, plain.Decls[12].(*StageDecl).Doc, crlf.Decls[12].(*StageDecl).Doc)
}

func TestParseIsSafeForConcurrentUse(t *testing.T) {
	text := readTestdata(t, "support.poptic")
	want, _ := parse("support.poptic", text)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			got, ds := parse("support.poptic", text)
			require.Empty(t, ds)
			require.Equal(t, outline(want), outline(got))
		})
	}
	all.Wait()
}

func TestAFileReadInPartIsNotToldWhatItLacks(t *testing.T) {
	only(t, "contract c\nstate { a: "+strings.Repeat("(", 100)+"int", DefaultLimits)
	only(t, "contract c\nstate { a: "+strings.Repeat("map of ", 100)+"int }", DefaultLimits)
}

func TestAParenthesisMayStandLevelWithTheBlockAroundIt(t *testing.T) {
	for _, text := range []string{
		"contract c\nstage s {\n  read /a except (\n    /b\n)\n}",
		"contract c\nstage s { read (\n  /b,\n  (/c\n)\n) }",
		"contract c\nstate {\n  a: map of (\n    A | B\n)\n  b: (list of (\n    { x: int\n  }\n))\n}",
	} {
		_, ds := parse("a.poptic", text)
		require.Empty(t, ds, text)
	}
	_, ds := parse("a.poptic", "contract c\nstage s {\n  read /a except (\n    /b\n}\nstage t { read (/a\n) )\n}")
	require.Len(t, ds, 2)
}
