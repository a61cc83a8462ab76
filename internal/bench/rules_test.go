package bench_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

// Rules about many entries, of which a commit touches one: what they cost may depend on
// what is touched, and not on how many orders there are.

const orders = `contract orders
type Order { total: int  who: string  day: string  items: list of { p: key of /products  qty: int  cents: int } }
state { products: map of { name: string  cents: int }  orders: map of Order  queue: list of { p: string }  limit: int }
measure big  = count /orders/* where { self.total > 500 }
measure owed = sum /orders/*/total where { self.who != "" }
%s
stage edit { read /**  write /** }
`

// touchedRules are rules, and what a commit changes that asks for them.
var touchedRules = []struct{ name, rule, path, value string }{
	{"elements of lists look something up", `invariant i each i in /orders/*/items/* { state.products[i.p].name == i.p }`, "/orders/o7/items/1/qty", "%d"},
	{"the same by all", `invariant i { state.orders.all(o, state.orders[o].items.all(i, state.products[i.p].name == i.p)) }`, "/orders/o7/items/1/qty", "%d"},
	{"elements of one list look something up", `invariant i each q in /queue/* { state.products[q.p].name == q.p }`, "/queue/3", `{"p":"p%d"}`},
	{"a total of products", `invariant i each o in /orders/* { o.total >= sum(o.items.map(i, i.qty * i.cents)) - 1000 }`, "/orders/o7/items/1/qty", "%d"},
	{"the key of an entry", `invariant i each k, o in /orders/* { k != o.who }`, "/orders/o7/who", `"w%d"`},
	{"a count with a condition", `invariant i { big <= state.limit }`, "/orders/o7/total", "%d"},
	{"a sum with a condition", `invariant i { owed <= state.limit }`, "/orders/o7/total", "%d"},
	{"values unique together", `invariant i unique /orders/*/who, /orders/*/day`, "/orders/o7/who", `"w%d"`},
}

// ordered opens n orders of three items under a rule.
func ordered(t testing.TB, rule string, n int) (*verify.Program, verify.Snapshot) {
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: fmt.Appendf(nil, orders, rule)}}, Path: "c.poptic"})
	require.NoError(t, err)
	compiled, ok := out.Compiled()
	require.True(t, ok, "%v", out.Diagnostics)
	contract, err := ir.Decode(compiled)
	require.NoError(t, err)
	p, err := verify.Load(contract, verify.DefaultLimits())
	require.NoError(t, err)
	var orders, products, queue []string
	for i := range 10 {
		products = append(products, fmt.Sprintf(`"p%d": {"name": "p%[1]d", "cents": 3}`, i))
	}
	for i := range n {
		item := fmt.Sprintf(`{"p": "p%d", "qty": 1, "cents": 3}`, i%10)
		orders = append(orders, fmt.Sprintf(`"o%d": {"total": 100, "who": "w", "day": "d%[1]d", "items": [%s]}`, i, strings.Join([]string{item, item, item}, ",")))
		queue = append(queue, fmt.Sprintf(`{"p": "p%d"}`, i%10))
	}
	state, err := p.Import(fmt.Appendf(nil, `{"products": {%s}, "orders": {%s}, "queue": [%s], "limit": 100000000}`,
		strings.Join(products, ","), strings.Join(orders, ","), strings.Join(queue, ",")))
	require.NoError(t, err)
	require.Empty(t, p.CheckAll(context.Background(), state, "main"))
	state.Digest()
	return p, verify.Snapshot{State: state, Phase: "main", Version: 1}
}

// commit replaces what is at a path by another value than the last time.
func commit(t testing.TB, p *verify.Program, s verify.Snapshot, path, value string, turn int) verify.Snapshot {
	patch := fmt.Appendf(nil, `[{"op":"replace","path":%q,"value":%s}]`, path, fmt.Sprintf(value, turn%9))
	out, err := p.Verify(context.Background(), s, verify.Proposal{Stage: "edit", Patch: patch})
	if err != nil || out.Verdict.Verdict == verify.Reject {
		t.Fatalf("%v %+v", err, out.Verdict)
	}
	return out.After
}

func BenchmarkRulesOfTouchedEntries(b *testing.B) {
	for _, c := range touchedRules {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/orders=%d", strings.ReplaceAll(c.name, " ", "_"), n), func(b *testing.B) {
				p, s := ordered(b, c.rule, n)
				b.ReportAllocs()
				for turn := 0; b.Loop(); turn++ {
					s = commit(b, p, s, c.path, c.value, turn)
				}
			})
		}
	}
}

func TestRulesCostTheEntriesThatAreTouched(t *testing.T) {
	for _, c := range touchedRules {
		cost := func(n int) float64 {
			p, s := ordered(t, c.rule, n)
			turn := 0
			return testing.AllocsPerRun(30, func() {
				turn++
				s = commit(t, p, s, c.path, c.value, turn)
			})
		}
		require.Less(t, cost(3_000), 2*cost(100), c.name)
	}
}
