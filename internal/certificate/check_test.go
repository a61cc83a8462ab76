package certificate_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

var examples = []string{"support", "clinical", "release"}

func example(t *testing.T, name string) *ir.Contract {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("../../examples/" + name), Path: "contract.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	return out.Contract
}

func TestTheClaimsOfTheExamplesAreCertified(t *testing.T) {
	for _, name := range examples {
		c := example(t, name)
		cert := footprint.New(c).Certificate()
		require.Empty(t, certificate.Check(cert, c), name)
		decoded, err := certificate.Decode(cert)
		require.NoError(t, err)
		require.Len(t, decoded.Claims, len(c.Claims))
		t.Log(name, len(cert), len(decoded.Pairs))
	}
}
