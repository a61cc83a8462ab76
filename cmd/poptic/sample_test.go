package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
)

// printed is what a command line prints that goes well.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	require.Zero(t, run(t.Context(), args, strings.NewReader(""), &out, &errOut), errOut.String())
	return out.String()
}

func TestTheTokensThatAreCountedAreThoseOfWhatViewPrints(t *testing.T) {
	flags := []string{"testdata/desk/desk.poptic", "--state", "testdata/desk/state.json", "--stage"}
	for _, stage := range [][]string{
		{"classify", "--arg", "ticket=T1", "--role", "triage_bot"},
		{"classify", "--arg", "ticket=T2", "--role", "triage_bot"},
		{"refund", "--arg", "ticket=T1", "--arg", "id=new", "--phase", "review"},
		{"finish", "--phase", "review"},
	} {
		given := append(append([]string{}, flags...), stage...)
		var e sampledExplanation
		require.NoError(t, json.Unmarshal([]byte(printed(t, append([]string{"explain", "--format", "json"}, given...)...)), &e))
		require.Len(t, e.Stages, 1)
		got := e.Stages[0].Sample

		view := printed(t, append([]string{"view"}, given...)...)
		require.JSONEq(t, view, string(got.View))
		for text, counted := range map[string]int{
			strings.TrimSuffix(view, "\n"):                                          got.Tokens.View,
			printed(t, append([]string{"view", "--format", "prompt"}, given...)...): got.Tokens.Prompt,
		} {
			n, err := codec.NewO200kBase().Count(text)
			require.NoError(t, err)
			require.Equal(t, n, counted, "%v: %s", stage, text)
		}
	}
}
