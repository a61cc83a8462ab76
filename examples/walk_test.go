package examples_test

import (
	"context"
	"io/fs"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// walked runs the walk of the named workflow from its first state.
func walked(t *testing.T, name string) (*walk.Scenario, []walk.Happening) {
	t.Helper()
	ctx := context.Background()
	c, err := runtime.Load(ir.Encode(contract(t, name)))
	require.NoError(t, err)
	state, err := fs.ReadFile(examples.FS, name+"/state.json")
	require.NoError(t, err)
	instance, err := runtime.Create(ctx, c, store.NewMemory(), name, state)
	require.NoError(t, err)
	scenario, err := walk.Read(examples.FS, name)
	require.NoError(t, err)
	story, err := walk.Run(ctx, instance, scenario)
	require.NoError(t, err)
	return scenario, story
}

func TestEveryStepOfAWalkEndsAsItExpects(t *testing.T) {
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			_, story := walked(t, name)
			for i, h := range story {
				require.Empty(t, h.Surprise(), "step %d: %s", i+1, h.Step.Say)
			}
		})
	}
}

func TestAWalkUsesEveryPatchAndEveryGateRefusesSomething(t *testing.T) {
	for _, name := range examples.Names() {
		scenario, _ := walked(t, name)
		used, gates := map[string]bool{}, map[string]bool{}
		for _, step := range scenario.Steps {
			used[step.PatchFile] = true
			gates[step.Gate] = true
		}
		patches, err := fs.Glob(examples.FS, path.Join(name, "patches", "*.json"))
		require.NoError(t, err)
		for _, file := range patches {
			require.True(t, used["patches/"+path.Base(file)], "no step uses %s", file)
		}
		for _, gate := range []string{"phase", "scope", "schema", "invariant"} {
			require.True(t, gates[gate], "%s: nothing is refused at gate %s", name, gate)
		}
	}
}

func TestNoViewOfAWalkShowsASecretItIsNotMeantTo(t *testing.T) {
	hidden := map[string][]string{
		"support":  {"4111111111111111", "ada@example.com", "leaking kettle of this batch"},
		"clinical": {"MRN-0048213", "1961-07-14", "+49 30 901820"},
		"release":  {"PRIVATE-7f3b9e"},
	}
	for name, values := range hidden {
		_, story := walked(t, name)
		for _, h := range story {
			if h.View == nil {
				continue
			}
			for _, value := range values {
				require.NotContains(t, string(h.View.Value), value, "%s, stage %s", name, h.Step.Stage)
			}
		}
	}
}
