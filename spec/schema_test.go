package spec_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/schema"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The schemas that a contract gives, judged by a validator that knows nothing of contracts.

// fits reports whether a text fits a schema; a text that the strict decoder refuses fits none.
func fits(t *testing.T, s schema.Object, text []byte) bool {
	t.Helper()
	data, err := json.Marshal(s)
	require.NoError(t, err)
	compiled, err := newSchema(data)
	require.NoError(t, err, string(data))
	_, ok, err := validate(compiled, text)
	return err == nil && ok
}

func proposalSchema(t *testing.T, p *verify.Program, stage string, args map[string]string) schema.Object {
	t.Helper()
	s, err := schema.Proposal(p.Contract(), p.Contract().Stage(stage), args)
	require.NoError(t, err)
	return s
}

func TestWhatIsProposedFitsTheSchemaOfItsStageIfTheStageHasTheAuthority(t *testing.T) {
	fit, outside := 0, 0
	for _, s := range suites(t) {
		for _, c := range s.Cases {
			p := program(t, c)
			if p.Contract().Stage(c.Stage) == nil {
				continue
			}
			_, stateFile := contents(t, c.State)
			state, err := p.Import(stateFile)
			require.NoError(t, err)
			require.True(t, fits(t, schema.State(p.Contract()), stateFile), c.ID)
			phase := c.Phase
			if phase == "" {
				phase = p.Contract().Phases[0].Name
			}
			before := verify.Snapshot{State: state, Phase: phase, Version: 5}
			view, refused, err := p.View(t.Context(), before, verify.ViewRequest{Stage: c.Stage, Args: c.Args, Role: c.Role, Actor: c.Actor, Now: c.Now})
			if err == nil && refused == nil {
				shown := tree.AppendJSON(nil, view.Value)
				for _, args := range []map[string]string{c.Args, nil} {
					require.True(t, fits(t, schema.View(p.Contract(), p.Contract().Stage(c.Stage), args), shown), "%s: %s", c.ID, shown)
				}
			}
			proposal := c.proposalBytes(t)
			out, err := p.Verify(t.Context(), before, verify.Proposal{Stage: c.Stage, Args: c.Args, Role: c.Role, Actor: c.Actor, Now: c.Now, Patch: proposal, Next: c.Next})
			require.NoError(t, err)
			switch {
			case out.Verdict.Verdict != verify.Reject:
				fit++
				for _, args := range []map[string]string{c.Args, nil} {
					require.True(t, fits(t, proposalSchema(t, p, c.Stage, args), proposal), "%s: %s", c.ID, proposal)
				}
			case slices.ContainsFunc(out.Verdict.Violations, func(v verify.Violation) bool {
				return v.Code == verify.WriteScopeViolation || v.Code == verify.ReadScopeViolation || v.Code == verify.PatchSyntax || v.Code == verify.PointerSyntax
			}):
				if outside++; len(p.Contract().Stage(c.Stage).Blind)+len(p.Contract().Stage(c.Stage).Rights) > 0 {
					continue // whether something is there already, no schema knows
				}
				require.False(t, fits(t, proposalSchema(t, p, c.Stage, c.Args), proposal), "%s: %s", c.ID, proposal)
			}
		}
	}
	require.Greater(t, fit, 20)
	require.Greater(t, outside, 20)
}
