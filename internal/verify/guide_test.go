package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/guide"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A prompt is of the view: what a stage does not see makes no difference to it, and what it
// says is so.

// guideOf is what the stage's actor is told on a state, as a host makes it: of the view as it is
// sent.
func (w *world) guideOf(n *tree.Node) (guide.Guide, bool) {
	v, bound := w.view(n)
	if !bound {
		return guide.Guide{}, false
	}
	sent, err := tree.Parse(tree.AppendJSON(nil, v.Value), tree.DefaultLimits)
	require.NoError(w.t, err)
	return guide.Of(w.p, guide.Request{Stage: w.stage.Name, Phase: "main", Args: w.args}, sent), true
}

// requireGoodGuides checks that states with equal views have equal guides, and that every
// place can be written as it says.
func (w *world) requireGoodGuides(states []*tree.Node, tried *int) {
	first, bound := w.guideOf(states[0])
	if !bound {
		return
	}
	for _, n := range states[1:] {
		other, _ := w.guideOf(n)
		require.Equal(w.t, encoded(first), encoded(other))
	}
	for _, n := range states {
		if !first.Guesses {
			w.requirePasses(n, first.Example)
		}
		for i := range first.Places {
			p := &first.Places[i]
			for _, op := range p.Ops {
				if p.Example == nil || p.Guesses {
					continue
				}
				o := map[string]any{"op": op, "path": guide.ExamplePath(p)}
				if op != "remove" {
					o["value"] = p.Example
				}
				patch, err := json.Marshal([]any{o})
				require.NoError(w.t, err)
				w.requirePasses(n, patch)
				*tried++
			}
		}
	}
}

// requirePasses checks that a patch passes format, scope and schema, but for constraints that
// read what is hidden, which an actor is not told of either.
func (w *world) requirePasses(n *tree.Node, patch []byte) {
	out, err := w.p.Verify(context.Background(), w.snapshot(n), verify.Proposal{Stage: w.stage.Name, Args: w.args, Patch: patch})
	require.NoError(w.t, err)
	for _, v := range out.Actor().Violations {
		switch v.Gate {
		case verify.GateFormat, verify.GateScope, verify.GateSchema:
			if strings.Contains(v.Message, "would be gone") { // an entry that others refer to
				continue
			}
			w.counterexample(v.Message, patch, n)
			w.t.Fatalf("%s\n%+v", w.found, v)
		}
	}
}

func TestStatesWithEqualViewsHaveEqualGuidesWhichCanBeFollowed(t *testing.T) {
	t.Parallel()
	m := newMaker(31)
	c := shop(t, true)
	var stock []*tree.Node
	tried := 0
	for range rounds(2_000) {
		w := m.clerk(t, c, m.chance(20))
		if stock == nil {
			stock = m.stock(w, 100)
		}
		for range 3 {
			w.requireGoodGuides(w.blends(stock), &tried)
		}
	}
	for range rounds(2_000) {
		w := m.untypedWorld(t, true)
		w.requireGoodGuides(w.disguises(), &tried)
	}
	t.Logf("%d operations", tried)
	require.Positive(t, tried)
}

func TestAGuideTellsWhatRightsLetHappen(t *testing.T) {
	for _, test := range []struct {
		grants []string
		want   []string
	}{
		{[]string{"create /:m"}, []string{"/m/<new key> add new", "/m/<key>/tags/<new key2> add [A] new"}},
		{[]string{"create,delete /:m"}, []string{"/m/<new key> add new", "/m/<key> remove [A]", "/m/<key>/name remove [A]", "/m/<key>/tags remove [A]", "/m/<key>/tags/<new key2> add [A] new", "/m/<key>/tags/<key2> remove [A] [t]"}},
		{[]string{"create,update /:k"}, []string{"/k/<new key> add new", "/k/<key>/name replace [A]", "/k/<key>/tags add [A]"}},
		{[]string{"create,delete /:m", "update /:m/:A"}, []string{"/m/A replace,remove", "/m/<key> add new"}},
		{[]string{"delete /:m", "create,update /:m except /:m/:A"}, []string{"/m/A remove", "/m/A/name remove", "/m/A/tags remove", "/m/A/tags/<key> remove [t]", "/m/<key> add new not /m/A"}},
		{[]string{"delete /:m", "create /:m except /:m/:B"}, []string{"/m/<new key> add new not /m/B", "/m/<key> remove [A]", "/m/<key>/name remove [A] not /m/B", "/m/<key>/tags remove [A] not /m/B", "/m/<key>/tags/<new key2> add [A] new not /m/B", "/m/<key>/tags/<key2> remove [A] [t]"}},
		{[]string{"delete /:m", "create /:m/:A"}, []string{"/m/A remove", "/m/A/name remove", "/m/A/tags remove", "/m/A/tags/<new key> add new", "/m/A/tags/<key> remove [t]"}},
		{[]string{"update /:m/*/name", "create /:m/*/name"}, []string{"/m/<key>/name replace [A]"}},
		{[]string{"update /:l"}, []string{"/l replace", "/l/- add", "/l/<index> add,remove [0]"}},
		{[]string{"create /:l", "update /:l/*"}, []string{"/l/<index>/id replace [0]", "/l/<index>/name replace [0]", "/l/<index>/tags add [0]"}},
		{[]string{"create /:g", "update /:s", "delete /:o"}, []string{"/s replace", "/g/- add"}},
		{[]string{"update /:any"}, []string{"/any/list replace", "/any/list/<index> add,remove [0]", "/any/x/y replace"}},
		{[]string{"create,update,delete /:o"}, []string{"/o add"}},
	} {
		p := cellar(t, 0, test.grants...)
		state, err := p.Import([]byte(stocked))
		require.NoError(t, err)
		w := &world{t: t, p: p, stage: &p.Contract().Stages[0]}
		g, bound := w.guideOf(state)
		require.True(t, bound)
		w.requireGoodGuides([]*tree.Node{state}, new(int))
		require.Equal(t, []string{""}, g.Takes)
		var got []string
		for _, place := range g.Places {
			text := place.Path + " " + strings.Join(place.Ops, ",")
			for _, k := range place.Keys {
				if len(k.Known) > 0 {
					text += fmt.Sprint(" ", k.Known)
				}
				if k.New {
					text += " new"
				}
			}
			for _, e := range place.Except {
				text += " not " + e
			}
			got = append(got, text)
		}
		require.Equal(t, test.want, got, "%q", test.grants)
	}
}
