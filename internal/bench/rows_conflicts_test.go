package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// checked compiles a contract as `poptic check` does.
func checked(text string) compiler.Output {
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic", Replay: replay.New(replay.Options{})})
	return out
}

// errorsOf are the messages and help texts of a contract's errors.
func errorsOf(text string) []string {
	var out []string
	for _, d := range checked(text).Diagnostics {
		if d.Severity == source.Error {
			out = append(out, d.Message+" "+d.Help)
		}
	}
	return out
}

// loadedOf is a contract without errors, ready to run.
func loadedOf(t *testing.T, text string) *runtime.Contract {
	t.Helper()
	out := checked(text)
	require.NotNil(t, out.Contract, "%+v", out.Diagnostics)
	c, err := runtime.Load(ir.Encode(out.Contract))
	require.NoError(t, err)
	return c
}

func instanceOf(t *testing.T, text, state string) *runtime.Instance {
	t.Helper()
	in, err := runtime.Create(context.Background(), loadedOf(t, text), store.NewMemory(), "run", []byte(state))
	require.NoError(t, err)
	return in
}

// deskRun is the desk at version 5.
func deskRun(t *testing.T) *runtime.Instance {
	t.Helper()
	in := instanceOf(t, desk, `{"ticket":{"id":"T-7","status":"open"},"internal":{"margin":0.31},"draft":{"text":null,"refs":[]},"files":{},"memory":{"plan":"a"}}`)
	for i := range 5 {
		require.Equal(t, "commit", proposeOn(t, in, in.Version(), "price", nil, fmt.Sprintf(`[{"op":"replace","path":"/internal/margin","value":%d}]`, i)))
	}
	require.Equal(t, uint64(5), in.Version())
	return in
}

const desk = `contract desk
state {
  ticket:   { id: string  status: string }
  internal: { margin: number }
  draft:    { text: string | null  refs: list of string }
  files:    map of string
  memory:   map of string
}
stage price { read /internal  write /internal }
stage text  { read /ticket, /draft/text  write /draft/text }
stage refs  { read /draft/refs  write /draft/refs }
stage save(file new in /files) { read /ticket/id  write /files/{file} }
stage recall(key in /memory)   { read /memory/{key}  write /memory/{key} }
parallel tools = text | refs | save
`

// proposeOn proposes on a version, and says what became of it: the verdict, and of
// a rejection its codes and paths.
func proposeOn(t *testing.T, in *runtime.Instance, base uint64, stage string, args map[string]string, patch string) string {
	v, err := in.Propose(context.Background(), runtime.Proposal{Stage: stage, Args: args, Base: base, Patch: []byte(patch)})
	if err != nil {
		t.Error(err)
	}
	text := string(v.Verdict)
	for _, found := range v.Violations {
		text += " " + string(found.Code)
		if found.Path != nil {
			text += " " + *found.Path
		}
	}
	return text
}

func setText(value string) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/draft/text","value":%q}]`, value)
}

func exported(t *testing.T, in *runtime.Instance) string {
	t.Helper()
	state, err := in.State(context.Background())
	require.NoError(t, err)
	return string(state)
}

func TestRow2A1WhatIsSeenAlikeDoesNotCollide(t *testing.T) {
	in := deskRun(t)
	require.Equal(t, "commit", proposeOn(t, in, 5, "text", nil, `[{"op":"test","path":"/ticket/id","value":"T-7"},{"op":"replace","path":"/draft/text","value":"Hello"}]`))
	require.Equal(t, "commit", proposeOn(t, in, 5, "save", map[string]string{"file": "x"}, `[{"op":"test","path":"/ticket/id","value":"T-7"},{"op":"add","path":"/files/x","value":"1"}]`))
	require.Equal(t, uint64(7), in.Version())
}

func TestRow2A2TwoFilesSavedInOneStepAreTwoPlaces(t *testing.T) {
	in := deskRun(t)
	for _, file := range []string{"/a.txt", "/b.txt"} {
		path := "/files/" + strings.ReplaceAll(file, "/", "~1")
		require.Equal(t, "commit", proposeOn(t, in, 5, "save", map[string]string{"file": file}, `[{"op":"add","path":"`+path+`","value":"text"}]`))
	}
	require.Contains(t, exported(t, in), `"files":{"/a.txt":"text","/b.txt":"text"}`)
}

func TestRow2A3CopiesOfOneStageThatWriteOneKeyAreFoundBeforeTheRun(t *testing.T) {
	const copies = `contract copies
state { task: string  response: string | null }
stage work { read /task, /response  write /response }
prove work commutes with work
`
	found := errorsOf(copies)
	require.Len(t, found, 1)
	require.Contains(t, found[0], "work does not commute with work")
	require.Contains(t, found[0], "both write /response")
	require.Empty(t, errorsOf(strings.NewReplacer("response: string | null", "response: map of string", "work {", "work(id new in /response) {",
		"read /task, /response  write /response", "read /task  write /response/{id}", "with work", "with work when id differs").Replace(copies)))
}

func TestRow2A4AllPairsOfAResearchTeamThatConflictAreListed(t *testing.T) {
	const team = `contract team
state { notes: list of string }
stage a { read /notes  write /notes }
stage b { read /notes  write /notes }
stage c { read /notes  write /notes }
stage d { read /notes  write /notes }
prove a commutes with b
prove a commutes with c
prove a commutes with d
prove b commutes with c
prove b commutes with d
prove c commutes with d
`
	found := errorsOf(team)
	require.Len(t, found, 6, "one for each pair")
	for _, text := range found {
		require.Contains(t, text, "both write /notes")
	}
	group := team[:strings.Index(team, "prove")] + "parallel researchers = a | b | c | d\n"
	found = errorsOf(group)
	require.Len(t, found, 1)
	for _, pair := range []string{"a does not commute with b", "a and c", "a and d", "b and c", "b and d", "c and d"} {
		require.Contains(t, found[0], pair)
	}
	matrix := footprint.New(checked(team).Lowered).Matrix()
	for i := range 4 {
		require.Equal(t, []int{0, 1, 2, 3}, matrix.Row(i))
	}
	log := strings.NewReplacer("list of", "log of", "read /notes  write /notes", "write /notes/-").Replace(team)
	require.Empty(t, errorsOf(log), "entries of a log have no order")
}

func TestRow2A6ARetriedStepWritesItsKeyOnce(t *testing.T) {
	in := deskRun(t)
	p := runtime.Proposal{Stage: "text", Base: 5, Key: "step-3", Patch: []byte(setText("once"))}
	first, err := in.Propose(context.Background(), p)
	require.NoError(t, err)
	require.EqualValues(t, "commit", first.Verdict)
	again, err := in.Propose(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, first.OperatorVerdict, again.OperatorVerdict)
	require.Equal(t, uint64(6), in.Version())
}

func TestRow2A7TheSecondOfTwoConcurrentWritesIsToldWhereTheFirstWas(t *testing.T) {
	in := deskRun(t)
	verdicts := make([]string, 2)
	var wait sync.WaitGroup
	for i := range verdicts {
		wait.Go(func() { verdicts[i] = proposeOn(t, in, 5, "text", nil, setText(fmt.Sprint("writer ", i))) })
	}
	wait.Wait()
	require.ElementsMatch(t, []string{"commit", "reject stale /draft/text"}, verdicts)
	require.Equal(t, uint64(6), in.Version())
}

func TestRow2A8DisjointToolCallsAllCommitAndAreAllInTheAudit(t *testing.T) {
	in := deskRun(t)
	verdicts := make([]string, 2)
	var wait sync.WaitGroup
	wait.Go(func() { verdicts[0] = proposeOn(t, in, 5, "text", nil, setText("Hello")) })
	wait.Go(func() {
		verdicts[1] = proposeOn(t, in, 5, "refs", nil, `[{"op":"add","path":"/draft/refs/-","value":"r"}]`)
	})
	wait.Wait()
	require.Equal(t, []string{"commit", "commit"}, verdicts)
	require.Contains(t, exported(t, in), `"draft":{"refs":["r"],"text":"Hello"}`)
	var trace bytes.Buffer
	require.NoError(t, in.Trace(context.Background(), &trace))
	require.Equal(t, 7, strings.Count(trace.String(), `"verdict":{"verdict":"commit"`))
}

func TestRow2A14AnOldSnapshotIsNeverWrittenBack(t *testing.T) {
	in := deskRun(t)
	require.Equal(t, "commit", proposeOn(t, in, 5, "refs", nil, `[{"op":"add","path":"/draft/refs/-","value":"new"}]`))
	require.Equal(t, "reject stale /draft/refs", proposeOn(t, in, 5, "refs", nil, `[{"op":"replace","path":"/draft/refs","value":[]}]`))
	require.Contains(t, exported(t, in), `"refs":["new"]`)
	require.Equal(t, "commit", proposeOn(t, in, 5, "text", nil, setText("late")))
	require.Equal(t, uint64(7), in.Version())
}

func TestRow2A15SharedMemoryIsNotLastWriteWins(t *testing.T) {
	in := deskRun(t)
	plan := map[string]string{"key": "plan"}
	require.Equal(t, "commit", proposeOn(t, in, 5, "recall", plan, `[{"op":"replace","path":"/memory/plan","value":"b"}]`))
	require.Equal(t, "reject stale /memory/plan", proposeOn(t, in, 5, "recall", plan, `[{"op":"replace","path":"/memory/plan","value":"c"}]`))
	require.Contains(t, exported(t, in), `"memory":{"plan":"b"}`)
	require.Equal(t, "commit", proposeOn(t, in, 6, "recall", plan, `[{"op":"replace","path":"/memory/plan","value":"c"}]`))
}

func TestALateProposalIsJudgedByTheRulesOfNow(t *testing.T) {
	in := instanceOf(t, `contract budget
state { a: int  b: int  who: string  people: map of { name: string } }
invariant within { state.a + state.b <= 10 }
stage one { read /a  write /a  discloses within }
stage two { read /b  write /b  discloses within }
stage greet(p = /who) { read /people/{p}  write /people/{p}/name }
stage name { read /who  write /who }
`, `{"a":0,"b":0,"who":"ann","people":{"ann":{"name":"Ann"},"bob":{"name":"Bob"}}}`)
	require.Equal(t, "commit", proposeOn(t, in, 0, "one", nil, `[{"op":"replace","path":"/a","value":6}]`))
	require.Equal(t, "reject invariant_violation", proposeOn(t, in, 0, "two", nil, `[{"op":"replace","path":"/b","value":6}]`))
	require.Equal(t, "commit", proposeOn(t, in, 0, "two", nil, `[{"op":"replace","path":"/b","value":4}]`))
	require.Equal(t, "commit", proposeOn(t, in, 0, "greet", nil, `[{"op":"replace","path":"/people/ann/name","value":"Anna"}]`))
	require.Equal(t, "commit", proposeOn(t, in, 0, "name", nil, `[{"op":"replace","path":"/who","value":"bob"}]`))
	require.Equal(t, "reject stale /who", proposeOn(t, in, 3, "greet", nil, `[{"op":"replace","path":"/people/bob/name","value":"Rob"}]`), "the parameter was another one")
}

const family = `contract family
state { task: string  notes: string  bank: { limit: number  paid: number } }
stage parent { read /task, /notes  write /task, /notes }
stage bare   {}
delegate child from parent { read /notes  write /notes }
stage pay { read /bank  write /bank/paid  ensure { after.bank.paid <= before.bank.limit } }
`

const familyState = `{"task":"t","notes":"n","bank":{"limit":100,"paid":0}}`

func TestRow2E54WithoutAContractThereIsNoViewAndNoCommit(t *testing.T) {
	_, err := runtime.Load(nil)
	require.Error(t, err)
	in := instanceOf(t, family, familyState)
	var unknown *runtime.UnknownStageError
	_, err = in.View(context.Background(), runtime.Request{Stage: "helper"})
	require.ErrorAs(t, err, &unknown)
	_, err = in.Propose(context.Background(), runtime.Proposal{Stage: "helper", Patch: []byte(`[]`)})
	require.ErrorAs(t, err, &unknown)
	view, err := in.View(context.Background(), runtime.Request{Stage: "bare"})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(view.Value), "what is not granted is not there")
	require.Equal(t, "reject patch_write_scope_violation /notes", proposeOn(t, in, 0, "bare", nil, `[{"op":"replace","path":"/notes","value":"x"}]`))
	wider := strings.Replace(family, "child from parent { read /notes  write /notes }", "child from parent { read /**  write /** }", 1)
	require.NotEmpty(t, errorsOf(wider), "a child that could do more than its parent does not compile")
}

func TestRow2E56AReusedChildHasTheAuthorityOfItsOwnStageEachTime(t *testing.T) {
	in := instanceOf(t, family, familyState)
	const patch = `[{"op":"replace","path":"/task","value":"changed"}]`
	for range 2 {
		require.Equal(t, "reject patch_write_scope_violation /task", proposeOn(t, in, in.Version(), "child", nil, patch))
		require.Contains(t, []string{"commit", "noop"}, proposeOn(t, in, in.Version(), "parent", nil, patch))
		view, err := in.View(context.Background(), runtime.Request{Stage: "child"})
		require.NoError(t, err)
		require.JSONEq(t, `{"notes":"n"}`, string(view.Value))
	}
	narrowed := loadedOf(t, strings.Replace(family, "write /task, /notes }\nstage bare", "write /notes }\nstage bare", 1))
	st := store.NewMemory()
	other, err := runtime.Create(context.Background(), narrowed, st, "run", []byte(familyState))
	require.NoError(t, err)
	require.Equal(t, "reject patch_write_scope_violation /task", proposeOn(t, other, 0, "parent", nil, patch), "under another contract")
	require.NotEqual(t, in.Contract().Digest(), other.Contract().Digest())
	var mismatch *runtime.ContractMismatchError
	_, err = runtime.Open(context.Background(), in.Contract(), st, "run")
	require.ErrorAs(t, err, &mismatch, "nor does an instance go on under a contract it did not begin with")
}

func TestRow2E57AllowedPlacesDoNotMakeEveryValueAllowed(t *testing.T) {
	in := instanceOf(t, family, familyState)
	require.Equal(t, "reject "+string(verify.EnsureViolation)+" /bank/paid", proposeOn(t, in, 0, "pay", nil, `[{"op":"replace","path":"/bank/paid","value":100.01}]`))
	require.Equal(t, "reject patch_write_scope_violation /bank/limit", proposeOn(t, in, 0, "pay", nil, `[{"op":"replace","path":"/bank/limit","value":1000}]`))
	require.Equal(t, "commit", proposeOn(t, in, 0, "pay", nil, `[{"op":"replace","path":"/bank/paid","value":100}]`))
}
