package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// Noninterference, spec/semantics.md section 11.4: what a stage does not see makes
// no difference to its actor. A case is two states with byte-equal views and one
// patch on both.

// A tally counts pairs of states, and those that exercise what the property is about.
type tally struct {
	cases, accepted, differing, refused int
}

// disguise changes what c does not show of n, and nothing that it shows.
func (m maker) disguise(n *tree.Node, c region.Cursor, may func(*tree.Node) bool) *tree.Node {
	switch {
	case !shows(n, c):
		return m.replaced(n, c, may)
	case n.Kind() == ir.Object && !c.Universal():
		members := map[string]*tree.Node{}
		for _, name := range memberNames {
			members[name] = m.disguise(n.Get(name), c.Key(name), func(*tree.Node) bool { return true })
		}
		return tree.NewObject(members)
	case n.Kind() == ir.Array && !c.Universal():
		var elements []*tree.Node
		for i, child := range n.Elements() {
			elements = append(elements, m.disguise(child, c.Index(i), func(n *tree.Node) bool { return n != nil }))
		}
		return tree.NewArray(elements)
	default:
		return n
	}
}

// replaced draws something else that is not shown either.
func (m maker) replaced(n *tree.Node, c region.Cursor, may func(*tree.Node) bool) *tree.Node {
	var other *tree.Node
	if m.chance(65) {
		other = m.secret(2)
	}
	if m.chance(25) || shows(other, c) || !may(other) {
		return n
	}
	return other
}

// shows reports whether a projection shows a node at all (spec/semantics.md section 11.1).
func shows(n *tree.Node, c region.Cursor) bool {
	switch {
	case n == nil:
		return false
	case n.Kind() == ir.Object:
		return c.In() || c.CanHold(region.Object)
	case n.Kind() == ir.Array:
		return c.In() || c.CanHold(region.Array)
	default:
		return c.In()
	}
}

// pairs is how many pairs n things make.
func pairs(n int) int { return n * (n - 1) / 2 }

// Told is all that an actor gets for a proposal on one state.
type told struct {
	on    *tree.Node
	reply verify.ActorVerdict
	after shown
}

// compare judges one patch on states with equal views. Those that lead to one
// verdict must give equal answers, which makes a case of each pair of them. It
// returns what tells two of them apart, "" for nothing, with the two; if the verdicts
// are all that differs, "the verdicts differ".
func (w *world) compare(states []*tree.Node, patch []byte, sum *tally) (difference string, a, b *tree.Node) {
	groups := map[verify.Decision][]told{}
	for _, n := range states {
		this, verdict := w.tell(n, patch)
		groups[verdict] = append(groups[verdict], this)
		if first := &groups[verdict][0]; difference == "" {
			difference, a, b = first.differs(&this), first.on, n
		}
	}
	sum.cases += pairs(len(states))
	sum.differing += pairs(len(states))
	for verdict, group := range groups {
		alike := pairs(len(group))
		sum.differing -= alike
		if verdict != verify.Reject {
			sum.accepted += alike
		} else if group[0].reply.Violations[0].Code == verify.Refused {
			sum.refused += alike
		}
	}
	if difference == "" && len(groups) > 1 {
		return verdictsDiffer, states[0], states[len(states)-1]
	}
	return difference, a, b
}

const verdictsDiffer = "the verdicts differ"

// tell verifies, and checks what must be true of any outcome.
func (w *world) tell(n *tree.Node, patch []byte) (told, verify.Decision) {
	out := w.verify(n, patch)
	w.requireUntouched(out, n)
	w.requireDiscreet(out)
	this := told{on: n, reply: out.Actor()}
	if holdsCanary(this.reply.Violations) {
		w.t.Fatalf("a reply holds a value of the state: %s", encoded(this.reply))
	}
	if out.Verdict.Verdict != verify.Reject {
		this.after = w.shown(out.After.State)
		if word, ok := sameOutside(nil, n, out.After.State, w.mayChange); !ok {
			w.counterexample("changed what is not granted: "+word.Pointer(), patch, n, out.After.State)
			w.t.Fatal(w.found)
		}
	}
	return this, out.Verdict.Verdict
}

func (a *told) differs(b *told) string {
	switch {
	case !sameReplies(&a.reply, &b.reply):
		return "the replies differ:\n" + encoded(a.reply) + "\n" + encoded(b.reply)
	case !a.after.equals(b.after):
		return "the views after differ:\n" + a.after.text + "\n" + b.after.text
	default:
		return ""
	}
}

// requireDiscreet checks that the operator is shown no value of the state either.
func (w *world) requireDiscreet(out *verify.Outcome) {
	if holdsCanary(out.Verdict.Violations) {
		w.t.Fatalf("a message holds a value of the state: %+v", out.Verdict.Violations)
	}
}

func holdsCanary(violations []verify.Violation) bool {
	return slices.ContainsFunc(violations, func(v verify.Violation) bool {
		return strings.Contains(v.Message, canary) || strings.Contains(v.Hint, canary) || strings.Contains(v.Rule, canary)
	})
}

// sameReplies compares what becomes JSON of two replies, member by member.
func sameReplies(a, b *verify.ActorVerdict) bool {
	return a.Verdict == b.Verdict && a.ViewDigest == b.ViewDigest && a.Contract == b.Contract &&
		a.PhaseBefore == b.PhaseBefore && a.PhaseAfter == b.PhaseAfter && a.Retryable == b.Retryable &&
		a.Attempt == b.Attempt && a.MaxAttempts == b.MaxAttempts && slices.Equal(a.Normalised, b.Normalised) &&
		slices.EqualFunc(a.Violations, b.Violations, sameViolations)
}

func sameViolations(a, b verify.Violation) bool {
	return a.Gate == b.Gate && a.Code == b.Code && same(a.OpIndex, b.OpIndex) && same(a.Path, b.Path) &&
		a.Rule == b.Rule && a.Message == b.Message && a.Hint == b.Hint
}

func same[T comparable](a, b *T) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// requireUntouched checks that a rejection leaves everything as it was.
func (w *world) requireUntouched(out *verify.Outcome, n *tree.Node) {
	if out.Verdict.Verdict != verify.Reject {
		return
	}
	v, before := out.Verdict, w.snapshot(n)
	if out.After != before || v.StateAfter != v.StateBefore || v.VersionAfter != v.VersionBefore || v.PhaseAfter != v.PhaseBefore || len(v.Violations) == 0 {
		w.t.Fatalf("a rejection changed something: %+v", v)
	}
}

// A judge is given what tells states with equal views apart, "" for nothing.
type judge func(w *world, difference string, patch []byte, a, b *tree.Node)

// alike is how many states with equal views are compared at a time.
const alike = 5

// untypedStates compares untyped states until there are enough cases.
func untypedStates(t *testing.T, seed int64, enough int, draw func(m maker) *world, judge judge) tally {
	t.Helper()
	m := newMaker(seed)
	var sum tally
	for sum.cases < enough {
		w := draw(m)
		for range 4 {
			w.compareAll(w.disguises(), nil, &sum, judge)
		}
	}
	t.Logf("%+v", sum)
	return sum
}

// compareAll tries patches on states whose views are those of the first.
func (w *world) compareAll(states, donors []*tree.Node, sum *tally, judge judge) {
	view, _ := w.view(states[0])
	ops := w.operations(20, view.Value, states[:2]...)
	ops.donors = donors
	for range ops.tries() {
		patch := ops.patch()
		difference, a, b := w.compare(states, patch, sum)
		judge(w, difference, patch, a, b)
	}
}

// disguises draws states with equal views.
func (w *world) disguises() []*tree.Node {
	present := func(n *tree.Node) bool { return n != nil }
	states := []*tree.Node{w.disguise(w.state(), w.read, present)}
	first, _ := w.view(states[0])
	for len(states) < alike {
		other := w.disguise(states[0], w.read, present)
		if w.chance(10) {
			other = w.value(1)
		}
		if view, _ := w.view(other); sameViews(first, view) {
			states = append(states, other)
		}
	}
	return states
}

func TestStatesWithEqualViewsCannotBeToldApart(t *testing.T) {
	t.Parallel()
	const seed = 3
	sum := untypedStates(t, seed, rounds(100_000),
		func(m maker) *world { return m.untypedWorld(t, true) },
		func(w *world, difference string, patch []byte, a, b *tree.Node) {
			if difference != "" {
				w.counterexample(difference, patch, a, b)
				t.Fatalf("seed %d: %s", seed, w.found)
			}
		})
	require.Greater(t, sum.accepted, sum.cases/10)
}

func TestStagesThatActOutsideOfTheirViewsTellStatesApart(t *testing.T) {
	t.Parallel()
	apart := 0
	untypedStates(t, 4, rounds(20_000),
		func(m maker) *world { return m.untypedWorld(t, false) },
		func(_ *world, difference string, _ []byte, _, _ *tree.Node) {
			if difference != "" {
				apart++
			}
		})
	require.Positive(t, apart, "noninterference holds even where it should not")
}

// gated adds rules over parts that the stage may or may not see.
func (m maker) gated(t testing.TB) *world {
	w := m.untypedWorld(t, true)
	c := untyped()
	s := *w.stage
	if m.chance(50) {
		s.Read = append(s.Read, region.Of("", "!/:"+m.pick("a", "b")+m.pick("", "/:a", "/:b"))...)
	}
	env, err := expr.New(c, expr.Default())
	require.NoError(t, err)
	rule := func(scope expr.Scope, root string) ir.Expr {
		x, issues := env.Check(m.condition(root), scope)
		require.False(t, expr.HasErrors(issues), "%v", issues)
		return x
	}
	for i := range 1 + m.Intn(3) {
		x := rule(expr.Scope{Vars: ir.StateVars}, "state")
		c.Invariants = append(c.Invariants, ir.Invariant{Name: "rule" + string(rune('0'+i)), Expr: &x})
	}
	if m.chance(40) {
		s.Require = []ir.Expr{rule(expr.Scope{Vars: ir.BeforeVars}, "before")}
	}
	if m.chance(40) {
		s.Ensure = []ir.Expr{rule(expr.Scope{Vars: ir.AfterVars}, m.pick("before", "after"))}
	}
	c.Stages = []ir.Stage{s}
	return m.world(t, c, nil)
}

// condition draws a rule over an untyped root; some raise errors on some states.
func (m maker) condition(root string) string {
	a, b := root+"."+m.pick("a", "b"), root+"."+m.pick("a", "b")
	switch m.Intn(5) {
	case 0:
		return "!has(" + a + ") || " + a + " != 1"
	case 1:
		return "!has(" + a + ") || size(" + a + ") < 2"
	case 2:
		return "has(" + a + ")"
	case 3:
		return a + " != " + b + ".a"
	default:
		return "!has(" + a + ".b) || " + a + `.b != "s"`
	}
}

func TestHiddenRulesTellTheVerdictAndNothingElse(t *testing.T) {
	t.Parallel()
	const seed = 5
	sum := untypedStates(t, seed, rounds(100_000),
		func(m maker) *world { return m.gated(t) },
		func(w *world, difference string, patch []byte, a, b *tree.Node) {
			if difference != "" && difference != verdictsDiffer {
				w.counterexample(difference, patch, a, b)
				t.Fatalf("seed %d: %s\n%s", seed, w.found, encoded(w.p.Contract()))
			}
		})
	requireBite(t, sum)
}

// requireBite checks that hidden rules did decide verdicts, if there were enough
// cases to tell.
func requireBite(t *testing.T, sum tally) {
	t.Helper()
	if sum.cases >= 100_000 {
		require.Positive(t, sum.differing)
		require.Positive(t, sum.refused)
	}
}

func TestAHiddenRootIsNotShownAsAnEmptyObject(t *testing.T) {
	c := untyped()
	c.Stages = []ir.Stage{{Name: "stage", In: []string{"main"}, Read: of("/:a"), Write: of("/:a")}}
	w := newMaker(0).world(t, c, nil)
	object, _ := w.view(tree.NewObject(nil))
	list, _ := w.view(tree.NewArray(nil))
	require.Equal(t, "{}", object.Value.String())
	require.Equal(t, "null", list.Value.String(), "an addition to the object would succeed, and to the list fail")
}

func TestAHiddenRuleIsNotToldOfBesideANamedOne(t *testing.T) {
	const file = `{"items":{},"people":{"P0":{"name":"n","card":"x"},"P1":{"name":"m","card":"x"}},"lines":[],"log":[],"budget":0,"free":null,"votes":{%s}}`
	c := with(shop(t, true), ir.Stage{
		Name: "stage", In: []string{"main"}, Read: of("/:people/:*/:name"),
		Write: of("/:people/:*/:name"), Blind: of("/:votes/:*"),
	})
	w := newMaker(0).world(t, c, nil)
	var replies []string
	for _, votes := range []string{``, `"V0":1,"V1":1`} {
		n, err := w.p.Import(fmt.Appendf(nil, file, votes))
		require.NoError(t, err)
		out := w.verify(n, []byte(`[{"op":"replace","path":"/people/P1/name","value":"n"},{"op":"add","path":"/votes/V9","value":1}]`))
		require.Equal(t, verify.Reject, out.Verdict.Verdict)
		replies = append(replies, encoded(out.Actor()))
	}
	require.Equal(t, replies[0], replies[1])
	require.Contains(t, replies[0], "names_unique")
}
