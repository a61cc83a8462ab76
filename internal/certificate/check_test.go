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

// small is a contract with a delegate and a claim of every kind, all true.
const small = `contract small
state { m: map of E  n: map of int  log: log of string }
type E { a: int where { self >= 0 }  b: int  r: key of /n  h?: secret string }
phases { one -> two  two -> three  three }
region inner = /m/*/b
invariant sum each e in /m/* { e.a + e.b < 10 }
stage put(k in /m) { in one read /m/{k} except secrets write /m/{k}/(a|b), /log/- source /m/{k}/a }
stage low(k in /m) { in one read /m/{k}/a, /m/*/r write /m/{k}/r discloses /m/*/r }
stage tell { in two read /n write /n next three discloses /m/*/r }
stage go { in one next two }
delegate half from put { read /m/{k}/(a|b) write /m/{k}/b }
compose both = put + half
parallel side = put | low when k differs
prove put commutes with put when k differs
prove half within put
prove both within put
prove no stage reads secrets
prove no stage except put, go writes inner
prove no flow from secrets to /n
prove two before three
`

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
