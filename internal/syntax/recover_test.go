package syntax

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

// The files testdata/mistakes/*.txt hold chunks of text separated by lines "---".
// What is expected on a line stands at its end, behind "###": codes, each with a
// regular expression for the message and, in brackets, the texts that the first
// fix takes out and puts in. It is taken off before the chunk is parsed.
var (
	expectation = regexp.MustCompile(`([a-z_]+) "((?:[^"\\]|\\.)*)"(?: \[(.*?) => (.*?)\])?`)
	annotation  = regexp.MustCompile(`[ \t]*###.*`)
)

func TestMistakesAreReportedOnTheirLines(t *testing.T) {
	for _, c := range mistakeChunks(t) {
		t.Run(c.place, func(t *testing.T) { checkChunk(t, c) })
	}
}

// A mistakeChunk is one text of testdata/mistakes, with its expectations.
type mistakeChunk struct {
	place, text string
}

func mistakeChunks(t testing.TB) (out []mistakeChunk) {
	files, err := filepath.Glob("testdata/mistakes/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		line := 1
		for _, chunk := range strings.Split(string(text), "---\n") {
			out = append(out, mistakeChunk{fmt.Sprintf("%s:%d", filepath.Base(file), line), chunk})
			line += strings.Count(chunk, "\n") + 1
		}
	}
	return out
}

// name is that of a file in which the text may stand.
func (c mistakeChunk) name() string {
	if strings.Contains(c.text, "\ntest ") || strings.HasPrefix(c.text, "test ") {
		return "chunk_test.poptic"
	}
	return "chunk.poptic"
}

// plain is the text without its expectations.
func (c mistakeChunk) plain() string { return annotation.ReplaceAllString(c.text, "") }

func checkChunk(t *testing.T, c mistakeChunk) {
	chunk := c.text
	tree, ds := parse(c.name(), c.plain())
	requireSound(t, tree, ds)
	found := map[int][]source.Diagnostic{}
	for _, d := range ds {
		n := tree.Source.Position(d.Span.Start).Line
		found[n] = append(found[n], d)
	}
	for i, line := range strings.Split(chunk, "\n") {
		checkLine(t, i+1, line, found[i+1])
	}
}

func checkLine(t *testing.T, n int, line string, ds []source.Diagnostic) {
	var wants [][]string
	if _, text, ok := strings.Cut(line, "###"); ok {
		wants = expectation.FindAllStringSubmatch(text, -1)
		require.NotEmpty(t, wants, "line %d: the expectation cannot be read", n)
	}
	var got []string
	for _, d := range ds {
		got = append(got, d.Code+": "+d.Message)
	}
	require.Len(t, ds, len(wants), "line %d, %q: %q", n, line, got)
	for i, w := range wants {
		require.Equal(t, w[1], ds[i].Code, "line %d: %q", n, got)
		require.Regexp(t, w[2], ds[i].Message, "line %d", n)
		if w[3] != "" || w[4] != "" {
			require.NotEmpty(t, ds[i].Fixes, "line %d", n)
			fix := ds[i].Fixes[0]
			require.Equal(t, []string{w[3], w[4]}, []string{fix.Span.Text(), fix.Text}, "line %d", n)
		}
	}
}

func TestOneFileReportsEveryOfItsMistakes(t *testing.T) {
	text := readTestdata(t, "mistakes/many.txt")
	lines := strings.Count(text, "###")
	require.Greater(t, lines, 30)
	tree, _ := parse("many.poptic", annotation.ReplaceAllString(text, ""))
	var names []string
	for _, d := range tree.Decls {
		names = append(names, d.DeclName().Text)
	}
	// Nothing is lost: every declaration is in the tree, with what could be read of it.
	require.Equal(t, []string{
		"pii", "", "", "Ticket", "Customer", "Refund", "Event", "", "money", "refunded", "", "within_budget",
		"", "read", "draft", "refund", "triage-bot", "x", "desk", "", "", "",
	}, names)
	draft := tree.Decls[14].(*StageDecl)
	require.Len(t, draft.Clauses, 3)
	require.Len(t, draft.Clauses[2].Region.Grants, 2)
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

func TestAFileWithANameThatIsMissingIsReadToItsEnd(t *testing.T) {
	for _, text := range []string{
		"contract c\nstate { n: int }\nstage loo: hwk(ystr********ead /n write /",
		"contract c\nstage s(ystr*******ead /n",
		"contract c\nstage s(p * read /n, q * write /n) {}",
		"contract c\ndelegate d from s(p ** x)",
		"contract c\nstage s(in a) { read a }",
		"contract c\nstage s { by read n write m }",
		"contract c\nregion = a",
		"contract c\ninvariant each in state.n { true }",
	} {
		tree, ds := parse("a.poptic", text)
		requireSound(t, tree, ds)
		require.NotEmpty(t, ds, text)
	}
}

// What is done about a mistake takes something out or happens once in a place, so that the
// grammar is asked no more often than there are tokens; and what it costs together is bounded.
func TestRecoveryIsBoundedByTheTokensAndByItsBudget(t *testing.T) {
	units := []string{"*", "(", ")", "{", "}", ",", ":", "[", "/a ", "x ", "x: ", "x in ", "x,", "in ", "(x, ", "or ", "= ", "-> ", "except ", "\"s\" ", "write create, ", "Map<"}
	starts := []string{"stage s(", "stage s(p in /a, v: ", "stage s {\nread ", "stage s { write create", "stage s { by ", "state { a: ", "type T = ", "phases { a -> ", "invariant a each ", "define f(", "prove no stage except ", "roles a = ", "compose a = ", "test \"x\" { expect ", ""}
	for i, start := range starts {
		size := 1_500
		switch {
		case testing.Short() || raceEnabled:
			size = 300
		case i < 2:
			size = 10_000
		}
		for _, unit := range units {
			text := "contract c\nstate { n: int }\n" + start + strings.Repeat(unit, size/len(unit))
			file := source.NewFile("a.poptic", text)
			p := &parser{messages: messages{file: file, room: DefaultLimits.Diagnostics + 1}, limits: DefaultLimits, tree: &File{Source: file}}
			p.parse()
			tokens := len(p.significant)
			require.LessOrEqual(t, p.feeds, 3*tokens, "%q %q", start, unit)
			require.LessOrEqual(t, p.work, maxWork+200*tokens, "%q %q", start, unit)
		}
	}
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

// A repair puts tokens in, takes some out and moves others: the nodes that are made of them
// nest all the same.
func TestNodesNestWhateverARepairMoves(t *testing.T) {
	for _, text := range []string{
		"contract A type A={A:true A:A where\"\"{}}|{A:false\"\":A A&B}\nstate(A:000000000",
		"contract c\nstate(a: int",
		"contract c\nstate(a: int  b: { c: string }\nstage s { read /a }",
		"contract c\nstate { a: optional<map<string, int>> }",
		"contract c\nstage s { ensure { true }, \"it holds\" }",
		"contract c\nstage s { write /a\n  ensure { true }, \"it holds\"",
	} {
		tree, ds := parse("a.poptic", text)
		require.NotEmpty(t, ds, text)
		requireSound(t, tree, ds)
	}
}

// Where a name that is missing was put in, and was not what was missing, the second report
// has no name to look for.
func TestAMissingNameWhereAPathIsExpectedIsReported(t *testing.T) {
	for _, text := range []string{
		"contract A stage A(A in*a){read(a,/b except c{/}e{",
		"contract c\nstage s(p in*a) { read /a }",
		"contract c\nstage s(p new in*) { produce a, b by { }",
		"contract c\ninvariant i each x in * { true }",
		"contract c\ntype T {\n  n: key of\n  *: int\n  o: int\n}",
	} {
		tree, ds := parse("a.poptic", text)
		require.NotEmpty(t, ds, text)
		requireSound(t, tree, ds)
	}
}

func TestAMistakeBesideAnotherBreaksNothing(t *testing.T) {
	every := 1
	if testing.Short() || raceEnabled {
		every = 5
	}
	for _, c := range mistakeChunks(t) {
		text := c.plain()
		whole, _ := parse(c.name(), text)
		for i, tok := range whole.Tokens {
			if i%every != 0 {
				continue
			}
			for _, cut := range []string{text[:tok.Span.Start], text[:tok.Span.Start] + text[tok.Span.End:], text[:tok.Span.End] + " " + text[tok.Span.Start:]} {
				tree, ds := parse(c.name(), cut)
				requireSound(t, tree, ds)
			}
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
