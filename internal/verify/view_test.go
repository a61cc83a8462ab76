package verify_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

var editT1 = verify.ViewRequest{Stage: "edit", Role: "bot", Args: map[string]string{"ticket": "T1"}}

func TestAViewShowsWhatTheStageReadsAndTellsItsHostTheRest(t *testing.T) {
	r := openDesk(t)
	v, refused, err := r.p.View(context.Background(), r.s, editT1)
	require.NoError(t, err)
	require.Nil(t, refused)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"stage": "edit", "version": 5, "phase": "triage", "contract": "`+r.p.Digest()+`", "view_digest": "`+v.Value.Digest().String()+`",
		"task": "Answer one ticket.",
		"writes": ["/tickets/T1/status", "/tickets/T1/reply", "/tickets/T1/labels", "/tickets/T1/steps", "/tickets/T1/lines", "/history/-"],
		"sources": ["/tickets/T1/subject", "/tickets/T1/labels", "/tickets/T1/steps", "/history"],
		"placeholders": [], "conditions": ["a solved ticket carries a reply"],
		"view": {"tickets": {"T1": {"subject": "Kettle", "status": "open", "labels": ["urgent"], "steps": ["ask", "wait"],
			"lines": {"A": {"sku": "A", "count": 2}, "B": {"sku": "B", "count": 3}}}}, "history": ["opened"]}}`, string(text))
}

func TestOutsideOfPhaseRoleAndArgumentsThereIsNoView(t *testing.T) {
	r := openDesk(t)
	for want, request := range map[string]verify.ViewRequest{
		"phase unauthorised":       {Stage: "edit", Role: "human", Args: editT1.Args},
		"phase argument_violation": {Stage: "edit", Role: "bot", Args: map[string]string{"ticket": "T9"}},
		"phase phase_violation":    {Stage: "finish"},
	} {
		v, refused, err := r.p.View(context.Background(), r.s, request)
		require.NoError(t, err)
		require.Zero(t, v)
		require.Equal(t, []string{want}, short(refused.Violations))
	}
	_, _, err := r.p.View(context.Background(), r.s, verify.ViewRequest{Stage: "none"})
	require.Error(t, err)
}

func TestAViewListsThePositionsWithNothingToShow(t *testing.T) {
	b := newBuilder(t)
	b.c.State = b.kind(ir.AnyType)
	b.stage(ir.Stage{Name: "s", Read: of("/a/[*]/:x")})
	r := open(t, b.load(), `{"a":[{"x":1},null,{"y":2}]}`)
	v := r.view("s")
	require.Equal(t, `{"a":[{"x":1},null,{}]}`, v.Value.String())
	require.Equal(t, []string{"/a/1"}, v.Placeholders)
}

func TestEqualStatesOfALogHaveEqualViewDigests(t *testing.T) {
	p := openDesk(t).p
	digest := func(history string) string {
		n, err := p.Import([]byte(history))
		require.NoError(t, err)
		v, _, err := p.View(context.Background(), verify.Snapshot{State: n, Phase: "triage"}, editT1)
		require.NoError(t, err)
		return v.Digest
	}
	a := replaced(deskState, `"history": ["opened"]`, `"history": ["a", "b"]`)
	b := replaced(deskState, `"history": ["opened"]`, `"history": ["b", "a"]`)
	require.Equal(t, digest(a), digest(b))
	require.NotEqual(t, digest(a), digest(deskState))
}
