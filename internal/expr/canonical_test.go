package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
)

func TestSpellingDoesNotShowInTheCanonicalForm(t *testing.T) {
	plain := func(n string) string { return n }
	for _, pair := range [][2]string{
		{`before.a>0`, ` ( before.a  > 0 ) // more`},
		{`before.s == "x"`, `before.s == 'x'`},
		{`before.m.all(k, before.m[k] > 0)`, `before.m.all(key, before.m[key] > 0)`},
		{`a && b && c`, `c && (a && b)`},
		{`before.m.all(i, before.n.exists(j, i == j))`, `before.m.all(j, before.n.exists(i, j == i))`},
	} {
		require.Equal(t, expr.Canonical(pair[0], plain), expr.Canonical(pair[1], plain), pair[0])
		require.NotEmpty(t, expr.Canonical(pair[0], plain))
	}
}

func TestTheCanonicalFormTellsRulesApart(t *testing.T) {
	name := func(n string) string {
		if n == "p" {
			return "{p}"
		}
		return n
	}
	for _, pair := range [][2]string{
		{`before.a > 0`, `before.a > 0.0`},
		{`before.a > 0`, `after.a > 0`},
		{`before.p == p`, `before.q == p`},
		{`before.m.all(p, p == "x")`, `before.m.all(q, p == "x")`},
		{`before.m.all(i, before.n.exists(j, i == j))`, `before.m.all(i, before.n.exists(j, j == j))`},
		{`a || b`, `a && b`},
		{`has(before.a)`, `before.a`},
		{`[1, 2] == [1]`, `[1] == [1, 2]`},
	} {
		require.NotEqual(t, expr.Canonical(pair[0], name), expr.Canonical(pair[1], name), pair[0])
	}
	require.Nil(t, expr.Canonical("1 +", name))
}
