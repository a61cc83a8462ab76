package spec_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/spec/block"
)

// TestTheAuthoringGuideFitsIntoAPrompt holds authoring.md to what its first sentence says.
func TestTheAuthoringGuideFitsIntoAPrompt(t *testing.T) {
	text, err := os.ReadFile("authoring.md")
	require.NoError(t, err)
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(t, err)
	tokens, err := codec.Count(string(text))
	require.NoError(t, err)
	t.Logf("%d tokens", tokens)
	require.Less(t, tokens, 3500)
}

// TestTheAuthoringGuidePassesWhatItTellsItsReadersToRun checks the guide's contract, with its
// tests beside it, by all rules: nothing is found that is more than a hint.
func TestTheAuthoringGuidePassesWhatItTellsItsReadersToRun(t *testing.T) {
	blocks, err := block.Read("authoring.md")
	require.NoError(t, err)
	contract, tests := blocks[0], blocks[1]
	require.True(t, contract.Has("base") && tests.Has("tests"))
	files := fstest.MapFS{"expenses.poptic": {Data: []byte(contract.Text)}, "expenses_test.poptic": {Data: []byte(tests.Text)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "expenses.poptic"})
	require.NoError(t, err)
	found, err := lint.Findings(t.Context(), lint.Input{Output: out, FS: files, Path: "expenses.poptic"})
	require.NoError(t, err)
	require.Empty(t, codes(found, source.Error), listed(found))
	require.Empty(t, codes(found, source.Warning), listed(found))
}

// TestTheAuthoringGuideMendsEveryMistakeThatItShows holds each wrong block of the guide to the
// right one behind it, in which the compiler finds nothing.
func TestTheAuthoringGuideMendsEveryMistakeThatItShows(t *testing.T) {
	blocks, err := block.Read("authoring.md")
	require.NoError(t, err)
	mistakes := 0
	for i, b := range blocks {
		if b.Value("error") == "" && b.Value("warning") == "" {
			continue
		}
		mistakes++
		require.Less(t, i+1, len(blocks))
		right := blocks[i+1]
		require.True(t, right.Adjacent && len(right.Words) == 1 && right.Has("fragment"), "%s:%d is not followed by its right form", b.File, b.Line)
		require.Empty(t, compile(completed(right.Text, blocks[0].Text)), "%s:%d", right.File, right.Line)
	}
	require.Equal(t, 10, mistakes)
}
