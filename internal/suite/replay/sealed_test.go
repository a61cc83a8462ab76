package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

// A gate whose value follows from the view and the patch discloses nothing, however
// much its rule may read. Contracts of that kind are sealed without a word, and, for
// the other half of the claim, states with equal views get equal replies.

// records is the state of the contracts below.
const records = `
state { cases: map of Case  orders: map of Order  people: map of { ok: bool  boss?: key of /people }  notes: list of Note by id  log: log of { who: key of /people } }
type Case { order: key of /orders  status: "open" | "done" | "lost"  officer?: key of /people  free: string }
type Order { by: key of /people  status: "draft" | "sent"  n: int }
type Note { id: string  case: key of /cases  text: string }
`

// A rule is sharp if stages of the first list disclose nothing by it, and those of the
// second do.
type sharpness struct {
	name, rules string
	silent      []string
	telling     []string
}

const walk = "phases { one -> two  two -> three  three }\n"

var sharp = []sharpness{
	{
		"a rule of a phase that the stage never sees", walk + `
invariant done { phase != "three" || state.cases.all(c, state.cases[c].status == "done") }
invariant sent { phase == "one" || phase == "two" || state.orders.all(o, state.orders[o].status == "sent") }
invariant none { phase in ["one", "two"] ? true : size(state.notes) == 0 }
invariant less { !(phase == "three") || size(state.people) < 2 }`,
		[]string{
			`stage s(case in /cases) { in one, two  read /cases/{case}/status  write /cases/{case}/status }`,
			`stage s(order in /orders) { in one  read /orders/{order}/(status|n)  write /orders/{order}/status }`,
			`stage s(note in /notes) { in two  read /notes/{note}/text  write /notes/{note}/text }`,
			`stage s { in one  next two }`,
			`stage s(case in /cases) { in three  read /cases/{case}/status  write /cases/{case}/status }`,
		},
		[]string{
			`stage s(note new in /notes, case in /cases) { in three  write /notes/{note}  ensure { after.notes[note].case == case } }`,
			`stage s { in two  next three }`,
			`stage s(case in /cases) { in two  read /cases/{case}/status  write /cases/{case}/status  next three }`,
		},
	},
	{
		"a rule that two phases share", walk + `
invariant done { phase == "one" || state.cases.all(c, state.cases[c].status == "done") }
invariant sent { phase != "two" && phase != "three" || state.orders.all(o, state.orders[o].status == "sent") }`,
		[]string{
			`stage s { in two  next three }`,
			`stage s(case in /cases) { in two  read /cases/{case}/free  write /cases/{case}/free  next three }`,
		},
		[]string{`stage s { in one  next two }`},
	},
	{
		"a look-up by a key that is bound", `
invariant agree each c in /cases/* { c.status != "done" || state.orders[c.order].status == "sent" }`,
		[]string{
			`stage s(case in /cases, order = /cases/{case}/order) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/status }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/status
			   require { before.cases[case].order == order } }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/(order|status)
			   ensure { after.cases[case].status == "done" && after.cases[case].order == order } }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/(status|n)  write /cases/{case}/(order|status)
			   ensure { order == after.cases[case].order } }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/status
			   ensure { before.cases[case].order == order } }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/status
			   ensure { after.cases[case].status == "done" && order == before.cases[case].order } }`,
		},
		[]string{
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/(order|status)
			   ensure { before.cases[case].order == order } }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/(order|status)
			   ensure { before.cases[case].order == order || after.cases[case].order == order } }`,
			`stage s(case in /cases, other in /cases, order in /orders) { read /cases/{case}/(order|status), /cases/{other}/order, /orders/{order}/status  write /cases/{case}/status
			   ensure { before.cases[other].order == order } }`,
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status }`,
			`stage s(case in /cases, order = /cases/{case}/order) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/(order|status) }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/(order|status)
			   require { before.cases[case].order == order } }`,
			`stage s(case in /cases, order = /cases/{case}/order) { read /cases/{case}/order, /orders/{order}/status  write /orders/{order}/status }`,
			`stage s(case in /cases, order in /orders) { read /cases/{case}/(order|status), /orders/{order}/status  write /cases/{case}/(order|status)
			   ensure { after.cases[case].order == order || true } }`,
		},
	},
	{
		"a text that is ensured", `
invariant agree each c in /cases/* { c.status != "done" || state.orders[c.order].status == "sent" }
invariant lost each c in /cases/* { c.status in ["open", "done"] || !has(c.officer) || state.people[c.officer].ok }`,
		[]string{
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status == "open" } }`,
			`stage s(case in /cases) { read /cases/{case}/(status|officer)  write /cases/{case}/status
			   ensure { after.cases[case].status in ["open"] && true } }`,
			`stage s(case in /cases, who in /people) { read /cases/{case}/(status|officer)  write /cases/{case}/officer
			   ensure { before.cases[case].status == "open" && after.cases[case].?officer.orValue("") == who } }`,
			`stage s(case in /cases, who in /people) { read /cases/{case}/(status|officer)  write /cases/{case}/officer
			   require { before.cases[case].status == "done" || "open" == before.cases[case].status }
			   ensure { !has(after.cases[case].officer) || after.cases[case].officer == who } }`,
			`stage s(case in /cases, other in /cases, order in /orders) { read /cases/{case}/(order|status), /cases/{other}/status  write /cases/{case}/order
			   ensure { before.cases[case].status in ["open", "lost"] } ensure { after.cases[case].order == order } }`,
			`stage s(order in /orders) { read /orders/{order}/status  write /orders/{order}/status  ensure { after.orders[order].status == "sent" } }`,
			`stage s(case new in /cases, order in /orders, who in /people) { write /cases/{case}
			   ensure { after.cases[case].status == "open" } ensure { after.cases[case].order == order && after.cases[case].?officer.orValue("") == who } }`,
		},
		[]string{
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status == "open" || after.cases[case].status == "done" } }`,
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status in ["open", "lost"] } }`,
			`stage s(case in /cases) { read /cases/{case}/(status|free)  write /cases/{case}/status  ensure { after.cases[case].status == "open" || after.cases[case].free == "a" } }`,
			`stage s(case in /cases, other in /cases) { read /cases/{case}/status, /cases/{other}/status  write /cases/{case}/status
			   ensure { after.cases[other].status == "open" } }`,
			`stage s(case in /cases, other in /cases, who in /people) { read /cases/{case}/(status|officer), /cases/{other}/status  write /cases/{case}/officer
			   ensure { before.cases[other].status == "open" && after.cases[case].?officer.orValue("") == who } }`,
			`stage s(case in /cases, who in /people) { read /cases/{case}/(status|officer)  write /cases/{case}/(officer|status)
			   require { before.cases[case].status == "open" }  ensure { after.cases[case].?officer.orValue("") == who } }`,
			`stage s(order in /orders) { read /orders/{order}/status  write /orders/{order}/status  ensure { after.orders[order].status == "draft" } }`,
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  require { before.cases[case].status == "open" } }`,
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { before.cases[case].status == "open" } }`,
		},
	},
	{
		"a text that is ensured, read last", `
invariant agree each c in /cases/* { c.order in state.orders && state.orders[c.order].status == "sent" || c.status != "done" }`,
		[]string{
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status == "open" } }`,
		},
		[]string{`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status }`},
	},
	{
		"a text that is ensured, read before what may cost any amount", `
invariant agree each c in /cases/* { c.status != "done" || state.orders.all(o, state.orders[o].n < 3 || c.free != "") }`,
		[]string{
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status == "open" } }`,
		},
		[]string{`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status }`},
	},
	{
		"a text that is ensured, read after what may cost any amount", `
invariant agree each c in /cases/* { (c.status != "open" || state.orders.all(o, state.orders[o].n < 3 || c.free != "")) || c.status != "done" }`,
		nil,
		[]string{
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status == "open" } }`,
		},
	},
	{
		"a text that is ensured, read after a comparison of containers", `
invariant agree each c in /cases/* { !(state.orders == {} && c.status == "done") }`,
		nil,
		[]string{
			`stage s(case in /cases) { read /cases/{case}/status  write /cases/{case}/status  ensure { after.cases[case].status == "open" } }`,
		},
	},
	{
		"a key that a text may name already", `
invariant named each n in /notes/* { !(n.text in state.orders) || state.orders[n.text].n < 9 }`,
		nil,
		[]string{
			`stage s(order new in /orders, who in /people) { write /orders/{order}  ensure { after.orders[order].by == who } }`,
		},
	},
	{
		"a look-up through two keys", `
invariant trusted each n in /notes/* { n.text == "a" || state.orders[state.cases[n.case].order].status == "sent" }`,
		[]string{
			`stage s(note in /notes, case = /notes/{note}/case, order = /cases/{case}/order) {
			   read /notes/{note}/(case|text), /cases/{case}/order, /orders/{order}/status  write /notes/{note}/text }`,
		},
		[]string{
			`stage s(note in /notes, case = /notes/{note}/case) { read /notes/{note}/(case|text), /cases/{case}/order  write /notes/{note}/text }`,
			`stage s(note in /notes, case = /notes/{note}/case, order = /cases/{case}/order) {
			   read /notes/{note}/(case|text), /cases/{case}/order, /orders/{order}/status  write /notes/{note}/text, /cases/{case}/order
			   discloses /cases/*/order }`,
		},
	},
	{
		"a reference that is pinned", ``,
		[]string{
			`stage s(case new in /cases, order in /orders, who in /people) { read /orders/{order}/n  write /cases/{case}
			   ensure { after.cases[case].order == order && after.cases[case].?officer.orValue("") == who } }`,
			`stage s(case in /cases, officer in /people) { read /cases/{case}/officer, /people/{officer}/ok  write /cases/{case}/officer
			   ensure { after.cases[case].?officer.orValue("") == officer } }`,
			`stage s(case in /cases, officer in /people) { read /cases/{case}/officer  write /cases/{case}/officer
			   ensure { !has(after.cases[case].officer) || after.cases[case].officer == officer } }`,
			`stage s(case in /cases, officer in /people) { read /cases/{case}/officer  write /cases/{case}/officer
			   ensure { has(after.cases[case].officer) && after.cases[case].officer == officer } }`,
			`stage s(note new in /notes, case in /cases) { write /notes/{note}  ensure { after.notes[note].case == case } }`,
		},
		[]string{
			`stage s(case in /cases, officer in /people) { read /cases/{case}/officer, /people/{officer}/ok  write /cases/{case}/officer }`,
			`stage s(case in /cases, officer in /people) { read /cases/{case}/officer, /people/{officer}/ok  write /cases/{case}/officer
			   ensure { !has(after.cases[case].officer) || after.cases[case].officer != officer } }`,
			`stage s(case in /cases, officer in /people) { read /cases/{case}/(officer|free), /people/{officer}/ok  write /cases/{case}/officer
			   ensure { after.cases[case].?officer.orValue("k1") == officer || after.cases[case].free != "" } }`,
			`stage s(case in /cases, officer in /cases) { read /cases/{case}/officer  write /cases/{case}/officer
			   ensure { has(after.cases[case].officer) && after.cases[case].officer == officer } }`,
		},
	},
	{
		"a key that nothing can refer to yet", `
invariant agree each c in /cases/* { c.status != "done" || state.orders[c.order].status == "sent" }
invariant bossed each p in /people/* { !has(p.boss) || state.people[p.boss].ok }`,
		[]string{
			`stage s(order new in /orders, who in /people) { read /people/{who}/ok  write /orders/{order}  ensure { after.orders[order].by == who } }`,
			`stage s(who new in /people, boss in /people) { read /people/{boss}/ok  write /people/{who}
			   ensure { !has(after.people[who].boss) || after.people[who].boss == boss } }`,
		},
		[]string{
			`stage s(order in /orders) { read /orders/{order}/status  write /orders/{order}/status }`,
			`stage s(order new in /orders, case in /cases, who in /people) { read /cases/{case}/(order|status)  write /orders/{order}, /cases/{case}/(order|status)
			   ensure { after.orders[order].by == who && after.cases[case].status == "open" } discloses /cases/*/order }`,
			`stage s(order new in /cases, who in /people) { read /orders/{order}/status  write /orders/{order}/status }`,
			`stage s(who new in /people) { write /people/{who} }`,
			`stage s(order new in /orders, case in /cases, who in /people) { read /cases/{case}/(order|status)  write /orders/{order}, /cases/{case}/order
			   ensure { after.orders[order].by == who } discloses /cases/*/order }`,
		},
	},
}

// findings are the codes of errors of a contract.
func findings(text string) (codes []string, c *ir.Contract, all []source.Diagnostic) {
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	for _, d := range out.Diagnostics {
		if d.Severity == source.Error && !slices.Contains(codes, d.Code) {
			codes = append(codes, d.Code)
		}
	}
	return codes, out.Contract, out.Diagnostics
}

// contractOf is a sealed contract about the records with one stage.
func (x sharpness) contractOf(stage string) string {
	if strings.HasPrefix(x.rules, walk) {
		// every phase and arrow is used
		stage += "\nstage t1 { in one  read /**  next two }\nstage t2 { in two  read /**  next three }"
	}
	return "contract c sealed\n" + records + x.rules + "\n" + stage + "\n"
}

func TestAGateThatTheViewAndThePatchDecideIsNotDisclosed(t *testing.T) {
	for _, x := range sharp {
		for i, stage := range x.silent {
			codes, _, all := findings(x.contractOf(stage))
			require.Empty(t, codes, "%s, silent %d: %+v", x.name, i, all)
		}
		for i, stage := range x.telling {
			codes, _, _ := findings(x.contractOf(stage))
			require.Equal(t, []string{"undisclosed_gate"}, codes, "%s, telling %d", x.name, i)
		}
	}
}

// An audience is states in which the stage sees the same, and what it may do there.
type audience struct {
	p      *verify.Program
	c      *ir.Contract
	stage  *ir.Stage
	phase  string
	args   region.Binding
	states []*tree.Node
}

func (a audience) told(t *testing.T, n *tree.Node, patch, next string) (string, bool) {
	given := map[string]string{}
	for _, q := range a.stage.Params {
		if q.Kind != ir.DependentParam {
			given[q.Name] = a.args[q.Name]
		}
	}
	out, err := a.p.Verify(context.Background(), verify.Snapshot{State: n, Phase: a.phase}, verify.Proposal{Stage: a.stage.Name, Args: given, Patch: []byte(patch), Next: next})
	require.NoError(t, err)
	reply, err := json.Marshal(out.Actor())
	require.NoError(t, err)
	return string(reply), out.Verdict.Verdict != verify.Reject
}

// digest is what the stage sees of a state; "" if its arguments do not bind.
func (a audience) digest(t *testing.T, n *tree.Node) string {
	given := map[string]string{}
	for _, q := range a.stage.Params {
		if q.Kind != ir.DependentParam {
			given[q.Name] = a.args[q.Name]
		}
	}
	v, refused, err := a.p.View(context.Background(), verify.Snapshot{State: n, Phase: a.phase}, verify.ViewRequest{Stage: a.stage.Name, Args: given})
	require.NoError(t, err)
	if refused != nil {
		return ""
	}
	return v.Digest
}

// gather draws states that look alike to a stage.
func (m maker) gather(t *testing.T, p *verify.Program, c *ir.Contract, s *ir.Stage) (audience, bool) {
	a := audience{p: p, c: c, stage: s, phase: m.pick(s.In...)}
	first := m.valid(p, c, a.phase)
	if first == nil {
		return a, false
	}
	args, ok := (&course{maker: m}).arguments(s, first)
	if !ok {
		return a, false
	}
	a.args = args
	view := a.digest(t, first)
	if view == "" {
		return a, false
	}
	a.states = append(a.states, first)
	for range 60 {
		other := m.varied(a.states[m.Intn(len(a.states))], m.fileNode(p, c))
		if other == nil {
			continue
		}
		n, err := p.Import(p.Export(other, false))
		if err != nil || len(p.CheckAll(context.Background(), n, a.phase)) > 0 || a.digest(t, n) != view {
			continue
		}
		if again, ok := (&course{maker: m}).dependent(s, n, args); ok && fmt.Sprint(again) == fmt.Sprint(args) {
			a.states = append(a.states, n)
		}
		if len(a.states) == 6 {
			break
		}
	}
	return a, len(a.states) > 1
}

// fileNode is a state in the form of files, whose rules may be broken.
func (m maker) fileNode(p *verify.Program, c *ir.Contract) *tree.Node {
	n, err := p.Import([]byte(m.file(c)))
	if err != nil {
		return m.fileNode(p, c)
	}
	return n
}

// dependent fills in what the state determines of a stage's arguments.
func (co *course) dependent(s *ir.Stage, state *tree.Node, args region.Binding) (region.Binding, bool) {
	out := region.Binding{}
	for _, p := range s.Params {
		if p.Kind != ir.DependentParam {
			out[p.Name] = args[p.Name]
			continue
		}
		at := tree.NodeAt(state, wordOf(p.Of.Bind(out)))
		if at == nil || at.Kind() != ir.String {
			return nil, false
		}
		out[p.Name] = at.Text()
	}
	return out, true
}

// listen tries patches of a stage on an audience; told counts comparisons, accepted
// those that were accepted.
func (m maker) listen(t *testing.T, a audience, tries int) (told, accepted int) {
	first := placed{a.states[0], "", places(a.states[0])}
	for range tries {
		who := m.actor(a.stage, reachOf(a.stage), a.args, first, a.states[m.Intn(len(a.states))])
		if who.idle() && len(a.stage.Next) == 0 {
			return told, accepted
		}
		patch, next := "[]", ""
		if !who.idle() {
			patch = m.typedPatch(a, who)
		}
		if len(a.stage.Next) > 0 {
			next = m.pick(a.stage.Next...)
		}
		want, ok := a.told(t, a.states[0], patch, next)
		for _, n := range a.states[1:] {
			got, _ := a.told(t, n, patch, next)
			told++
			if ok {
				accepted++
			}
			require.Equal(t, want, got, "%s\non %s\nand %s\npatch %s args %v", text(a.stage), a.p.Export(a.states[0], false), a.p.Export(n, false), patch, a.args)
		}
	}
	return told, accepted
}

// typedPatch writes a patch; what it adds below a new key fits the type in form.
func (m maker) typedPatch(a audience, who actor) string {
	for i := range a.stage.Params {
		q := &a.stage.Params[i]
		if q.Kind != ir.NewParam || !m.chance(70) {
			continue
		}
		at := append(wordOf(q.Of.Bind(a.args)), region.Key(a.args[q.Name]))
		container := tree.NodeAt(m.fileNode(a.p, a.c), at[:len(at)-1])
		if v := m.child(container); v != nil {
			for _, p := range a.stage.Params { // what conditions pin
				for _, x := range a.stage.Ensure {
					for _, pin := range x.Pins {
						if pin.Param == p.Name && m.chance(70) {
							w := wordOf(pin.At.Bind(a.args))
							if len(w) == len(at)+1 && w[:len(at)].Pointer() == at.Pointer() {
								v = v.With(w[len(at)].Name, tree.NewString(a.args[p.Name]))
							}
						}
					}
				}
			}
			return `[{"op":"add","path":` + quoted(at.Pointer()) + `,"value":` + string(tree.AppendJSON(nil, named(at, v))) + `}]`
		}
	}
	return who.patch(a.states[0])
}

// named lets an entry of a list by key, the notes or /k, carry its key.
func named(at region.Word, v *tree.Node) *tree.Node {
	if len(at) == 2 && (at[0].Name == "notes" || at[0].Name == "k") {
		return v.With("id", tree.NewString(at[1].Name))
	}
	return v
}

func (m maker) child(n *tree.Node) *tree.Node { return actor{maker: m}.child(n) }

func TestStatesThatASealedContractShowsAlikeAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	const seed = 11
	m := newMaker(seed)
	told, accepted := 0, 0
	for _, x := range sharp {
		for _, stage := range x.silent {
			_, c, _ := findings(x.contractOf(stage))
			require.NotNil(t, c, stage)
			require.NotContains(t, stage, "discloses", "replies may differ by what is disclosed")
			p, err := verify.Load(c, verify.DefaultLimits())
			require.NoError(t, err)
			heard := 0
			for range min(rounds(40, 12), 1200) {
				if a, ok := m.gather(t, p, c, c.Stage("s")); ok {
					n, yes := m.listen(t, a, 20)
					told, accepted, heard = told+n, accepted+yes, heard+n
				}
			}
			t.Logf("%d: %s", heard, stage)
		}
	}
	t.Logf("%d pairs of states with a patch: %d accepted, 0 differences", told, accepted)
	require.Positive(t, accepted)
}
