package verify_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
)

// A builder makes contracts by hand, so that these tests need no compiler.
type builder struct {
	t testing.TB
	c *ir.Contract
}

func newBuilder(t testing.TB) *builder {
	return &builder{t: t, c: &ir.Contract{
		Name: "test", Types: make([]ir.Type, 1), Phases: []ir.Phase{{Name: "main"}},
	}}
}

func (b *builder) typ(t ir.Type) ir.TypeID {
	b.c.Types = append(b.c.Types, t)
	return ir.TypeID(len(b.c.Types) - 1)
}

func (b *builder) kind(k ir.TypeKind) ir.TypeID { return b.typ(ir.Type{Kind: k}) }

func (b *builder) of(k ir.TypeKind, elem ir.TypeID) ir.TypeID {
	return b.typ(ir.Type{Kind: k, Elem: elem})
}

func (b *builder) oneOf(literals ...string) ir.TypeID {
	var alternatives []ir.TypeID
	for _, l := range literals {
		text, err := json.Marshal(l)
		require.NoError(b.t, err)
		alternatives = append(alternatives, b.typ(ir.Type{Kind: ir.LiteralType, Literal: string(text)}))
	}
	return b.typ(ir.Type{Kind: ir.UnionType, Alternatives: alternatives})
}

func (b *builder) keyOf(path string) ir.TypeID {
	target := region.MustParse(path)
	return b.typ(ir.Type{Kind: ir.RefType, Target: &target})
}

// record takes names and types in turn; a name that ends in ? is optional.
func (b *builder) record(name string, members ...any) ir.TypeID {
	t := ir.Type{Kind: ir.RecordType, Name: name}
	for i := 0; i < len(members); i += 2 {
		m := ir.Member{Name: members[i].(string), Type: members[i+1].(ir.TypeID)}
		if last := len(m.Name) - 1; m.Name[last] == '?' {
			m.Name, m.Optional = m.Name[:last], true
		}
		t.Members = append(t.Members, m)
	}
	return b.typ(t)
}

// where adds a constraint to the type.
func (b *builder) where(id ir.TypeID, source string) ir.TypeID {
	x := b.expr(source, expr.Scope{Vars: ir.SelfVars, Self: id})
	b.c.Types[id].Where = append(b.c.Types[id].Where, x)
	return id
}

// expr checks an expression; the state type and measures must be set before.
func (b *builder) expr(source string, scope expr.Scope) ir.Expr {
	b.t.Helper()
	env, err := expr.New(b.c, expr.Default())
	require.NoError(b.t, err)
	x, issues := env.Check(source, scope)
	require.False(b.t, expr.HasErrors(issues), "%s: %v", source, issues)
	return x
}

func (b *builder) stage(s ir.Stage) {
	if s.In == nil {
		s.In = []string{b.c.Phases[0].Name}
	}
	b.c.Stages = append(b.c.Stages, s)
}

func (b *builder) load() *verify.Program {
	b.t.Helper()
	p, err := verify.Load(b.c, verify.DefaultLimits())
	require.NoError(b.t, err)
	return p
}

// grants makes a region of several grants; in each a leading "!" is an exception.
func grants(gs ...[]string) region.Region {
	var out region.Region
	for _, g := range gs {
		out = append(out, region.Of(g...)...)
	}
	return out
}

// of is one grant for each pattern.
func of(patterns ...string) region.Region {
	var out region.Region
	for _, p := range patterns {
		out = append(out, region.Of(p)...)
	}
	return out
}

func at(path string) *region.Pattern {
	p := region.MustParse(path)
	return &p
}

// A run is a program and a snapshot to try proposals on.
type run struct {
	t testing.TB
	p *verify.Program
	s verify.Snapshot
}

func open(t testing.TB, p *verify.Program, state string) *run {
	t.Helper()
	n, err := p.Import([]byte(state))
	require.NoError(t, err)
	phase := p.Contract().Phases[0].Name
	require.Empty(t, p.CheckAll(context.Background(), n, phase))
	return &run{t, p, verify.Snapshot{State: n, Phase: phase, Version: 5}}
}

// try verifies and asserts what must be true of every outcome.
func (r *run) try(pr verify.Proposal) *verify.Outcome {
	r.t.Helper()
	before := r.p.Export(r.s.State, false)
	out, err := r.p.Verify(context.Background(), r.s, pr)
	require.NoError(r.t, err)
	require.Equal(r.t, before, r.p.Export(r.s.State, false), "verifying never changes the state")
	if out.Verdict.Verdict == verify.Reject {
		require.NotEmpty(r.t, out.Verdict.Violations)
		require.Equal(r.t, r.s, out.After)
		require.Equal(r.t, out.Verdict.StateBefore, out.Verdict.StateAfter)
		require.Equal(r.t, out.Verdict.VersionBefore, out.Verdict.VersionAfter)
		require.Equal(r.t, out.Verdict.PhaseBefore, out.Verdict.PhaseAfter)
	} else {
		require.Empty(r.t, out.Verdict.Violations)
		require.Empty(r.t, r.p.CheckAll(context.Background(), out.After.State, out.After.Phase))
	}
	return &out
}

// short writes violations as "gate code op path", for comparing.
func short(violations []verify.Violation) []string {
	out := []string{}
	for _, v := range violations {
		text := string(v.Gate) + " " + string(v.Code)
		if v.OpIndex != nil {
			text += " " + string(rune('0'+*v.OpIndex))
		}
		if v.Path != nil {
			text += " " + *v.Path
			if *v.Path == "" {
				text += `""`
			}
		}
		out = append(out, text)
	}
	return out
}

// refuses asserts a rejection with exactly these violations.
func (r *run) refuses(pr verify.Proposal, violations ...string) *verify.Outcome {
	r.t.Helper()
	out := r.try(pr)
	require.Equal(r.t, violations, short(out.Verdict.Violations), "%+v", out.Verdict.Violations)
	require.Equal(r.t, verify.Reject, out.Verdict.Verdict)
	return out
}

// commits asserts a commit and goes on from it.
func (r *run) commits(pr verify.Proposal) *verify.Outcome {
	r.t.Helper()
	out := r.try(pr)
	require.Equal(r.t, verify.Commit, out.Verdict.Verdict, "%+v", out.Verdict.Violations)
	require.Equal(r.t, r.s.Version+1, out.After.Version)
	r.s = out.After
	return out
}

// desk is a support desk: every kind of type, gate and exception occurs in it.
func desk(t testing.TB) *builder {
	b := newBuilder(t)
	str, num, integer := b.kind(ir.StringType), b.kind(ir.NumberType), b.kind(ir.IntType)
	line := b.record("Line", "sku", str, "count", integer)
	ticket := b.record("Ticket",
		"subject", str,
		"status", b.oneOf("open", "waiting", "solved"),
		"customer", b.keyOf("/:customers"),
		"labels", b.of(ir.SetType, str),
		"steps", b.of(ir.ListType, str),
		"lines", b.typ(ir.Type{Kind: ir.KeyedType, Elem: line, KeyField: "sku"}),
		"reply?", b.where(b.kind(ir.StringType), "size(self) <= 10"),
		"internal?", b.typ(ir.Type{Kind: ir.StringType, Secret: true}),
	)
	customer := b.record("Customer", "name", str, "email", str)
	refund := b.record("Refund", "ticket", b.keyOf("/:tickets"), "amount", b.where(b.kind(ir.NumberType), "self > 0.0"))
	window := b.where(b.record("Window", "from", integer, "to", integer), "self.from <= self.to")
	b.c.State = b.record("State",
		"tickets", b.of(ir.MapType, ticket),
		"customers", b.of(ir.MapType, customer),
		"refunds", b.of(ir.MapType, refund),
		"budget", num,
		"history", b.of(ir.LogType, str),
		"window", window,
		"notes", b.kind(ir.AnyType),
		"votes", b.of(ir.MapType, integer),
	)
	b.c.Measures = []ir.Measure{{Name: "refunded", Kind: ir.Sum, Over: region.MustParse("/:refunds/:*/:amount")}}
	b.c.Phases = []ir.Phase{
		{Name: "triage", Arrows: []ir.Arrow{{To: "review"}}},
		{Name: "review", Arrows: []ir.Arrow{{To: "triage", ByHost: true}, {To: "closed"}}},
		{Name: "closed"},
	}
	guard := b.expr(`state.tickets.all(k, state.tickets[k].status != "open")`, expr.Scope{Vars: ir.StateVars})
	b.c.Phases[1].Arrows[1].Guard = &guard
	b.deskInvariants(ticket)
	b.deskStages()
	return b
}

func (b *builder) deskInvariants(ticket ir.TypeID) {
	each := &ir.Each{Var: "t", Over: region.MustParse("/:tickets/:*"), Type: ticket}
	solved := b.expr(`t.status != "solved" || has(t.reply)`, expr.Scope{Vars: ir.EachVars, Each: each})
	budget := b.expr(`refunded <= state.budget`, expr.Scope{Vars: ir.StateVars})
	calm := b.expr(`phase != "closed" || size(state.notes) == 0`, expr.Scope{Vars: ir.StateVars})
	b.c.Invariants = []ir.Invariant{
		{Name: "solved_has_reply", Message: "a solved ticket carries a reply", Each: each, Expr: &solved},
		{Name: "within_budget", Message: "refunds stay within the budget", Expr: &budget},
		{Name: "emails_unique", Unique: at("/:customers/:*/:email")},
		{Name: "calm_when_closed", Expr: &calm},
	}
}

func (b *builder) deskStages() {
	ticket := ir.Param{Name: "ticket", Kind: ir.ExistingParam, Of: region.MustParse("/:tickets"), Reserved: []string{"index"}}
	params := expr.Scope{Vars: ir.AfterVars, Params: []string{"ticket"}}
	b.stage(ir.Stage{
		Name: "edit", Doc: "Answer one ticket.", Params: []ir.Param{ticket}, By: []string{"bot"},
		Read:   grants([]string{"/:tickets/{ticket}", "!/:tickets/{ticket}/:internal", "!/:tickets/{ticket}/:customer"}, []string{"/:history"}),
		Write:  of("/:tickets/{ticket}/:status", "/:tickets/{ticket}/:reply", "/:tickets/{ticket}/:labels", "/:tickets/{ticket}/:steps", "/:tickets/{ticket}/:lines", "/:history/-"),
		Source: of("/:tickets/{ticket}/:subject", "/:tickets/{ticket}/:labels", "/:tickets/{ticket}/:steps", "/:history"),
		Ensure: []ir.Expr{b.expr(`size(after.tickets[ticket].labels) <= 3`, params)},
		Gates: []ir.Gate{
			{Kind: ir.InvariantGate, Name: "solved_has_reply", Visibility: ir.Seen},
			{Kind: ir.EnsureGate, Name: "1", Visibility: ir.Seen},
		},
	})
	before := expr.Scope{Vars: ir.BeforeVars, Params: []string{"ticket"}}
	b.stage(ir.Stage{
		Name: "answer", Params: []ir.Param{ticket},
		Read:    of("/:tickets/{ticket}/:reply"),
		Write:   of("/:tickets/{ticket}/:reply"),
		Require: []ir.Expr{b.expr(`before.tickets[ticket].status == "open"`, before)},
		Produce: []region.Pattern{region.MustParse("/:tickets/{ticket}/:reply")},
		Gates: []ir.Gate{
			{Kind: ir.RequireGate, Name: "1", Visibility: ir.Hidden, Unseen: "/tickets/{ticket}/status"},
			{Kind: ir.InvariantGate, Name: "solved_has_reply", Visibility: ir.Hidden},
		},
	})
	id := ir.Param{Name: "id", Kind: ir.NewParam, Of: region.MustParse("/:refunds")}
	gates := func(budget ir.Visibility) []ir.Gate {
		return []ir.Gate{
			{Kind: ir.InvariantGate, Name: "within_budget", Visibility: budget, Unseen: "/budget"},
			{Kind: ir.RefGate, At: at("/:refunds/:*/:ticket"), Visibility: budget, Unseen: "/tickets/*"},
		}
	}
	b.stage(ir.Stage{Name: "refund", Params: []ir.Param{id}, Write: of("/:refunds/{id}"), Gates: gates(ir.Disclosed)})
	b.stage(ir.Stage{Name: "refund_quietly", Params: []ir.Param{id}, Write: of("/:refunds/{id}"), Gates: gates(ir.Hidden)})
	b.stage(ir.Stage{Name: "vote", Blind: of("/:votes/:*")})
	b.stage(ir.Stage{Name: "log", Write: of("/:history/-"), Produce: []region.Pattern{region.MustParse("/:history/-")}})
	b.stage(ir.Stage{
		Name: "admin", In: []string{"triage", "review"},
		Read:   of("/:tickets", "/:customers", "/:refunds", "/:budget", "/:window", "/:notes", "/:history", "/:votes"),
		Write:  of("/:tickets", "/:customers", "/:refunds", "/:budget", "/:window", "/:notes", "/:history", "/:votes"),
		Source: of("/:tickets", "/:customers", "/:notes", "/:history"),
	})
	b.stage(ir.Stage{Name: "root", Read: of("/**"), Write: of("/**"), Source: of("/**")})
	b.stage(ir.Stage{Name: "hand_in", In: []string{"triage"}, Next: []string{"review"}})
	b.stage(ir.Stage{Name: "finish", In: []string{"review"}, Read: of("/:tickets/:*/:status"), Next: []string{"triage", "closed"}, Gates: []ir.Gate{
		{Kind: ir.GuardGate, Name: "closed", Visibility: ir.Seen},
		{Kind: ir.InvariantGate, Name: "calm_when_closed", Visibility: ir.Hidden},
	}})
	b.stage(ir.Stage{
		Name: "contact", Read: of("/:customers/{customer}/:name"), Write: of("/:customers/{customer}/:name"),
		Params: []ir.Param{ticket, {Name: "customer", Kind: ir.DependentParam, Of: region.MustParse("/:tickets/{ticket}/:customer")}},
	})
	b.stage(ir.Stage{Name: "idle"})
}

const deskState = `{
  "tickets": {
    "T1": {"subject": "Kettle", "status": "open", "customer": "C1", "labels": ["urgent"], "steps": ["ask", "wait"],
           "lines": [{"sku": "B", "count": 3}, {"sku": "A", "count": 2}], "internal": "canary-internal"},
    "T2": {"subject": "Parcel", "status": "solved", "customer": "C2", "labels": [], "steps": [], "lines": [], "reply": "Sent."}
  },
  "customers": {"C1": {"name": "Ada", "email": "canary-ada"}, "C2": {"name": "Grace", "email": "canary-grace"}},
  "refunds": {"R1": {"ticket": "T2", "amount": 60}},
  "budget": 100, "history": ["opened"], "window": {"from": 1, "to": 5},
  "notes": {"list": [1, 2, 3], "deep": {"0": "zero"}}, "votes": {"V1": 4}
}`

var deskProgram = struct {
	sync.Mutex
	p *verify.Program
}{}

// openDesk opens the desk as it is; the program is loaded once.
func openDesk(t testing.TB) *run {
	deskProgram.Lock()
	defer deskProgram.Unlock()
	if deskProgram.p == nil {
		deskProgram.p = desk(t).load()
	}
	return open(t, deskProgram.p, deskState)
}

// edit is a proposal of the stage edit on ticket T1.
func edit(patch string) verify.Proposal {
	return verify.Proposal{Stage: "edit", Role: "bot", Args: map[string]string{"ticket": "T1"}, Patch: []byte(patch)}
}

// as is a proposal of a stage without arguments.
func as(stage, patch string) verify.Proposal {
	return verify.Proposal{Stage: stage, Patch: []byte(patch)}
}

// member is a part of the exported state, by names on the way.
func member(t testing.TB, r *run, names ...string) string {
	t.Helper()
	raw := json.RawMessage(r.p.Export(r.s.State, false))
	for _, name := range names {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &members))
		raw = members[name]
	}
	return string(raw)
}
