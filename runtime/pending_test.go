package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// waiting is a log in which proposals wait and are withdrawn.
func waiting(t *testing.T, opts ...runtime.Option) (*runtime.Instance, *store.Memory) {
	t.Helper()
	in, st := begin(t, opts...)
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	p := runtime.Proposal{Stage: "draft", Patch: []byte(inside), Key: "w", Principal: runtime.Principal{Subject: "bot"}}
	first, err := in.MakePending(ctx, p, time.Unix(1_700_000_600, 0))
	require.NoError(t, err)
	require.Equal(t, uint64(5), first)
	second, err := in.MakePending(ctx, runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "ann"},
		Patch: []byte(`[{"op":"replace","path":"/customers/ann/name","value":"Anna"}]`)}, time.Time{})
	require.NoError(t, err)
	rejects(t, propose(t, in, outside(2)), verify.WriteScopeViolation)
	commits(t, propose(t, in, inside))
	require.NoError(t, in.MakeWithdrawn(ctx, second, "it was \"too\nlate\"", runtime.Principal{Subject: "ann", OnBehalf: "bob"}))
	commits(t, propose(t, in, inside))
	return in, st
}

func TestALogInWhichProposalsWaitHoldsOpensAndComesOutAgain(t *testing.T) {
	for _, snapshots := range []int{1, 1 << 30} {
		in, st := waiting(t, runtime.WithSnapshotAfter(snapshots))
		for _, again := range []*runtime.Instance{in, reopened(t, in, st), reopenedAs(t, in.Contract(), snapshotlessReads{st})} {
			require.Equal(t, uint64(2), again.Version(), "what waits commits nothing")
			require.Equal(t, in.Head(), again.Head())
			require.Equal(t, stateOf(t, in), stateOf(t, again))
		}
		got := requireReplays(t, st, in.Contract())
		require.Equal(t, uint64(6), got.Decisions)
	}
}

func TestARecordThatAProposalWaitsSaysWhatItWaitsFor(t *testing.T) {
	in, _ := waiting(t)
	lines := strings.Split(traceOf(t, in), "\n")
	var asked, pending, withdrawn struct {
		Kind, Digest, Reason string
		Contract             string
		Pending              uint64
		Expires              *time.Time
		Principal            runtime.Principal
		Verdict              *verify.Verdict
	}
	require.NoError(t, json.Unmarshal([]byte(lines[3]), &asked))
	require.NoError(t, json.Unmarshal([]byte(lines[4]), &pending))
	require.NoError(t, json.Unmarshal([]byte(lines[11]), &withdrawn))
	require.Equal(t, "pending", pending.Kind)
	require.NotEmpty(t, pending.Digest)
	require.Equal(t, asked.Digest, pending.Digest)
	require.Equal(t, time.Unix(1_700_000_600, 0).UTC(), *pending.Expires)
	v := pending.Verdict
	require.Equal(t, verify.Pending, v.Verdict)
	require.Equal(t, []any{uint64(0), uint64(0), v.StateBefore, "open"}, []any{v.VersionBefore, v.VersionAfter, v.StateAfter, v.PhaseAfter})
	require.Empty(t, v.Violations)
	require.Equal(t, "withdrawn", withdrawn.Kind)
	require.Equal(t, uint64(7), withdrawn.Pending)
	require.Equal(t, "it was \"too\nlate\"", withdrawn.Reason)
	require.Equal(t, runtime.Principal{Subject: "ann", OnBehalf: "bob"}, withdrawn.Principal)
	require.NotContains(t, lines[6], "expires", "what waits for ever tells no end")
}

// What waits is no try and gives none back; its key stands for it.
func TestWhatWaitsIsNoTry(t *testing.T) {
	in, st := begin(t)
	p := runtime.Proposal{Stage: "draft", Patch: []byte(inside), Key: "w"}
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	_, err := in.MakePending(ctx, p, time.Time{})
	require.NoError(t, err)
	v := propose(t, in, outside(2))
	require.Equal(t, 2, v.Attempt)
	in = reopened(t, in, st)
	v = proposeAs(t, in, p)
	require.Equal(t, verify.Pending, v.Verdict)
	require.Equal(t, verify.Pending, v.Actor().Verdict)
	require.Equal(t, 3, propose(t, in, outside(3)).Attempt)
	requireReplays(t, st, in.Contract())
}

func TestAForgedRecordOfWhatWaitsDiffers(t *testing.T) {
	in, st := waiting(t)
	log := logOf(t, st)
	found := func(log []store.Record) bool {
		forged := store.NewMemory()
		require.NoError(t, forged.Create(ctx, "T-7", log...))
		got, err := runtime.Replay(ctx, in.Contract(), forged, "T-7")
		return err != nil || got.Different != nil
	}
	require.False(t, found(log))
	tried := 0
	for _, i := range []int{3, 4, 5, 6, 11} {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(log[i].Line, &members))
		for name, value := range members {
			switch name {
			case "prev", "hash", "time", "principal", "role", "args", "base", "next", "key", "reason", "expires": // told by the host alone
				continue
			}
			member := `"` + name + `":` + string(value)
			for _, other := range []string{"", `"forged"`, "7", "5", `{}`, `"decision"`, `"view"`} {
				if other == string(value) || name == "pending" && other == "5" { // which waits too
					continue
				}
				line := strings.Replace(string(log[i].Line), member, `"`+name+`":`+other, 1)
				if other == "" {
					line = strings.Replace(string(log[i].Line), member+",", "", 1)
				}
				require.True(t, found(chainedWith(log, i, line)), "%s of record %d as %s", name, i+1, other)
				tried++
			}
		}
	}
	require.Greater(t, tried, 200)
	// A commit that is said to wait, and what waits said to be a commit.
	for i, verdict := range map[int][2]string{4: {`"verdict":"pending"`, `"verdict":"commit"`}, 10: {`"verdict":"commit"`, `"verdict":"pending"`}} {
		require.Contains(t, string(log[i].Line), verdict[0])
		line := strings.Replace(string(log[i].Line), verdict[0], verdict[1], 1)
		require.True(t, found(chainedWith(log, i, line)))
		_, err := runtime.Open(ctx, in.Contract(), &givenStore{store.NewMemory(), chainedWith(log, i, line)}, "T-7")
		require.Error(t, err)
	}
	// A refusal that is said to wait.
	for _, i := range []int{2, 8} {
		line := strings.Replace(string(log[i].Line), `"kind":"decision"`, `"kind":"pending"`, 1)
		require.True(t, found(chainedWith(log, i, line)))
		line = strings.Replace(line, `"verdict":"reject"`, `"verdict":"pending"`, 1)
		require.True(t, found(chainedWith(log, i, line)))
	}
	require.Equal(t, trace.Pending, linesOf(t, in)[4].Kind)
}
