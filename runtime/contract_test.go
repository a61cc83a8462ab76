package runtime_test

import (
	"context"
	"slices"
	"testing"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/stretchr/testify/require"
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
	undone := b.cel(`before.draft.text == after.draft.text || after.draft.text != "undone"`, ir.ChangeVars)
	b.c.Invariants = []ir.Invariant{
		{Name: "few_refs", Message: "at most three references", Expr: &few},
		{Name: "thin_margin", Expr: &thin},
		{Name: "numbered", Expr: &short},
		{Name: "not_undone", Change: true, Expr: &undone}}
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

func TestAContractTellsItsStagesInTheWordsOfTheLanguage(t *testing.T) {
	c := sampleContract(t)
	names := []string{}
	for _, s := range c.Stages() {
		names = append(names, s.Name)
		same, known := c.Stage(s.Name)
		require.True(t, known)
		require.Equal(t, s, same)
	}
	require.Equal(t, []string{"draft", "all", "root", "margin", "edit", "enrol", "strict", "blind", "hand_in", "decide"}, names)
	draft, _ := c.Stage("draft")
	require.Equal(t, runtime.Stage{
		Name: "draft", Task: "Draft a reply.", In: []string{"open"},
		Reads: []string{"/ticket", "/draft"}, Writes: []string{"/draft"}, Sources: []string{"/ticket", "/draft"},
	}, draft)
	edit, _ := c.Stage("edit")
	require.Equal(t, []runtime.Parameter{{Name: "c", Kind: runtime.ParameterIn, Of: "/customers"}}, edit.Parameters)
	require.Equal(t, []string{"/customers/{c}"}, edit.Writes)
	enrol, _ := c.Stage("enrol")
	require.Equal(t, []runtime.Parameter{{Name: "id", Kind: runtime.ParameterNew, Of: "/customers"}}, enrol.Parameters)
	require.Equal(t, []string{}, enrol.Reads)
	blind, _ := c.Stage("blind")
	require.Equal(t, []string{"/draft/text", "/customers/*"}, blind.Writes)
	require.Equal(t, []string{"/customers/*"}, blind.Blind)
	decide, _ := c.Stage("decide")
	require.Equal(t, []string{"human"}, decide.By)
	require.Equal(t, []string{"closed"}, decide.Next)
	_, known := c.Stage("drafts")
	require.False(t, known)
}

func TestExceptionsDelegatesAndAttemptsOfAStageAreTold(t *testing.T) {
	sample := sampleIR(t)
	s := sample.Stage("draft")
	s.Read[0].Except = append(s.Read[0].Except, region.MustParse("/ticket/:tags"), region.MustParse("/ticket/:id"))
	s.Attempts, s.From = 5, "all"
	c, err := runtime.Load(ir.Encode(sample))
	require.NoError(t, err)
	draft, _ := c.Stage("draft")
	require.Equal(t, "/ticket except /ticket/tags, /ticket/id", draft.Reads[0])
	require.Equal(t, 5, draft.Attempts)
	require.Equal(t, "all", draft.From)
}

func TestAContractTellsItsRolesAndItsPhasesWithTheirEdges(t *testing.T) {
	c := sampleContract(t)
	require.Equal(t, []string{"admin", "human"}, c.Roles())
	require.Equal(t, []runtime.Phase{
		{Name: "open", Edges: []runtime.Edge{{To: "review", Guard: "size(state.draft.refs) < 3"}, {To: "closed", ByHost: true}}},
		{Name: "review", Edges: []runtime.Edge{{To: "closed"}}},
		{Name: "closed"},
	}, c.Phases())
}

func TestWhatAContractTellsIsTheCallersOwn(t *testing.T) {
	c := sampleContract(t)
	s := c.Stages()[0]
	s.In[0], s.Reads[0] = "nowhere", "/"
	again := c.Stages()[0]
	require.Equal(t, []string{"open"}, again.In)
	require.Equal(t, "/ticket", again.Reads[0])
}

// runsNow lists the stages that a role can run.
func runsNow(t *testing.T, in *runtime.Instance, role string) (names []string) {
	t.Helper()
	all, err := in.Runnable(ctx, role)
	require.NoError(t, err)
	for _, r := range all {
		require.Equal(t, r.Runs, len(r.Refused) == 0)
		if r.Runs {
			names = append(names, r.Stage)
		}
	}
	return names
}

func TestWhatARoleCanRunNowFollowsPhaseRoleAndRequire(t *testing.T) {
	in, _ := begin(t)
	require.Equal(t, []string{"draft", "all", "margin", "edit", "enrol", "blind", "hand_in"}, runsNow(t, in, ""))
	require.Equal(t, []string{"draft", "all", "root", "margin", "edit", "enrol", "blind", "hand_in"}, runsNow(t, in, "admin"))
	commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"a"}]`))
	require.Contains(t, runsNow(t, in, ""), "strict", "its require clause holds now")
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "hand_in", Base: in.Version(), Patch: []byte(`[]`)}))
	require.Empty(t, runsNow(t, in, ""))
	require.Equal(t, []string{"decide"}, runsNow(t, in, "human"))

	all, err := in.Runnable(ctx, "")
	require.NoError(t, err)
	codes := map[string][]verify.Code{}
	for _, r := range all {
		for _, v := range r.Refused {
			codes[r.Stage] = append(codes[r.Stage], v.Code)
		}
	}
	require.Equal(t, []verify.Code{verify.PhaseViolation}, codes["draft"])
	require.Equal(t, []verify.Code{verify.Unauthorised, verify.PhaseViolation}, codes["root"])
	require.Equal(t, []verify.Code{verify.Unauthorised}, codes["decide"])
}

func TestWhatCanRunIsWhatAnEmptyPatchIsNotRefusedFor(t *testing.T) {
	in, _ := begin(t)
	without := func(s runtime.Stage) bool { return len(s.Parameters) == 0 }
	seen := map[bool]int{}
	for round := range 12 {
		for _, role := range []string{"", "admin", "human"} {
			all, err := in.Runnable(ctx, role)
			require.NoError(t, err)
			for i, s := range in.Contract().Stages() {
				if !without(s) || s.Name == "hand_in" && round < 10 {
					continue
				}
				now := in.Version()
				v := proposeAs(t, in, runtime.Proposal{Stage: s.Name, Role: role, Base: now, Patch: []byte(`[]`)})
				refused := slices.ContainsFunc(v.Violations, func(v runtime.Violation) bool {
					return v.Gate == verify.GatePhase || v.Code == verify.RequireViolation
				})
				exhausted := slices.ContainsFunc(v.Violations, func(v runtime.Violation) bool { return v.Gate == verify.GateStale })
				if !exhausted {
					require.Equal(t, all[i].Runs, !refused, "%s as %q: %+v", s.Name, role, v.Violations)
					seen[refused]++
				}
				if in.Version() != now {
					break
				}
			}
		}
		if in.Phase() == "open" {
			propose(t, in, []string{`[{"op":"add","path":"/draft/refs/-","value":"a"}]`, `[{"op":"replace","path":"/draft/refs","value":[]}]`}[round%2])
		}
	}
	require.Greater(t, seen[true], 20)
	require.Greater(t, seen[false], 20)
}

func TestAskingWhatCanRunRecordsNothingAndEndsWithItsContext(t *testing.T) {
	in, _ := begin(t)
	before := in.Head()
	runsNow(t, in, "admin")
	require.Equal(t, before, in.Head())
	ended, end := context.WithCancel(ctx)
	end()
	_, err := in.Runnable(ended, "admin")
	require.ErrorIs(t, err, context.Canceled)
	_, err = in.Runnable(ctx, string(make([]byte, runtime.MaxGiven+1)))
	require.ErrorAs(t, err, new(*runtime.TooLongError))
}
