package expr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpellingDoesNotShowInTheCanonicalForm(t *testing.T) {
	plain := func(n string) string { return n }
	for _, pair := range [][2]string{
		{`before.a>0`, ` ( before.a  > 0 ) // more`},
		{`before.s == "x"`, `before.s == 'x'`},
		{`before.m.all(k, before.m[k] > 0)`, `before.m.all(key, before.m[key] > 0)`},
		{`a && b && c`, `c && (a && b)`},
		{`before.m.all(i, before.n.exists(j, i == j))`, `before.m.all(j, before.n.exists(i, j == i))`},
		{`before.a > 0.5 && before.b < -1.25`, `before.b < - 1.250 && before.a > .5`},
		{`before.a in [1e3, 0.10]`, `before.a in [1000.0, 1e-1]`},
	} {
		require.Equal(t, Canonical(pair[0], plain), Canonical(pair[1], plain), pair[0])
		require.NotEmpty(t, Canonical(pair[0], plain))
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
		{`before.a <= 0.1`, `before.a <= 0.10000000000000000000001`},
		{`before.a <= 12345678901234567890.1`, `before.a <= 12345678901234567890.2`},
		{`before.a == -0.3`, `before.a == -0.30000000000000000001`},
		{`before.a in [0.5, 1e-400]`, `before.a in [0.5, 0.0]`},
		{`before.a > 0.5`, `before.a > -0.5`},
		{`1.0 / before.a < 0.0`, `1.0 / before.a < -0.0`},
	} {
		require.NotEqual(t, Canonical(pair[0], name), Canonical(pair[1], name), pair[0])
	}
	require.Nil(t, Canonical("1 +", name))
}

func TestTheMeasuresOfALibraryAreQualifiedWhereTheyAreUsed(t *testing.T) {
	d := newDesk(t)
	names := []string{"total", "sub.most"}
	for source, want := range map[string]string{
		`total <= state.total`:                                         `lib.total <= state.total`,
		`sub.most.orValue(0) < 3 || sub.other(total)`:                  `lib.sub.most.orValue(0) < 3 || sub.other(lib.total)`,
		`state.m.all(total, total > 1) && total > 2`:                   `state.m.all(total, total > 1) && lib.total > 2`,
		`cel.bind(total, total + 1, total * 2) == 4`:                   `cel.bind(total, lib.total + 1, total * 2) == 4`,
		`state.m.exists_one(k, state.m[k] == total)`:                   `state.m.exists_one(k, state.m[k] == lib.total)`,
		`"total" != 'é' && (total) in [total, {"a": total}.a, -total]`: `"total" != 'é' && (lib.total) in [lib.total, {"a": lib.total}.a, -lib.total]`,
		`own.total && total.x`:                                         `own.total && lib.total.x`,
		`total >`:                                                      `total >`,
	} {
		require.Equal(t, want, d.env.Qualify(source, "lib.", names, "own").Text, source)
	}
	require.Equal(t, "total", d.env.Qualify("total", "lib.", names, "total").Text)
}

func TestIssuesOfAQualifiedExpressionPointIntoItsSource(t *testing.T) {
	d := newDesk(t)
	const source = `spent > 1.0 && spent == "a" && nothing < spent`
	q := d.env.Qualify(source, "shop.", []string{"spent"})
	require.Equal(t, `shop.spent > 1.0 && shop.spent == "a" && nothing < shop.spent`, q.Text)
	_, issues := d.env.Check(q.Text, stateScope)
	var at []string
	for _, i := range issues {
		i = q.Issue(i)
		at = append(at, source[i.Start:i.End])
	}
	require.Equal(t, []string{`spent == "a"`, `nothing`}, at)
	for i := range q.Text {
		require.LessOrEqual(t, q.start(i), q.end(i+1))
	}
}
