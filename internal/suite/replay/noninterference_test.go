package replay_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/view"
)

// Noninterference, spec/semantics.md section 11.4, of whole contracts: what the
// compiler accepts in a sealed contract lets an actor tell no two states apart that
// look alike, but by the bits that its stage discloses. A case is two valid states
// with byte-equal views and one patch on both. POPTIC_SOUNDNESS=1000000 runs that many.

// A secrecy counts what was drawn and compared.
type secrecy struct {
	tried, contracts int
	refused          map[string]int  // by code, findings of contracts that were thrown away
	drew, compared   map[string]int  // by construct, contracts that compiled; in which states were compared
	cases            int             // pairs of states and a patch
	accepted, bits   int             // cases that were accepted; that differ in a disclosed bit
	chosen           int             // commits by which an actor chose, under a warning, to be shown unlike things
	distinct         map[string]bool // contracts with states that look alike
	misbound         int             // states on which arguments do not bind, compared with another
	meter            meter
	took             time.Duration
}

func newSecrecy() *secrecy {
	return &secrecy{refused: map[string]int{}, drew: map[string]int{}, compared: map[string]int{}, distinct: map[string]bool{}}
}

func (s *secrecy) log(t testing.TB) {
	t.Helper()
	t.Logf("%d pairs of states with a patch in %d distinct contracts: %d accepted on both, 0 differences but in %d patches by a disclosed bit and %d by a choice that is warned of; %d of %d drafts compile; %s",
		s.cases, len(s.distinct), s.accepted, s.bits, s.chosen, s.contracts, s.tried, s.took.Round(time.Second))
}

func (s *secrecy) note(d *draft, c *ir.Contract) {
	for what := range d.drew {
		s.drew[what]++
	}
	for _, g := range c.Stages[len(c.Stages)-1].Gates {
		s.drew["gate "+string(g.Visibility)]++
	}
}

// A hall is a contract of which one stage acts, on states that its actor cannot tell
// apart.
type hall struct {
	maker
	t     testing.TB
	text  string
	c     *ir.Contract
	p     *verify.Program
	s     *ir.Stage
	valid []*tree.Node
	args  map[string]string
	by    footprint.Proposal // who asks, and when
	bound region.Binding
	reach reach
	see   region.Cursor
	warns bool // that the stage chooses what it is shown
}

func (m maker) hall(t testing.TB, text string, c *ir.Contract, limits verify.Limits) *hall {
	p, err := verify.Load(c, limits)
	require.NoError(t, err)
	h := &hall{maker: m, t: t, text: text, c: c, p: p, s: &c.Stages[len(c.Stages)-1]}
	h.reach = reachOf(h.s)
	for range 150 {
		if n, err := p.Import([]byte(m.typed(c, c.State))); err == nil && h.holds(n) {
			if h.valid = append(h.valid, n); len(h.valid) == 12 {
				break
			}
		}
	}
	return h
}

func (h *hall) phase() string { return h.c.Phases[0].Name }

func (h *hall) holds(n *tree.Node) bool {
	return len(h.p.CheckAll(context.Background(), n, h.phase())) == 0
}

// bind chooses arguments for a state; false if they do not bind.
func (h *hall) bind(n *tree.Node) bool {
	co := course{maker: h.maker}
	args, ok := co.arguments(h.s, n)
	h.bound, h.args = args, map[string]string{}
	for _, p := range h.s.Params {
		if p.Kind != ir.DependentParam {
			h.args[p.Name] = args[p.Name]
		}
	}
	for _, v := range h.s.Values {
		h.args[v.Name] = h.typed(h.c, v.Type)
	}
	h.maker.inputs(h.s, &h.by)
	if ok {
		h.see = region.Compile(h.s.Read).Start(args)
		_, ok = h.view(n)
	}
	return ok
}

// view is all that an actor is shown of a state.
func (h *hall) view(n *tree.Node) (text string, ok bool) {
	text, _, ok = h.viewed(n)
	return text, ok
}

// viewed gives a view as text, and as what is the same for every spelling of its numbers.
func (h *hall) viewed(n *tree.Node) (text, value string, ok bool) {
	v, refused, err := h.p.View(context.Background(), verify.Snapshot{State: n, Phase: h.phase(), Version: 1}, verify.ViewRequest{Stage: h.s.Name, Args: h.args, Role: h.by.Role, Actor: h.by.Actor, Now: h.by.Now})
	require.NoError(h.t, err)
	if refused != nil {
		return "", "", false
	}
	return string(tree.AppendJSON(nil, v.Value)) + fmt.Sprint(v.Placeholders), fmt.Sprint(v.Value.Digest(), v.Placeholders), true
}

// alike lists valid states that look like n, n first.
func (h *hall) alike(n *tree.Node) []*tree.Node {
	out := []*tree.Node{n}
	view, _ := h.view(n)
	for range 16 {
		other := h.blend(n, h.valid[h.Intn(len(h.valid))], h.see)
		if h.chance(50) {
			other = h.tweak(out[h.Intn(len(out))], h.valid[h.Intn(len(h.valid))])
		}
		if tree.Equal(other, n) || !h.holds(other) {
			continue
		}
		other, err := h.p.Import(h.p.Export(other, false)) // arrays are what their type says now
		if err != nil || !h.holds(other) {
			continue
		}
		if v, ok := h.view(other); ok && v == view {
			if out = append(out, other); len(out) == 5 {
				break
			}
		}
	}
	return out
}

// blend is what c shows of n, and for the rest other.
func (h *hall) blend(n, other *tree.Node, c region.Cursor) *tree.Node {
	switch {
	case n == nil || other == nil || !c.In() && !c.Reachable():
		return other
	case n.Kind() == ir.Object && other.Kind() == ir.Object && !c.Universal():
		names := map[string]bool{}
		for _, x := range []*tree.Node{n, other} {
			for name := range x.Members() {
				names[name] = true
			}
		}
		members := map[string]*tree.Node{}
		for name := range names {
			if child := h.blendMember(n.Get(name), other.Get(name), c.Key(name)); child != nil {
				members[name] = child
			}
		}
		return tree.NewObject(members)
	case n.Kind() == ir.Array && other.Kind() == ir.Array && other.Len() >= n.Len() && !c.Universal():
		var elements []*tree.Node
		for i, child := range n.Elements() {
			elements = append(elements, h.blend(child, other.At(i), c.Index(i)))
		}
		return tree.NewArray(elements).WithOrder(n.Order())
	}
	return n
}

// blendMember keeps a member whose presence shows.
func (h *hall) blendMember(n, other *tree.Node, c region.Cursor) *tree.Node {
	if c.In() || n != nil && other == nil && c.Reachable() || n == nil && c.Reachable() {
		return n
	}
	return h.blend(n, other, c)
}

// tweak changes one hidden place, by as little as may matter.
func (h *hall) tweak(n, donor *tree.Node) *tree.Node {
	all := places(n)
	for range 20 {
		w := all[h.Intn(len(all))]
		if len(w) == 0 || w[len(w)-1].Kind == region.FreshLetter || h.see.Walk(w).In() {
			continue
		}
		return h.put(n, w, donor)
	}
	return n
}

func (h *hall) put(n *tree.Node, w region.Word, donor *tree.Node) *tree.Node {
	l, child := w[0], tree.NodeAt(n, w[:1])
	if len(w) > 1 {
		if child = h.put(child, w[1:], tree.NodeAt(donor, w[:1])); child == nil {
			return n
		}
	} else {
		child = h.near(child, tree.NodeAt(donor, w[:1]))
	}
	switch {
	case l.Kind == region.KeyLetter && child == nil:
		return n.Without(l.Name)
	case l.Kind == region.KeyLetter:
		return n.With(l.Name, child)
	case child == nil || l.Index >= n.Len():
		return n
	}
	return n.SetAt(l.Index, child)
}

// near is a value beside n, nil for none.
func (h *hall) near(n, donor *tree.Node) *tree.Node {
	switch {
	case n == nil || donor != nil && h.chance(40):
		return donor
	case n.Kind() == ir.Number:
		return tree.NewInt(int64(h.Intn(7)))
	case n.Kind() == ir.String && h.chance(80):
		return tree.NewString(h.pick("a", "b", "k1", "k2", "x", "y"))
	case n.Kind() == ir.Bool:
		return tree.NewBool(h.chance(50))
	case h.chance(40):
		return nil
	}
	return n
}

// told is all that an actor gets for a patch on a state, with the bits of it that the
// stage discloses.
type told struct {
	on                 *tree.Node
	bits, reply, after string
	value              string // after, whatever the spelling of its numbers
	next, nextValue    string // the view for the same arguments, bound anew; likewise
	counted            string // reply, whatever the number of violations that it does not list
	accepted           bool
}

func (h *hall) tell(n *tree.Node, patch string) told {
	out, err := h.p.Verify(context.Background(), verify.Snapshot{State: n, Phase: h.phase(), Version: 1},
		verify.Proposal{Stage: h.s.Name, Args: h.args, Role: h.by.Role, Actor: h.by.Actor, Now: h.by.Now, Patch: []byte(patch)})
	require.NoError(h.t, err)
	actor := out.Actor()
	reply, err := json.Marshal(actor)
	require.NoError(h.t, err)
	this := told{on: n, reply: string(reply), accepted: actor.Verdict != verify.Reject}
	if actor.More > 0 {
		actor.More = 1
		counted, err := json.Marshal(actor)
		require.NoError(h.t, err)
		this.counted = string(counted)
	} else {
		this.counted = this.reply
	}
	var bits []string
	for _, v := range actor.Violations {
		if v.Code == verify.Refused && h.c.Sealed {
			h.t.Fatalf("a sealed contract hides a gate\n%s\nstate %s\nargs %v\npatch %s\n%+v", h.text, n, h.args, patch, out.Verdict.Violations)
		}
		if h.discloses(v) {
			bit := v.Rule
			if v.OpIndex != nil { // that the member which this adds blindly existed
				bit += fmt.Sprint(" ", *v.OpIndex)
			}
			bits = append(bits, bit)
		}
	}
	slices.Sort(bits)
	if !h.mixed() {
		bits = slices.Compact(bits)
	}
	if this.bits = strings.Join(bits, ", "); this.accepted {
		found := h.p.CheckAll(context.Background(), out.After.State, out.After.Phase)
		require.Empty(h.t, found, "a commit leaves a state that is not valid\n%s\nstate %s\npatch %s", h.text, n, patch)
		this.after = shownBy(out.After.State, h.see)
		if value, placeholders := view.Project(out.After.State, h.see); value != nil {
			this.value = fmt.Sprint(placeholders, value.Digest())
		}
		this.next, this.nextValue, _ = h.viewed(out.After.State) // the arguments need not bind any more
	}
	return this
}

// shapes tells views apart that differ in what their arrays are, where the stage
// discloses the type that decides it.
func (h *hall) shapes(n *tree.Node) string {
	if !h.disclosesType() {
		return ""
	}
	return shownBy(n, h.see)
}

// disclosesType reports whether the stage may be told which alternative of a union holds:
// by what its arrays are, and by how it spells a number that is written.
func (h *hall) disclosesType() bool {
	return slices.ContainsFunc(h.s.Gates, func(g ir.Gate) bool { return g.Kind == ir.TypeGate && g.Visibility == ir.Disclosed })
}

// disclosesBinding reports whether the stage may be told whether a condition on binding holds.
func (h *hall) disclosesBinding() bool {
	return slices.ContainsFunc(h.s.Gates, func(g ir.Gate) bool { return g.Kind == ir.BindGate && g.Visibility == ir.Disclosed })
}

// misbind chooses arguments that do not bind, and lists valid states that look alike for them:
// of what is not bound in either, for its condition or for what it follows, it may differ
// whether it is there.
func (h *hall) misbind(n *tree.Node) (alike []*tree.Node) {
	if h.args, h.bound = h.guesses(h.s, n); len(h.s.Params) == 0 {
		return nil
	}
	d := &door{t: h.t, p: h.p, s: h.s, patch: "[]", by: h.by}
	r := d.ask(n, h.args)
	if len(r.wrong) == 0 {
		return nil
	}
	h.see = region.Compile(h.s.Read).Start(h.bound)
	alike = []*tree.Node{n}
	for range 12 {
		other := h.blend(n, h.valid[h.Intn(len(h.valid))], h.see)
		if !h.holds(other) || shownBy(other, h.see) != shownBy(n, h.see) {
			continue
		}
		if s := d.ask(other, h.args); h.bindsAlike(d, n, r, other, s) {
			alike = append(alike, other)
		}
	}
	return alike
}

// bindsAlike reports whether the parameters are there on two states alike, or kept back on both.
func (h *hall) bindsAlike(d *door, a *tree.Node, r refusal, b *tree.Node, s refusal) bool {
	for i := range h.s.Params {
		p := &h.s.Params[i]
		if p.Where != nil && !d.binds(r, i) && !d.binds(s, i) {
			continue
		}
		w := wordOf(p.Of.Bind(h.bound))
		if p.Kind != ir.DependentParam {
			w = append(w, region.Key(h.bound[p.Name]))
		}
		x, y := tree.NodeAt(a, w), tree.NodeAt(b, w)
		if (x == nil) != (y == nil) || p.Kind == ir.DependentParam && !tree.Equal(x, y) {
			return false
		}
	}
	return true
}

// discloses reports whether a violation is of a gate that the stage only discloses.
func (h *hall) discloses(v verify.Violation) bool {
	if strings.HasSuffix(v.Rule, ", write blind") {
		return true
	}
	return slices.ContainsFunc(h.s.Gates, func(g ir.Gate) bool { return g.Visibility == ir.Disclosed && ruleOf(&g, v.Rule) })
}

// mixed reports whether some of the conditions that have one name are seen and some
// are not: then a violation of that name may stand for the one or for the other.
func (h *hall) mixed() bool {
	sees := map[ir.GateKind]map[ir.Visibility]bool{}
	for _, g := range h.s.Gates {
		if sees[g.Kind] == nil {
			sees[g.Kind] = map[ir.Visibility]bool{}
		}
		sees[g.Kind][g.Visibility] = true
	}
	return len(sees[ir.RequireGate]) > 1 || len(sees[ir.EnsureGate]) > 1
}

func ruleOf(g *ir.Gate, rule string) bool {
	switch g.Kind {
	case ir.RequireGate, ir.EnsureGate, ir.ProduceGate:
		clause := ", " + string(g.Kind)
		return strings.HasSuffix(rule, clause) || strings.HasSuffix(rule, clause+" "+cmp.Or(g.Clause, g.Name))
	case ir.BindGate:
		return strings.HasSuffix(rule, ", parameter "+g.Name)
	case ir.GuardGate:
		return strings.HasPrefix(rule, "phase ") && strings.Contains(rule, "-> "+g.Name+",")
	case ir.InvariantGate, ir.ChangeGate:
		return rule == string(g.Kind)+" "+g.Name
	}
	return strings.HasSuffix(rule, " "+g.At.Source())
}

// declares reports whether the stage may tell anything; without seal it may by gates that
// it does not see.
func (h *hall) declares() bool {
	return len(h.s.Blind) > 0 || slices.ContainsFunc(h.s.Gates, func(g ir.Gate) bool { return g.Visibility != ir.Seen })
}

// compare tries patches on states that look alike.
func (h *hall) compare(sum *secrecy, states []*tree.Node) {
	donor := h.valid[h.Intn(len(h.valid))]
	at := placed{node: states[0], places: places(states[0])}
	if h.chance(30) {
		at.places = append(at.places, places(states[len(states)-1])...)
	}
	a := h.actor(h.s, h.reach, h.bound, at, donor)
	for range 4 {
		patch := a.patch(states[0])
		if len(h.s.Next) > 0 {
			patch = fmt.Sprintf(`{"patch":%s,"next":%q}`, patch, h.pick(h.s.Next...))
		}
		h.answers(sum, states, patch)
	}
}

// answers compares what a patch is told on states that look alike.
func (h *hall) answers(sum *secrecy, states []*tree.Node, patch string) {
	groups, accepted := map[string]told{}, 0
	sum.cases += len(states) * (len(states) - 1) / 2
	for _, n := range states {
		this := h.tell(n, patch)
		if this.accepted {
			sum.accepted += accepted
			accepted++
		}
		key := fmt.Sprint(this.accepted, this.bits, h.shapes(n))
		first, met := groups[key]
		if !met {
			groups[key] = this
			continue
		}
		spelt := first.after != this.after && h.disclosesType() && first.value == this.value
		if first.reply != this.reply && first.counted == this.counted && h.declares() {
			sum.bits++ // it is one of the violations that are only counted
			continue
		}
		if first.reply != this.reply || first.after != this.after && !spelt {
			h.fail("the replies differ", patch, first, this)
		}
		switch {
		case first.next == this.next:
		case h.disclosesBinding() && (first.next == "" || this.next == ""):
			sum.bits++ // a condition that is asked of the state after
		case spelt && first.nextValue == this.nextValue:
			sum.bits++
		case h.warns:
			sum.chosen++
		default:
			h.fail("what is shown next differs: "+first.next+" and "+this.next, patch, first, this)
		}
	}
	if len(groups) > 1 {
		sum.bits++
		if !h.declares() {
			all := slices.Collect(maps.Values(groups))
			h.fail("nothing is disclosed, and the verdicts differ", patch, all[0], all[1])
		}
	}
}

func (h *hall) fail(what, patch string, a, b told) {
	h.t.Helper()
	view, _ := h.view(a.on)
	h.t.Fatalf("%s\n%s\nstage %s args %v patch %s\nview  %s\nstate %s\nreply %s\nafter %s\nstate %s\nreply %s\nafter %s", what, h.text, h.s.Name, h.args, patch, view, a.on, a.reply, a.after, b.on, b.reply, b.after)
}

// secrecyOf compares until there are enough cases.
func secrecyOf(t testing.TB, seed int64, enough int, limits func(m maker) verify.Limits) *secrecy {
	m, sum, start := newMaker(seed), newSecrecy(), time.Now()
	for sum.cases < enough {
		d, c := m.sealed(sum)
		h := m.hall(t, d.text(), c, limits(m))
		h.warns = d.drew["view chosen"]
		if len(h.valid) < 2 {
			continue
		}
		met := sum.cases
		for range 4 {
			n := h.valid[h.Intn(len(h.valid))]
			if !h.bind(n) {
				continue
			}
			if states := h.alike(n); len(states) > 1 {
				h.compare(sum, states)
			}
		}
		if states := h.misbind(h.valid[h.Intn(len(h.valid))]); len(states) > 1 {
			sum.misbound += len(states) - 1
			h.answers(sum, states, "[]")
		}
		if sum.cases > met {
			sum.distinct[h.text] = true
			for what := range d.drew {
				sum.compared[what]++
			}
		}
		if sum.took = time.Since(start); sum.meter.due(sum.cases) {
			sum.log(t)
		}
	}
	return sum
}

func TestSealedContractsTellNothingOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	sum := secrecyOf(t, 8, rounds(40_000, 6_000), func(maker) verify.Limits { return verify.DefaultLimits() })
	sum.log(t)
	t.Logf("drawn: %v", sum.drew)
	t.Logf("refused: %v", sum.refused)
	require.Greater(t, sum.accepted, sum.cases/5)
	require.Positive(t, sum.bits, "no gate that is disclosed decided anything")
	t.Logf("%d more pairs on which arguments do not bind", sum.misbound)
	require.Positive(t, sum.misbound)
	for _, what := range constructs {
		require.True(t, sum.compared[what] > 0 || strings.HasPrefix(what, "gate ") || sum.cases < 100_000, what)
	}
}

// Rules that exceed the limit on their cost are refused for it, and that tells no more
// than their value would.
func TestTheLimitOnTheCostOfARuleTellsNothingOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	sum := secrecyOf(t, 12, rounds(10_000, 2_000), func(m maker) verify.Limits {
		limits := verify.DefaultLimits()
		limits.Expr.CostLimit = uint64(5 + m.Intn(60))
		limits.Cost = verify.CostLimits{Rule: uint64(10 + m.Intn(200)), Proposal: uint64(10 + m.Intn(400))}
		return limits
	})
	sum.log(t)
}

// constructs are what noninterference is tried on.
var constructs = []string{
	"record", "optional", "further members", "map", "keyed", "list", "set", "log", "union", "tagged", "any", "secret", "reference",
	"a number that is spelled its own way", "where", "where on a record", "each", "entry not read", "rule on keys", "unique", "measure", "size", "order", "reference count", "condition", "sum", "key", "unique together",
	"decimal", "sum of decimals", "constant and definition", "least and largest with a condition", "change", "change of entries", "narrowed union",
	"message", "member in backquotes", "value", "roles", "inputs",
	"p in", "q new", "dependent parameter", "condition on binding", "append", "blind", "rights", "require", "ensure", "produce", "phases", "delegate",
	"except", "any depth", "literal key", "wildcard for a member", "gate seen", "gate disclosed", "view chosen",
}

// leastDrawn is in how many contracts of a hundred every construct is to be.
const leastDrawn = 2

func TestSealedContractsAreDrawnOfEveryConstruct(t *testing.T) {
	t.Parallel()
	m, sum := newMaker(9), newSecrecy()
	for sum.contracts < min(rounds(600, 400), 2_000) {
		m.sealed(sum)
	}
	for _, what := range constructs {
		require.GreaterOrEqual(t, 100*sum.drew[what], leastDrawn*sum.contracts, "%s, of %v", what, sum.drew)
	}
	require.Greater(t, sum.contracts, sum.tried/5, "refused: %v", sum.refused)
}

func shownBy(n *tree.Node, c region.Cursor) string {
	value, placeholders := view.Project(n, c)
	if value == nil {
		return "nothing"
	}
	return string(tree.AppendJSON(nil, value)) + fmt.Sprint(placeholders, value.Digest())
}
