package lsp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/syntax"
)

func TestEveryWordOfTheGrammarHasAMeaning(t *testing.T) {
	all := syntax.AllKeywords().All()
	require.Greater(t, len(all), 70)
	for _, word := range all {
		require.NotEmpty(t, keywordDocs[word], word)
	}
	for word := range keywordDocs {
		require.Contains(t, all, word)
	}
}
