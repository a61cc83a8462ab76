package bench_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/bench/lean"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

func leanState(t testing.TB, tickets int) *lean.State {
	s, err := lean.Read(ticketState(tickets))
	require.NoError(t, err)
	return s
}

// What the bound is a bound of has to be the same work.
func TestTheLeanBoundDecidesAndShowsWhatTheEngineDoes(t *testing.T) {
	p := program(t)
	change := func(op, path, value string) string {
		return `[{"op":"` + op + `","path":"/tickets/` + path + `","value":` + value + `}]`
	}
	patches := []string{
		legalPatch, backPatch(legalPatch), illegalWrite, hiddenSource, `[]`, `[{"op":"add"}]`, `[`,
		change("replace", "T0/status", `"closed"`), change("replace", "T0/status", `"solved"`), change("replace", "T0/status", `7`),
		change("add", "T1/priority", `6`), change("replace", "T1/priority", `-1`), change("replace", "T1/priority", `1.5`),
		change("replace", "T0/labels", `["b","a"]`), change("add", "T0/labels/-", `"late"`), change("add", "T0/labels", `[1]`),
		change("replace", "T0/labels/0", `"x"`), change("replace", "T0/reply", `"there is none"`), change("test", "T0/subject", `"Parcel 0"`),
		change("test", "T0/body", `"x"`), change("add", "T0/colour", `"red"`), change("add", "T2/status", `"open"`),
		change("replace", "T1/amount", `12.5`), change("replace", "T1/amount", `1e99`), change("replace", "T1/amount", `-1`),
		change("add", "T0/reply", `"a \"quoted\" \u00e9 <text>"`),
		`[{"op":"add","path":"/tickets/T0/reply","value":"x"},{"op":"remove","path":"/tickets/T0/reply"},{"op":"remove","path":"/tickets/T1/status"}]`,
		`[{"op":"add","path":"/tickets/T0/reply","value":"x"},{"op":"remove","path":"/tickets/T0/reply"},{"op":"replace","path":"/tickets/T0/status","value":"waiting"}]`,
	}
	for _, stage := range []string{"label", "work"} {
		now, bound := snapshot(t, p, 60), leanState(t, 60)
		for _, patch := range patches {
			out, err := p.Verify(context.Background(), now, proposal(stage, patch))
			require.NoError(t, err)
			next, err := bound.Commit([]byte(patch), "T0", "T1", stage == "work")
			require.Equal(t, out.Verdict.Verdict == verify.Reject, err != nil, "%s on %s: %v, %+v", patch, stage, err, out.Verdict.Violations)
			if err == nil {
				now, bound = out.After, next
			}
			requireViews(t, p, now, bound)
		}
	}
}

// A state's digest in the log is that of what it holds, however it came to be.
func TestTheLeanLogChainsDigestsOfItsStates(t *testing.T) {
	var log lean.Log
	first := leanState(t, 60)
	next, err := log.Commit(first, []byte(legalPatch), "T0", "T1", false)
	require.NoError(t, err)
	_, err = log.Commit(next, []byte(`[{"op":"replace","path":"/tickets/T0/status","value":"solved"}]`), "T0", "T1", false)
	require.NoError(t, err)
	_, err = log.Commit(next, []byte(`[{"op":"replace","path":"/tickets/T0/status","value":"open"}]`), "T0", "T1", false)
	require.NoError(t, err)
	require.Len(t, log.Lines, 6)
	var decisions [3]struct{ Before, After, Prev string }
	for i := range decisions {
		require.NoError(t, json.Unmarshal(log.Lines[2*i+1], &decisions[i]))
		sum := sha256.Sum256(log.Lines[2*i])
		require.Equal(t, hex.EncodeToString(sum[:]), decisions[i].Prev)
	}
	require.NotEqual(t, decisions[0].Before, decisions[0].After)
	require.Equal(t, decisions[0].After, decisions[1].Before)
	require.Equal(t, decisions[1].Before, decisions[1].After, "it was solved before")
	require.NotEqual(t, decisions[2].Before, decisions[2].After)
}

func requireViews(t *testing.T, p *verify.Program, now verify.Snapshot, bound *lean.State) {
	shown := func(stage string, args map[string]string) string {
		v, refused, err := p.View(context.Background(), now, verify.ViewRequest{Stage: stage, Args: args})
		require.NoError(t, err)
		require.Nil(t, refused)
		return string(tree.AppendJSON(nil, v.Value))
	}
	require.JSONEq(t, shown("label", map[string]string{"a": "T0", "b": "T1"}), string(bound.Tickets("T0", "T1")))
	require.JSONEq(t, shown("survey", nil), string(bound.Survey()))
	require.True(t, json.Valid(bound.Survey()))
}
