package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
)

func TestTheCompiledContractIsUpToDate(t *testing.T) {
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("."), Path: "contract.poptic"})
	require.NoError(t, err)
	again, ok := out.Compiled()
	require.True(t, ok, "%v", out.Diagnostics)
	require.Equal(t, string(again), string(compiled), "run go generate")
}

func TestTheActorMendsItsPatchByTheRepliesUntilItCommits(t *testing.T) {
	var story strings.Builder
	require.NoError(t, run(context.Background(), &story))
	var verdicts []string
	for line := range strings.Lines(story.String()) {
		if verdict, ok := strings.CutPrefix(strings.TrimSpace(line), "verdict: "); ok {
			verdicts = append(verdicts, verdict)
		}
	}
	require.Equal(t, []string{"reject", "reject", "commit"}, verdicts)
	require.Contains(t, story.String(), "patch_write_scope_violation")
	require.Contains(t, story.String(), "path_missing")
	before, after, found := strings.Cut(story.String(), "the state at version 1: ")
	require.True(t, found)
	require.NotContains(t, before, "rosa@example.com", "the actor is shown the asker")
	var state map[string]any
	require.NoError(t, json.Unmarshal([]byte(after), &state))
	require.Equal(t, []any{"Q1"}, state["answered"])
}
