package replay_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
	"github.com/patchoptic/poptic/runtime/verify"
)

// Where no flow is proved, a canary never arrives. Actors who see it, or are told it as
// an argument, write it wherever they may; others do not know it. They keep nothing
// between steps, as the claim says.

const canary = "CANARY"

// texts are places of the drawn contracts that hold texts.
var texts = []string{"/opt", "/a/*/t", "/b/*/t", "/one/t"}

// typedText is a place as compiled contracts have it.
func typedText(p string) region.Region {
	var out []string
	for _, s := range strings.Split(strings.TrimPrefix(p, "/"), "/") {
		out = append(out, ":"+s)
	}
	return region.Of("/" + strings.Join(out, "/"))
}

// holdsCanary reports whether a place of a state holds the canary, as text or in it.
func holdsCanary(n *tree.Node, place string) bool {
	nodes := []*tree.Node{n}
	for _, s := range strings.Split(strings.TrimPrefix(place, "/"), "/") {
		var next []*tree.Node
		for _, at := range nodes {
			for name, child := range at.Members() {
				if s == "*" || s == name {
					next = append(next, child)
				}
			}
		}
		nodes = next
	}
	for _, at := range nodes {
		if strings.Contains(at.String(), canary) {
			return true
		}
	}
	return false
}

// planted puts the canary at the texts of a place; nil if it has none.
func plantCanary(n *tree.Node, segments []string) *tree.Node {
	if len(segments) == 0 {
		return tree.NewString(canary)
	}
	out := n
	for name, child := range n.Members() {
		if segments[0] == "*" || segments[0] == name {
			out = out.With(name, plantCanary(child, segments[1:]))
		}
	}
	if len(segments) == 1 && segments[0] == "opt" {
		out = out.With("opt", tree.NewString(canary))
	}
	return out
}

// A stroll is a state on its way through phases.
type stroll struct {
	maker
	t     *testing.T
	c     *ir.Contract
	p     *verify.Program
	at    verify.Snapshot
	steps int // commits
	told  int // of actors who knew
}

// step lets a stage act, if it can.
func (w *stroll) step() {
	s := &w.c.Stages[w.Intn(len(w.c.Stages))]
	args, ok := (&course{maker: w.maker}).arguments(s, w.at.State)
	if !ok {
		return
	}
	given := map[string]string{}
	for _, q := range s.Params {
		if q.Kind != ir.DependentParam {
			given[q.Name] = args[q.Name]
		}
	}
	ctx := context.Background()
	v, refused, err := w.p.View(ctx, w.at, verify.ViewRequest{Stage: s.Name, Args: given})
	require.NoError(w.t, err)
	if refused != nil {
		return
	}
	knows := strings.Contains(v.Value.String(), canary)
	for _, key := range args {
		knows = knows || key == canary
	}
	other, err := w.p.Import([]byte(w.file(w.c)))
	if err != nil {
		return
	}
	a := w.actor(s, reachOf(s), args, placed{w.at.State, "", places(w.at.State)}, other)
	if a.idle() && len(s.Next) == 0 {
		return
	}
	patch, next := "[]", ""
	if !a.idle() {
		patch = a.patch(w.at.State) // what it writes is of the other state
	}
	if knows {
		for _, text := range []string{`:"a"`, `:"b"`, `:"k1"`} {
			if w.chance(60) {
				patch = strings.ReplaceAll(patch, `"value"`+text, `"value":"`+canary+`"`)
				patch = strings.ReplaceAll(patch, `"t"`+text, `"t":"`+canary+`"`)
			}
		}
	}
	if len(s.Next) > 0 {
		next = w.pick(s.Next...)
	}
	out, err := w.p.Verify(ctx, w.at, verify.Proposal{Stage: s.Name, Args: given, Patch: []byte(patch), Next: next})
	require.NoError(w.t, err)
	if out.Verdict.Verdict == verify.Commit {
		w.at = verify.Snapshot{State: out.After.State, Phase: out.After.Phase}
		require.Empty(w.t, w.p.CheckAll(ctx, w.at.State, w.at.Phase), "a commit leaves a state that is not valid: %s", patch)
		w.steps++
		if knows {
			w.told++
		}
	}
}

func TestACanaryNeverArrivesWhereNoFlowIsProved(t *testing.T) {
	t.Parallel()
	m := newMaker(41)
	proved, arrived, steps, told := 0, 0, 0, 0
	for range min(rounds(100, 40), 2_000) {
		text, c := m.contract()
		p, err := verify.Load(c, verify.DefaultLimits())
		require.NoError(t, err)
		from, to := m.pick(texts...), m.pick(texts...)
		if from == to {
			continue
		}
		claim := ir.Claim{Kind: ir.NoFlow, From: typedText(from), To: typedText(to)}
		_, holds := footprint.New(c).Decide(claim, nil).(footprint.Proved)
		for range 6 {
			n := m.valid(p, c, c.Phases[0].Name)
			if n == nil {
				break
			}
			n = plantCanary(n, strings.Split(from[1:], "/"))
			if len(p.CheckAll(context.Background(), n, c.Phases[0].Name)) > 0 || holdsCanary(n, to) {
				continue
			}
			w := &stroll{maker: m, t: t, c: c, p: p, at: verify.Snapshot{State: n, Phase: c.Phases[0].Name}}
			for range 25 {
				w.step()
			}
			steps, told = steps+w.steps, told+w.told
			there := holdsCanary(w.at.State, to)
			if holds {
				proved++
				require.False(t, there, "from %s to %s\n%s\n%s", from, to, text, w.at.State)
			} else if there {
				arrived++
			}
		}
	}
	t.Logf("%d walks where no flow is proved, %d commits, %d by actors who knew; the canary arrived in %d of the other walks", proved, steps, told, arrived)
	require.Positive(t, proved)
	require.Positive(t, arrived, "no actor passes anything on")
}
