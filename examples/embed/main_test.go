package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

func TestTheCompiledContractIsUpToDate(t *testing.T) {
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("."), Path: "contract.poptic"})
	require.NoError(t, err)
	again, ok := out.Compiled()
	require.True(t, ok, "%v", out.Diagnostics)
	require.Equal(t, string(again), string(compiled), "run go generate")
}

// told runs the program on a file of its own.
func told(t *testing.T) (story, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "questions.db")
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, file))
	return out.String(), file
}

// after lists what follows a prefix, line by line.
func after(story, prefix string) (found []string) {
	for line := range strings.Lines(story) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			found = append(found, rest)
		}
	}
	return found
}

func TestTheActorMendsItsPatchByTheRepliesUntilItCommits(t *testing.T) {
	story, _ := told(t)
	require.Contains(t, story, "patch_write_scope_violation")
	require.Contains(t, story, "path_missing")
	before, last, found := strings.Cut(story, "the state at version 1: ")
	require.True(t, found)
	require.NotContains(t, before, "rosa@example.com", "the actor is shown the asker")
	var state map[string]any
	require.NoError(t, json.Unmarshal([]byte(last), &state))
	require.Equal(t, []any{"Q1"}, state["answered"])
}

func TestTheInstanceGoesOnAfterARestartInTheMiddle(t *testing.T) {
	story, file := told(t)
	require.Equal(t, []string{"version 0, after 1 records", "version 0, after 4 records"}, after(story, "opened at "))
	require.Equal(t, []string{"reject, attempt 1 of 3", "reject, attempt 2 of 3", "commit, attempt 3 of 3"}, after(story, "verdict: "),
		"the tries of before the restart count")
	require.Contains(t, story, "3 decisions made again, all as recorded")
	st, err := sqlite.OpenReadOnly(t.Context(), file)
	require.NoError(t, err)
	head, err := runtime.CheckLog(t.Context(), st, "questions", nil)
	require.NoError(t, err)
	require.EqualValues(t, 1+3*3, head.Seq, "the beginning, then a view, a proposal and a decision each time")
	require.NoError(t, st.Close())
}
