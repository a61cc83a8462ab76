package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/diff"
)

const constructs = "invariant named { state.?o.?`x-y`.orValue(0) < 9 }\n" + `
const LIMIT = 3
const OPEN = "open"
roles staff = u, v
define low(e, most) = { e.a < most }
state { m: map of E  n: int  d: decimal where { self <= 10.5 }  k: map of U  o?: { "x-y": int } }
type E { a: int  b: string  s: "paid" | OPEN }
type U = { ok: true  v: int } | { ok: false  e: string }
measure big = sum /m/*/a where { self.a > 1 }
invariant few "at most" { state.n <= LIMIT }
invariant keyed each k, x in /m/* { k != x.b && low(x, 9) }
invariant most { big <= 10 }
invariant once unique /m/*/a, /m/*/b
invariant worth each x in /k/* { !x.ok || x.v > 0 }
change grows { after.n >= before.n }
change moves each k, x in /m/* "moves" { before.s == after.s || before.s == OPEN }
stage s(p in /m where { state.m[p].a > 0 }, w: "a" | "b") {
  by staff
  read /m/{p}, /o  write update /m/{p}/a, create /o
  require own "is his" { actor == before.m[p].b && role == "u" && now > timestamp("2026-01-01T00:00:00Z") }
  ensure told { w == "a" || low(after.m[p], LIMIT) }
}
`

// Each row replaces something, by which a stage may do more, or cannot be compared with what
// it was; or by which nothing is allowed that was not.
func TestEachConstructCountsForWhatIsAllowed(t *testing.T) {
	for _, x := range []struct {
		what, old, new string
		widened        []string // kinds of what widened or changed; none: nothing did
	}{
		{"constant", "const LIMIT = 3", "const LIMIT = 4", []string{"rule"}},
		{"constant", "state.n <= LIMIT", "state.n <= 3", nil},
		{"constant in a type", `const OPEN = "open"`, `const OPEN = "closed"`, []string{"type", "rule"}},
		{"constant in a type", `"paid" | OPEN`, `"paid" | "open"`, nil},
		{"definition", "e.a < most", "e.a <= most", []string{"rule"}},
		{"definition", "low(x, 9)", "x.a < 9", nil},
		{"group of roles", "staff = u, v", "staff = u, v, w", []string{"by"}},
		{"group of roles", "by staff", "by u, v", nil},
		{"group of roles", "by staff", "by u", nil},
		{"role", ` && role == "u"`, "", []string{"rule"}},
		{"role", `role == "u"`, `role == "u" && role != "v"`, nil},
		{"actor", "actor == before.m[p].b && ", "", []string{"rule"}},
		{"actor", "actor == before.m[p].b", `actor == before.m[p].b && actor != ""`, nil},
		{"clock", "2026-01-01", "2025-01-01", []string{"rule"}},
		{"clock", "now > timestamp", "now  >  timestamp", nil},
		{"rule about changes", "change grows { after.n >= before.n }\n", "", []string{"rule"}},
		{"rule about changes", "change grows {", "change less { after.n <= 9 }\nchange grows {", nil},
		{"rule about changes of entries", `before.s == after.s || before.s == OPEN }`, `before.s == after.s || before.s == "paid" }`, []string{"rule"}},
		{"rule about changes of entries", `each k, x in /m/* "moves"`, `each key, row in /m/* "goes"`, nil},
		{"message", `"is his"`, `"is hers"`, nil},
		{"message", `"at most" `, "", nil},
		{"name of a condition", "require own", "require mine", nil},
		{"name of a condition", `  ensure told { w == "a" || low(after.m[p], LIMIT) }` + "\n", "", []string{"rule"}},
		{"entry by its key", "k != x.b && low(x, 9)", "low(x, 9)", []string{"rule"}},
		{"entry by its key", "each k, x in /m/* { k != x.b && low(x, 9) }", "each key, row in /m/* { low(row, 9) && key != row.b }", nil},
		{"measure with a condition", " where { self.a > 1 }", " where { self.a > 2 }", []string{"rule"}},
		{"measure with a condition", "where { self.a > 1 }", "where { (self.a > 1) }", nil},
		{"unique together", "unique /m/*/a, /m/*/b", "unique /m/*/a, /m/*/b, /m/*/s", []string{"rule"}},
		{"unique together", "unique /m/*/a, /m/*/b", "unique /m/*/b, /m/*/a", nil},
		{"decimal", "decimal where { self <= 10.5 }", "decimal", []string{"type"}},
		{"decimal", "self <= 10.5", "self <= 10.500000000000000000000001", []string{"type"}},
		{"decimal", "self <= 10.5", "self <= 10.50", nil},
		{"value", `w: "a" | "b"`, `w: "a" | "b" | "c"`, []string{"parameters"}},
		{"value", ", w: ", ",  w : ", nil},
		{"condition on binding", " where { state.m[p].a > 0 }", "", []string{"rule"}},
		{"condition on binding", "state.m[p].a > 0", "state.m[p].a >= 0", []string{"rule"}},
		{"condition on binding", "{ state.m[p].a > 0 }", "{ state.m[p].a  > (0) && state.m[p].b != \"\" }", nil},
		{"right", "write update", "write create, update", []string{"write"}},
		{"right", ", create /o", "", nil},
		{"member of one alternative", "invariant worth each x in /k/* { !x.ok || x.v > 0 }\n", "", []string{"rule"}},
		{"member of one alternative", "{ ok: false  e: string }", "{ ok: false  e: string } | { ok: null }", []string{"type"}},
		{"member of one alternative", "!x.ok || x.v > 0", "x.ok == false || x.v > 0", []string{"rule"}},
		{"member of one alternative", "each x in /k/* { !x.ok || x.v > 0 }", "each some in /k/* { !some.ok || (some.v > 0) }", nil},
		{"name in backquotes", "invariant named { state.?o.?`x-y`.orValue(0) < 9 }\n", "", []string{"rule"}},
		{"name in backquotes", "`x-y`", "`x\\u002dy`", nil},
	} {
		require.Contains(t, constructs, x.old, x.what)
		old, new := compiled(t, "contract c\n"+constructs), compiled(t, "contract c\n"+strings.Replace(constructs, x.old, x.new, 1))
		d := diff.Contracts(old, new)
		require.Equal(t, len(x.widened) > 0, d.Widened, "%s: %s -> %s: %+v", x.what, x.old, x.new, d.Changes)
		for _, what := range x.widened {
			require.Contains(t, strings.Join(effects(d), ", ")+",", what+",", "%s: %s -> %s", x.what, x.old, x.new)
		}
	}
}
