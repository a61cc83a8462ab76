package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

const deskState = `{"ticket":{"id":"T-7","status":"open"},"internal":{"margin":0.31},"draft":{"text":null,"refs":[]},"files":{},"memory":{"plan":"a"}}`

// onDisk opens a store in a file, as a process does that begins.
func onDisk(t *testing.T, name string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(context.Background(), name)
	require.NoError(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

func TestRow2A11ASecondBeginOnOneIDIsAConflict(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.db")
	c := loadedOf(t, desk)
	first, err := runtime.Create(context.Background(), c, onDisk(t, name), "run", []byte(deskState))
	require.NoError(t, err)
	require.Equal(t, "commit", proposeOn(t, first, 0, "text", nil, setText("mine")))
	_, err = runtime.Create(context.Background(), c, onDisk(t, name), "run", []byte(deskState))
	require.ErrorIs(t, err, store.ErrExists)
	require.Contains(t, exported(t, first), "mine")
}

func TestRow2A16OfConcurrentFirstWritesOfSeveralProcessesExactlyOneSucceeds(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.db")
	c := loadedOf(t, desk)
	stores := []*sqlite.Store{onDisk(t, name), onDisk(t, name), onDisk(t, name)}
	errs := make([]error, 12)
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() {
			_, errs[i] = runtime.Create(context.Background(), c, stores[i%len(stores)], "run", []byte(deskState))
		})
	}
	wait.Wait()
	begun := 0
	for _, err := range errs {
		if err == nil {
			begun++
		} else {
			require.ErrorIs(t, err, store.ErrExists)
		}
	}
	require.Equal(t, 1, begun)
}

func TestRow2D51AReplySaysAllThatIsWrongAndWhereAndNamesNothingHidden(t *testing.T) {
	in := deskRun(t)
	v, err := in.Propose(context.Background(), runtime.Proposal{Stage: "text", Base: 5, Patch: []byte(`[
		{"op":"replace","path":"/draft/text","value":"fine"},
		{"op":"replace","path":"/ticket/status","value":"closed"},
		{"op":"add","path":"/memory/plan","value":"b"}]`)})
	require.NoError(t, err)
	reply := v.Actor()
	require.Len(t, reply.Violations, 2)
	for i, want := range []struct {
		op   int
		path string
	}{{1, "/ticket/status"}, {2, "/memory/plan"}} {
		found := reply.Violations[i]
		require.Equal(t, verify.WriteScopeViolation, found.Code)
		require.Equal(t, want.op, *found.OpIndex)
		require.Equal(t, want.path, *found.Path)
		require.Contains(t, found.Rule, "stage text")
		require.Contains(t, found.Message+found.Hint, "/draft/text", "what it may write instead")
	}
	text, err := json.Marshal(reply)
	require.NoError(t, err)
	for _, hidden := range []string{"internal", "margin", "price", "refs", "version"} {
		require.NotContains(t, string(text), hidden)
	}
}

func TestRow2D52ARejectIsAResultAndOnlyWhatIsBrokenIsAnError(t *testing.T) {
	in := deskRun(t)
	for _, patch := range []string{``, `[`, `null`, `{"op":"add"}`, `[{"op":"fly","path":"/draft/text"}]`, `[{"op":"remove","path":""}]`, `[{"op":"remove","path":"/internal/margin"}]`} {
		v, err := in.Propose(context.Background(), runtime.Proposal{Stage: "text", Base: 5, Patch: []byte(patch)})
		require.NoError(t, err)
		require.Equal(t, verify.Reject, v.Verdict)
		require.NotEmpty(t, v.Actor().Violations)
	}
	_, err := in.Propose(context.Background(), runtime.Proposal{Stage: "txet", Base: 5, Patch: []byte(`[]`)})
	var unknown *runtime.UnknownStageError
	require.ErrorAs(t, err, &unknown)
}

// Who approves is a stage of the contract. What is approved is bound by the version
// it was seen on, and a key binds a decision to the bytes it was made for.
func TestRow2F58AnAnswerServesOneRequestAndNoneThatChangedSince(t *testing.T) {
	const approval = `contract approval
state { request: { amount: number }  approved: bool  paid: number }
stage ask     { read /request  write /request }
stage approve { by human  read /request, /approved  write /approved }
`
	in := instanceOf(t, approval, `{"request":{"amount":10},"approved":false,"paid":0}`)
	yes := runtime.Proposal{Stage: "approve", Role: "human", Key: "request 1", Patch: []byte(`[{"op":"replace","path":"/approved","value":true}]`)}
	require.Equal(t, "commit", proposeOn(t, in, 0, "ask", nil, `[{"op":"replace","path":"/request/amount","value":99}]`))
	late, err := in.Propose(context.Background(), yes)
	require.NoError(t, err)
	require.Equal(t, verify.Stale, late.Violations[0].Code)
	require.Contains(t, exported(t, in), `"approved":false`)
	other := yes
	other.Base, other.Patch = 1, []byte(`[{"op":"add","path":"/approved","value":true}]`)
	reused, err := in.Propose(context.Background(), other)
	require.NoError(t, err)
	require.Equal(t, verify.Repeat, reused.Violations[0].Code, "the key was given for another answer")
	other.Key = "request 1, seen again"
	v, err := in.Propose(context.Background(), other)
	require.NoError(t, err)
	require.Equal(t, verify.Commit, v.Verdict)
}

func TestRow2F61AHandleAndAVersionStandForAState(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.db")
	c := loadedOf(t, desk)
	in, err := runtime.Create(context.Background(), c, onDisk(t, name), "run", []byte(strings.Replace(deskState, `"T-7"`, `"`+strings.Repeat("T", 3<<20)+`"`, 1)))
	require.NoError(t, err)
	require.Equal(t, "commit", proposeOn(t, in, 0, "text", nil, setText("first")))
	seen := exported(t, in)
	handle, err := json.Marshal(map[string]any{"instance": in.ID(), "version": in.Version()})
	require.NoError(t, err)
	require.Less(t, len(handle), 100)
	require.Equal(t, "commit", proposeOn(t, in, 1, "text", nil, setText("second")))

	var passed struct {
		Instance string
		Version  uint64
	}
	require.NoError(t, json.Unmarshal(handle, &passed))
	past, err := runtime.At(context.Background(), c, onDisk(t, name), passed.Instance, passed.Version)
	require.NoError(t, err)
	require.Equal(t, seen, string(past.State))
}

func TestRow2F64ARuleOverAFieldThatIsNotThereDoesNotCompile(t *testing.T) {
	out := checked(strings.Replace(desk, "stage price", "invariant thin { state.internal.marign < 1.0 }\nstage price", 1))
	require.Nil(t, out.Contract)
	require.Len(t, out.Diagnostics, 1)
	d := out.Diagnostics[0]
	require.Contains(t, d.Message+d.Help, "margin")
	require.Equal(t, "marign", d.Span.Text())
	require.Equal(t, 9, d.Span.File.Position(d.Span.Start).Line)
}

func TestRow2F65NothingThatAHostOrAnActorHandsInIsIgnored(t *testing.T) {
	in := deskRun(t)
	for _, member := range []string{"state", "stage", "base", "key", "role"} {
		patch := `{"patch":[],"` + member + `":"x"}`
		require.Equal(t, "reject patch_syntax", proposeOn(t, in, 5, "text", nil, patch))
	}
	_, err := in.Propose(context.Background(), runtime.Proposal{Stage: "recall", Base: 5, Args: map[string]string{"key": "plan", "kee": "x"}, Patch: []byte(`[]`)})
	var unknown *runtime.UnknownArgumentError
	require.True(t, errors.As(err, &unknown))
	require.Equal(t, "kee", unknown.Name)
}
