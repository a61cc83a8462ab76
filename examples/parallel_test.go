package examples_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// sideBySide is what the members of the parallel groups propose, all at once:
// patches that commit and patches that are refused.
var sideBySide = map[string][]runtime.Proposal{
	"support": {
		{Stage: "classify", Role: "triage_bot", Args: map[string]string{"ticket": "T1"}, Patch: patchFile("support", "classify")},
		{Stage: "detect_language", Role: "language_bot", Args: map[string]string{"ticket": "T1"}, Patch: patchFile("support", "detect-language")},
		{Stage: "classify", Role: "triage_bot", Args: map[string]string{"ticket": "T2"}, Patch: []byte(`[{"op":"replace","path":"/tickets/T2/status","value":"lost"}]`)},
		{Stage: "detect_language", Role: "language_bot", Args: map[string]string{"ticket": "T2"}, Patch: []byte(`[{"op":"remove","path":"/tickets/T2/language"}]`)},
	},
	"clinical": {
		{Stage: "scribe", Role: "scribe_bot", Patch: patchFile("clinical", "scribe")},
		{Stage: "reconcile", Role: "pharmacy_bot", Args: map[string]string{"med": "tramadol"}, Patch: patchFile("clinical", "reconcile")},
		{Stage: "reconcile", Role: "pharmacy_bot", Args: map[string]string{"med": "lisinopril"}, Patch: []byte(`[
			{"op":"replace","path":"/medications/lisinopril/dose","value":"5 mg daily"},
			{"op":"add","path":"/audit/-","value":{"at":"2024-05-02T09:33:00Z","what":"dose of lisinopril halved"}}]`)},
	},
	"release": {
		{Stage: "write_notes", Role: "writer_bot", Patch: patchFile("release", "notes")},
		{Stage: "queue", Role: "runner", Args: map[string]string{"check": "K2"}, Patch: patchFile("release", "queue")},
	},
}

func patchFile(example, name string) []byte {
	patch, err := fs.ReadFile(examples.FS, example+"/patches/"+name+".json")
	if err != nil {
		panic(err)
	}
	return patch
}

// eachGroup runs f for every parallel group of the examples, with a function that
// begins an instance in the group's phase.
func eachGroup(t *testing.T, f func(t *testing.T, c *ir.Contract, proposals []runtime.Proposal, begin func() *runtime.Instance)) {
	for _, name := range examples.Names() {
		c := contract(t, name)
		for _, claim := range c.Claims {
			if claim.Kind != ir.Parallel {
				continue
			}
			proposals := slices.DeleteFunc(slices.Clone(sideBySide[name]), func(p runtime.Proposal) bool { return !slices.Contains(claim.Stages, p.Stage) })
			for _, stage := range claim.Stages {
				require.True(t, slices.ContainsFunc(proposals, func(p runtime.Proposal) bool { return p.Stage == stage }), "nothing is proposed for %s", stage)
			}
			loaded, err := runtime.Load(ir.Encode(c))
			require.NoError(t, err)
			phase := c.Stage(claim.Stages[0]).In[0]
			t.Run(name, func(t *testing.T) {
				f(t, c, proposals, func() *runtime.Instance { return beginIn(t, loaded, name, phase) })
			})
		}
	}
}

// beginIn walks an example until it is in a phase.
func beginIn(t *testing.T, c *runtime.Contract, name, phase string) *runtime.Instance {
	t.Helper()
	state, err := fs.ReadFile(examples.FS, name+"/state.json")
	require.NoError(t, err)
	in, err := runtime.Create(context.Background(), c, store.NewMemory(), name, state)
	require.NoError(t, err)
	scenario, err := walk.Read(examples.FS, name)
	require.NoError(t, err)
	for i := range scenario.Steps {
		if in.Phase() == phase {
			break
		}
		one := walk.Scenario{Steps: scenario.Steps[i : i+1]}
		_, err := walk.Run(context.Background(), in, &one)
		require.NoError(t, err)
	}
	require.Equal(t, phase, in.Phase())
	return in
}

// A result is what must be the same in every order: the state, and for every
// proposal its verdict and what its stage sees before it proposes and in the end.
type result struct {
	state          string
	verdicts       []string
	before, atEnd  []string
	versionsPassed uint64
}

func newResult(n int) result {
	return result{verdicts: make([]string, n), before: make([]string, n), atEnd: make([]string, n)}
}

// viewDigest identifies what the stage of a proposal sees, or why it sees nothing:
// once there is an entry, a key for a new one does not bind any more.
func viewDigest(t *testing.T, in *runtime.Instance, p *runtime.Proposal) string {
	view, err := in.View(context.Background(), runtime.Request{Stage: p.Stage, Args: p.Args, Role: p.Role})
	var refused *runtime.ViewRefusedError
	switch {
	case errors.As(err, &refused):
		return err.Error()
	case err != nil:
		t.Error(err)
	}
	return view.Digest
}

func verdictText(t *testing.T, in *runtime.Instance, p runtime.Proposal) string {
	v, err := in.Propose(context.Background(), p)
	if err != nil {
		t.Error(err)
	}
	text := string(v.Verdict)
	for _, found := range v.Violations {
		text += " " + string(found.Code)
	}
	return text
}

func (r *result) end(t *testing.T, in *runtime.Instance, base uint64, proposals []runtime.Proposal) {
	for i := range proposals {
		r.atEnd[i] = viewDigest(t, in, &proposals[i])
	}
	r.state, r.versionsPassed = in.StateDigest(), in.Version()-base
}

// inOrder proposes one after the other, all on the version they found.
func inOrder(t *testing.T, in *runtime.Instance, proposals []runtime.Proposal, order []int) result {
	r, base := newResult(len(proposals)), in.Version()
	for _, i := range order {
		p := proposals[i]
		p.Base = base
		r.before[i] = viewDigest(t, in, &p)
		r.verdicts[i] = verdictText(t, in, p)
	}
	r.end(t, in, base, proposals)
	return r
}

// permute calls f with every order of n things.
func permute(n int, f func(order []int)) {
	order := make([]int, 0, n)
	var next func()
	next = func() {
		if len(order) == n {
			f(slices.Clone(order))
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				order = append(order, i)
				next()
				order = order[:len(order)-1]
			}
		}
	}
	next()
}

func TestAParallelGroupEndsTheSameInEveryOrder(t *testing.T) {
	eachGroup(t, func(t *testing.T, _ *ir.Contract, proposals []runtime.Proposal, begin func() *runtime.Instance) {
		var want result
		orders := 0
		permute(len(proposals), func(order []int) {
			got := inOrder(t, begin(), proposals, order)
			if orders++; orders == 1 {
				want = got
			}
			require.Equal(t, want, got, "order %v", order)
		})
		require.GreaterOrEqual(t, orders, 2)
		committed := 0
		for i, v := range want.verdicts {
			require.NotContains(t, v, "stale", "%s", proposals[i].Stage)
			committed += strings.Count(v, "commit")
		}
		require.Equal(t, int(want.versionsPassed), committed)
		require.GreaterOrEqual(t, committed, 2, "%v", want.verdicts)
	})
}

func TestAParallelGroupEndsTheSameWhenItsMembersRunAtOnce(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	eachGroup(t, func(t *testing.T, _ *ir.Contract, proposals []runtime.Proposal, begin func() *runtime.Instance) {
		order := make([]int, len(proposals))
		for i := range order {
			order[i] = i
		}
		want := inOrder(t, begin(), proposals, order)
		for range rounds {
			in := begin()
			got, base := newResult(len(proposals)), in.Version()
			var wait sync.WaitGroup
			for i, p := range proposals {
				p.Base = base
				wait.Go(func() {
					got.before[i] = viewDigest(t, in, &p)
					got.verdicts[i] = verdictText(t, in, p)
				})
			}
			wait.Wait()
			got.end(t, in, base, proposals)
			require.Equal(t, want, got)
		}
	})
}

func TestTheMatrixSaysThatTheProposalsOfAParallelGroupCommute(t *testing.T) {
	eachGroup(t, func(t *testing.T, c *ir.Contract, proposals []runtime.Proposal, _ func() *runtime.Instance) {
		x := footprint.New(c).Matrix()
		number := func(stage string) int {
			return slices.IndexFunc(c.Stages, func(s ir.Stage) bool { return s.Name == stage })
		}
		for i, a := range proposals {
			for _, b := range proposals[i+1:] {
				args := region.Binding{}
				for name, value := range a.Args {
					args[footprint.OwnedParam(footprint.OwnerA, name)] = value
				}
				for name, value := range b.Args {
					args[footprint.OwnedParam(footprint.OwnerB, name)] = value
				}
				for _, conflict := range x.Conflicts(number(a.Stage), number(b.Stage)) {
					met := region.Condition{Any: []region.Term{conflict.When}}
					require.False(t, met.Holds(args), "%s and %s: %+v", a.Stage, b.Stage, conflict)
				}
			}
		}
	})
}
