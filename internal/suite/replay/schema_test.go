package replay_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/schema"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// What a gate lets pass fits the schema of its stage, and what has no authority does not,
// where that depends on no state; judged by a validator that knows nothing of contracts.
func TestSchemasAdmitWhatDrawnContractsDoAndNothingOutside(t *testing.T) {
	t.Parallel()
	m, sum := newMaker(91), newShape()
	enough := 300
	if testing.Short() {
		enough = 80
	}
	fit, outside := 0, 0
	for fit < enough || outside < enough/10 {
		var co *course
		if m.chance(70) {
			_, c := m.contract()
			var ok bool
			if co, ok = m.onPhase(t, c, sum); !ok {
				continue
			}
		} else {
			c := m.untyped(4)
			co = m.course(t, c, sum, func(*verify.Program) *tree.Node { return m.planted(c) })
		}
		p, err := verify.Load(co.c, verify.DefaultLimits())
		require.NoError(t, err)
		whole := compiledSchema(t, schema.State(co.c))
		for i := range co.c.Stages {
			s := &co.c.Stages[i]
			if len(co.states) == 0 || !slices.Contains(s.In, co.phase) {
				continue
			}
			for range 6 {
				state, other := co.states[co.Intn(len(co.states))], co.states[co.Intn(len(co.states))]
				require.True(t, whole([]byte(state.file)), state.file)
				args, ok := co.arguments(s, state.node)
				if !ok {
					continue
				}
				a := co.actor(s, co.reaches[s.Name], args, state, other.node)
				if a.idle() {
					continue
				}
				drawn := a.proposal(co.c, s, args, state.node)
				given := verify.Proposal{Stage: s.Name, Args: drawn.Args, Role: drawn.Role, Actor: drawn.Actor, Now: drawn.Now, Patch: []byte(drawn.Patch), Next: drawn.Next}
				before := verify.Snapshot{State: state.node, Phase: co.phase}
				out, err := p.Verify(t.Context(), before, given)
				require.NoError(t, err)
				exact, err := schema.Proposal(co.c, s, args)
				require.NoError(t, err)
				wide, err := schema.Proposal(co.c, s, nil)
				require.NoError(t, err)
				told := text(co.c) + "\n" + s.Name + "\n" + drawn.Patch
				switch {
				case out.Verdict.Verdict != verify.Reject && !writesOver(t, given.Patch):
					fit++
					require.True(t, compiledSchema(t, exact)(given.Patch), told)
					require.True(t, compiledSchema(t, wide)(given.Patch), told)
				case out.Verdict.Verdict != verify.Reject:
				case co.c.Type(co.c.State).Kind != ir.AnyType && len(s.Blind)+len(s.Rights) == 0 && outOfScope(out.Verdict.Violations):
					outside++
					require.False(t, compiledSchema(t, exact)(given.Patch), told)
				}
				view, refused, err := p.View(t.Context(), before, verify.ViewRequest{Stage: s.Name, Args: drawn.Args, Role: drawn.Role, Actor: drawn.Actor, Now: drawn.Now})
				if err == nil && refused == nil {
					shown := tree.AppendJSON(nil, view.Value)
					require.True(t, compiledSchema(t, schema.View(co.c, s, args))(shown), "args %s\n%s\n%s", told, shown, text(s.Read))
					require.True(t, compiledSchema(t, schema.View(co.c, s, nil))(shown), "%s\n%s\n%s\n%s", told, shown, text(s.Read), text(schema.View(co.c, s, nil)))
				}
			}
		}
	}
}

// writesOver reports whether an operation of a patch writes where another one does, above or
// below: what is there in between may be of any type.
func writesOver(t *testing.T, patch []byte) bool {
	var ops []struct{ Path string }
	require.NoError(t, json.Unmarshal(patch, &ops))
	for i, a := range ops {
		for j, b := range ops {
			if i != j && strings.HasPrefix(b.Path+"/", a.Path+"/") {
				return true
			}
		}
	}
	return false
}

func outOfScope(all []verify.Violation) bool {
	return slices.ContainsFunc(all, func(v verify.Violation) bool {
		return v.Code == verify.WriteScopeViolation || v.Code == verify.ReadScopeViolation
	})
}

// compiledSchema is the judgement of texts by a schema.
func compiledSchema(t *testing.T, s schema.Object) func(text []byte) bool {
	t.Helper()
	data, err := json.Marshal(s)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	compiled, err := c.Compile("schema.json")
	require.NoError(t, err, string(data))
	return func(text []byte) bool {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		return compiled.Validate(value) == nil
	}
}
