package bench_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The tests named after rows are about failures that people who build workflows
// have reported; each shows the verdict a contract gives instead.

// contractOf compiles and loads a contract given as text.
func contractOf(t testing.TB, text string) *verify.Program {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	p, err := verify.Load(out.Contract, verify.DefaultLimits())
	require.NoError(t, err)
	return p
}

func stateOf(t *testing.T, p *verify.Program, text string) verify.Snapshot {
	t.Helper()
	state, err := p.Import([]byte(text))
	require.NoError(t, err)
	require.Empty(t, p.CheckAll(context.Background(), state, p.Contract().Phases[0].Name))
	return verify.Snapshot{State: state, Phase: p.Contract().Phases[0].Name, Version: 5}
}

// viewOf is the bytes a stage's actor is shown.
func viewOf(t *testing.T, p *verify.Program, s verify.Snapshot, stage string) string {
	t.Helper()
	v, refused, err := p.View(context.Background(), s, verify.ViewRequest{Stage: stage})
	require.NoError(t, err)
	require.Nil(t, refused)
	return string(tree.AppendJSON(nil, v.Value))
}

func judge(t *testing.T, p *verify.Program, s verify.Snapshot, stage, patch string) verify.Outcome {
	t.Helper()
	out, err := p.Verify(context.Background(), s, verify.Proposal{Stage: stage, Patch: []byte(patch)})
	require.NoError(t, err)
	return out
}

const handoff = `contract handoff
state {
  ticket:   { id: string  body: string }
  internal: { margin: number }
  draft:    { text: string  note?: string }
}
stage research { read /ticket, /internal, /draft/note  write /draft/note }
stage answer   { read /ticket/body, /draft/text        write /draft/text }
`

const handoffState = `{"ticket":{"id":"T-7","body":"my key is sk-live-0001"},"internal":{"margin":0.31},"draft":{"text":"","note":"margin is thin"}}`

func TestRow2B26ProjectionGoesByPathAndNeverByWhatAValueLooksLike(t *testing.T) {
	p := contractOf(t, handoff)
	view := viewOf(t, p, stateOf(t, p, handoffState), "answer")
	require.Contains(t, view, "sk-live-0001", "a visible value is shown as it is, however it looks")
	require.NotContains(t, view, "thin", "a hidden value is not shown, however harmless it looks")
}

func TestRow2B27AHandoffShowsTheNextStageItsOwnViewAndNothingInherited(t *testing.T) {
	p := contractOf(t, handoff)
	s := stateOf(t, p, handoffState)
	require.Contains(t, viewOf(t, p, s, "research"), "0.31")
	out := judge(t, p, s, "research", `[{"op":"replace","path":"/draft/note","value":"offer no discount"}]`)
	require.EqualValues(t, "commit", out.Verdict.Verdict)
	require.JSONEq(t, `{"ticket":{"body":"my key is sk-live-0001"},"draft":{"text":""}}`, viewOf(t, p, out.After, "answer"))
}

func TestRow2C47ALargeDocumentIsChangedByASmallPatchOnASmallView(t *testing.T) {
	p := contractOf(t, `contract large
state { pages: map of Page  title: string }
type Page { text: string }
stage retitle { read /title  write /title }
`)
	state := `{"title":"Old","pages":{"p":{"text":"` + strings.Repeat("lorem ipsum ", 10_000) + `"}}}`
	s := stateOf(t, p, state)
	require.JSONEq(t, `{"title":"Old"}`, viewOf(t, p, s, "retitle"))
	out := judge(t, p, s, "retitle", `[{"op":"replace","path":"/title","value":"New"}]`)
	require.EqualValues(t, "commit", out.Verdict.Verdict)
	require.Same(t, s.State.Get("pages"), out.After.State.Get("pages"), "what the patch does not touch is shared, not copied")
	require.EqualValues(t, "reject", judge(t, p, s, "retitle", `[{"op":"replace","path":"","value":{"title":"New","pages":{}}}]`).Verdict.Verdict,
		"the document as a whole is not rewritten")
}

const order = `contract order
state { lines: list of Line by sku  total: number }
type Line { sku: string  amount: number }
measure sum_of_lines = sum /lines/*/amount
invariant total_is_the_sum "the total is the sum of the lines" { state.total == sum_of_lines }
stage edit { read /lines, /total  write /lines, /total }
`

func TestRow2C48ElementsGoByKeyAndAnInvariantCatchesTheForgottenSibling(t *testing.T) {
	p := contractOf(t, order)
	s := stateOf(t, p, `{"lines":[{"sku":"b","amount":2},{"sku":"a","amount":1}],"total":3}`)
	require.JSONEq(t, `{"lines":{"a":{"sku":"a","amount":1},"b":{"sku":"b","amount":2}},"total":3}`, viewOf(t, p, s, "edit"))

	forgotten := judge(t, p, s, "edit", `[{"op":"remove","path":"/lines/a"}]`)
	require.EqualValues(t, "reject", forgotten.Verdict.Verdict)
	require.EqualValues(t, "invariant_violation", forgotten.Verdict.Violations[0].Code)
	require.Contains(t, forgotten.Verdict.Violations[0].Rule, "total_is_the_sum")

	both := judge(t, p, s, "edit", `[{"op":"remove","path":"/lines/a"},{"op":"replace","path":"/total","value":2}]`)
	require.EqualValues(t, "commit", both.Verdict.Verdict)
}
