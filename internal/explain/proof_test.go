package explain_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

const desk = `contract desk
state { notes: map of string  tokens: map of secret string  log: log of string }
stage tidy(note in /notes) { by bot  read /notes/{note}  write /notes/{note}, /log/- }
stage peek(note in /notes) { by clerk  read /tokens, /notes/{note}  write /notes/{note} }
delegate helper from tidy { write /log/- }
prove tidy commutes with tidy when note differs
prove tidy commutes with tidy
prove no stage reads secrets
prove no flow from secrets to /log
`

// compiled is a contract whose claims may be false.
func compiled(t *testing.T, text string) (*ir.Contract, []footprint.Result) {
	t.Helper()
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
	return out.Lowered, out.Results
}

func TestACompiledContractIsProvedAsItsSourceIs(t *testing.T) {
	c, results := compiled(t, desk)
	read, err := ir.Decode(ir.Encode(c))
	require.NoError(t, err)
	p := explain.Prove(read, nil)
	require.Equal(t, explain.Prove(c, results), p)

	require.Equal(t, []string{"proved", "unknown", "refuted", "refuted"}, []string{p.Claims[0].Answer, p.Claims[1].Answer, p.Claims[2].Answer, p.Claims[3].Answer})
	require.Equal(t, 3, p.Unproved())
	require.Equal(t, &explain.Place{Stage: "peek", Clause: "read", Path: "/tokens/x"}, p.Claims[2].Place)
	require.Equal(t, "stage peek reads /tokens/x", p.Claims[2].Message)
	require.Equal(t, "narrow its `read`, or add `except peek` to the claim", p.Claims[2].Help)
	require.Equal(t, []explain.Delegate{{Stage: "helper", Within: "tidy", Answer: "proved"}}, p.Delegates)
}

func TestWhatACertificateShowsIsForOneContract(t *testing.T) {
	c, _ := compiled(t, `contract one
state { notes: map of string }
stage tidy(note in /notes) { read /notes/{note}  write /notes/{note} }
prove tidy commutes with tidy when note differs
`)
	other, _ := compiled(t, desk)
	cert := footprint.Measured(c).Certificate()
	require.Equal(t, "prove tidy commutes with tidy when note differs", explain.Check(cert, c).Claims[0].Claim)
	for _, x := range []explain.Certified{explain.Check(cert, other), explain.Check([]byte("{}"), c)} {
		require.False(t, x.Certified)
		require.NotEmpty(t, x.Problems)
		require.Empty(t, x.Claims)
	}
}

func TestOneStageIsExplainedAsInTheWhole(t *testing.T) {
	c, _ := compiled(t, desk)
	whole, err := explain.Contract(c)
	require.NoError(t, err)
	require.Len(t, whole.Stages, 3)
	for _, s := range whole.Stages {
		one, err := explain.OneStage(c, s.Name)
		require.NoError(t, err)
		require.ElementsMatch(t, s.Beside, one.Stages[0].Beside)
		s.Beside, one.Stages[0].Beside = nil, nil
		require.Equal(t, []explain.Stage{s}, one.Stages)
		require.Empty(t, one.Authority)
	}
	require.Contains(t, whole.Authority, explain.Authority{Path: "/tokens", Read: []string{"peek"}})
}
