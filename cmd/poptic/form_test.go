package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The form of a compiled contract is refused by name by every verb that reads one.
func TestEveryVerbNamesTheFormOfAContractThatAnotherVersionBuilt(t *testing.T) {
	old, err := os.ReadFile("../../compiler/testdata/form.1.popticc")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("wrong.popticc", old, 0o644))
	for _, name := range []string{"state.json", "a.patch"} {
		require.NoError(t, os.WriteFile(name, []byte("{}"), 0o644))
	}
	for _, command := range []string{
		"check wrong.popticc", "build wrong.popticc -o built.popticc", "explain wrong.popticc", "plan wrong.popticc", "graph wrong.popticc",
		"prove wrong.popticc", "diff wrong.popticc wrong.popticc", "view wrong.popticc --state state.json --stage answer",
		"verify wrong.popticc --state state.json --stage answer --patch a.patch",
		"create wrong.popticc --store sqlite:new.db --instance a --state state.json", "replay a.db wrong.popticc",
	} {
		code, out, errText := execute(t, "", command)
		require.Equal(t, exitBroken, code, command)
		require.Empty(t, out, command)
		require.Contains(t, errText, "of form 1, this version reads 2 and 3; build it again from its source", command)
	}
	require.NoFileExists(t, "built.popticc")
	require.NoFileExists(t, "new.db")
}
