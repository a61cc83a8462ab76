package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/view"
)

// A world is a contract with one stage, and the stage's regions to ask.
type world struct {
	maker
	t                   testing.TB
	p                   *verify.Program
	stage               *ir.Stage
	args                map[string]string
	read, write, source region.Cursor
	mayChange           region.Cursor // what write and blind grants hold
	found               string        // the last counterexample
}

// untyped is a contract of which nothing is typed.
func untyped() *ir.Contract {
	return &ir.Contract{
		Name: "untyped", Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1,
		Phases: []ir.Phase{{Name: "main"}},
	}
}

// untypedWorld draws a stage over untyped states. Within the view, it writes and
// takes only from what it sees.
func (m maker) untypedWorld(t testing.TB, within bool) *world {
	s := ir.Stage{Name: "stage", In: []string{"main"}}
	for len(s.Write) == 0 {
		s.Read, s.Write, s.Source = m.region(false), m.region(true), m.region(true)
		if within {
			s.Write, s.Source = m.part(s.Read), m.part(s.Read)
		}
	}
	m.limit(&s)
	c := untyped()
	c.Stages = []ir.Stage{s}
	return m.world(t, c, nil)
}

// limit gives the write grants of some stages the rights that they have.
func (m maker) limit(s *ir.Stage) {
	limited := false
	rights := make([]ir.Rights, len(s.Write))
	for i := range rights {
		rights[i] = 1 + ir.Rights(m.Intn(int(ir.AllRights)))
		limited = limited || rights[i] != ir.AllRights
	}
	if limited && m.chance(35) {
		s.Rights = rights
	}
}

// world loads a contract; the last stage is the one that acts.
func (m maker) world(t testing.TB, c *ir.Contract, args map[string]string) *world {
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	s := &c.Stages[len(c.Stages)-1]
	start := func(r region.Region) region.Cursor { return region.Compile(r).Start(args) }
	return &world{
		maker: m, t: t, p: p, stage: s, args: args,
		read: start(s.Read), write: start(s.Write), source: start(s.Source),
		mayChange: start(region.Union(s.Write, s.Blind)),
	}
}

func (w *world) snapshot(n *tree.Node) verify.Snapshot {
	return verify.Snapshot{State: n, Phase: "main", Version: 5}
}

func (w *world) verify(n *tree.Node, patch []byte) *verify.Outcome {
	out, err := w.p.Verify(context.Background(), w.snapshot(n), verify.Proposal{Stage: w.stage.Name, Args: w.args, Patch: patch})
	if err != nil {
		w.t.Fatal(err)
	}
	return &out
}

// view is what the stage sees; false if its arguments do not bind.
func (w *world) view(n *tree.Node) (verify.View, bool) {
	v, refused, err := w.p.View(context.Background(), w.snapshot(n), verify.ViewRequest{Stage: w.stage.Name, Args: w.args})
	if err != nil {
		w.t.Fatal(err)
	}
	return v, refused == nil
}

// sameViews compares everything an actor is shown, byte by byte.
func sameViews(a, b verify.View) bool {
	return a.Digest == b.Digest && slices.Equal(a.Placeholders, b.Placeholders) && a.Value.String() == b.Value.String()
}

// shown is what a projection shows, as it is sent.
type shown struct {
	text         string
	placeholders []region.Word
}

func (w *world) shown(n *tree.Node) shown {
	value, placeholders := view.Project(n, w.read)
	return shown{value.String(), placeholders}
}

func (s shown) equals(o shown) bool {
	return s.text == o.text && slices.EqualFunc(s.placeholders, o.placeholders, slices.Equal)
}

// operations draws patches on the states; so many percent of the paths are taken
// from anywhere, the others are such as the stage may use.
func (w *world) operations(daring int, shown *tree.Node, states ...*tree.Node) opMaker {
	o := opMaker{maker: w.maker, daring: daring, shown: shown}
	for _, n := range states {
		for _, word := range w.words(n) {
			o.anywhere = append(o.anywhere, word)
			present := tree.NodeAt(n, word) != nil
			if w.write.Walk(lifted(word)).Interior() {
				o.edits = append(o.edits, word)
			}
			if present && w.write.Walk(word).Interior() {
				o.places = append(o.places, word)
			}
			takes := w.source.Walk(word).Interior()
			if present && takes {
				o.takes = append(o.takes, word)
			}
			if present && (takes || w.read.Walk(word).Interior()) {
				o.visits = append(o.visits, word)
			}
		}
	}
	return o
}

// lifted is the array of an element that is added or removed; an entry of a set or
// log has a place of its own.
func lifted(w region.Word) region.Word {
	if n := len(w); n > 0 && w[n-1].Kind == region.IndexLetter {
		return w[:n-1]
	}
	return w
}

// counterexample keeps what it takes to see a law broken: stage, patch, states.
func (w *world) counterexample(what string, patch []byte, states ...*tree.Node) {
	s := w.stage
	w.found = fmt.Sprintf("%s\nread   %s\nwrite  %s %s\nblind  %s\nsource %s\nargs   %v\npatch  %s\n", what,
		encoded(s.Read), encoded(s.Write), encoded(s.Rights), encoded(s.Blind), encoded(s.Source), w.args, patch)
	for _, n := range states {
		w.found += "state  " + n.String() + "\n"
	}
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
