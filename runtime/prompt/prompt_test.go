package prompt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
	"github.com/patchoptic/poptic/runtime/store"
)

// answering is an instance of the contract that examples/embed carries, and a question.
func answering(t testing.TB, answer string) (*runtime.Contract, *runtime.Instance) {
	compiled, err := os.ReadFile("../../examples/embed/contract.popticc")
	require.NoError(t, err)
	contract, err := runtime.Load(compiled)
	require.NoError(t, err)
	state := fmt.Sprintf(`{"questions": {"Q/1": {"text": "Why?", "asker": "ADA", "status": "open"%s}}, "answered": ["SECOND"]}`, answer)
	instance, err := runtime.Create(context.Background(), contract, store.NewMemory(), "I", []byte(state))
	require.NoError(t, err)
	return contract, instance
}

func Example() {
	ctx := context.Background()
	contract, instance := answering(&testing.B{}, "")
	request := runtime.Request{Stage: "answer", Args: map[string]string{"question": "Q/1"}, Role: "writer"}
	view, err := instance.View(ctx, request)
	if err != nil {
		panic(err)
	}
	data, err := prompt.Of(contract, request, view)
	if err != nil {
		panic(err)
	}
	fmt.Print(data.Text())
	// Output:
	// # Task
	//
	// Answer the question in one sentence and set its status to "answered".
	//
	// It is about question = "Q/1".
	//
	// # What you see
	//
	// ```json
	// {
	//   "questions": {
	//     "Q/1": {
	//       "status": "open",
	//       "text": "Why?"
	//     }
	//   }
	// }
	// ```
	//
	// # What you may change
	//
	// - `/questions/Q~11/status` (replace): "open" | "answered"
	// - `/questions/Q~11/answer` (add): string (at most 200 characters)
	// - `/answered/-` (add): string
	//
	// # What must hold
	//
	// - an answered question carries its answer
	//
	// # How to answer
	//
	// Answer with a JSON Patch (RFC 6902) and nothing else, of this form:
	//
	// [{"op":"replace","path":"/questions/Q~11/status","value":"answered"},{"op":"add","path":"/questions/Q~11/answer","value":"..."}]
	//
	// You have 3 attempts.
}

func promptOf(t *testing.T, answer string) (prompt.Data, string) {
	contract, instance := answering(t, answer)
	request := runtime.Request{Stage: "answer", Args: map[string]string{"question": "Q/1"}, Role: "writer"}
	view, err := instance.View(t.Context(), request)
	require.NoError(t, err)
	data, err := prompt.Of(contract, request, view)
	require.NoError(t, err)
	encoded, err := json.Marshal(data)
	require.NoError(t, err)
	return data, data.Text() + string(encoded)
}

func TestAPromptHoldsNothingThatIsForTheHostOrNotSeen(t *testing.T) {
	data, all := promptOf(t, "")
	for _, hidden := range []string{"ADA", "SECOND", "sha256", `"version"`} {
		require.NotContains(t, all, hidden)
	}
	require.Equal(t, prompt.Array, data.Form)
	require.NotContains(t, data.Text(), "next")
}

func TestAPlaceIsAddedOrReplacedAsTheViewShows(t *testing.T) {
	for answer, ops := range map[string][]string{"": {"add"}, `, "answer": "So."`: {"replace", "remove"}} {
		data, _ := promptOf(t, answer)
		require.Equal(t, "/questions/Q~11/answer", data.Places[1].Path)
		require.Equal(t, ops, data.Places[1].Ops)
	}
}

func TestAnAnswerWithAChoiceOfPhasesIsAnObject(t *testing.T) {
	data, _ := promptOf(t, "")
	data.Form, data.Next = prompt.Object, []string{"done", "again", "back"}
	require.Contains(t, data.Text(), "`next` is done, again or back.")
	require.Contains(t, data.Text(), `, "next": "done"}`)
}

func TestAPromptOfAStageThatIsNoneIsAnError(t *testing.T) {
	contract, _ := answering(t, "")
	_, err := prompt.Of(contract, runtime.Request{Stage: "ask"}, runtime.View{Value: json.RawMessage("{}")})
	var unknown *runtime.UnknownStageError
	require.ErrorAs(t, err, &unknown)
	_, err = prompt.Of(contract, runtime.Request{Stage: "answer"}, runtime.View{})
	require.Error(t, err)
}
