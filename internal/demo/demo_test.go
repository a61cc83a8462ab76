package demo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/tree"
)

func TestALayoutIsTheSameValueWithinTheWidth(t *testing.T) {
	n, err := tree.Parse([]byte(`{"a":[1,2,{"b":[]}],"c":{},"d e":"two  spaces","f":[[[["deep"]]]],"g":null}`), tree.DefaultLimits)
	require.NoError(t, err)
	for width := 1; width < 100; width++ {
		lines := layout(n, width)
		again, err := tree.Parse([]byte(strings.Join(lines, "\n")), tree.DefaultLimits)
		require.NoError(t, err, "width %d", width)
		require.True(t, tree.Equal(n, again), "width %d", width)
		for _, l := range lines {
			inner := strings.TrimSuffix(strings.TrimSpace(l), ",")
			_, value, named := strings.Cut(inner, ": ")
			if !named {
				value = inner
			}
			isContainer := len(value) > 2 && strings.ContainsAny(value[:1], "[{")
			require.False(t, isContainer && len(l) > width, "width %d: %q", width, l)
		}
	}
	require.Len(t, layout(n, 100), 1)
}

func TestAContainerIsOpenedOnlyWhereItDoesNotFit(t *testing.T) {
	n, err := tree.Parse([]byte(`{"long":{"x":"0123456789"},"short":{"y":1}}`), tree.DefaultLimits)
	require.NoError(t, err)
	require.Equal(t, []string{"{", `  "long": {`, `    "x": "0123456789"`, "  },", `  "short": {"y": 1}`, "}"}, layout(n, 22))
}
