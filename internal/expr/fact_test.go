package expr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// payments have unions told apart by strings, numbers and bools, with null beside, and in
// each other.
func payments() (*ir.Contract, Scope) {
	tt := &typeTable{types: make([]ir.Type, 1)}
	whole, str, null := tt.kind(ir.IntType), tt.kind(ir.StringType), tt.kind(ir.NullType)
	is := func(literal string) ir.TypeID { return tt.add(ir.Type{Kind: ir.LiteralType, Literal: literal}) }
	gift := tt.record("Gift", member("source", is(`"gift"`)), member("balance", whole))
	card := tt.record("Card", member("source", is(`"card"`)), member("number", str), optional("sum", whole))
	cash := tt.record("Cash", member("source", tt.words("cash", "cheque")), member("sum", whole))
	good := tt.record("Good", member("ok", is("true")), member("value", whole))
	bad := tt.record("Bad", member("ok", is("false")), member("error", str))
	one := tt.record("One", member("code", is("1")), member("a", whole), member("inner", tt.union(good, bad)))
	two := tt.record("Two", member("code", is("2.0")), member("b", whole))
	method := tt.union(gift, tt.union(card, cash))
	state := tt.record("", member("ms", tt.of(ir.MapType, method)), member("vs", tt.of(ir.ListType, tt.union(good, bad))),
		member("rs", tt.of(ir.MapType, tt.union(one, two, null))), member("n", whole))
	c := &ir.Contract{Types: tt.types, State: state}
	return c, Scope{Vars: ir.EachVars, Each: &ir.Each{Var: "m", Over: pattern(key("ms"), anyKey), Type: method}}
}

func TestAUnionIsNarrowedByItsLiteralMembers(t *testing.T) {
	c, each := payments()
	e, err := New(c, Default())
	require.NoError(t, err)
	for _, src := range []string{
		`m.source != "gift" || m.balance >= 0`,
		`!(m.source == "gift") || m.balance >= 0`,
		`"gift" == m.source ? m.balance >= 0 : true`,
		`m.source == "gift" && m.balance >= 0`,
		`m.source == "gift" || m.source == "card" || m.sum > 0`,
		`m.source in ["gift", "card"] || m.sum > 0`,
		`m.source in ["cash", "cheque"] && m.sum > 0`,
		`(m.source == "cash" || m.source == "cheque") && m.sum > 0`,
		`cel.bind(x, m, x.source != "gift" || x.balance >= 0)`,
		`state.ms.all(k, state.ms[k].source != "gift" || state.ms[k].balance > 0)`,
		`state.vs.all(v, v.ok ? v.value > 0 : v.error != "")`,
		`state.vs.filter(v, v.ok).all(v, v.value > 0) && state.vs.all(v, !v.ok || v.value > 0)`,
		`state.vs.all(v, v.ok == false || v.value > 0) && state.vs.all(v, v.ok != true || v.value > 0)`,
		`state.rs.all(k, r, r == null || r.code != 1 || r.a > 0 && (!r.inner.ok || r.inner.value > 0))`,
		`state.rs.all(k, r, r.code == 1.0 || r.b > 0)`,
	} {
		_, issues := e.Check(src, each)
		require.Empty(t, issues, src)
	}
	checkMistakes(t, e, each, []mistake{
		{`m.source == "gift" || «m.balance» >= 0`, Unguarded, "never there", ""},
		{`m.source != "card" || «m.balance» >= 0`, Unguarded, "never there", ""},
		{`m.source != "card" || «m.sum» >= 0`, Unguarded, "", `m.source != "card" || has(m.sum) && m.sum >= 0`},
		{`m.source in ["cash", "gift"] && «m.sum» > 0`, Unguarded, "", `m.source in ["cash", "gift"] && has(m.sum) && m.sum > 0`},
		{`state.ms.all(k, state.ms["a"].source != "gift" || «state.ms[k].balance» > 0)`, Unguarded, "", `state.ms.all(k, state.ms["a"].source != "gift" || has(state.ms[k].balance) && state.ms[k].balance > 0)`},
		{`state.vs.all(v, v.ok || «v.value» > 0)`, Unguarded, "never there", ""},
		{`(m.source == "gift" || state.n > 1) && «m.balance» > 0`, Unguarded, "", `(m.source == "gift" || state.n > 1) && has(m.balance) && m.balance > 0`},
	})
}

// A union that only a rule makes of what a pattern matches is typed as any other.
func TestATypeThatComesWithARuleIsKnown(t *testing.T) {
	c, _ := payments()
	e, err := New(c, Default())
	require.NoError(t, err)
	c.Types = append(c.Types, ir.Type{Kind: ir.UnionType, Alternatives: c.Types[c.Types[c.Types[c.State].Members[1].Type].Elem].Alternatives})
	each := &ir.Each{Var: "v", Over: pattern(key("vs"), anyKey), Type: ir.TypeID(len(c.Types) - 1)}
	checkMistakes(t, e, Scope{Vars: ir.EachVars, Each: each}, []mistake{
		{`v.«okk» == true`, UnknownMember, "", `v.ok == true`},
	})
}
