package examples_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/schema"
	"github.com/patchoptic/poptic/runtime"
)

// fits judges a JSON text by a schema, with a validator that knows nothing of contracts.
func fits(t *testing.T, s schema.Object, text []byte) bool {
	t.Helper()
	data, err := json.Marshal(s)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	compiled, err := c.Compile("schema.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return compiled.Validate(value) == nil
}

func TestWhatIsShownAndCommittedInAWalkFitsTheSchemas(t *testing.T) {
	for _, name := range examples.Names() {
		c := contract(t, name)
		state, err := fs.ReadFile(examples.FS, name+"/state.json")
		require.NoError(t, err)
		require.True(t, fits(t, schema.State(c), state), name)
		require.False(t, fits(t, schema.State(c), []byte(`{}`)), name)
		_, story := walked(t, name)
		outside := 0
		for i, h := range story {
			stage := c.Stage(h.Step.Stage)
			if stage == nil {
				continue // a step of the host
			}
			if h.View != nil {
				require.True(t, fits(t, schema.View(c, stage, h.Step.Args), h.View.Value), "%s, step %d: %s", name, i+1, h.View.Value)
			}
			proposal, err := schema.Proposal(c, stage, h.Step.Args)
			require.NoError(t, err)
			switch fit := fits(t, proposal, h.Step.Patch); {
			case h.Verdict.Verdict != runtime.Reject:
				require.True(t, fit, "%s, step %d: %s", name, i+1, h.Step.Patch)
			case len(h.Verdict.Violations) > 0 && strings.HasSuffix(string(h.Verdict.Violations[0].Code), "_scope_violation"):
				if outside++; len(stage.Blind) > 0 {
					continue // whether something is there already, no schema knows
				}
				require.False(t, fit, "%s, step %d: %s", name, i+1, h.Step.Patch)
			}
		}
		require.Positive(t, outside, name)
	}
}
