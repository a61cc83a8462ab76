package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler/expr"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
	"github.com/patchoptic/poptic/runtime/verify"
)

// Noninterference, spec/semantics.md section 11.4: what a stage does not see makes
// no difference to its actor. A case is two states with byte-equal views and one
// patch on both.

// A tally counts cases, and those that exercise what the property is about.
type tally struct {
	cases, accepted, differing, refused int
}

// disguise changes what c does not show of n, and nothing that it shows.
func (m maker) disguise(n *tree.Node, c region.Cursor, may func(*tree.Node) bool) *tree.Node {
	switch {
	case !shows(n, c):
		return m.replaced(n, c, may)
	case n.Kind() == ir.Object && !c.Whole():
		members := map[string]*tree.Node{}
		for _, name := range memberNames {
			members[name] = m.disguise(n.Get(name), c.Key(name), func(*tree.Node) bool { return true })
		}
		return tree.NewObject(members)
	case n.Kind() == ir.Array && !c.Whole():
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

// compare is one case. It returns what tells the two states apart, "" for nothing;
// if the verdicts differ, nothing else is compared.
func (w *world) compare(a, b *tree.Node, patch []byte, sum *tally) (difference string) {
	outA, outB := w.verify(a, patch), w.verify(b, patch)
	sum.cases++
	if outA.Verdict.Verdict != outB.Verdict.Verdict {
		sum.differing++
		return "the verdicts differ"
	}
	w.requireUntouched(outA, a)
	w.requireUntouched(outB, b)
	w.requireDiscreet(outA)
	replyA, replyB := outA.Actor(), outB.Actor()
	switch {
	case !sameReplies(&replyA, &replyB):
		return "the replies differ:\n" + encoded(replyA) + "\n" + encoded(replyB)
	case holdsCanary(replyA.Violations):
		return "a reply holds a value of the state:\n" + encoded(replyA)
	case outA.Verdict.Verdict == verify.Reject:
		if replyA.Violations[0].Code == verify.Refused {
			sum.refused++
		}
		return ""
	}
	sum.accepted++
	if word, ok := sameOutside(nil, a, outA.After.State, w.mayChange); !ok {
		return "changed what is not granted: " + word.Pointer()
	}
	viewA, _ := w.view(outA.After.State)
	viewB, _ := w.view(outB.After.State)
	if !sameViews(viewA, viewB) {
		return "the views after differ:\n" + viewA.Value.String() + "\n" + viewB.Value.String()
	}
	return ""
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

// untypedPairs compares pairs of untyped states until there are enough cases.
func untypedPairs(t *testing.T, seed int64, enough int, draw func(m maker) *world, judge func(w *world, difference string, patch []byte, a, b *tree.Node)) tally {
	m := newMaker(seed)
	var sum tally
	for sum.cases < enough {
		w := draw(m)
		for range 24 {
			a := m.disguise(m.state(), w.read, func(n *tree.Node) bool { return n != nil })
			b := m.disguise(a, w.read, func(n *tree.Node) bool { return n != nil })
			if m.chance(10) {
				b = m.value(1)
			}
			viewA, _ := w.view(a)
			viewB, _ := w.view(b)
			if !sameViews(viewA, viewB) {
				continue
			}
			ops := w.operations(40, viewA.Value, a, b)
			for range ops.tries() {
				patch := ops.patch()
				judge(w, w.compare(a, b, patch, &sum), patch, a, b)
			}
		}
	}
	t.Logf("%+v", sum)
	return sum
}

func TestStatesWithEqualViewsCannotBeToldApart(t *testing.T) {
	t.Parallel()
	const seed = 3
	sum := untypedPairs(t, seed, rounds(100_000),
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
	untypedPairs(t, 4, rounds(20_000),
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
	sum := untypedPairs(t, seed, rounds(100_000),
		func(m maker) *world { return m.gated(t) },
		func(w *world, difference string, patch []byte, a, b *tree.Node) {
			if difference != "" && !strings.HasPrefix(difference, "the verdicts") {
				w.counterexample(difference, patch, a, b)
				t.Fatalf("seed %d: %s\n%s", seed, w.found, encoded(w.p.Contract()))
			}
		})
	require.Positive(t, sum.differing)
	require.Positive(t, sum.refused)
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
