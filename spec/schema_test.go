package spec_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
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

func TestAProposalsSchemaHasThePlacesOfItsStageAndNoOthers(t *testing.T) {
	const contract = `contract places
state {
  map:   map of Item
  list:  list of int
  whole: list of int
  set:   set of string
  log:   log of string
  keyed: list of Item by id
  any:   any
  open:  { known: int  *: string }
  gone?: int
}
type Item { id: string  n: int  note?: string }
stage edit(item in /map) {
  read   /map/{item}, /list/*, /whole, /set, /log, /keyed/*/n, /any/a/b, /open, /gone
  write  /map/{item}/(n|note), /list/*, /whole, /set/-, /log/-, /keyed/*/n, /any/a/b, /open except /open/"x/y", /gone
  source /map/{item}/note
}
`
	files := fstest.MapFS{"block.poptic": {Data: []byte(contract)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "block.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, listed(out.Diagnostics))
	for _, args := range []map[string]string{{"item": "a~b"}, nil} {
		s, err := schema.Proposal(out.Lowered, out.Lowered.Stage("edit"), args)
		require.NoError(t, err)
		for _, op := range []string{
			`"op":"replace","path":"/map/a~0b/n","value":1`, `"op":"add","path":"/map/a~0b/note","value":"x"`, `"op":"remove","path":"/map/a~0b/note"`,
			`"op":"test","path":"/map/a~0b","value":{"id":"a~b","n":1}`, `"op":"replace","path":"/list/3","value":1`,
			`"op":"add","path":"/whole/0","value":1`, `"op":"add","path":"/whole/-","value":1`, `"op":"remove","path":"/whole/12"`, `"op":"replace","path":"/whole","value":[1]`,
			`"op":"add","path":"/set/-","value":"x"`, `"op":"add","path":"/log/-","value":"x"`, `"op":"replace","path":"/keyed/k/n","value":1`,
			`"op":"replace","path":"/any/a/b","value":{}`, `"op":"add","path":"/any/a/b/c/d","value":null`,
			`"op":"add","path":"/open/other","value":"x"`, `"op":"add","path":"/open/x~1yz","value":"x"`, `"op":"add","path":"/open/x","value":"x"`, `"op":"add","path":"/open/","value":"x"`,
			`"op":"replace","path":"/open/known","value":1`, `"op":"add","path":"/gone","value":1`,
			`"op":"copy","from":"/map/a~0b/note","path":"/map/a~0b/note"`, `"op":"move","from":"/map/a~0b/note","path":"/open/other"`,
		} {
			require.True(t, fits(t, s, []byte("[{"+op+"}]")), op)
			require.True(t, fits(t, s, []byte(`{"patch":[{`+op+"}]}")), op)
		}
		for _, op := range []string{
			`"op":"replace","path":"/map/a~0b/id","value":"x"`, `"op":"remove","path":"/map/a~0b"`, `"op":"replace","path":"/map/a~0b/n","value":"x"`, `"op":"replace","path":"/map","value":{}`,
			`"op":"add","path":"/list/0","value":1`, `"op":"add","path":"/list/-","value":1`, `"op":"remove","path":"/list/0"`, `"op":"replace","path":"/list","value":[]`, `"op":"replace","path":"/list/01","value":1`,
			`"op":"replace","path":"/set","value":[]`, `"op":"remove","path":"/log/0"`, `"op":"add","path":"/set/0","value":"x"`,
			`"op":"add","path":"/keyed/-","value":{"id":"x","n":1}`, `"op":"replace","path":"/keyed/k/id","value":"x"`, `"op":"replace","path":"/any/a","value":1`, `"op":"replace","path":"/any/a/c","value":1`,
			`"op":"add","path":"/open/x~1y","value":"x"`, `"op":"replace","path":"/open/known","value":"x"`, `"op":"replace","path":"/open","value":{"known":1}`,
			`"op":"copy","from":"/map/a~0b/n","path":"/gone"`, `"op":"replace","path":"/gone","value":1,"more":1`, `"op":"replace","path":"/gone"`, `"op":"strange","path":"/gone"`,
			`"op":"test","path":"/keyed","value":{}`, `"op":"replace","path":"","value":{}`,
		} {
			require.False(t, fits(t, s, []byte("[{"+op+"}]")), op)
		}
		require.False(t, fits(t, s, []byte(`{"patch":[],"next":"main"}`)))
		require.True(t, fits(t, s, []byte(`[]`)))
	}
	s, err := schema.Proposal(out.Lowered, out.Lowered.Stage("edit"), map[string]string{"item": "k"})
	require.NoError(t, err)
	require.False(t, fits(t, s, []byte(`[{"op":"replace","path":"/map/other/n","value":1}]`)))
}
