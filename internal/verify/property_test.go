package verify_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The laws of views and updates, spec/semantics.md section 11.2. A law counts the
// cases in which a proposal was let through, and those in which the law broke; it
// must break where a stage may act outside of what it sees, or the test has no teeth.

// A law judges one state: how many cases it saw, and how many broke it.
type law func(w *world, n *tree.Node) (seen, broken int)

// count runs a law until it has seen enough cases. Within the view, a case that
// breaks it is the end of the test.
func count(t *testing.T, within bool, enough int, judge law) (seen, broken int) {
	t.Helper()
	const seed = 1
	m := newMaker(seed)
	for seen < enough {
		w := m.untypedWorld(t, within)
		for range 12 {
			s, b := judge(w, m.state())
			seen, broken = seen+s, broken+b
			if within && b > 0 {
				t.Fatalf("seed %d, case %d: %s", seed, seen, w.found)
			}
		}
	}
	return seen, broken
}

func requireLaw(t *testing.T, judge law) {
	t.Helper()
	count(t, true, rounds(100_000), judge)
	seen, broken := count(t, false, rounds(20_000), judge)
	t.Logf("%d of %d cases break the law where stages act outside of their views", broken, seen)
	require.Positive(t, broken, "the law holds even where it should not")
}

func TestWritingBackWhatIsShownChangesNothing(t *testing.T) {
	t.Parallel()
	requireLaw(t, func(w *world, n *tree.Node) (seen, broken int) {
		view, _ := w.view(n)
		for _, word := range w.words(view.Value) {
			shown := tree.NodeAt(view.Value, word)
			if shown == nil || !w.write.Walk(word).Interior() {
				continue
			}
			patch := replacement(word, shown)
			seen++
			if out := w.verify(n, patch); out.Verdict.Verdict == verify.Commit {
				w.counterexample("writing back changed the state", patch, n, out.After.State)
				broken++
			}
		}
		return seen, broken
	})
}

func replacement(w region.Word, value *tree.Node) []byte {
	b := append([]byte(`[{"op":"replace","path":`), quoted(w.Pointer())...)
	return append(tree.AppendJSON(append(b, `,"value":`...), value), "}]"...)
}

func TestTheViewAfterIsThePatchedViewBefore(t *testing.T) {
	t.Parallel()
	requireLaw(t, func(w *world, n *tree.Node) (seen, broken int) {
		before, _ := w.view(n)
		ops := w.operations(5, before.Value, n)
		for range ops.tries() {
			patch := ops.patch()
			out := w.verify(n, patch)
			if out.Verdict.Verdict == verify.Reject {
				continue
			}
			seen++
			after, _ := w.view(out.After.State)
			patched, _, problem := tree.ApplyAll(before.Value, out.Patch)
			if problem != nil || !tree.Equal(patched, after.Value) {
				w.counterexample("the view after is not the patched view", patch, n, out.After.State, before.Value, after.Value)
				broken++
			}
		}
		return seen, broken
	})
}

func TestWhatIsNotGrantedStaysAsItIs(t *testing.T) {
	t.Parallel()
	const seed = 2
	seen := 0
	m := newMaker(seed)
	for seen < rounds(100_000) {
		w := m.untypedWorld(t, m.chance(50))
		for range 12 {
			n := m.state()
			ops := w.operations(5, n, n)
			for range ops.tries() {
				patch := ops.patch()
				out := w.verify(n, patch)
				if out.Verdict.Verdict == verify.Reject {
					continue
				}
				seen++
				if word, ok := sameOutside(nil, n, out.After.State, w.write); !ok {
					w.counterexample("changed at "+word.Pointer(), patch, n, out.After.State)
					t.Fatalf("seed %d: %s", seed, w.found)
				}
			}
		}
	}
}

func TestAFailingLastOperationTakesBackAllOthers(t *testing.T) {
	t.Parallel()
	const seed = 8
	seen := 0
	m := newMaker(seed)
	for seen < rounds(20_000) {
		w := m.untypedWorld(t, true)
		for range 12 {
			n := m.state()
			ops := w.operations(5, n, n)
			for range ops.tries() {
				patch := ops.patch()
				if w.verify(n, patch).Verdict.Verdict != verify.Commit {
					continue
				}
				seen++
				last := m.pick(`{"op":"test","path":"","value":"elsewhere"}`, `{"op":"remove","path":"/nowhere"}`, `{"op":"replace","path":"/a/b/c/d","value":1}`)
				longer := append(append(patch[:len(patch)-1:len(patch)-1], ','), last+"]"...)
				out := w.verify(n, longer)
				if out.Verdict.Verdict != verify.Reject {
					w.counterexample("accepted", longer, n)
					t.Fatalf("seed %d: %s", seed, w.found)
				}
				w.requireUntouched(out, n)
			}
		}
	}
}

func TestAVerdictDependsOnContractStateAndProposalAlone(t *testing.T) {
	t.Parallel()
	m := newMaker(9)
	for range rounds(400) {
		w := m.gated(t)
		c, err := ir.Decode(ir.Encode(w.p.Contract()))
		require.NoError(t, err)
		again := m.world(t, c, nil)
		for range 10 {
			n := m.state()
			copied, err := tree.Parse([]byte(n.String()), tree.DefaultLimits)
			require.NoError(t, err)
			patch := w.operations(20, n, n).patch()
			a, b := w.verify(n, patch), again.verify(copied, patch)
			require.Equal(t, encoded(a.Verdict), encoded(b.Verdict))
			require.Equal(t, encoded(a.Actor()), encoded(b.Actor()))
			require.Equal(t, a.After.State.String(), b.After.State.String())
		}
	}
}

// sameOutside compares the labels of all words that no write grant holds whole
// (spec/semantics.md section 1), and returns the first that differs.
func sameOutside(at region.Word, a, b *tree.Node, write region.Cursor) (region.Word, bool) {
	if write.Interior() {
		return nil, true
	}
	if (a == nil) != (b == nil) || a != nil && !sameLabel(a, b) {
		return at, false
	}
	for name := range union(a, b) {
		if w, ok := sameOutside(longer(at, region.Key(name)), a.Get(name), b.Get(name), write.Key(name)); !ok {
			return w, false
		}
	}
	for i := range a.Elements() {
		if w, ok := sameOutside(longer(at, region.Index(i)), a.At(i), b.At(i), write.Index(i)); !ok {
			return w, false
		}
	}
	return nil, true
}

// sameLabel compares kinds, scalars and the lengths of lists. A log or set that is
// appended to has its own rule: what it held is still there.
func sameLabel(a, b *tree.Node) bool {
	switch {
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == ir.Array && a.Order() == tree.ListOrder:
		return a.Len() == b.Len()
	case a.Kind() == ir.Array:
		return a.Len() <= b.Len()
	default:
		return a.Kind() == ir.Object || tree.Equal(a, b)
	}
}

func union(a, b *tree.Node) map[string]bool {
	out := map[string]bool{}
	for _, n := range []*tree.Node{a, b} {
		for name := range n.Members() {
			out[name] = true
		}
	}
	return out
}

// What a commit touched is all that is checked. The tests here compare that with
// checking everything.

func TestAcceptedCommitsLeaveStatesInWhichEverythingHolds(t *testing.T) {
	patches := rounds(10_000)
	ctx := context.Background()
	random := rand.New(rand.NewSource(7))
	r := openDesk(t)
	start := r.s
	decided := map[verify.Decision]int{}
	for i := range patches {
		if i%40 == 0 {
			r.s = start
		}
		out, err := r.p.Verify(ctx, r.s, as("root", randomPatch(random)))
		require.NoError(t, err)
		decided[out.Verdict.Verdict]++
		if out.Verdict.Verdict != verify.Commit {
			continue
		}
		require.Empty(t, r.p.CheckAll(ctx, out.After.State, out.After.Phase), "%v", out.Patch)
		again, err := r.p.Import(r.p.Export(out.After.State, false))
		require.NoError(t, err)
		require.Equal(t, out.After.State.Digest(), again.Digest(), "arrays are marked as an import marks them: %v", out.Patch)
		r.s = out.After
	}
	require.Greater(t, decided[verify.Commit], patches/25)
	require.Greater(t, decided[verify.Reject], patches/10)
}

func TestWhatIsRefusedByTypesOrRulesWouldNotHold(t *testing.T) {
	patches := rounds(10_000)
	ctx := context.Background()
	random := rand.New(rand.NewSource(8))
	r := openDesk(t)
	refused := 0
	for range patches {
		patch := randomPatch(random)
		out, err := r.p.Verify(ctx, r.s, as("root", patch))
		require.NoError(t, err)
		if out.Verdict.Verdict != verify.Reject || out.Patch == nil ||
			gate(out) == verify.GateScope || gate(out) == verify.GateFormat {
			continue
		}
		if strings.Contains(patch, "history") || strings.Contains(patch, "labels/-") {
			continue // a log may be cut and a set's element added twice without that showing in the state
		}
		after, _, err := r.p.Replay(context.Background(), r.s.State, []byte(patch))
		require.NoError(t, err)
		require.NotEmpty(t, r.p.CheckAll(ctx, after, r.s.Phase), patch)
		refused++
	}
	require.Greater(t, refused, patches/10)
}

func gate(o verify.Outcome) verify.Gate { return o.Verdict.Violations[0].Gate }

var (
	somePaths = []string{
		"/tickets/T1", "/tickets/T2", "/tickets/T3", "/tickets/T1/status", "/tickets/T2/status", "/tickets/T1/reply", "/tickets/T2/reply",
		"/tickets/T1/customer", "/tickets/T1/labels", "/tickets/T1/labels/-", "/tickets/T1/steps", "/tickets/T1/steps/0", "/tickets/T1/steps/-",
		"/tickets/T1/lines", "/tickets/T1/lines/A", "/tickets/T1/lines/A/sku", "/tickets/T1/lines/A/count", "/tickets/T1/lines/C",
		"/customers", "/customers/C1", "/customers/C2/email", "/customers/C3", "/refunds/R1", "/refunds/R1/amount", "/refunds/R2", "/refunds/R1/ticket",
		"/budget", "/history", "/history/-", "/window", "/window/from", "/window/to", "/notes", "/notes/list", "/notes/list/0", "/notes/deep/0", "/votes/V1", "/votes", "",
	}
	someValues = []string{
		`"open"`, `"solved"`, `"waiting"`, `"C1"`, `"C2"`, `"C3"`, `"T1"`, `"T2"`, `"A"`, `"short"`, `"longer than ten"`, `7`, `50`, `1.5`, `-1`, `null`,
		`[]`, `["a","b"]`, `["a","a"]`, `["opened","more"]`, `{}`, `{"sku":"C","count":1}`, `{"sku":"A","count":9}`, `{"from":3,"to":4}`, `{"name":"N","email":"e"}`,
		`{"ticket":"T1","amount":10}`, `{"subject":"S","status":"open","customer":"C2","labels":["x"],"steps":[],"lines":{"A":{"sku":"A","count":1}}}`,
		`{"subject":"S","status":"solved","customer":"C1","labels":[],"steps":[],"lines":{},"reply":"ok"}`, `{"C1":{"name":"a","email":"b"},"C2":{"name":"a","email":"c"}}`,
	}
)

func randomPatch(random *rand.Rand) string {
	pick := func(from []string) string { return from[random.Intn(len(from))] }
	var ops []string
	for range 1 + random.Intn(3) {
		switch random.Intn(8) {
		case 0:
			ops = append(ops, fmt.Sprintf(`{"op":"remove","path":%q}`, somePaths[random.Intn(len(somePaths)-1)]))
		case 1:
			ops = append(ops, fmt.Sprintf(`{"op":"copy","from":%q,"path":%q}`, pick(somePaths), pick(somePaths)))
		case 2:
			ops = append(ops, fmt.Sprintf(`{"op":"move","from":%q,"path":%q}`, pick(somePaths), pick(somePaths)))
		case 3, 4:
			ops = append(ops, fmt.Sprintf(`{"op":"replace","path":%q,"value":%s}`, pick(somePaths), pick(someValues)))
		default:
			ops = append(ops, fmt.Sprintf(`{"op":"add","path":%q,"value":%s}`, pick(somePaths), pick(someValues)))
		}
	}
	return "[" + strings.Join(ops, ",") + "]"
}
