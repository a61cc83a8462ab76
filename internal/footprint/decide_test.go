package footprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
)

// Pairs that a claim is about come first; of the others there are as many as there is
// room for, whether they commute or not.
func TestTheCertificateOfManyStagesIsLimited(t *testing.T) {
	for name, stage := range map[string]string{
		"stages that share nothing": "read /m/k$i write /m/k$i",
		"stages that only read":     "read /m",
		"stages that all clash":     "read /m write /m",
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("contract c\nstate { m: map of string }\n")
			for i := range 500 {
				fmt.Fprintf(&b, "stage s%d { %s }\n", i, strings.ReplaceAll(stage, "$i", fmt.Sprint(i)))
			}
			b.WriteString("stage a { read /m }\nstage z { read /m }\nprove a commutes with z\n")
			c := compiled(t, b.String())
			data := footprint.Measured(c).Certificate()
			require.Empty(t, certificate.Check(data, c))
			cert, err := certificate.Decode(data)
			require.NoError(t, err)
			require.LessOrEqual(t, len(cert.Pairs), certificate.MaxPairs/2)
			require.Equal(t, "z", cert.Pairs[len(cert.Pairs)-1].B, "the claim's pair is there")
		})
	}
}
