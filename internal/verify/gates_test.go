package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
)

func TestEveryGateRefusesWithItsCodeOperationAndPath(t *testing.T) {
	for _, test := range []struct {
		name       string
		proposal   verify.Proposal
		violations []string
	}{
		{"no JSON", edit(`[{"op"`), []string{"format patch_syntax 0"}},
		{"a string", edit(`"[]"`), []string{"format patch_syntax"}},
		{"a number", edit(`7`), []string{"format patch_syntax"}},
		{"unknown operation", edit(`[{"op":"repalce","path":"/a","value":1}]`), []string{"format patch_syntax 0 /a"}},
		{"missing value", edit(`[{"op":"add","path":"/a"}]`), []string{"format patch_syntax 0 /a"}},
		{"removal of the root", as("root", `[{"op":"remove","path":""}]`), []string{`format patch_syntax 0 ""`}},
		{"unknown member beside patch", edit(`{"patch":[],"stage":"admin"}`), []string{"format patch_syntax"}},
		{"no patch", edit(`{"next":"review"}`), []string{"format patch_syntax"}},
		{"next no string", edit(`{"patch":[],"next":1}`), []string{"format patch_syntax"}},
		{"no pointer", edit(`[{"op":"remove","path":"a"}]`), []string{"format pointer_syntax 0 a"}},
		{"bad escape", edit(`[{"op":"test","path":"/a","value":1},{"op":"remove","path":"/a~2"}]`), []string{"format pointer_syntax 1 /a~2"}},
		{"index with a leading zero", edit(`[{"op":"replace","path":"/tickets/T1/steps/01","value":"x"}]`), []string{"format pointer_syntax 0 /tickets/T1/steps/01"}},
		{"index of an untyped array", as("admin", `[{"op":"replace","path":"/notes/list/01","value":9}]`), []string{"format pointer_syntax 0 /notes/list/01"}},
		{"a member named twice", edit(`[{"op":"add","path":"/a","value":{"x":1,"\u0078":2}}]`), []string{"format duplicate_key 0"}},

		{"role", verify.Proposal{Stage: "edit", Args: map[string]string{"ticket": "T1"}, Role: "human", Patch: []byte(`[]`)}, []string{"phase unauthorised"}},
		{"phase", as("finish", `{"patch":[],"next":"closed"}`), []string{"phase phase_violation"}},
		{"argument missing", verify.Proposal{Stage: "answer", Patch: []byte(`[]`)}, []string{"phase argument_violation"}},
		{"argument empty", verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": ""}, Patch: []byte(`[]`)}, []string{"phase argument_violation"}},
		{"argument reserved", verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": "index"}, Patch: []byte(`[]`)}, []string{"phase argument_violation"}},
		{"argument unknown", verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": "T9"}, Patch: []byte(`[]`)}, []string{"phase argument_violation"}},
		{"argument not new", verify.Proposal{Stage: "refund", Args: map[string]string{"id": "R1"}, Patch: []byte(`[]`)}, []string{"phase argument_violation"}},
		{"argument of the state", verify.Proposal{Stage: "contact", Args: map[string]string{"ticket": "T1", "customer": "C2"}, Patch: []byte(`[]`)}, []string{"phase argument_violation"}},
		{"next where there is none", as("idle", `{"patch":[],"next":"review"}`), []string{"phase transition_violation"}},
		{"foreign next", as("hand_in", `{"patch":[],"next":"closed"}`), []string{"phase transition_violation"}},
		{"two nexts", verify.Proposal{Stage: "hand_in", Next: "review", Patch: []byte(`{"patch":[],"next":"closed"}`)}, []string{"phase transition_violation"}},

		{"require", verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": "T2"}, Patch: []byte(`[]`)}, []string{"invariant require_violation /tickets/T2/status"}},

		{"write outside", edit(`[{"op":"replace","path":"/budget","value":1}]`), []string{"scope patch_write_scope_violation 0 /budget"}},
		{"write of a hole's parent", edit(`[{"op":"replace","path":"/tickets/T1","value":{}}]`), []string{"scope patch_write_scope_violation 0 /tickets/T1"}},
		{"write of another entry", edit(`[{"op":"replace","path":"/tickets/T2/reply","value":"x"}]`), []string{"scope patch_write_scope_violation 0 /tickets/T2/reply"}},
		{"test outside", edit(`[{"op":"test","path":"/budget","value":100}]`), []string{"scope patch_read_scope_violation 0 /budget"}},
		{"copy from outside", edit(`[{"op":"copy","from":"/tickets/T1/internal","path":"/tickets/T1/reply"}]`), []string{"scope patch_read_scope_violation 0 /tickets/T1/internal"}},
		{"copy from what is read only", edit(`[{"op":"copy","from":"/tickets/T1/status","path":"/tickets/T1/reply"}]`), []string{"scope patch_read_scope_violation 0 /tickets/T1/status"}},
		{"move out of what is not written", edit(`[{"op":"move","from":"/tickets/T1/subject","path":"/tickets/T1/reply"}]`), []string{"scope patch_write_scope_violation 0 /tickets/T1/subject"}},
		{"replacement of what is absent", edit(`[{"op":"replace","path":"/tickets/T1/reply","value":"x"}]`), []string{"scope path_missing 0 /tickets/T1/reply"}},
		{"index beyond the end", edit(`[{"op":"replace","path":"/tickets/T1/steps/2","value":"x"}]`), []string{"scope index_out_of_range 0 /tickets/T1/steps/2"}},
		{"failed test", edit(`[{"op":"test","path":"/tickets/T1/status","value":"solved"}]`), []string{"scope test_failed 0 /tickets/T1/status"}},
		{"below a scalar", edit(`[{"op":"add","path":"/tickets/T1/status/x","value":1}]`), []string{"scope type_mismatch 0 /tickets/T1/status/x"}},
		{"entry of a log by index", edit(`[{"op":"test","path":"/history/0","value":"opened"}]`), []string{"scope type_mismatch 0 /history/0"}},
		{"element of a set by index", edit(`[{"op":"remove","path":"/tickets/T1/labels/0"}]`), []string{"scope type_mismatch 0 /tickets/T1/labels/0"}},
		{"insertion into a set by index", edit(`[{"op":"add","path":"/tickets/T1/labels/0","value":"x"}]`), []string{"scope type_mismatch 0 /tickets/T1/labels/0"}},
		{"move into itself", as("admin", `[{"op":"move","from":"/notes","path":"/notes/deep/x"}]`), []string{"scope move_into_child 0 /notes/deep/x"}},
		{"blind add of what exists", as("vote", `[{"op":"add","path":"/votes/V1","value":1}]`), []string{"scope patch_write_scope_violation 0 /votes/V1"}},
		{"blind replacement", as("vote", `[{"op":"replace","path":"/votes/V1","value":1}]`), []string{"scope patch_write_scope_violation 0 /votes/V1"}},
		{"blind removal", as("vote", `[{"op":"remove","path":"/votes/V1"}]`), []string{"scope patch_write_scope_violation 0 /votes/V1"}},
		{"blind test", as("vote", `[{"op":"test","path":"/votes/V1","value":4}]`), []string{"scope patch_read_scope_violation 0 /votes/V1"}},
		{"log rewritten by an append grant", edit(`[{"op":"replace","path":"/history","value":[]}]`), []string{"scope patch_write_scope_violation 0 /history"}},

		{"wrong literal", edit(`[{"op":"replace","path":"/tickets/T1/status","value":"closed"}]`), []string{"schema schema_violation 0 /tickets/T1/status"}},
		{"wrong kind", edit(`[{"op":"add","path":"/tickets/T1/reply","value":7}]`), []string{"schema schema_violation 0 /tickets/T1/reply"}},
		{"wrong element", edit(`[{"op":"add","path":"/tickets/T1/steps/-","value":7}]`), []string{"schema schema_violation 0 /tickets/T1/steps/-"}},
		{"constraint", edit(`[{"op":"add","path":"/tickets/T1/reply","value":"longer than ten"}]`), []string{"schema schema_violation 0 /tickets/T1/reply"}},
		{"constraint above", as("admin", `[{"op":"replace","path":"/window/from","value":9}]`), []string{"schema schema_violation /window"}},
		{"unknown member", as("admin", `[{"op":"add","path":"/tickets/T1/replly","value":"x"}]`), []string{"schema schema_violation 0 /tickets/T1/replly"}},
		{"member removed", as("admin", `[{"op":"remove","path":"/tickets/T1/subject"}]`), []string{"schema schema_violation 0 /tickets/T1/subject"}},
		{"not an int", as("admin", `[{"op":"replace","path":"/votes/V1","value":1.5}]`), []string{"schema schema_violation 0 /votes/V1"}},
		{"element of a keyed list under another key", edit(`[{"op":"add","path":"/tickets/T1/lines/C","value":{"sku":"D","count":1}}]`), []string{"schema schema_violation 0 /tickets/T1/lines/C"}},
		{"key of a keyed element changed", edit(`[{"op":"replace","path":"/tickets/T1/lines/A/sku","value":"Z"}]`), []string{"schema schema_violation /tickets/T1/lines/A"}},
		{"keyed list as an array", edit(`[{"op":"replace","path":"/tickets/T1/lines","value":[]}]`), []string{"schema schema_violation 0 /tickets/T1/lines"}},
		{"set with equal elements", edit(`[{"op":"replace","path":"/tickets/T1/labels","value":["a","a"]}]`), []string{"schema schema_violation 0 /tickets/T1/labels"}},
		{"element that a set holds", edit(`[{"op":"add","path":"/tickets/T1/labels/-","value":"urgent"}]`), []string{"schema schema_violation 0 /tickets/T1/labels"}},
		{"log cut", as("admin", `[{"op":"replace","path":"/history","value":[]}]`), []string{"schema schema_violation 0 /history"}},
		{"log changed", as("admin", `[{"op":"replace","path":"/history","value":["closed","opened"]}]`), []string{"schema schema_violation 0 /history"}},
		{"key of nothing", as("admin", `[{"op":"replace","path":"/tickets/T1/customer","value":"C9"}]`), []string{"schema schema_violation 0 /tickets/T1/customer"}},
		{"referred member removed", as("admin", `[{"op":"remove","path":"/customers/C1"}]`), []string{"schema schema_violation /tickets/T1/customer"}},
		{"referred container emptied", as("admin", `[{"op":"replace","path":"/customers","value":{}}]`), []string{"schema schema_violation /tickets/T1/customer", "schema schema_violation /tickets/T2/customer"}},
		{"not produced", verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": "T1"}, Patch: []byte(`[]`)}, []string{"schema produce_violation"}},
		{"log entry not produced", as("log", `[]`), []string{"schema produce_violation"}},

		{"ensure", edit(`[{"op":"replace","path":"/tickets/T1/labels","value":["a","b","c","d"]}]`), []string{"invariant ensure_violation"}},
		{"invariant of an entry", edit(`[{"op":"replace","path":"/tickets/T1/status","value":"solved"}]`), []string{"invariant invariant_violation /tickets/T1"}},
		{"invariant over a measure", as("admin", `[{"op":"replace","path":"/refunds/R1/amount","value":100.5}]`), []string{"invariant invariant_violation"}},
		{"unique", as("admin", `[{"op":"replace","path":"/customers/C2/email","value":"canary-ada"}]`), []string{"invariant invariant_violation /customers/C2/email"}},
		{"invariant that cannot be evaluated", as("admin", `[{"op":"replace","path":"/notes","value":7}]`), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := openDesk(t)
			if test.violations == nil {
				r.commits(test.proposal) // phase is not "closed", so that the broken part is never reached
				return
			}
			out := r.refuses(test.proposal, test.violations...)
			for _, v := range append(out.Verdict.Violations, out.Actor().Violations...) {
				require.NotContains(t, v.Message+v.Hint+v.Rule, "canary")
			}
		})
	}
}

func TestAnExpressionThatCannotBeEvaluatedCountsAsViolated(t *testing.T) {
	r := openDesk(t)
	r.commits(as("admin", `[{"op":"replace","path":"/notes","value":7},{"op":"replace","path":"/tickets/T1/status","value":"waiting"}]`))
	r.commits(as("hand_in", `[]`))
	r.refuses(as("finish", `{"patch":[],"next":"closed"}`), "invariant evaluation_error")
}

func TestTheGuardOfAMoveIsJudgedOnTheStateAfterThePatch(t *testing.T) {
	r := openDesk(t)
	r.commits(as("hand_in", `[]`))
	require.Equal(t, "review", r.s.Phase)
	r.refuses(as("finish", `[]`), "phase transition_violation")
	out := r.refuses(as("finish", `{"patch":[],"next":"closed"}`), "invariant invariant_violation", "invariant transition_violation")
	require.Equal(t, []string{"invariant transition_violation"}, short(out.Actor().Violations))
}

func TestAGuardLooksAtWhatThePatchWrites(t *testing.T) {
	b := desk(t)
	b.stage(ir.Stage{Name: "close", In: []string{"review"}, Read: of("/:tickets"), Write: of("/:tickets"), Next: []string{"closed"}})
	r := open(t, b.load(), strings.Replace(deskState, `"notes": {"list": [1, 2, 3], "deep": {"0": "zero"}}`, `"notes": {}`, 1))
	r.commits(as("hand_in", `[]`))
	r.refuses(as("close", `[]`), "invariant transition_violation")
	open, waiting := `[{"op":"replace","path":"/tickets/T2/status","value":"open"}]`, `[{"op":"replace","path":"/tickets/T1/status","value":"waiting"}]`
	both := `[{"op":"replace","path":"/tickets/T1/status","value":"waiting"},{"op":"replace","path":"/tickets/T2/status","value":"open"}]`
	r.refuses(as("close", open), "invariant transition_violation")
	r.refuses(as("close", both), "invariant transition_violation")
	require.Equal(t, "closed", r.commits(as("close", waiting)).Verdict.PhaseAfter)
}

func TestAStageMovesOnlyAlongAnArrowFromThePhaseItRunsIn(t *testing.T) {
	b := desk(t)
	b.stage(ir.Stage{Name: "jump", In: []string{"triage"}, Next: []string{"closed"}})
	b.stage(ir.Stage{Name: "either", In: []string{"triage", "review"}, Next: []string{"review", "triage"}})
	r := open(t, b.load(), deskState)
	r.refuses(as("jump", `[]`), "phase transition_violation")
	r.refuses(as("either", `{"patch":[],"next":"triage"}`), "phase transition_violation")
	r.commits(as("either", `{"patch":[],"next":"review"}`))
	r.refuses(as("either", `{"patch":[],"next":"review"}`), "phase transition_violation")
	r.refuses(as("jump", `[]`), "phase phase_violation")
	r.commits(as("either", `{"patch":[],"next":"triage"}`))
}

func TestAConstraintOnTheStateAsAWholeIsAskedOfEveryWrite(t *testing.T) {
	b := newBuilder(t)
	integer := b.kind(ir.IntType)
	pair := b.where(b.record("Pair", "lo", integer, "hi", integer), "self.lo <= self.hi")
	b.c.State = b.record("State", "sum", integer, "pair", pair, "free", integer)
	b.where(b.c.State, "self.pair.lo + self.pair.hi == self.sum")
	b.stage(ir.Stage{Name: "s", Read: of("/**"), Write: of("/:sum", "/:pair", "/:free")})
	r := open(t, b.load(), `{"sum":3,"pair":{"lo":1,"hi":2},"free":0}`)
	r.refuses(as("s", `[{"op":"replace","path":"/sum","value":4}]`), `schema schema_violation ""`)
	r.refuses(as("s", `[{"op":"replace","path":"/pair/lo","value":0}]`), `schema schema_violation ""`)
	r.refuses(as("s", `[{"op":"replace","path":"/pair/lo","value":9},{"op":"replace","path":"/sum","value":11}]`), "schema schema_violation /pair")
	r.refuses(as("s", `[{"op":"replace","path":"/pair","value":{"lo":2,"hi":2}}]`), `schema schema_violation ""`)
	r.commits(as("s", `[{"op":"replace","path":"/pair/lo","value":0},{"op":"replace","path":"/sum","value":2}]`))
	r.commits(as("s", `[{"op":"replace","path":"/free","value":9}]`))
}

func TestTheHostWalksOnlyArrowsMarkedForIt(t *testing.T) {
	ctx := context.Background()
	r := openDesk(t)
	for to, code := range map[string]string{"review": "phase transition_violation", "closed": "phase transition_violation", "nowhere": "phase transition_violation"} {
		out, err := r.p.Advance(ctx, r.s, verify.Move{To: to})
		require.NoError(t, err)
		require.Equal(t, []string{code}, short(out.Verdict.Violations), to)
	}
	r.commits(as("hand_in", `[]`))
	out, err := r.p.Advance(ctx, r.s, verify.Move{To: "triage"})
	require.NoError(t, err)
	require.Equal(t, verify.Commit, out.Verdict.Verdict)
	require.Equal(t, verify.Snapshot{State: r.s.State, Phase: "triage", Version: r.s.Version + 1}, out.After)
}

func TestWhatIsBrokenIsAnErrorAndNoVerdict(t *testing.T) {
	r := openDesk(t)
	_, err := r.p.Verify(context.Background(), r.s, as("edti", `[]`))
	var stage *verify.UnknownStageError
	require.ErrorAs(t, err, &stage)
	require.Equal(t, "edit", stage.Nearest)

	pr := edit(`[]`)
	pr.Args["tickt"] = "T1"
	_, err = r.p.Verify(context.Background(), r.s, pr)
	var argument *verify.UnknownArgumentError
	require.ErrorAs(t, err, &argument)
	require.Equal(t, "ticket", argument.Nearest)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = r.p.Verify(ctx, r.s, edit(`[]`))
	require.ErrorIs(t, err, context.Canceled)
}

func TestLimitsRefusePatchesAndResults(t *testing.T) {
	b := desk(t)
	limits := verify.DefaultLimits()
	limits.Patch.MaxOps = 2
	limits.Patch.MaxBytes = 400
	limits.State.MaxNodes = 60
	p, err := verify.Load(b.c, limits)
	require.NoError(t, err)
	r := open(t, p, deskState)
	op := `{"op":"add","path":"/history/-","value":"x"}`
	r.refuses(edit("["+op+","+op+","+op+"]"), "limit limit_exceeded")
	r.refuses(edit(`[{"op":"add","path":"/history/-","value":"`+strings.Repeat("x", 400)+`"}]`), "limit limit_exceeded")
	many := `[` + strings.Repeat("1,", 70) + `1]`
	r.refuses(as("admin", `[{"op":"test","path":"/budget","value":100},{"op":"replace","path":"/notes","value":`+many+`}]`), "limit limit_exceeded 1 /notes")
}

func TestTheFirstStepThatFailsEndsTheVerification(t *testing.T) {
	r := openDesk(t)
	// Every later step would find something too.
	bad := `[{"op":"replace","path":"/budget","value":1},{"op":"replace","path":"/tickets/T1/status","value":"none"}]`
	stale := func(verify.Reading) []verify.Violation {
		return []verify.Violation{{Code: verify.Stale, Message: "made on another version"}}
	}
	wrong := verify.Proposal{Stage: "answer", Args: map[string]string{"ticket": "T2"}, Stale: stale, Patch: []byte(bad)}

	broken := wrong
	broken.Patch, broken.Args = []byte(`[{"op":"nop"}]`), nil
	r.refuses(broken, "format patch_syntax 0", "format patch_syntax 0")

	unbound := wrong
	unbound.Args = nil
	r.refuses(unbound, "phase argument_violation")

	r.refuses(wrong, "stale stale")

	current := wrong
	current.Stale = func(verify.Reading) []verify.Violation { return nil }
	r.refuses(current, "invariant require_violation /tickets/T2/status")

	open := current
	open.Args = map[string]string{"ticket": "T1"}
	r.refuses(open, "scope patch_write_scope_violation 0 /budget", "scope patch_write_scope_violation 1 /tickets/T1/status")

	misfit := edit(`[{"op":"replace","path":"/tickets/T1/status","value":"none"},{"op":"replace","path":"/tickets/T1/labels","value":["a","b","c","d"]}]`)
	r.refuses(misfit, "schema schema_violation 0 /tickets/T1/status", "invariant ensure_violation")
}

func TestOneReplyTellsOfAllThatCanBeToldAndNamesTheGatesThatWereNotReached(t *testing.T) {
	r := openDesk(t)
	for patch, want := range map[string][]string{
		`[{"op":"replace","path":"/budget","value":1},{"op":"replace","path":"/tickets/T1/status","value":"none"}]`: {
			"scope patch_write_scope_violation 0 /budget", "schema schema_violation 1 /tickets/T1/status",
		},
		`[{"op":"replace","path":"/nowhere/at/all","value":1},{"op":"replace","path":"/budget","value":1}]`: {
			"scope patch_write_scope_violation 0 /nowhere/at/all", "scope patch_write_scope_violation 1 /budget",
		},
		// Whether the first value stays is for the second operation to say.
		`[{"op":"replace","path":"/budget","value":1},{"op":"replace","path":"/tickets/T1/labels","value":7},{"op":"replace","path":"/tickets/T1/labels","value":["a"]}]`: {
			"scope patch_write_scope_violation 0 /budget",
		},
	} {
		out := r.try(edit(patch))
		told := out.Actor()
		require.Equal(t, []verify.Gate{verify.GateSchema, verify.GateInvariant}, told.NotChecked, patch)
		require.Equal(t, out.Verdict.NotChecked, told.NotChecked)
		r.refuses(edit(patch), want...)
		r.tells(edit(patch), want...)
	}
	misfit := r.try(edit(`[{"op":"replace","path":"/tickets/T1/status","value":"none"},{"op":"replace","path":"/tickets/T1/labels","value":["a","b","c","d"]}]`))
	require.Equal(t, []verify.Gate{verify.GateInvariant}, misfit.Verdict.NotChecked)
	require.Empty(t, r.try(edit(`[{"op":"replace","path":"/tickets/T1/labels","value":["a","b","c","d"]}]`)).Verdict.NotChecked)
	require.Equal(t, []verify.Gate{verify.GateScope, verify.GateSchema, verify.GateInvariant}, r.try(edit(`[`)).Actor().NotChecked)
}

func TestAStepCollectsAllItsViolationsInOperationOrder(t *testing.T) {
	r := openDesk(t)
	r.refuses(verify.Proposal{Stage: "edit", Role: "human", Args: map[string]string{"ticket": "T9"}, Patch: []byte(`{"patch":[],"next":"review"}`)},
		"phase unauthorised", "phase argument_violation", "phase transition_violation")
	r.refuses(edit(`[{"op":"replace","path":"/tickets/T1/status","value":"x"},{"op":"add","path":"/tickets/T1/reply","value":1},{"op":"replace","path":"/tickets/T1/labels","value":7}]`),
		"schema schema_violation 0 /tickets/T1/status", "schema schema_violation 1 /tickets/T1/reply", "schema schema_violation 2 /tickets/T1/labels")
	r.refuses(edit(`[{"op":"replace","path":"/tickets/T1/status","value":"solved"},{"op":"replace","path":"/tickets/T1/labels","value":["a","b","c","d"]}]`),
		"invariant ensure_violation", "invariant invariant_violation /tickets/T1")
}

func TestScopeIsJudgedForTypedPathsBeforeAnyOperationRuns(t *testing.T) {
	r := openDesk(t)
	r.refuses(edit(`[{"op":"test","path":"/tickets/T1/status","value":"solved"},{"op":"replace","path":"/budget","value":1}]`),
		"scope patch_write_scope_violation 1 /budget")
}

func TestUntypedPathsAreJudgedOnTheRunningState(t *testing.T) {
	b := newBuilder(t)
	b.c.State = b.kind(ir.AnyType)
	b.stage(ir.Stage{Name: "s", Read: of("/a", "/b"), Write: of("/a/[*]", "/b")})
	r := open(t, b.load(), `{"a":[1,2],"b":{},"c":0}`)
	r.commits(as("s", `[{"op":"replace","path":"/a/0","value":9}]`))
	r.refuses(as("s", `[{"op":"remove","path":"/a/0"}]`), "scope patch_write_scope_violation 0 /a/0")
	r.refuses(as("s", `[{"op":"replace","path":"/b/x","value":1},{"op":"replace","path":"/c","value":1},{"op":"add","path":"/b/y","value":1}]`),
		"scope path_missing 0 /b/x", "scope patch_write_scope_violation 1 /c")

	asObject := open(t, r.p, `{"a":{"0":1},"b":{}}`)
	asObject.refuses(as("s", `[{"op":"replace","path":"/a/0","value":9}]`), "scope patch_write_scope_violation 0 /a/0")
	asObject.refuses(as("s", `[{"op":"replace","path":"/a/9","value":9}]`), "scope patch_write_scope_violation 0 /a/9")
}

func TestAnEqualStateIsANoopAndAMoveOfThePhaseIsNot(t *testing.T) {
	r := openDesk(t)
	for _, patch := range []string{
		`[]`,
		`[{"op":"replace","path":"/tickets/T1/status","value":"open"}]`,
		`[{"op":"replace","path":"/tickets/T1/labels","value":["urgent"]}]`,
		`[{"op":"add","path":"/tickets/T1/reply","value":"x"},{"op":"remove","path":"/tickets/T1/reply"}]`,
	} {
		out := r.try(edit(patch))
		require.Equal(t, verify.Noop, out.Verdict.Verdict, patch)
		require.Equal(t, uint64(5), out.Verdict.VersionAfter)
		require.Equal(t, r.s, out.After)
	}
	out := r.commits(as("hand_in", `[]`))
	require.Equal(t, "review", out.Verdict.PhaseAfter)
	require.Equal(t, out.Verdict.StateBefore, out.Verdict.StateAfter)
}

func TestCommitsChangeWhatThePatchSays(t *testing.T) {
	r := openDesk(t)
	r.commits(edit(`[
		{"op":"test","path":"/tickets/T1/labels","value":["urgent"]},
		{"op":"copy","from":"/tickets/T1/subject","path":"/tickets/T1/reply"},
		{"op":"replace","path":"/tickets/T1/status","value":"solved"},
		{"op":"add","path":"/tickets/T1/labels/-","value":"done"},
		{"op":"add","path":"/tickets/T1/steps/0","value":"first"},
		{"op":"add","path":"/tickets/T1/lines/C","value":{"sku":"C","count":1}},
		{"op":"remove","path":"/tickets/T1/lines/A"},
		{"op":"add","path":"/history/-","value":"answered"}]`))
	require.JSONEq(t, `{"subject":"Kettle","status":"solved","customer":"C1","labels":["done","urgent"],"steps":["first","ask","wait"],
		"lines":[{"sku":"B","count":3},{"sku":"C","count":1}],"reply":"Kettle","internal":"canary-internal"}`,
		member(t, r, "tickets", "T1"))
	require.JSONEq(t, `["opened","answered"]`, member(t, r, "history"))
	out := r.commits(verify.Proposal{Stage: "refund", Args: map[string]string{"id": "R2"},
		Patch: []byte(`[{"op":"add","path":"/refunds/R2","value":{"ticket":"T1","amount":1}},{"op":"replace","path":"/refunds/R2/amount","value":40}]`)})
	require.Len(t, out.Effects, 2)
	require.Nil(t, out.Effects[0].Replaced)
	require.Equal(t, "1", out.Effects[1].Replaced.String(), "what stood there between the operations")
	r.commits(verify.Proposal{Stage: "contact", Args: map[string]string{"ticket": "T2"},
		Patch: []byte(`[{"op":"replace","path":"/customers/C2/name","value":"G. Hopper"}]`)})
	r.commits(as("vote", `[{"op":"add","path":"/votes/V2","value":3}]`))
	r.commits(as("log", `[{"op":"add","path":"/history/-","value":"more"}]`))
}

// Each reserved key is one that would bind otherwise, so that nothing else refuses it.
func TestAReservedKeyDoesNotBindThoughNothingElseIsWrongWithIt(t *testing.T) {
	b := newBuilder(t)
	integer, str := b.kind(ir.IntType), b.kind(ir.StringType)
	b.c.State = b.record("State", "m", b.of(ir.MapType, integer), "which", str)
	for _, p := range []ir.Param{
		{Name: "p", Kind: ir.ExistingParam, Of: region.MustParse("/:m"), Reserved: []string{"other", "index"}},
		{Name: "p", Kind: ir.NewParam, Of: region.MustParse("/:m"), Reserved: []string{"fresh"}},
		{Name: "p", Kind: ir.DependentParam, Of: region.MustParse("/:which"), Reserved: []string{"index"}},
	} {
		b.stage(ir.Stage{Name: string(p.Kind), Params: []ir.Param{p}, Read: of(""), Write: of("/m/{p}")})
	}
	p := b.load()
	reserved := func(r *run, stage, key string) {
		pr := verify.Proposal{Stage: stage, Patch: []byte(`[]`)}
		if key != "" {
			pr.Args = map[string]string{"p": key}
		}
		out := r.refuses(pr, "phase argument_violation")
		require.Contains(t, out.Verdict.Violations[0].Message, "names literally")
	}
	r := open(t, p, `{"m":{"index":1,"x":2},"which":"x"}`)
	reserved(r, string(ir.ExistingParam), "index")
	reserved(r, string(ir.NewParam), "fresh")
	for stage, key := range map[string]string{string(ir.ExistingParam): "x", string(ir.NewParam): "new"} {
		out := r.try(verify.Proposal{Stage: stage, Args: map[string]string{"p": key}, Patch: []byte(`[]`)})
		require.Equal(t, verify.Noop, out.Verdict.Verdict)
	}
	require.Equal(t, verify.Noop, r.try(verify.Proposal{Stage: string(ir.DependentParam), Patch: []byte(`[]`)}).Verdict.Verdict)
	reserved(open(t, p, `{"m":{"index":1},"which":"index"}`), string(ir.DependentParam), "")
}

func TestAStageMovesToAPhaseOfItsOwnOnlyAndNoKeyIsEmpty(t *testing.T) {
	b := newBuilder(t)
	b.c.State = b.record("State", "m", b.of(ir.MapType, b.kind(ir.IntType)))
	b.c.Phases = []ir.Phase{{Name: "one", Arrows: []ir.Arrow{{To: "two"}, {To: "three"}}}, {Name: "two"}, {Name: "three"}}
	b.stage(ir.Stage{Name: "go", In: []string{"one"}, Next: []string{"two"}})
	b.stage(ir.Stage{Name: "put", In: []string{"one"}, Params: []ir.Param{{Name: "k", Kind: ir.NewParam, Of: region.MustParse("/:m")}}})
	r := open(t, b.load(), `{"m":{}}`)
	r.s.Phase = "one"
	for _, p := range []verify.Proposal{
		{Stage: "go", Next: "three", Patch: []byte(`[]`)},
		{Stage: "go", Patch: []byte(`{"patch":[],"next":"three"}`)},
		{Stage: "put", Args: map[string]string{"k": ""}, Patch: []byte(`[]`)},
	} {
		out := r.try(p)
		require.Equal(t, verify.Reject, out.Verdict.Verdict, "%+v", p)
		require.Equal(t, verify.GatePhase, out.Verdict.Violations[0].Gate)
	}
}
