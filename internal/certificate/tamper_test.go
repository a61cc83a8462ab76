package certificate_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// issued is a contract all of whose claims hold, with its certificate.
func issued(t testing.TB, text string) (*ir.Contract, []byte) {
	t.Helper()
	out := compileText(text)
	require.NotNil(t, out.Contract, "%+v", out.Diagnostics)
	return out.Contract, footprint.New(out.Contract).Certificate()
}

// changed is a certificate with a change, sealed again.
func changed(t *testing.T, cert []byte, change func(c *certificate.Certificate)) []byte {
	t.Helper()
	c, err := certificate.Decode(cert)
	require.NoError(t, err)
	change(c)
	return certificate.Seal(*c)
}

func TestACertificateShowsEveryKindOfClaim(t *testing.T) {
	c, cert := issued(t, small)
	require.Empty(t, certificate.Check(cert, c))
	decoded, err := certificate.Decode(cert)
	require.NoError(t, err)
	require.Len(t, decoded.Claims, 8)
	require.Len(t, decoded.Delegates, 1)
	require.NotEmpty(t, decoded.Pairs)
}

func TestNoByteOfACertificateMayChange(t *testing.T) {
	t.Parallel()
	c, cert := issued(t, small)
	for i := range cert {
		mutant := bytes.Clone(cert)
		mutant[i] ^= 1 << (i % 8)
		require.NotEmpty(t, certificate.Check(mutant, c), "byte %d", i)
	}
	require.NotEmpty(t, certificate.Check(append(bytes.Clone(cert), '\n'), c))
	require.NotEmpty(t, certificate.Check(cert[:len(cert)-1], c))
}

func TestNoByteOfTheContractMayChange(t *testing.T) {
	c, cert := issued(t, small)
	compiled := ir.Encode(c)
	for i := range compiled {
		mutant := bytes.Clone(compiled)
		mutant[i] ^= 1
		if other, err := ir.Decode(mutant); err == nil {
			require.NotEmpty(t, certificate.Check(cert, other), "byte %d", i)
		}
	}
}

func TestEveryWordOfTheEvidenceCounts(t *testing.T) {
	t.Parallel()
	c, cert := issued(t, small)
	words := 0
	each := func(of func(*certificate.Certificate) []certificate.Argument) {
		original, err := certificate.Decode(cert)
		require.NoError(t, err)
		for i, a := range of(original) {
			for j := range strings.Split(a.Because, " ") {
				words++
				mutant := changed(t, cert, func(c *certificate.Certificate) {
					list := strings.Split(a.Because, " ")
					list[j] = "99"
					of(c)[i].Because = strings.Join(list, " ")
				})
				require.NotEmpty(t, certificate.Check(mutant, c), "%q, word %d", a.About, j)
			}
			dropped := changed(t, cert, func(c *certificate.Certificate) { of(c)[i].Because += " 0" })
			require.NotEmpty(t, certificate.Check(dropped, c), "%q with a word too many", a.About)
			renamed := changed(t, cert, func(c *certificate.Certificate) { of(c)[i].About += "x" })
			require.NotEmpty(t, certificate.Check(renamed, c), "%q under another name", a.About)
		}
	}
	decoded, err := certificate.Decode(cert)
	require.NoError(t, err)
	for i := range decoded.Pairs {
		each(func(c *certificate.Certificate) []certificate.Argument { return c.Pairs[i].Evidence })
	}
	for i := range decoded.Claims {
		each(func(c *certificate.Certificate) []certificate.Argument { return c.Claims[i].Evidence })
	}
	for i := range decoded.Delegates {
		each(func(c *certificate.Certificate) []certificate.Argument { return c.Delegates[i].Evidence })
	}
	require.Greater(t, words, 100)
}

func TestWhatACertificateLeavesOutIsNotShown(t *testing.T) {
	c, cert := issued(t, small)
	for name, change := range map[string]func(*certificate.Certificate){
		"a claim":             func(c *certificate.Certificate) { c.Claims = c.Claims[1:] },
		"a claim's kind":      func(c *certificate.Certificate) { c.Claims[0].Claim.Kind = ir.AllCommute },
		"a claim's text":      func(c *certificate.Certificate) { c.Claims[0].Claim.Text = "prove nothing" },
		"a claim's parameter": func(c *certificate.Certificate) { c.Claims[0].Claim.When = nil },
		"a delegate":          func(c *certificate.Certificate) { c.Delegates = nil },
		"the pairs":           func(c *certificate.Certificate) { c.Pairs = nil },
		"a condition":         func(c *certificate.Certificate) { c.Pairs[0].Unless = nil },
		"a condition's terms": func(c *certificate.Certificate) { c.Pairs[0].Unless[0] = nil },
		"another condition":   func(c *certificate.Certificate) { c.Pairs[0].Unless[0][0][1] = "A.k" },
		"a stage reached": func(c *certificate.Certificate) {
			c.Claims[6].Reached = []certificate.Reached{{Stage: "tell", Phase: "two"}}
		},
		"the phases reached": func(c *certificate.Certificate) { c.Claims[7].Phases = nil },
		"too many phases":    func(c *certificate.Certificate) { c.Claims[7].Phases = []string{"one", "three"} },
		"a pair of nobody":   func(c *certificate.Certificate) { c.Pairs[0].A = "nobody" },
		"a pair of a mover":  func(c *certificate.Certificate) { c.Pairs[0].A = "go" },
		"certified at all":   func(c *certificate.Certificate) { c.Claims[0].Uncertified = "it was late" },
		"the format":         func(c *certificate.Certificate) { c.Contract = "sha256:0" },
	} {
		require.NotEmpty(t, certificate.Check(changed(t, cert, change), c), name)
	}
}

func TestAWidenedGrantIsRefused(t *testing.T) {
	_, cert := issued(t, small)
	for _, swap := range [][2]string{
		{"stage put(k in /m) { in one read /m/{k} except secrets", "stage put(k in /m) { in one read /m/{k}"},
		{"write /m/{k}/r ", "write /m/{k}/(r|b) "},
		{"read /m/{k}/a, /m/*/r", "read /m/*/a, /m/*/r"},
		{"write /m/{k}/r ", "write /m/*/r "},
		{"write /m/{k}/b }", "write /m/{k}/(a|b), /m/{k}/r }"},
		{"one -> two ", "one -> two, three by host "},
		{"type E { a: int where { self >= 0 }", "type E { a: int where { self >= 0 }  z?: secret int"},
	} {
		require.Contains(t, small, swap[0])
		out := compileText(strings.Replace(small, swap[0], swap[1], 1))
		if out.Lowered == nil {
			continue // the wider contract is refused before any claim
		}
		require.NotEmpty(t, certificate.Check(cert, out.Lowered), "%q: another contract", swap[1])
		moved := changed(t, cert, func(c *certificate.Certificate) { c.Contract = out.Lowered.Digest() })
		require.NotEmpty(t, certificate.Check(moved, out.Lowered), "%q: old evidence", swap[1])
	}
}

func FuzzCheckReadsAnyBytes(f *testing.F) {
	c, cert := issued(f, small)
	f.Add(cert)
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if problems := certificate.Check(data, c); len(problems) == 0 {
			require.Equal(t, cert, data)
		}
	})
}

func FuzzEvidenceOfAnyWords(f *testing.F) {
	c, cert := issued(f, small)
	f.Add("0 l0 r1 t2 ?0 & @1.1 short", uint8(0))
	f.Add("0.0 0.1 -1 ? @ l r t @.", uint8(3))
	f.Fuzz(func(t *testing.T, words string, at uint8) {
		decoded, err := certificate.Decode(cert)
		require.NoError(t, err)
		for _, list := range [][]certificate.Argument{decoded.Pairs[0].Evidence, decoded.Claims[2].Evidence, decoded.Claims[4].Evidence} {
			list[int(at)%len(list)].Because = words
		}
		certificate.Check(certificate.Seal(*decoded), c)
	})
}
