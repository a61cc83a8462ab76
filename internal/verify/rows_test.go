package verify_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The rows of the collection of reported failures that concern one proposal or one
// view, each on the same small state.

const rowState = `{"ticket":{"id":"T-7","status":"open","tags":["a","b","c"]},"internal":{"margin":0.31},
	"draft":{"text":null,"refs":[],"user/name":"u","tags":["a","b","c"]},"files":{}}`

func rows(t testing.TB) *run {
	b := newBuilder(t)
	b.c.State = b.kind(ir.AnyType)
	b.c.Phases = []ir.Phase{{Name: "open"}}
	b.stage(ir.Stage{Name: "draft", Read: of("/ticket", "/draft"), Write: of("/draft"), Source: of("/ticket", "/draft")})
	b.stage(ir.Stage{Name: "blank"})
	b.stage(ir.Stage{Name: "all", Read: of("/**"), Write: of("/**"), Source: of("/**")})
	return open(t, b.load(), rowState)
}

func draft(patch string) verify.Proposal { return as("draft", patch) }

func (r *run) view(stage string) verify.View {
	r.t.Helper()
	v, refused, err := r.p.View(context.Background(), r.s, verify.ViewRequest{Stage: stage})
	require.NoError(r.t, err)
	require.Nil(r.t, refused)
	return v
}

func TestRow2B19AStageWithoutReadSeesAnEmptyObject(t *testing.T) {
	require.Equal(t, `{}`, rows(t).view("blank").Value.String())
}

func TestRow2B20NoHiddenStringIsPartOfTheRenderedView(t *testing.T) {
	v, _, err := openDesk(t).p.View(context.Background(), openDesk(t).s, verify.ViewRequest{Stage: "edit", Role: "bot", Args: map[string]string{"ticket": "T1"}})
	require.NoError(t, err)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	for _, hidden := range []string{"canary", "Ada", "Grace", "Parcel", "C1", "T2", "R1"} {
		require.NotContains(t, string(text), hidden)
	}
	require.Contains(t, string(text), "Kettle")
}

func TestRow2B24HiddenKeysAreLeftOut(t *testing.T) {
	require.Nil(t, rows(t).view("draft").Value.Get("internal"))
	require.Equal(t, []string{"draft", "ticket"}, names(rows(t).view("draft").Value))
}

func names(n *tree.Node) []string {
	var out []string
	for name := range n.Members() {
		out = append(out, name)
	}
	return out
}

func TestRow2C28ReplaceOfAnAbsentMemberSaysUseAdd(t *testing.T) {
	out := rows(t).refuses(draft(`[{"op":"replace","path":"/draft/title","value":"x"}]`), "scope path_missing 0 /draft/title")
	require.Contains(t, out.Verdict.Violations[0].Hint, "use add")
}

func TestRow2C29NamesAreAddressedEscapedOnly(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"replace","path":"/draft/user/name","value":"x"}]`), "scope path_missing 0 /draft/user/name")
	for name, path := range map[string]string{"a/b": "/draft/a~1b", "m~n": "/draft/m~0n", "~1": "/draft/~01", "": "/draft/"} {
		r.commits(draft(`[{"op":"add","path":"` + path + `","value":"v"}]`))
		require.Equal(t, "v", r.s.State.Get("draft").Get(name).Text())
	}
}

func TestRow2C31ReplaceNeverCreates(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"replace","path":"/draft/new","value":1}]`), "scope path_missing 0 /draft/new")
}

func TestRow2C32OddIndicesAreRefused(t *testing.T) {
	r := rows(t)
	for _, index := range []string{"-1", "01", "1e0", "+1"} {
		r.refuses(draft(`[{"op":"replace","path":"/draft/tags/`+index+`","value":"x"}]`), "format pointer_syntax 0 /draft/tags/"+index)
	}
	null := open(t, r.p, `null`)
	null.refuses(as("all", `[{"op":"add","path":"/a","value":1}]`), "scope type_mismatch 0 /a")
}

func TestRow2C34AnAppendToAnAbsentArrayCreatesNone(t *testing.T) {
	out := rows(t).refuses(draft(`[{"op":"add","path":"/draft/x/-","value":1}]`), "scope path_missing 0 /draft/x/-")
	require.Contains(t, out.Verdict.Violations[0].Hint, "add an array first")
}

func TestRow2C35TheRootIsNeverRemoved(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"remove","path":""}]`), `format patch_syntax 0 ""`)
	r.refuses(as("all", `[{"op":"remove","path":""}]`), `format patch_syntax 0 ""`)
}

func TestRow2C36RemovalsInAscendingOrderHitShiftedIndices(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"remove","path":"/draft/tags/1"},{"op":"remove","path":"/draft/tags/2"}]`),
		"scope index_out_of_range 1 /draft/tags/2")
	require.JSONEq(t, `["a","b","c"]`, member(t, r, "draft", "tags"))
}

func TestRow2C39AllScopeViolationsAreReportedWithTheirOperation(t *testing.T) {
	b := desk(t)
	r := open(t, b.load(), deskState)
	r.refuses(edit(`[
		{"op":"add","path":"/tickets/T1/reply","value":"x"},
		{"op":"replace","path":"/budget","value":1},
		{"op":"test","path":"/refunds/R1/amount","value":1},
		{"op":"move","from":"/tickets/T1/internal","path":"/window"},
		{"op":"replace","path":"/budget","value":2}]`),
		"scope patch_write_scope_violation 1 /budget",
		"scope patch_read_scope_violation 2 /refunds/R1/amount",
		"scope patch_read_scope_violation 3 /tickets/T1/internal",
		"scope patch_write_scope_violation 3 /tickets/T1/internal",
		"scope patch_write_scope_violation 3 /window",
		"scope patch_write_scope_violation 4 /budget")
}

func TestRow2C41AStringIsNoPatchAndNoObject(t *testing.T) {
	out := rows(t).refuses(draft(`"[{\"op\":\"add\",\"path\":\"/draft/x\",\"value\":1}]"`), "format patch_syntax")
	require.Contains(t, out.Verdict.Violations[0].Hint, "send the array itself")
	openDesk(t).refuses(as("admin", `[{"op":"replace","path":"/window","value":"{\"from\":1,\"to\":2}"}]`), "schema schema_violation 0 /window")
}

func TestRow2C46AMissingValueIsNotNull(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"add","path":"/draft/text"}]`), "format patch_syntax 0 /draft/text")
	r.commits(draft(`[{"op":"add","path":"/draft/refs","value":null}]`))
}

func TestRow2G1TestOfAHiddenPathIsNotEvaluated(t *testing.T) {
	r := rows(t)
	var first []verify.Violation
	for _, guess := range []string{
		`{"op":"test","path":"/internal/margin","value":0.31}`,
		`{"op":"test","path":"/internal/margin","value":0.32}`,
	} {
		out := r.refuses(draft("["+guess+"]"), "scope patch_read_scope_violation 0 /internal/margin")
		if first == nil {
			first = out.Verdict.Violations
		}
		require.Equal(t, first, out.Verdict.Violations)
		require.Equal(t, first, out.Actor().Violations)
	}
	absent := r.refuses(draft(`[{"op":"test","path":"/internal/absent","value":1}]`), "scope patch_read_scope_violation 0 /internal/absent")
	require.Equal(t, first[0].Message, absent.Verdict.Violations[0].Message)
}

func TestRow2G2AnAncestorOfWhatIsHiddenIsNoSource(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"copy","from":"","path":"/draft/text"}]`), `scope patch_read_scope_violation 0 ""`)
	for _, op := range []string{`"copy","from":"/tickets/T1","path":"/tickets/T1/reply"`, `"test","path":"/tickets/T1","value":{}`, `"test","path":"/tickets/T1","value":null`} {
		openDesk(t).refuses(edit(`[{"op":`+op+`}]`), "scope patch_read_scope_violation 0 /tickets/T1")
	}
}

func TestRow2G3AnAncestorOfWhatIsHiddenIsNotWritten(t *testing.T) {
	r := rows(t)
	r.refuses(draft(`[{"op":"remove","path":"/ticket"}]`), "scope patch_write_scope_violation 0 /ticket")
	r.refuses(draft(`[{"op":"replace","path":"","value":{}}]`), `scope patch_write_scope_violation 0 ""`)
}

func TestRow2G4AMoveWritesItsSource(t *testing.T) {
	rows(t).refuses(draft(`[{"op":"move","from":"/ticket/status","path":"/draft/text"}]`), "scope patch_write_scope_violation 0 /ticket/status")
}

func TestRow2G6ScopeIsJudgedBeforeExistence(t *testing.T) {
	r := rows(t)
	var messages []string
	for _, path := range []string{"/internal/margin", "/internal/absent", "/absent/at/all", "/internal/margin/below"} {
		out := r.refuses(draft(`[{"op":"remove","path":"`+path+`"}]`), "scope patch_write_scope_violation 0 "+path)
		messages = append(messages, out.Verdict.Violations[0].Message+out.Verdict.Violations[0].Hint)
	}
	for _, m := range messages {
		require.Equal(t, messages[0], m)
	}
}

func TestRow2G9AFailingInvariantIsReportedByItsNameAndFixedText(t *testing.T) {
	r := openDesk(t)
	out := r.refuses(refundOf("refund", "T1", "12345"), "invariant invariant_violation")
	require.Equal(t, "invariant within_budget", out.Verdict.Violations[0].Rule)
	require.Equal(t, "refunds stay within the budget", out.Verdict.Violations[0].Message)
}

func TestRow2G10OddNumbersAndNamesHaveOneBehaviour(t *testing.T) {
	r := rows(t)
	for _, bad := range []string{
		`[{"op":"add","path":"/draft/x","value":{"a":1,"a":2}}]`,
		`[{"op":"add","path":"/draft/x","value":NaN}]`,
		`[{"op":"add","path":"/draft/x","value":"\ud800"}]`,
	} {
		require.Equal(t, verify.Reject, r.try(draft(bad)).Verdict.Verdict, bad)
	}
	r.commits(draft(`[{"op":"add","path":"/draft/big","value":9007199254740993},{"op":"add","path":"/draft/huge","value":1e400}]`))
	require.Equal(t, `9007199254740993`, member(t, r, "draft", "big"))
	r.refuses(draft(`[{"op":"test","path":"/draft/big","value":9007199254740992}]`), "scope test_failed 0 /draft/big")
	require.Equal(t, verify.Noop, r.try(draft(`[{"op":"test","path":"/draft/huge","value":10e399}]`)).Verdict.Verdict)
}
