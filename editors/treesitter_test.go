package editors_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/syntax"
)

// The grammar for tree-sitter and its colours have the words of the parser, and no others.
func TestTheWordsForTreeSitterAreThoseOfTheParser(t *testing.T) {
	words := func(file, begin string, quoted *regexp.Regexp) (out []string) {
		text, err := os.ReadFile("tree-sitter-poptic/" + file)
		require.NoError(t, err)
		_, rest, ok := strings.Cut(string(text), begin)
		require.True(t, ok)
		for _, m := range quoted.FindAllStringSubmatch(rest, -1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	want := slices.DeleteFunc(syntax.AllKeywords().All(), func(w string) bool { return w == "any" }) // a type's name, as int is
	require.Equal(t, want, words("grammar.js", "rules:", regexp.MustCompile(`'([a-z]+)'`)))
	coloured := []string{"create", "update", "delete", "true", "false", "null"} // by the nodes that they are
	coloured = append(coloured, words("queries/highlights.scm", "; Words of the grammar.", regexp.MustCompile(`"([a-z]+)"`))...)
	slices.Sort(coloured)
	require.Equal(t, want, coloured)
}
