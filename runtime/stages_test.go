package runtime_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

func TestAContractTellsItsStagesInTheWordsOfTheLanguage(t *testing.T) {
	c := sampleContract(t)
	names := []string{}
	for _, s := range c.Stages() {
		names = append(names, s.Name)
		same, known := c.Stage(s.Name)
		require.True(t, known)
		require.Equal(t, s, same)
	}
	require.Equal(t, []string{"draft", "all", "root", "margin", "edit", "enrol", "strict", "blind", "hand_in", "decide"}, names)
	draft, _ := c.Stage("draft")
	require.Equal(t, runtime.Stage{
		Name: "draft", Task: "Draft a reply.", In: []string{"open"},
		Reads: []string{"/ticket", "/draft"}, Writes: []string{"/draft"}, Sources: []string{"/ticket", "/draft"},
	}, draft)
	edit, _ := c.Stage("edit")
	require.Equal(t, []runtime.Parameter{{Name: "c", Kind: runtime.ParameterIn, Of: "/customers"}}, edit.Parameters)
	require.Equal(t, []string{"/customers/{c}"}, edit.Writes)
	enrol, _ := c.Stage("enrol")
	require.Equal(t, []runtime.Parameter{{Name: "id", Kind: runtime.ParameterNew, Of: "/customers"}}, enrol.Parameters)
	require.Equal(t, []string{}, enrol.Reads)
	blind, _ := c.Stage("blind")
	require.Equal(t, []string{"/draft/text", "/customers/*"}, blind.Writes)
	require.Equal(t, []string{"/customers/*"}, blind.Blind)
	decide, _ := c.Stage("decide")
	require.Equal(t, []string{"human"}, decide.By)
	require.Equal(t, []string{"closed"}, decide.Next)
	_, known := c.Stage("drafts")
	require.False(t, known)
}

func TestExceptionsDelegatesAndAttemptsOfAStageAreTold(t *testing.T) {
	sample := sampleIR(t)
	s := sample.Stage("draft")
	s.Read[0].Except = append(s.Read[0].Except, region.MustParse("/ticket/:tags"), region.MustParse("/ticket/:id"))
	s.Attempts, s.From = 5, "all"
	c, err := runtime.Load(ir.Encode(sample))
	require.NoError(t, err)
	draft, _ := c.Stage("draft")
	require.Equal(t, "/ticket except /ticket/tags, /ticket/id", draft.Reads[0])
	require.Equal(t, 5, draft.Attempts)
	require.Equal(t, "all", draft.From)
}

func TestAContractTellsItsRolesAndItsPhasesWithTheirEdges(t *testing.T) {
	c := sampleContract(t)
	require.Equal(t, []string{"admin", "human"}, c.Roles())
	require.Equal(t, []runtime.Phase{
		{Name: "open", Edges: []runtime.Edge{{To: "review", Guard: "size(state.draft.refs) < 3"}, {To: "closed", ByHost: true}}},
		{Name: "review", Edges: []runtime.Edge{{To: "closed"}}},
		{Name: "closed"},
	}, c.Phases())
}

func TestWhatAContractTellsIsTheCallersOwn(t *testing.T) {
	c := sampleContract(t)
	s := c.Stages()[0]
	s.In[0], s.Reads[0] = "nowhere", "/"
	again := c.Stages()[0]
	require.Equal(t, []string{"open"}, again.In)
	require.Equal(t, "/ticket", again.Reads[0])
}

// runsNow lists the stages that a role can run.
func runsNow(t *testing.T, in *runtime.Instance, role string) (names []string) {
	t.Helper()
	all, err := in.Runnable(ctx, role)
	require.NoError(t, err)
	for _, r := range all {
		require.Equal(t, r.Runs, len(r.Refused) == 0)
		if r.Runs {
			names = append(names, r.Stage)
		}
	}
	return names
}

func TestWhatARoleCanRunNowFollowsPhaseRoleAndRequire(t *testing.T) {
	in, _ := begin(t)
	require.Equal(t, []string{"draft", "all", "margin", "edit", "enrol", "blind", "hand_in"}, runsNow(t, in, ""))
	require.Equal(t, []string{"draft", "all", "root", "margin", "edit", "enrol", "blind", "hand_in"}, runsNow(t, in, "admin"))
	commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"a"}]`))
	require.Contains(t, runsNow(t, in, ""), "strict", "its require clause holds now")
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "hand_in", Base: in.Version(), Patch: []byte(`[]`)}))
	require.Empty(t, runsNow(t, in, ""))
	require.Equal(t, []string{"decide"}, runsNow(t, in, "human"))

	all, err := in.Runnable(ctx, "")
	require.NoError(t, err)
	codes := map[string][]verify.Code{}
	for _, r := range all {
		for _, v := range r.Refused {
			codes[r.Stage] = append(codes[r.Stage], v.Code)
		}
	}
	require.Equal(t, []verify.Code{verify.PhaseViolation}, codes["draft"])
	require.Equal(t, []verify.Code{verify.Unauthorised, verify.PhaseViolation}, codes["root"])
	require.Equal(t, []verify.Code{verify.Unauthorised}, codes["decide"])
}

func TestWhatCanRunIsWhatAnEmptyPatchIsNotRefusedFor(t *testing.T) {
	in, _ := begin(t)
	without := func(s runtime.Stage) bool { return len(s.Parameters) == 0 }
	seen := map[bool]int{}
	for round := range 12 {
		for _, role := range []string{"", "admin", "human"} {
			all, err := in.Runnable(ctx, role)
			require.NoError(t, err)
			for i, s := range in.Contract().Stages() {
				if !without(s) || s.Name == "hand_in" && round < 10 {
					continue
				}
				now := in.Version()
				v := proposeAs(t, in, runtime.Proposal{Stage: s.Name, Role: role, Base: now, Patch: []byte(`[]`)})
				refused := slices.ContainsFunc(v.Violations, func(v runtime.Violation) bool {
					return v.Gate == verify.GatePhase || v.Code == verify.RequireViolation
				})
				exhausted := slices.ContainsFunc(v.Violations, func(v runtime.Violation) bool { return v.Gate == verify.GateStale })
				if !exhausted {
					require.Equal(t, all[i].Runs, !refused, "%s as %q: %+v", s.Name, role, v.Violations)
					seen[refused]++
				}
				if in.Version() != now {
					break
				}
			}
		}
		if in.Phase() == "open" {
			propose(t, in, []string{`[{"op":"add","path":"/draft/refs/-","value":"a"}]`, `[{"op":"replace","path":"/draft/refs","value":[]}]`}[round%2])
		}
	}
	require.Greater(t, seen[true], 20)
	require.Greater(t, seen[false], 20)
}

func TestAskingWhatCanRunRecordsNothingAndEndsWithItsContext(t *testing.T) {
	in, _ := begin(t)
	before := in.Head()
	runsNow(t, in, "admin")
	require.Equal(t, before, in.Head())
	ended, end := context.WithCancel(ctx)
	end()
	_, err := in.Runnable(ended, "admin")
	require.ErrorIs(t, err, context.Canceled)
	_, err = in.Runnable(ctx, string(make([]byte, runtime.MaxGiven+1)))
	require.ErrorAs(t, err, new(*runtime.TooLongError))
}
