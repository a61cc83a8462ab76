package expr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
