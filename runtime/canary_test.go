package runtime_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

func TestEveryCodeThatAProposalCanEarnIsAmongTheRejections(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	earned := map[verify.Code]bool{}
	for _, r := range everyRejection() {
		rejects(t, proposeAs(t, in, r.Proposal), r.code)
		earned[r.code] = true
	}
	commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"r"}]`))
	for _, r := range laterRejections() {
		rejects(t, proposeAs(t, in, r.Proposal), r.code)
		earned[r.code] = true
	}
	for _, entry := range verify.Codes() {
		if !slices.Contains([]verify.Code{verify.Repeat, verify.AttemptsExhausted, verify.Refused}, entry.Code) {
			require.True(t, earned[entry.Code], entry.Code)
		}
	}
}

// outputs is all that an engine says.
type outputs struct {
	said     bytes.Buffer // errors, as text and JSON, and the log
	verdicts bytes.Buffer // verdicts of both kinds, as JSON
	trace    string
}

func (o *outputs) say(t *testing.T, err error) {
	text, failed := json.Marshal(err)
	require.NoError(t, failed)
	o.said.Write(append(text, '\n'))
	if err != nil {
		o.said.WriteString(err.Error() + "\n")
	}
}

func (o *outputs) tell(t *testing.T, v runtime.Verdict, err error) {
	o.say(t, err)
	for _, rendering := range []any{v, v.Actor()} {
		text, failed := json.Marshal(rendering)
		require.NoError(t, failed)
		o.verdicts.Write(append(text, '\n'))
	}
}

// provoke runs every rejection, refused view and error on one instance.
func provoke(t *testing.T) *outputs {
	out := &outputs{}
	logger := slog.New(slog.NewJSONHandler(&out.said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	in, st := begin(t, runtime.WithLogger(logger), runtime.WithAttempts(0), runtime.WithSnapshotAfter(1))
	run := func(all []rejection) {
		for _, r := range all {
			v, err := in.Propose(ctx, r.Proposal)
			out.tell(t, v, err)
		}
	}
	run(everyRejection())
	v, err := in.Propose(ctx, commitWithCanaries())
	require.Equal(t, verify.Commit, v.Verdict, "%+v", v.Violations)
	out.tell(t, v, err)
	run(laterRejections())
	for _, stage := range []string{"decide", "edit", "root", "nowhere"} {
		_, err := in.View(ctx, runtime.Request{Stage: stage, Role: "bot"})
		require.Error(t, err)
		out.say(t, err)
	}
	v, err = in.Advance(ctx, "closed", "host")
	out.tell(t, v, err)
	for _, state := range brokenStates() {
		_, err := runtime.Create(ctx, in.Contract(), st, "other", []byte(state))
		require.Error(t, err, state)
		out.say(t, err)
	}
	out.say(t, openDamaged(t, in, st))
	out.trace = traceOf(t, in)
	return out
}

// commitWithCanaries replaces secrets by other secrets, among plain changes.
func commitWithCanaries() runtime.Proposal {
	return reject("", "all", `[
		{"op":"replace","path":"/draft/refs","value":["#"]},
		{"op":"replace","path":"/customers/ann/card","value":"new $"},
		{"op":"add","path":"/customers/eve","value":{"name":"#","card":"$"}},
		{"op":"copy","from":"/customers/eve/card","path":"/customers/bob/card"},
		{"op":"remove","path":"/customers/eve"}]`).Proposal
}

func brokenStates() []string {
	secret := `"` + secretCanary + `"`
	return []string{
		secret, `{"ticket":` + secret, `{"ticket":"` + secretCanary, `{"ticket":1` + secret + `}`, `{"tickets":` + secret + `}`,
		strings.Replace(sampleState, `"T-7"`, `["`+secretCanary+`"]`, 1),
		strings.Replace(sampleState, `"open"`, secret, 1),
		strings.Replace(sampleState, `"margin": 0.31`, `"margin": 1.31`, 1),
		strings.Replace(sampleState, `"Bob"`, `"Bob","crad":`+secret, 1),
		strings.Replace(sampleState, `"name": "Bob"`, `"name": "Bob","name":`+secret, 1),
		strings.Replace(sampleState, `["y", "x"]`, `[`+secret+`,`+secret+`]`, 1),
	}
}

// openDamaged opens a copy of the instance's log in which a state was changed.
func openDamaged(t *testing.T, in *runtime.Instance, st store.Store) error {
	damaged := store.NewMemory()
	for r, err := range st.Read(ctx, in.ID(), 1) {
		require.NoError(t, err)
		if r.Seq == 1 {
			require.NoError(t, damaged.Create(ctx, in.ID(), r))
			continue
		}
		r.Sealed = bytes.Replace(r.Sealed, []byte("new "), []byte("bad "), 1)
		require.NoError(t, damaged.Append(ctx, in.ID(), r.Seq-1, r))
	}
	_, err := runtime.Open(ctx, in.Contract(), damaged, in.ID())
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, err, &corrupt)
	return err
}

// absent fails with what stands around the first place where text has canary.
func absent(t *testing.T, text, canary string) {
	t.Helper()
	if at := strings.Index(text, canary); at >= 0 {
		require.Fail(t, canary, "...%s...", text[max(0, at-200):min(len(text), at+80)])
	}
}

func TestRow2B22SecretsNeverAppearInTraceVerdictErrorOrLog(t *testing.T) {
	out := provoke(t)
	absent(t, out.said.String(), secretCanary)
	absent(t, out.said.String(), pathCanary)
	absent(t, out.verdicts.String(), secretCanary)
	absent(t, out.trace, secretCanary)
	absent(t, out.trace, pathCanary)
	require.Contains(t, out.trace, "hmac-sha256:", "the trace has keyed digests in their place")
	require.Contains(t, out.trace, plainCanary, "what is not secret is there")
}

func TestRow2B23NoErrorVerdictOrLogLineContainsStateValues(t *testing.T) {
	out := provoke(t)
	for _, value := range []string{plainCanary, "CANARY-BROKEN", "tok-", "4111", "0.31", "1.31", "Ann", "begun"} {
		absent(t, out.said.String(), value)
		absent(t, out.verdicts.String(), value)
	}
	require.Contains(t, out.said.String(), "patch_write_scope_violation")
}
