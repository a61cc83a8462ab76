package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/format"
	"github.com/patchoptic/poptic/lang/source"
)

func TestDrawnContractsCompileToTheSameInTheirForm(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 8
	}
	moved := 0
	for seed := range rounds {
		m := newMaker(int64(seed))
		drawn, c := m.contract()
		text := m.respaced(drawn)
		if text != drawn {
			moved++
		}
		form, err := format.Source("c.poptic", []byte(text))
		require.NoError(t, err, text)
		again, err := format.Source("c.poptic", form)
		require.NoError(t, err, string(form))
		require.Equal(t, string(form), string(again))
		codes, compiled, _ := findings(string(form))
		require.Empty(t, codes, string(form))
		require.Equal(t, string(ir.Encode(c)), string(ir.Encode(compiled)), "%s\n%s", text, form)
	}
	require.Positive(t, moved)
}

// respaced is a contract with other white space, and comments that document nothing, between its tokens.
func (m maker) respaced(text string) string {
	tree, _ := syntax.Parse(source.NewFile("c.poptic", text))
	starts := map[int]bool{}
	for _, d := range tree.Decls {
		starts[d.GetSpan().Start] = true
	}
	var out strings.Builder
	end := 0
	for _, token := range tree.Tokens {
		gap := text[end:token.Span.Start]
		switch {
		case starts[token.Span.Start]:
			gap = m.pick("\n", "\n\n\n", " # beside\n", "\n# above\n\n")
		case gap != "" && m.chance(5):
			gap = m.pick("  ", "\t", "\n ", "\r\n\t", " # beside\n  ", "\n\n  # above\n\n ")
		}
		out.WriteString(gap + token.Span.Text())
		end = token.Span.End
	}
	if broken, found := syntax.Parse(source.NewFile("c.poptic", out.String())); len(found) > 0 || len(broken.Decls) != len(tree.Decls) {
		return text // a clause without its name on the line, say
	}
	return out.String()
}
