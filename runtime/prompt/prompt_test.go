package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
)

func Example() {
	view := runtime.View{
		Stage: "tidy", Version: 4, Phase: "main", Contract: "sha256:c", Digest: "sha256:v", Task: "Give the note a better title.",
		Writes: []string{"/notes/n1/title"}, Sources: []string{}, Placeholders: []string{},
		Value: json.RawMessage(`{"notes":{"n1":{"title":""}}}`),
	}
	fmt.Print(prompt.Of(view).Text())
	// Output:
	// # Task
	//
	// Give the note a better title.
	//
	// # What you see
	//
	// ```json
	// {
	//   "notes": {
	//     "n1": {
	//       "title": ""
	//     }
	//   }
	// }
	// ```
	//
	// # What you may change
	//
	// - `/notes/n1/title`
	//
	// # What you may copy or move from
	//
	// Nothing.
	//
	// # How to answer
	//
	// Answer with a JSON Patch (RFC 6902) and nothing else: a JSON array of operations, such as
	// `[{"op": "add", "path": "/a/b", "value": 1}]`. `replace` needs an existing member, `add` makes a new one.
}

func TestAStepThatHasAChoiceOfPhasesAsksForAnObject(t *testing.T) {
	for _, next := range [][]string{nil, {"done"}} {
		p := prompt.Of(runtime.View{Next: next, Value: json.RawMessage("null")})
		require.Equal(t, prompt.Answer{Shape: prompt.Array}, p.Answer)
		require.NotContains(t, p.Text(), "next")
	}
	for next, words := range map[string]string{
		"done again":      "one of done or again.",
		"done again back": "one of done, again or back.",
	} {
		phases := strings.Fields(next)
		p := prompt.Of(runtime.View{Next: phases, Value: json.RawMessage("null")})
		require.Equal(t, prompt.Answer{Shape: prompt.Object, Next: phases}, p.Answer)
		require.Contains(t, p.Text(), words)
		require.Contains(t, p.Text(), `"next": "done"}`)
	}
}

func TestAPromptHoldsNothingThatIsForTheHost(t *testing.T) {
	p := prompt.Of(runtime.View{
		Stage: "tidy", Version: 123456, Phase: "PHASE", Contract: "CONTRACT", Digest: "DIGEST",
		Placeholders: []string{"/l/0"}, Value: json.RawMessage(`{"l":[null]}`),
	})
	data, err := json.Marshal(p)
	require.NoError(t, err)
	for _, text := range []string{p.Text(), string(data)} {
		for _, hidden := range []string{"123456", "PHASE", "CONTRACT", "DIGEST"} {
			require.NotContains(t, text, hidden)
		}
		require.Contains(t, text, "/l/0")
		require.Contains(t, text, "Do the step")
	}
	require.Contains(t, p.Text(), "Nothing: answer with an empty patch.")
}
