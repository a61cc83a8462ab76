package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/runtime"
)

// A builder makes a contract by hand: the runtime may not import the compiler.
type builder struct {
	testing.TB
	c   *ir.Contract
	env *expr.Env
}

func (b *builder) add(t ir.Type) ir.TypeID {
	b.c.Types = append(b.c.Types, t)
	return ir.TypeID(len(b.c.Types) - 1)
}

func (b *builder) record(name string, members ...ir.Member) ir.TypeID {
	return b.add(ir.Type{Kind: ir.RecordType, Name: name, Members: members})
}

func member(name string, t ir.TypeID) ir.Member { return ir.Member{Name: name, Type: t} }

func optional(name string, t ir.TypeID) ir.Member {
	return ir.Member{Name: name, Type: t, Optional: true}
}

// cel checks an expression, which works out what it reads.
func (b *builder) cel(source string, vars ir.Vars, params ...string) ir.Expr {
	b.Helper()
	x, issues := b.env.Check(source, expr.Scope{Vars: vars, Params: params})
	require.False(b, expr.HasErrors(issues), "%s: %v", source, issues)
	return x
}

// sampleIR is a desk that drafts a reply, with a hidden part and secrets:
//
//	state {
//	  ticket:    { id: string  status: "open" | "closed"  tags: list of string }
//	  internal:  { margin: number  token: secret string }
//	  draft:     { text: string | null  refs: list of string }
//	  customers: map of { name: string  card?: secret string }
//	  items:     list of { id: string  count: int } by id
//	  labels:    set of string
//	  history:   log of string
//	}
//	phases { open -> review, open -> closed by host; review; closed }
func sampleIR(t testing.TB) *ir.Contract {
	b := &builder{TB: t, c: &ir.Contract{Name: "desk", Types: make([]ir.Type, 1)}}
	b.types()
	var err error
	b.env, err = expr.New(b.c, expr.Default())
	require.NoError(t, err)
	b.rules()
	b.stages()
	return b.c
}

func (b *builder) types() {
	text := b.add(ir.Type{Kind: ir.StringType})
	secret := b.add(ir.Type{Kind: ir.StringType, Secret: true})
	number := b.add(ir.Type{Kind: ir.NumberType})
	whole := b.add(ir.Type{Kind: ir.IntType})
	null := b.add(ir.Type{Kind: ir.NullType})
	open := b.add(ir.Type{Kind: ir.LiteralType, Literal: `"open"`})
	closed := b.add(ir.Type{Kind: ir.LiteralType, Literal: `"closed"`})
	status := b.add(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{open, closed}})
	maybe := b.add(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{text, null}})
	texts := b.add(ir.Type{Kind: ir.ListType, Elem: text})
	ticket := b.record("Ticket", member("id", text), member("status", status), member("tags", texts))
	internal := b.record("Internal", member("margin", number), member("token", secret))
	draft := b.record("Draft", member("text", maybe), member("refs", texts))
	customer := b.record("Customer", member("name", text), optional("card", secret))
	customers := b.add(ir.Type{Kind: ir.MapType, Elem: customer})
	item := b.record("Item", member("id", text), member("count", whole))
	items := b.add(ir.Type{Kind: ir.KeyedType, Elem: item, KeyField: "id"})
	labels := b.add(ir.Type{Kind: ir.SetType, Elem: text})
	history := b.add(ir.Type{Kind: ir.LogType, Elem: text})
	b.c.State = b.record("", member("ticket", ticket), member("internal", internal), member("draft", draft),
		member("customers", customers), member("items", items), member("labels", labels), member("history", history))
	b.c.Secrets = region.Of("/:internal/:token", "/:customers/:*/:card")
}

func (b *builder) rules() {
	guard := b.cel(`size(state.draft.refs) < 3`, ir.StateVars)
	b.c.Phases = []ir.Phase{
		{Name: "open", Arrows: []ir.Arrow{{To: "review", Guard: &guard}, {To: "closed", ByHost: true}}},
		{Name: "review", Arrows: []ir.Arrow{{To: "closed"}}}, {Name: "closed"}}
	few := b.cel(`size(state.draft.refs) <= 3`, ir.StateVars)
	thin := b.cel(`state.internal.margin < 1.0`, ir.StateVars)
	short := b.cel(`state.draft.text == null || !("CANARY-BROKEN" in state.draft.refs) || int(state.ticket.id) > 0`, ir.StateVars)
	b.c.Invariants = []ir.Invariant{
		{Name: "few_refs", Message: "at most three references", Expr: &few},
		{Name: "thin_margin", Expr: &thin},
		{Name: "numbered", Expr: &short}}
}

func (b *builder) stages() {
	everything := region.Of("")
	wide := region.Of("/ticket", "/draft", "/customers", "/items", "/labels", "/history")
	customer := ir.Param{Name: "c", Kind: ir.ExistingParam, Of: region.MustParse("/:customers"), Reserved: []string{"reserved"}}
	newcomer := ir.Param{Name: "id", Kind: ir.NewParam, Of: region.MustParse("/:customers")}
	b.c.Stages = []ir.Stage{
		{Name: "draft", Doc: "Draft a reply.", In: []string{"open"},
			Read: region.Of("/ticket", "/draft"), Write: region.Of("/draft"), Source: region.Of("/ticket", "/draft")},
		{Name: "all", In: []string{"open"}, Read: wide, Write: region.Of("/ticket", "/draft", "/customers", "/items", "/labels", "/history/-"), Source: wide},
		{Name: "root", In: []string{"open"}, By: []string{"admin"}, Read: everything, Write: everything, Source: everything,
			Gates: []ir.Gate{{Kind: ir.InvariantGate, Name: "few_refs", Visibility: ir.Seen}, {Kind: ir.InvariantGate, Name: "thin_margin", Visibility: ir.Seen}}},
		{Name: "margin", In: []string{"open"}, Read: region.Of("/internal"), Write: region.Of("/internal"),
			Gates: []ir.Gate{{Kind: ir.InvariantGate, Name: "thin_margin", Visibility: ir.Seen}}},
		{Name: "edit", In: []string{"open"}, Params: []ir.Param{customer}, Read: region.Of("/customers/{c}"), Write: region.Of("/customers/{c}")},
		{Name: "enrol", In: []string{"open"}, Params: []ir.Param{newcomer}, Write: region.Of("/customers/{id}")},
		{Name: "strict", In: []string{"open"}, Read: region.Of("/draft", "/customers"), Write: region.Of("/draft", "/customers"),
			Require: []ir.Expr{b.cel(`size(before.draft.refs) > 0`, ir.BeforeVars)},
			Ensure:  []ir.Expr{b.cel(`size(after.draft.refs) > 1`, ir.AfterVars)},
			Produce: []region.Pattern{region.MustParse("/:customers/:new")}},
		{Name: "blind", In: []string{"open"}, Read: region.Of("/draft/text"), Write: region.Of("/draft/text"), Blind: region.Of("/customers/*"),
			Gates: []ir.Gate{{Kind: ir.InvariantGate, Name: "numbered", Visibility: ir.Hidden}}},
		{Name: "hand_in", In: []string{"open"}, Next: []string{"review"}},
		{Name: "decide", In: []string{"review"}, By: []string{"human"}, Next: []string{"closed"}},
	}
}

const sampleState = `{
	"ticket": {"id": "T-7", "status": "open", "tags": ["a", "b", "c"]},
	"internal": {"margin": 0.31, "token": "tok-CANARY-SECRET"},
	"draft": {"text": null, "refs": []},
	"customers": {"ann": {"name": "Ann", "card": "4111-CANARY-SECRET"}, "bob": {"name": "Bob"}},
	"items": [{"id": "i2", "count": 2}, {"id": "i1", "count": 1}],
	"labels": ["y", "x"],
	"history": ["begun", "again"]
}`

func compiledSample(t testing.TB) []byte { return ir.Encode(sampleIR(t)) }

// sampleContract is sampleIR, loaded from its compiled form.
func sampleContract(t testing.TB) *runtime.Contract {
	t.Helper()
	c, err := runtime.Load(compiledSample(t))
	require.NoError(t, err)
	return c
}
