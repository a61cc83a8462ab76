package syntax

import (
	"fmt"
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
	files, err := filepath.Glob("testdata/mistakes/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		line := 1
		for _, chunk := range strings.Split(string(text), "---\n") {
			t.Run(fmt.Sprintf("%s:%d", filepath.Base(file), line), func(t *testing.T) { checkChunk(t, chunk) })
			line += strings.Count(chunk, "\n") + 1
		}
	}
}

func checkChunk(t *testing.T, chunk string) {
	name := "chunk.poptic"
	if strings.Contains(chunk, "\ntest ") || strings.HasPrefix(chunk, "test ") {
		name = "chunk_test.poptic"
	}
	tree, ds := parse(name, annotation.ReplaceAllString(chunk, ""))
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
