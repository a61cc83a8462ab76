package poptic_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// A contract is loaded from its source, and a proposal is decided.
func ExampleLoad() {
	ctx := context.Background()
	files := fstest.MapFS{"notes.poptic": {Data: []byte(`
		contract notes
		state { title: string  seen: int }
		stage rename { by editor  read /title  write /title }
	`)}} // or os.DirFS
	contract, err := poptic.Load(ctx, files, "notes.poptic")
	if err != nil {
		log.Fatal(err)
	}
	notes, err := runtime.Create(ctx, contract, store.NewMemory(), "run-1", []byte(`{"title": "", "seen": 0}`))
	if err != nil {
		log.Fatal(err)
	}
	verdict, err := notes.Propose(ctx, runtime.Proposal{Stage: "rename", Role: "editor", Patch: []byte(`[{"op": "replace", "path": "/seen", "value": 1}]`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Verdict, verdict.Violations[0].Code == runtime.CodeWriteScopeViolation)
	// Output: reject true
}

func TestAContractIsLoadedAsItsCompiledFormIs(t *testing.T) {
	contract, err := poptic.Load(t.Context(), os.DirFS("."), "spec/conformance/verify/desk.poptic")
	require.NoError(t, err)
	require.NotEmpty(t, contract.Stages())
	require.Regexp(t, "^sha256:[0-9a-f]{64}$", contract.Digest())
}

func TestWhatIsNoContractIsNotLoadedAndTheErrorSaysWhatIsWrong(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"wrong.poptic":    "contract a\nstate { a: strong }\nstage s { write /b }\n",
		"unproved.poptic": "contract a\nstate { a: secret string  b: string }\nstage s { read /a, /b  source /a  write /b }\nprove no flow from secrets to /b\n",
		"library.poptic":  "library a\ntype t { a: string }\n",
		"empty.poptic":    "",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, want := range map[string]string{
		"wrong.poptic":    `wrong.poptic:2:12: error[unknown_type]`,
		"unproved.poptic": `unproved.poptic:4:`,
		"library.poptic":  "library.poptic is no contract that can run",
		"empty.poptic":    "empty.poptic",
		"absent.poptic":   "absent.poptic",
		"../up.poptic":    "up.poptic",
	} {
		contract, err := poptic.Load(t.Context(), files, name)
		require.Nil(t, contract)
		var wrong *poptic.SourceError
		require.ErrorAs(t, err, &wrong, name)
		require.ErrorContains(t, err, want, name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := poptic.Load(ended, files, "wrong.poptic")
	require.True(t, errors.Is(err, context.Canceled))
}
