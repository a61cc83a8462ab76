package expr

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// reads are written as in spec/semantics.md section 3.1, with ! for shallow and ~ for
// over-approximated.
type reads struct{ source, patterns string }

func checkReads(t *testing.T, e *Env, s Scope, table []reads) {
	for _, r := range table {
		x, issues := e.Check(r.source, s)
		require.Empty(t, issues, r.source)
		require.Equal(t, r.patterns, strings.Join(footprintText(x), " "), r.source)
	}
}

func TestFootprintsAreExact(t *testing.T) {
	checkReads(t, newDesk(t).env, stateScope, []reads{
		{`state.orders.all(o, o.price >= 0.0)`, `/:orders! /:orders/[*]/:price`},
		{`state.orders.filter(o, o.price > 0.0).all(x, x.id != "")`, `/:orders! /:orders/[*]! /:orders/[*]/:id /:orders/[*]/:price`},
		{`state.orders.map(o, o.price).all(t, t <= state.budget)`, `/:budget /:orders! /:orders/[*]/:price`},
		{`has(state.meta) && state.meta.name == "a"`, `/:meta! /:meta/:name`},
		{`state.orders[0].price > 1.0`, `/:orders/[0]/:price`},
		{`state.customers["u1"].role == "admin"`, `/:customers/:u1/:role`},
		{`state.customers.u1.role == "admin"`, `/:customers/:u1/:role`},
		{`state.orders.all(o, state.customers[o.id].role == "user")`, `/:customers/:*/:role~ /:orders! /:orders/[*]/:id`},
		{`state.?meta.?email.orValue("none") == "x"`, `/:meta/:email`},
		{`state.?meta.hasValue()`, `/:meta!`},
		{`state.?meta.orValue(state.tickets["a"].?author.value()).name == ""`, `/:meta! /:meta/:name /:tickets/:a/:author! /:tickets/:a/:author/:name`},
		{`state.?meta.or(state.tickets["a"].?author).value().name == ""`, `/:meta! /:meta/:name /:tickets/:a/:author! /:tickets/:a/:author/:name`},
		{`state.customers.all(k, v, v.name != k)`, `/:customers! /:customers/:*! /:customers/:*/:name`},
		{`state.tickets.all(k, state.tickets[k].urgent)`, `/:tickets! /:tickets/:*! /:tickets/:*/:urgent`},
		{`cel.bind(os, state.orders, os.all(o, os.exists_one(p, p.id == o.id)))`, `/:orders! /:orders/[*]/:id`},
		{`size(state.orders) < 10`, `/:orders!`},
		{`size(state.tickets) < 10`, `/:tickets! /:tickets/:*!`},
		{`size(state.tags) < 10`, `/:tags! /:tags/[*]!`},
		{`size(state.history) < 10`, `/:history! /:history/[*]!`},
		{`size(state.customers["a"].name) < 10`, `/:customers/:a/:name`},
		{`state.history.exists(e, e.what == "x")`, `/:history! /:history/[*]! /:history/[*]/:what`},
		{`"u1" in state.customers`, `/:customers/:u1!`},
		{`state.tickets.all(k, k in state.customers)`, `/:customers/:*! /:tickets! /:tickets/:*!`},
		{`"a" in state.tags`, `/:tags`},
		{`state.customers["a"] == state.customers["b"]`, `/:customers/:a /:customers/:b`},
		{`(state.limit > 1 ? state.customers["a"] : state.customers["b"]).name == ""`, `/:customers/:a/:name /:customers/:b/:name /:limit`},
		{`[state.limit, state.limit].exists(x, x == 1)`, `/:limit`},
		{`{"x": state.customers["a"]}["x"].name == ""`, `/:customers/:a! /:customers/:a/:name`},
		{`state.orders.transformList(i, o, o.price).exists(p, p > 1.0)`, `/:orders! /:orders/[*]/:price`},
		{`state.orders.transformMap(i, o, o.count)[0] == 1`, `/:orders! /:orders/[*]/:count`},
		{`state.?meta.optMap(m, m.name).orValue("") == ""`, `/:meta! /:meta/:name`},
		{`state.customers[?"a"].name.orValue("") == ""`, `/:customers/:a/:name`},
		{`state.tickets.exists(k, t, t.score == null)`, `/:tickets! /:tickets/:*! /:tickets/:*/:score`},
		{`pii.email(state.customers["a"].name)`, `/:customers/:a/:name`},
	})
}

func TestTheWholeStateIsTheEmptyPattern(t *testing.T) {
	x, issues := newDesk(t).env.Check(`state == state`, stateScope)
	require.Empty(t, issues)
	require.Equal(t, []ir.Read{{}}, x.Reads)
	x, issues = newDesk(t).env.Check(`1 < 2`, stateScope)
	require.Empty(t, issues)
	require.Empty(t, x.Reads)
}

func TestAnUntypedPlaceIsReadThroughEitherKindOfLetter(t *testing.T) {
	checkReads(t, newDesk(t).env, stateScope, []reads{
		{`state.extra.a.b[0]["x"] == 1`, `/:extra/a/b/[0]/x`},
		{`state.extra.all(x, x == 1.0)`, `/:extra! /:extra/*`},
		{`size(state.extra.a) == 1`, `/:extra/a! /:extra/a/*!`},
		{`state.extra[state.limit] == 1`, `/:extra/*~ /:limit`},
		{`"a" in state.extra`, `/:extra`},
	})
}

func TestAParameterAsIndexIsReadAsTheParameter(t *testing.T) {
	d := newDesk(t)
	checkReads(t, d.env, afterScope, []reads{
		{`size(after.tickets[ticket].labels) <= 5`, `/:tickets/{ticket}/:labels! /:tickets/{ticket}/:labels/[*]!`},
		{`before.limit < after.limit`, `/:limit`},
		{`ticket in after.tickets`, `/:tickets/{ticket}!`},
		{`cel.bind(t, ticket, after.tickets[t].urgent)`, `/:tickets/{ticket}/:urgent`},
		{`after.customers[before.tickets[ticket].customer].name == ""`, `/:customers/:*/:name~ /:tickets/{ticket}/:customer`},
		{`after.tickets[ticket + ""].urgent`, `/:tickets/:*/:urgent~`},
		{`ticket != customer`, ``},
	})
	checkReads(t, d.env, beforeScope, []reads{{`before.tickets[ticket].status == "open"`, `/:tickets/{ticket}/:status`}})
}

func TestTheEntryOfEachIsReadAsTheFamilysKey(t *testing.T) {
	d := newDesk(t)
	checkReads(t, d.env, d.each(), []reads{
		{`t.status != "solved" || has(t.reply)`, `/:tickets/{@1}/:reply! /:tickets/{@1}/:status`},
		{`state.customers[t.customer].role == "user"`, `/:customers/:*/:role~ /:tickets/{@1}/:customer`},
		{`state.tickets["a"].urgent == t.urgent`, `/:tickets/:a/:urgent /:tickets/{@1}/:urgent`},
		{`t.labels.all(l, l != "")`, `/:tickets/{@1}/:labels! /:tickets/{@1}/:labels/[*]`},
	})
	deep := Scope{Vars: ir.EachVars, Each: &ir.Each{Var: "l", Type: d.contract.State,
		Over: pattern(key("a"), anyKey, region.Segment{Kind: region.AnyIndex}, anyKey)}}
	checkReads(t, d.env, deep, []reads{{`l.limit > 1`, `/:a/{@1}/[*]/{@3}/:limit~`}})
}

func TestSelfIsTheRootOfAConstraint(t *testing.T) {
	d := newDesk(t)
	checkReads(t, d.env, Scope{Vars: ir.SelfVars, Self: d.ticket}, []reads{
		{`self.urgent`, `/:urgent`},
		{`size(self.labels) < 3`, `/:labels! /:labels/[*]!`},
	})
}

func TestAMeasureReadsWhatItIsOver(t *testing.T) {
	d := newDesk(t)
	checkReads(t, d.env, stateScope, []reads{
		{`spent <= state.budget`, `/:budget /:items/:*/:price`},
		{`entries < 3`, `/:items/:*!`},
		{`cheapest.orValue(1.0) > 0.5`, `/:items/:*/:price`},
	})
	x, _ := d.env.Check(`phase == "open" || entries > 1`, stateScope)
	require.True(t, x.ReadsPhase)
	x, _ = d.env.Check(`entries > 1`, stateScope)
	require.False(t, x.ReadsPhase)
}

func TestCoveredReadsAreDropped(t *testing.T) {
	checkReads(t, newDesk(t).env, stateScope, []reads{
		{`state.customers["a"] == state.customers["b"] && state.customers["a"].name == ""`, `/:customers/:a /:customers/:b`},
		{`state.customers.all(k, v, v == state.customers["a"]) && state.customers["a"].name == ""`, `/:customers! /:customers/:*`},
	})
}
