package walk_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

func start(t *testing.T, name string) *runtime.Instance {
	t.Helper()
	dir, err := fs.Sub(examples.FS, name)
	require.NoError(t, err)
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: dir, Path: "contract.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	contract, err := runtime.Load(ir.Encode(out.Contract))
	require.NoError(t, err)
	state, err := fs.ReadFile(dir, "state.json")
	require.NoError(t, err)
	in, err := runtime.Create(context.Background(), contract, store.NewMemory(), name, state)
	require.NoError(t, err)
	return in
}

func TestAnotherOutcomeThanExpectedIsASurprise(t *testing.T) {
	s, err := walk.Read(examples.FS, "support")
	require.NoError(t, err)
	for i := range s.Steps {
		switch step := &s.Steps[i]; {
		case step.Expect != "reject":
			step.Expect = "reject"
		case i%2 == 0:
			step.Gate = "stale"
		default:
			step.Code = "repeat"
		}
	}
	story, err := walk.Run(context.Background(), start(t, "support"), s)
	require.NoError(t, err)
	for i, h := range story {
		require.NotEmpty(t, h.Surprise(), "step %d", i+1)
	}
}

func TestAPhaseThatAStepCountsOnIsCompared(t *testing.T) {
	h := walk.Happening{Step: &walk.Step{Phase: "review"}, Phase: "triage"}
	require.Equal(t, "the phase is triage, not review", h.Surprise())
}

func TestAScenarioThatSaysTooLittleIsRefused(t *testing.T) {
	for text, problem := range map[string]string{
		`{"steps":[{"expect":"commit"}]}`:                               "either a stage or an advance",
		`{"steps":[{"stage":"a","advance":"b","expect":"commit"}]}`:     "either a stage or an advance",
		`{"steps":[{"stage":"a","patch":[]}]}`:                          `expects ""`,
		`{"steps":[{"advance":"a","expect":"perhaps"}]}`:                `expects "perhaps"`,
		`{"steps":[{"stage":"a","expect":"commit"}]}`:                   "either a patch or a patch_file",
		`{"steps":[{"stage":"a","expect":"commit","patch_file":"no"}]}`: "no: file does not exist",
		`{"steps":[{"stage":"a","expekt":"commit"}]}`:                   "expekt",
		`{`: "walk.json",
	} {
		_, err := walk.Read(fstest.MapFS{"x/walk.json": {Data: []byte(text)}}, "x")
		require.ErrorContains(t, err, problem, text)
	}
}
