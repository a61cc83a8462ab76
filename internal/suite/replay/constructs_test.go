package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
)

// What the language has beyond paths and conditions on the state: constants, definitions,
// groups of roles, what a decision is made by, arguments that are values, messages and
// names, decimals, rights, conditions on binding. One stage is within another where nothing
// of that lets it do more.

// inner and outer are one stage, written in two ways; in each row something of the one is
// replaced, and something of the other.
const withinForm = `contract c
const LIMIT = 3
const cent  = 0.01
roles staff    = u, v
roles everyone = staff, x
define low(e, most) = { e.a < most }
type Said { n: int  price: decimal }
type Some = { ok: true  v: int } | { ok: false  e: string }
state { m: map of E  n: int  d: decimal  k: map of Some  "x-y": string }
type E { a: int  b: string  c?: int }
measure big = sum /m/*/a where { self.a > 1 }
invariant keyed each k, e in /m/* { k != e.b || big < 100 }
invariant once unique /m/*/a, /m/*/b
change grows each e in /m/* { before.a <= after.a }
stage a(INNER) {
INNER
}
stage b(OUTER) {
OUTER
}
prove a within b
`

// A pair is two stages, each by its parameters and its clauses.
type pairOfStages struct{ inner, outer string }

const both = "\nby u\nread /m/{p}, /n\nwrite /m/{p}/a"

// containments are pairs of which the first is within the second, and pairs of which it is
// not, for each thing that they are about.
var constructPairs = map[string]struct{ within, beyond []pairOfStages }{
	"constant": {
		[]pairOfStages{{"p in /m" + both + "\nrequire { before.m[p].a < LIMIT }", "p in /m" + both + "\nrequire { before.m[p].a < 3 }"}},
		[]pairOfStages{{"p in /m" + both + "\nrequire { before.m[p].a < 4 }", "p in /m" + both + "\nrequire { before.m[p].a < LIMIT }"}},
	},
	"definition": {
		[]pairOfStages{{"p in /m" + both + "\nrequire { low(before.m[p], 3) }", "p in /m" + both + "\nrequire { (before.m[p].a) < 3 }"}},
		[]pairOfStages{{"p in /m" + both + "\nrequire { low(before.m[p], 4) }", "p in /m" + both + "\nrequire { low(before.m[p], 3) }"}},
	},
	"group of roles": {
		[]pairOfStages{
			{"p in /m" + both, strings.Replace("p in /m"+both, "by u", "by staff", 1)},
			{strings.Replace("p in /m"+both, "by u", "by staff", 1), strings.Replace("p in /m"+both, "by u", "by everyone", 1)},
			{strings.Replace("p in /m"+both, "by u", "by staff, x", 1), strings.Replace("p in /m"+both, "by u", "by everyone", 1)},
		},
		[]pairOfStages{{strings.Replace("p in /m"+both, "by u", "by everyone", 1), strings.Replace("p in /m"+both, "by u", "by staff", 1)}},
	},
	"role": {
		[]pairOfStages{{"p in /m" + both + "\nrequire { role == \"u\" && before.n > 1 }", "p in /m" + both + "\nrequire { role == \"u\" }"}},
		[]pairOfStages{{strings.Replace("p in /m"+both, "by u", "by staff", 1), strings.Replace("p in /m"+both, "by u", "by staff", 1) + "\nrequire { role == \"u\" }"}},
	},
	"actor": {
		[]pairOfStages{{"p in /m" + both + "\nrequire { actor == before.m[p].b }\nrequire { actor != \"\" }", "p in /m" + both + "\nrequire mine \"it is mine\" { actor == before.m[p].b }"}},
		[]pairOfStages{{"p in /m" + both, "p in /m" + both + "\nrequire { actor == before.m[p].b }"}},
	},
	"clock": {
		[]pairOfStages{{"p in /m" + both + "\nensure { now > timestamp(\"2026-01-01T00:00:00Z\") && actor != \"\" }", "p in /m" + both + "\nensure { now > timestamp(\"2026-01-01T00:00:00Z\") }"}},
		[]pairOfStages{{"p in /m" + both + "\nensure { now > timestamp(\"2025-01-01T00:00:00Z\") }", "p in /m" + both + "\nensure { now > timestamp(\"2026-01-01T00:00:00Z\") }"}},
	},
	"name and message": {
		[]pairOfStages{{"p in /m" + both + "\nrequire one \"it is so\" { before.n > 1 }", "p in /m" + both + "\nrequire \"it was so\" { before.n > 1 }"}},
		[]pairOfStages{{"p in /m" + both + "\nensure one \"it is so\" { after.n > 1 }", "p in /m" + both + "\nrequire one \"it is so\" { before.n > 1 }"}},
	},
	"value": {
		[]pairOfStages{
			{"p in /m, w: int" + both + "\nrequire { before.n < w }", "p in /m, w: int" + both + "\nrequire { before.n < w }"},
			{"p in /m, w: int" + both + "\nrequire { before.n < w }", "p in /m" + both},
			{"w: Said, p in /m" + both + "\nrequire { w.price <= before.d && w.n > 0 }", "p in /m, w: Said" + both + "\nrequire { w.price <= before.d }"},
		},
		[]pairOfStages{
			{"p in /m" + both, "p in /m, w: int" + both + "\nrequire { before.n < w }"},
			{"p in /m, v: int" + both + "\nrequire { before.n < v }", "p in /m, w: int" + both + "\nrequire { before.n < w }"},
			{"p in /m, w: decimal" + both + "\nrequire { before.n < w }", "p in /m, w: int" + both + "\nrequire { before.n < w }"},
		},
	},
	"decimal": {
		[]pairOfStages{{"p in /m" + both + "\nrequire { before.d <= 0.10 && before.d * cent >= 0 }", "p in /m" + both + "\nrequire { before.d <= 0.1 }"}},
		[]pairOfStages{
			{"p in /m" + both + "\nrequire { before.d <= 0.10000000000000000000001 }", "p in /m" + both + "\nrequire { before.d <= 0.1 }"},
			{"p in /m" + both + "\nrequire { before.d <= 1e-400 }", "p in /m" + both + "\nrequire { before.d <= 0.0 }"},
			{"p in /m" + both + "\nensure { after.d <= 12345678901234567890.2 }", "p in /m" + both + "\nensure { after.d <= 12345678901234567890.1 }"},
			{"p in /m" + both + "\nrequire { before.d in [0.1, -0.30000000000000000000001] }", "p in /m" + both + "\nrequire { before.d in [0.1, -0.3] }"},
		},
	},
	"fold and measure": {
		[]pairOfStages{{"p in /m" + both + "\nrequire { big < 9 && sum([before.n, 1]) > 0 }", "p in /m" + both + "\nrequire { sum([before.n, 1]) > 0 }"}},
		[]pairOfStages{{"p in /m" + both + "\nrequire { max([before.n]).orValue(0) < 9 }", "p in /m" + both + "\nrequire { min([before.n]).orValue(0) < 9 }"}},
	},
	"member of one alternative": {
		[]pairOfStages{{"p in /k\nread /k/{p}, /n\nwrite /n\nrequire { before.k[p].ok ? before.k[p].v > 0 : before.k[p].e != \"\" }", "q in /k\nread /k, /n\nwrite /n\nrequire { before.k[q].ok ? before.k[q].v > 0 : before.k[q].e != \"\" }"}},
		[]pairOfStages{{"p in /k\nread /k/{p}, /n\nwrite /n\nrequire { before.k[p].ok && before.k[p].v > 0 }", "q in /k\nread /k, /n\nwrite /n\nrequire { before.k[q].ok ? before.k[q].v > 0 : before.k[q].e != \"\" }"}},
	},
	"name in backquotes": {
		[]pairOfStages{{"p in /m\nread /m/{p}, /x-y\nwrite /m/{p}/a, /x-y\nrequire { before.`x-y` != \"\" }", "p in /m\nread /m, /x-y\nwrite /m, /x-y\nrequire { before.`x\\u002dy` != \"\" }"}},
		[]pairOfStages{{"p in /m\nread /m/{p}, /x-y\nwrite /m/{p}/a, /x-y", "p in /m\nread /m, /x-y\nwrite /m"}},
	},
	"condition on binding": {
		[]pairOfStages{
			{"p in /m where { state.m[p].b == actor && state.n > 0 }" + both, "q in /m where { state.m[q].b == actor }" + strings.ReplaceAll(both, "{p}", "{q}")},
			{"p in /m where { state.n > 0 }" + both, "p in /m" + both},
		},
		[]pairOfStages{{"p in /m" + both, "p in /m where { state.m[p].b == actor }" + both}},
	},
	"right": {
		[]pairOfStages{{"p in /m\nread /m/{p}\nwrite update /m/{p}/a", "p in /m\nread /m/{p}\nwrite create, update /m/{p}/a"}},
		[]pairOfStages{{"p in /m\nread /m/{p}\nwrite delete /m/{p}/c", "p in /m\nread /m/{p}\nwrite create, update /m/{p}/c"}},
	},
}

func (x pairOfStages) text() string {
	out := withinForm
	for word, stage := range map[string]string{"INNER": x.inner, "OUTER": x.outer} {
		params, clauses, _ := strings.Cut(stage, "\n")
		out = strings.Replace(strings.Replace(out, word, params, 1), word, clauses, 1)
	}
	return out
}

func TestEachConstructCountsWhereAStageIsWithinAnother(t *testing.T) {
	for what, pairs := range constructPairs {
		require.NotEmpty(t, pairs.beyond, what)
		for _, x := range pairs.within {
			out := compileClaims(x.text())
			require.NotNil(t, out, "%s: %s", what, x.text())
			require.IsType(t, footprint.Proved{}, out.results[0], "%s: %s", what, x.text())
		}
		for _, x := range pairs.beyond {
			out := compileClaims(x.text())
			require.NotNil(t, out, "%s: %s", what, x.text())
			require.IsType(t, footprint.Refuted{}, out.results[0], "%s: %s", what, x.text())
			cert, err := certificate.Decode(footprint.New(out.c).Certificate())
			require.NoError(t, err)
			require.NotEmpty(t, cert.Claims[0].Uncertified, what)
		}
	}
}
