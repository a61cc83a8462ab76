package verify_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

// tells asserts what the actor is told of a rejection.
func (r *run) tells(pr verify.Proposal, violations ...string) verify.ActorVerdict {
	r.t.Helper()
	actor := r.try(pr).Actor()
	require.Equal(r.t, verify.Reject, actor.Verdict)
	require.Equal(r.t, violations, short(actor.Violations), "%+v", actor.Violations)
	return actor
}

func refundOf(stage, ticket, amount string) verify.Proposal {
	return verify.Proposal{Stage: stage, Args: map[string]string{"id": "R2"},
		Patch: []byte(`[{"op":"add","path":"/refunds/R2","value":{"ticket":"` + ticket + `","amount":` + amount + `}}]`)}
}

func answer(ticket, patch string) verify.Proposal {
	return verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": ticket}, Patch: []byte(patch)}
}

func TestActorsAreToldOfTheirOwnMistakes(t *testing.T) {
	r := openDesk(t)
	for _, pr := range []verify.Proposal{
		edit(`[{"op":"nop"}]`),
		edit(`[{"op":"replace","path":"/budget","value":1}]`),
		edit(`[{"op":"test","path":"/tickets/T1/status","value":"solved"}]`),
		edit(`[{"op":"replace","path":"/tickets/T1/steps/9","value":"x"}]`),
		edit(`[{"op":"replace","path":"/tickets/T1/status","value":"none"},{"op":"add","path":"/tickets/T1/reply","value":"longer than ten"}]`),
		as("idle", `{"patch":[],"next":"closed"}`),
	} {
		out := r.try(pr)
		require.Equal(t, out.Verdict.Violations, out.Actor().Violations)
		require.True(t, out.Actor().Retryable)
	}
	out := r.try(verify.Proposal{Stage: "edit", Role: "human", Args: map[string]string{"ticket": "T1"}, Patch: []byte(`[]`)})
	require.False(t, out.Actor().Retryable, "no other patch makes the role fit")
}

func TestHintsToAnActorDoNotNameWhatItsGrantsExceptAndItDoesNotSee(t *testing.T) {
	out := openDesk(t).try(edit(`[{"op":"test","path":"/tickets/T1/body","value":"x"},{"op":"test","path":"/tickets/T1/internal","value":"x"}]`))
	operator, actor := out.Verdict.Violations[0], out.Actor().Violations[0]
	require.Contains(t, operator.Hint, "/tickets/T1 except /tickets/T1/internal")
	require.Contains(t, actor.Hint, "/tickets/T1 except what it does not see")
	require.NotContains(t, actor.Hint, "internal")
	require.Equal(t, operator.Path, actor.Path, "the path is the actor's own")
}

func TestARuleThatTheStageSeesOrDisclosesIsNamed(t *testing.T) {
	r := openDesk(t)
	seen := r.tells(edit(`[{"op":"replace","path":"/tickets/T1/status","value":"solved"}]`), "invariant invariant_violation /tickets/T1")
	require.Equal(t, "a solved ticket carries a reply", seen.Violations[0].Message)
	disclosed := r.tells(refundOf("refund", "T1", "50"), "invariant invariant_violation")
	require.Equal(t, "refunds stay within the budget", disclosed.Violations[0].Message)
	reference := r.tells(refundOf("refund", "T9", "1"), "schema schema_violation")
	require.Equal(t, "key at /refunds/*/ticket", reference.Violations[0].Rule)
}

func TestHiddenRulesGiveOneNamelessRefusal(t *testing.T) {
	r := openDesk(t)
	refused := []verify.Violation{{Gate: "invariant", Code: "refused", Message: "refused by a rule over data this stage does not see"}}
	for _, pr := range []verify.Proposal{
		refundOf("refund_quietly", "T1", "50"),
		refundOf("refund_quietly", "T9", "1"),
		answer("T2", `[{"op":"replace","path":"/tickets/T2/reply","value":"x"}]`),
	} {
		require.Equal(t, refused, r.try(pr).Actor().Violations)
	}
}

func TestARequirementThatIsHiddenDoesNotKeepTheActorFromItsOwnMistakes(t *testing.T) {
	r := openDesk(t)
	pr := answer("T2", `[{"op":"replace","path":"/budget","value":1}]`)
	r.refuses(pr, "invariant require_violation /tickets/T2/status")
	r.tells(pr, "scope patch_write_scope_violation 0 /budget")
}

func TestARequirementThatIsDisclosedEndsTheReply(t *testing.T) {
	b := desk(t)
	b.c.Stage("answer").Gates[0].Visibility = ir.Disclosed
	r := open(t, b.load(), deskState)
	r.tells(answer("T2", `[{"op":"replace","path":"/budget","value":1}]`), "invariant require_violation")
}

func TestAnUnlistedRuleIsSeenIfAllItReadIsInTheView(t *testing.T) {
	b := desk(t)
	for i := range b.c.Stages {
		b.c.Stages[i].Gates = nil
	}
	r := open(t, b.load(), deskState)
	r.tells(edit(`[{"op":"replace","path":"/tickets/T1/status","value":"solved"}]`), "invariant invariant_violation /tickets/T1")
	r.tells(answer("T2", `[]`), "invariant refused")
	r.tells(refundOf("refund", "T1", "50"), "invariant refused")
	r.tells(refundOf("refund", "T9", "1"), "invariant refused")
	r.tells(as("admin", `[{"op":"replace","path":"/window/from","value":9}]`), "schema schema_violation /window")
	r.tells(as("admin", `[{"op":"remove","path":"/customers/C1"}]`), "schema schema_violation /tickets/T1/customer")
}

func TestABlindAddTellsThatTheMemberExisted(t *testing.T) {
	r := openDesk(t)
	r.tells(as("vote", `[{"op":"add","path":"/votes/V1","value":1}]`), "scope patch_write_scope_violation 0 /votes/V1")
}

func TestWritesIntoUnseenContainersAreNoMistakeOfTheActor(t *testing.T) {
	r := openDesk(t)
	for _, pr := range []verify.Proposal{
		refundOf("refund", "T1", "5"),
		as("log", `[{"op":"add","path":"/history/-","value":"x"}]`),
		as("vote", `[{"op":"add","path":"/votes/V9","value":1}]`),
	} {
		actor := r.try(pr).Actor()
		require.Equal(t, verify.Commit, actor.Verdict)
	}
	r.tells(as("log", `[{"op":"add","path":"/history/-","value":7}]`), "schema schema_violation 0 /history/-")
}

func TestHintsAndPathsForActorsNameNothingTheyDoNotSee(t *testing.T) {
	b := desk(t)
	b.stage(ir.Stage{Name: "narrow", Read: of("/:tickets/:*/:subject", "/:tickets/:*/:internl"), Write: of("/:tickets/:*/:subject", "/:tickets/:*/:internl")})
	r := open(t, b.load(), deskState)
	out := r.refuses(as("narrow", `[{"op":"add","path":"/tickets/T1/internl","value":"x"}]`), "schema schema_violation 0 /tickets/T1/internl")
	require.Contains(t, out.Verdict.Violations[0].Hint, "internal")
	require.Empty(t, out.Actor().Violations[0].Hint)
}

func TestStatesWithEqualViewsGiveByteEqualReplies(t *testing.T) {
	// The second state differs from the first in everything that edit on T1 does not see.
	other := `{
	  "tickets": {"T1": {"subject": "Kettle", "status": "open", "customer": "C9", "labels": ["urgent"], "steps": ["ask", "wait"],
	    "lines": [{"sku": "A", "count": 2}, {"sku": "B", "count": 3}]}},
	  "customers": {"C9": {"name": "Eve", "email": "eve"}}, "refunds": {}, "budget": 7, "history": ["opened"],
	  "window": {"from": 0, "to": 0}, "notes": null, "votes": {}}`
	p := desk(t).load()
	a, b := open(t, p, deskState), open(t, p, other)
	for _, patch := range []string{
		`[]`,
		`[{"op":"test","path":"/tickets/T1/internal","value":"canary-internal"}]`,
		`[{"op":"test","path":"/tickets/T1/internal","value":"wrong"}]`,
		`[{"op":"test","path":"/tickets/T2/status","value":"solved"}]`,
		`[{"op":"copy","from":"/tickets/T1/internal","path":"/tickets/T1/reply"}]`,
		`[{"op":"copy","from":"","path":"/tickets/T1/reply"}]`,
		`[{"op":"move","from":"/tickets/T1/internal","path":"/tickets/T1/reply"}]`,
		`[{"op":"remove","path":"/tickets/T1/internal"}]`,
		`[{"op":"remove","path":"/tickets/T2"}]`,
		`[{"op":"remove","path":"/tickets/T3"}]`,
		`[{"op":"add","path":"/notes/list/0","value":1}]`,
		`[{"op":"add","path":"/notes/deep/x/y","value":1}]`,
		`[{"op":"add","path":"/tickets/T1/reply","value":"ok"},{"op":"add","path":"/history/-","value":"x"}]`,
		`[{"op":"replace","path":"/tickets/T1/status","value":"solved"}]`,
		`[{"op":"replace","path":"/tickets/T1/reply","value":"x"}]`,
		`[{"op":"replace","path":"/tickets/T1/status","value":"none"}]`,
		`[{"op":"replace","path":"/tickets/T1/lines/A/sku","value":"Z"}]`,
		`[{"op":"add","path":"/tickets/T1/labels/-","value":"urgent"}]`,
		`[{"op":"replace","path":"/tickets/T1/labels","value":["1","2","3","4"]}]`,
	} {
		x, y := a.try(edit(patch)), b.try(edit(patch))
		left, err := json.Marshal(x.Actor())
		require.NoError(t, err)
		right, err := json.Marshal(y.Actor())
		require.NoError(t, err)
		require.Equal(t, string(left), string(right), patch)
		require.NotContains(t, string(left), "canary")
		require.NotContains(t, string(left), "state_")
		require.NotContains(t, string(left), "version_")
	}
}
