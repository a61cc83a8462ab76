package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// partTexts writes parts as "pattern: source", a part about the whole state as its source.
func partTexts(e *Env, parts []ir.Part) []string {
	var out []string
	for _, p := range parts {
		text := p.Expr.Source
		if p.Each != nil {
			text = p.Each.Over.String() + ": " + text
		}
		if p.Each != nil && !e.Local(p) {
			text += " (looks elsewhere)"
		}
		out = append(out, text)
	}
	return out
}

func TestRulesOverAllEntriesAreTakenApart(t *testing.T) {
	d := newDesk(t)
	for source, want := range map[string][]string{
		`state.tickets.all(k, state.tickets[k].status != "solved" || has(state.tickets[k].reply))`: {
			`/:tickets/:*: entry.status != "solved" || has(entry.reply)`},
		`state.tickets.all(k, t, t.urgent || k != "T9")`:                {`/:tickets/:*: t.urgent || k != "T9"`},
		`state.orders.all(o, o.count >= 0)`:                             {`/:orders/[*]: o.count >= 0`},
		`!state.items.exists(i, state.items[i].price < 0.0)`:            {`/:items/:*: !(entry.price < 0.0)`},
		`(state.items.all(i, v, v.price <= spent)) && entries < 5`:      {`/:items/:*: v.price <= spent (looks elsewhere)`, `entries < 5`},
		`state.tickets.all(k, t, t.customer in state.customers)`:        {`/:tickets/:*: t.customer in state.customers (looks elsewhere)`},
		`state.tickets.all(k, (state.tickets[k]).notes.all(n, n != k))`: {`/:tickets/:*: (entry).notes.all(n, n != k)`},
		`state.tickets.all(k, t, t.urgent || shop.spent < 3.0)`:         {`/:tickets/:*: t.urgent || shop.spent < 3.0 (looks elsewhere)`},
		`state.limit > 3 || state.tickets.all(k, state.tickets[k].urgent)`: {
			`/:tickets/:*: (state.limit > 3) || (entry.urgent) (looks elsewhere)`},
		`phase != "done" ? state.limit > 3 && state.budget > 1.0 : spent < 2.0`: {
			`(phase != "done") || (!(phase != "done"))`, `(!(phase != "done")) || (state.limit > 3)`,
			`(!(phase != "done")) || (state.budget > 1.0)`, `(phase != "done") || (spent < 2.0)`},
		`!(state.limit < 3 || state.tickets.exists(k, t, t.urgent && t.score == 2))`: {
			`!(state.limit < 3)`, `/:tickets/:*: !(t.urgent && t.score == 2)`},
		`state.tickets.all(k, t, has(t.reply) && t.reply != "" && k in state.customers)`: {
			`/:tickets/:*: has(t.reply)`, `/:tickets/:*: t.reply != ""`, `/:tickets/:*: k in state.customers (looks elsewhere)`},
		`state.tickets.all(k, state.tickets[k].labels.all(l, l != "") || state.limit > 1)`: {
			`/:tickets/:*/:labels/[*]: (state.limit > 1) || (l != "") (looks elsewhere)`},
		`state.tickets.all(k, t, t.notes.all(n, n != k))`:               {`/:tickets/:*: t.notes.all(n, n != k)`},
		`state.tickets.all(k, t, t.urgent || t.notes.all(n, n != "b"))`: {`/:tickets/:*: t.urgent || t.notes.all(n, n != "b")`},
		`state.orders.all(o, state.items.all(i, state.items[i].count > 0))`: {
			`/:orders/[*]: state.items.all(i, state.items[i].count > 0) (looks elsewhere)`},
		`state.limit > 3 && state.budget > 1.0`:     {`state.limit > 3`, `state.budget > 1.0`},
		`has(state.meta) && state.meta.name == "b"`: {`has(state.meta)`, `state.meta.name == "b"`},
		`state.tags.all(x, x != "") && state.items.all(i, v, v.id == i)`: {
			`/:tags/[*]: x != ""`, `/:items/:*: v.id == i`},
	} {
		x, issues := d.env.Check(source, stateScope)
		require.False(t, HasErrors(issues), "%s: %v", source, issues)
		require.Equal(t, want, partTexts(d.env, d.env.Parts(x, stateScope)), source)
	}
}

func TestOtherRulesStayWhole(t *testing.T) {
	d := newDesk(t)
	for _, source := range []string{
		`spent <= state.budget`,
		`state.tickets.exists(k, state.tickets[k].urgent)`,
		`state.tickets.exists_one(k, state.tickets[k].urgent)`,
		`state.tickets.filter(k, state.tickets[k].urgent).size() < 3`,
		`state.tickets.all(k, t, t.notes.all(k, k != "b"))`,
		`cel.bind(x, state.limit, x > 1 && x < 4)`,
		`state.orders.all(i, o, i >= 0 && o.count > 0)`,
		`!has(state.meta) || state.meta.name != ""`,
		`state.tickets.all(k, state.tickets[k].notes.all(k, k != "")) `,
		`[1, 2].all(x, x > 0)`,
		`state.tickets.all(shop, state.tickets[shop].urgent)`,
	} {
		x, issues := d.env.Check(source, stateScope)
		require.False(t, HasErrors(issues), "%s: %v", source, issues)
		require.Nil(t, partTexts(d.env, d.env.Parts(x, stateScope)), source)
	}
}

// A rule and its parts agree, also on what has no value.
func TestTheWholeHoldsExactlyIfAllPartsDo(t *testing.T) {
	d := newDesk(t)
	seen := map[string]int{}
	for _, source := range []string{
		`state.tickets.all(k, state.tickets[k].status != "solved" || has(state.tickets[k].reply))`,
		`state.tickets.all(k, t, t.score > 1 && t.subject != k) && spent <= state.budget`,
		`state.tickets.all(k, t, !has(t.author) || 6 / (size(t.subject) - 2) > 2)`,
		`!state.items.exists(i, 10 / state.items[i].count < 3)`,
		`state.items.all(i, v, 10 / v.count > 3) && state.orders.all(o, o.count > 1)`,
		`10 / state.items["a"].count > 3 || state.items.all(i, v, 10 / v.count > 3 && v.price > 1.0)`,
		`10 / state.items["a"].count > 3 ? state.orders[0].count > 1 : !(10 / state.items["b"].count > 2 && state.budget > 3.0)`,
		`!(state.orders[0].count > 1 && state.items.exists(i, v, v.count == 0 || 4 / v.count > 3))`,
		`state.tickets.all(k, t, has(t.reply) && t.reply == "r" || t.urgent && size(t.subject) > 2)`,
		`state.tickets.all(k, t, has(t.author) && t.author.name == "n")`,
		`state.tickets.all(k, t, t.labels.all(l, 2 / size(l) > 0 && l != "ab"))`,
		`has(state.meta) && state.meta.name == "b" || state.budget > 2.0`,
	} {
		x, _ := d.env.Check(source, stateScope)
		whole, err := d.env.Compile(x, stateScope)
		require.NoError(t, err)
		parts := d.env.Parts(x, stateScope)
		require.NotNil(t, parts, source)
		for i := range 64 {
			state := variation(i)
			want := outcomeOf(whole.Eval(context.Background(), d.input(state)))
			require.Equal(t, want, d.outcomeOfParts(t, parts, state), "%s, variation %d", source, i)
			seen[want]++
		}
	}
	require.Len(t, seen, 3, "%v", seen)
}

func variation(i int) ir.Value {
	ticket := func(bits int) string {
		score := [...]string{"null", "5", "1", "3"}[bits&3]
		return fmt.Sprintf(`{"subject":"T%s","status":%q,"customer":"C1","labels":%s,"notes":[],"score":%s,"urgent":true%s}`,
			[...]string{"", "1"}[bits&1], [...]string{"open", "solved"}[bits>>1&1], [...]string{`[]`, `["a"]`, `["a",""]`, `["a","ab",""]`}[bits&3], score, [...]string{"", `,"reply":"r","author":{"name":"n"}`}[bits&1])
	}
	return value(fmt.Sprintf(`{"tickets":{"T1":%s,"T2":%s},"items":{"a":{"id":"a","price":2,"count":%d},"b":{"id":"b","price":%d,"count":2}},"orders":[{"id":"o","price":1,"count":%d}],"budget":%d}`,
		ticket(i), ticket(i>>2), i&3, i>>3, i>>4, i>>1))
}

func (d *desk) input(state ir.Value) *Input {
	return &Input{State: state, Measure: func(name string) (string, bool) {
		return state.Member("items").Member("b").Member("price").Text(), name == "spent"
	}}
}

func outcomeOf(holds bool, err error) string {
	if err != nil {
		return "no value"
	}
	return fmt.Sprint(holds)
}

func (d *desk) outcomeOfParts(t *testing.T, parts []ir.Part, state ir.Value) string {
	out := "true"
	ask := func(p *Program, in *Input) {
		if one := outcomeOf(p.Eval(context.Background(), in)); one == "false" || out == "true" {
			out = one
		}
	}
	for _, part := range parts {
		p, err := d.env.Compile(part.Expr, PartScope(part))
		require.NoError(t, err)
		in := d.input(state)
		if part.Each == nil {
			ask(p, in)
			continue
		}
		eachEntry(state, "", part.Each.Over.Segments, func(name string, entry ir.Value) {
			in.Entry, in.Params = entry, map[string]string{part.Key: name}
			ask(p, in)
		})
	}
	return out
}

// eachEntry calls f for every node that segments lead to, with its key.
func eachEntry(v ir.Value, name string, segments []region.Segment, f func(name string, v ir.Value)) {
	switch {
	case v == nil:
	case len(segments) == 0:
		f(name, v)
	case segments[0].Kind == region.KeyLiteral:
		eachEntry(v.Member(segments[0].Text), segments[0].Text, segments[1:], f)
	default:
		v.EachMember(func(name string, child ir.Value) bool { eachEntry(child, name, segments[1:], f); return true })
		v.EachElement(func(_ int, child ir.Value) bool { eachEntry(child, "", segments[1:], f); return true })
	}
}

func TestAnEachRuleIsLocalIfItLooksAtItsEntryOnly(t *testing.T) {
	d := newDesk(t)
	each := &ir.Each{Var: "t", Over: pattern(key("tickets"), anyKey), Type: d.ticket}
	for source, want := range map[string]bool{
		`t.urgent || t.labels.all(l, l != "")`: true,
		`t.customer in state.customers`:        false,
		`phase == "open" || t.urgent`:          false,
		`t.urgent || entries < 3`:              false,
		`t.urgent || shop.spent < 3.0`:         false,
	} {
		x, issues := d.env.Check(source, d.each())
		require.False(t, HasErrors(issues), source)
		require.Equal(t, want, d.env.Local(ir.Part{Each: each, Expr: x}), source)
	}
}

func TestWalksAreTheLoopsThatEveryEvaluationMakes(t *testing.T) {
	d := newDesk(t)
	for source, want := range map[string]string{
		`state.tickets.all(k, state.tickets[k].urgent)`:                                                "",
		`state.tickets.exists(k, state.tickets[k].urgent) && entries < 5`:                              "/tickets",
		`state.tickets.all(k, t, t.urgent) && state.orders.map(o, o.price).size() > 0`:                 "/orders",
		`state.tickets.all(k, t, state.customers.exists(c, c == t.customer))`:                          "/customers",
		`state.limit > 3 || state.tickets["T1"].labels.exists(l, l == "a")`:                            "",
		`state.items.filter(i, state.items[i].count > 0).map(i, state.items[i]).exists(i, i.id == "")`: "/items",
		`[1, 2].exists(x, x == state.limit) && size(state.tickets) > 1`:                                "",
		`state.orders.all(o, o.count > 0)`:                                                             "",
		`state.orders.all(o, o.id in state.items)`:                                                     "",
		`sum(state.orders.map(o, o.count)) > 3`:                                                        "/orders",
		`state.orders.all(o, sum(state.items.transformList(k, i, i.count)) > o.count)`:                 "/items",
		`state.tickets.all(k, t, t.customer in state.customers)`:                                       "",
	} {
		x, issues := d.env.Check(source, stateScope)
		require.False(t, HasErrors(issues), "%s: %v", source, issues)
		text := ""
		for _, p := range d.env.Walks(x, stateScope) {
			text += p.Source()
		}
		require.Equal(t, want, text, source)
	}
	x, _ := d.env.Check(`after.tickets.all(k, k in before.tickets)`, afterScope)
	require.Len(t, d.env.Walks(x, afterScope), 1)
	x, _ = d.env.Check(`t.labels.all(l, l != "")`, d.each())
	require.Empty(t, d.env.Walks(x, d.each()))
	label := Scope{Vars: ir.EachVars, Each: &ir.Each{Var: "l", Over: pattern(key("tickets"), anyKey, key("labels"), region.Segment{Kind: region.AnyIndex})}}
	for source, want := range map[string]int{`l != ""`: 0, `l in state.customers`: 0, `state.orders.exists(o, o.id == l)`: 1, `l != "" || entries > 1`: 0} {
		x, _ = d.env.Check(source, label)
		require.Len(t, d.env.Walks(x, label), want, source)
	}
}

func TestWhatARuleReadsOfItsEntryIsToldFromTheRest(t *testing.T) {
	d := newDesk(t)
	element := &ir.Each{Var: "o", Over: pattern(key("orders"), region.Segment{Kind: region.AnyIndex}), Type: d.contract.Types[d.contract.Types[d.contract.State].Members[3].Type].Elem}
	for source, want := range map[string]string{
		`o.count > 0`: "! /:count | ",
		`o.id in state.items && state.items[o.id].price == o.price`: "! /:id /:price | /:items/:*! /:items/:*/:price",
		`state.orders.exists(x, x.id == o.id)`:                      "! /:id | /:orders! /:orders/[*]/:id",
		`o == state.orders[0] || entries < 3`:                       "!  | /:items/:*! /:orders/[0]",
		`state.limit < 3`:                                           "! | /:limit",
	} {
		x, issues := d.env.Check(source, Scope{Vars: ir.EachVars, Each: element})
		require.False(t, HasErrors(issues), "%s %v", source, issues)
		within, elsewhere := d.env.EntryReads(ir.Part{Each: element, Expr: x})
		text := func(ps []region.Pattern) string {
			var out []string
			for _, p := range ps {
				out = append(out, patternText(ir.Read{Pattern: p}))
			}
			return strings.Join(out, " ")
		}
		require.Equal(t, want, text(within)+" | "+text(elsewhere), source)
	}
}

// A ruleSpeller draws rules that quantify over containers of the state and of what is bound.
type ruleSpeller struct {
	*rand.Rand
	sets, rows, numbers []string // that are bound
}

func (s *ruleSpeller) rule(depth int) string {
	if depth > 0 {
		switch s.Intn(6) {
		case 0:
			return "(" + s.rule(depth-1) + [...]string{" && ", " || "}[s.Intn(2)] + s.rule(depth-1) + ")"
		case 1:
			return "!(" + s.rule(depth-1) + ")"
		case 2:
			return "(" + s.rule(depth-1) + " ? " + s.rule(depth-1) + " : " + s.rule(depth-1) + ")"
		default:
			return s.loop(depth)
		}
	}
	number := append([]string{"state.n"}, s.numbers...)
	about := []string{number[s.Intn(len(number))] + " > 0", "1 / " + number[s.Intn(len(number))] + " == 1", `"a" in state.m`, "1 in state.s"}
	for _, v := range s.sets {
		about = append(about, v+".size() > 1", "1 in "+v)
	}
	for _, v := range s.rows {
		about = append(about, v+".n == 0", "1 in "+v+".s")
	}
	return about[s.Intn(len(about))]
}

func (s *ruleSpeller) loop(depth int) string {
	inner := *s
	v := fmt.Sprintf("v%d", len(s.sets)+len(s.rows)+len(s.numbers))
	over, binds := "", v
	switch s.Intn(8) {
	case 0, 1:
		over, binds, inner.sets = "state.m", v+"k, "+v, append(slices.Clone(s.sets), v)
	case 2:
		over, inner.sets = "state.ls", append(slices.Clone(s.sets), v)
	case 3, 4:
		over, binds, inner.rows = "state.k", v+"k, "+v, append(slices.Clone(s.rows), v)
	case 5:
		over, inner.numbers = "state.l", append(slices.Clone(s.numbers), v)
	default:
		over, inner.numbers = "state.g", append(slices.Clone(s.numbers), v)
		if all := append(slices.Clone(s.sets), s.rows...); len(all) > 0 {
			if over = all[s.Intn(len(all))]; slices.Contains(s.rows, over) {
				over += ".s"
			}
		}
	}
	return over + [...]string{".all(", ".exists("}[s.Intn(2)] + binds + ", " + inner.rule(depth-1) + ")"
}

// TestTheWholeOfADrawnRuleHoldsExactlyIfAllItsPartsDo draws the rules: loops in loops over one
// another's entries and beside them, over containers that may be empty.
func TestTheWholeOfADrawnRuleHoldsExactlyIfAllItsPartsDo(t *testing.T) {
	c := bagContract()
	e, err := New(c, Default())
	require.NoError(t, err)
	r := source{rand.New(rand.NewSource(23)), c.Types, true}
	apart, outcomes := 0, map[string]int{}
	for range rounds(1000) {
		src := (&ruleSpeller{Rand: r.Rand}).rule(1 + r.Intn(4))
		x, issues := e.Check(src, stateScope)
		require.False(t, HasErrors(issues), "%s: %v", src, issues)
		parts := e.Parts(x, stateScope)
		if parts == nil {
			continue
		}
		apart++
		whole, err := e.Compile(x, stateScope)
		require.NoError(t, err)
		d := &desk{env: e}
		for range 12 {
			state := bagValue{r.value(c.State), true}
			want := outcomeOf(whole.Eval(context.Background(), &Input{State: state}))
			text, _ := json.Marshal(state.v)
			require.Equal(t, want, d.outcomeOfParts(t, parts, state), "%s\nas %q\n%s", src, partTexts(e, parts), text)
			outcomes[want]++
		}
	}
	t.Logf("%d rules taken apart, outcomes %v", apart, outcomes)
	require.Greater(t, apart, 20)
	require.Len(t, outcomes, 3)
}
