package compiler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// stagesOfTheirOwn is a contract of n containers of items with secrets, and for each of
// them but the first a stage, which reads as given.
func stagesOfTheirOwn(t *testing.T, n int, container, read string) *ir.Contract {
	t.Helper()
	var state, stages strings.Builder
	for i := range n {
		fmt.Fprintf(&state, "  m%d: %s\n", i, container)
		if i > 0 {
			fmt.Fprintf(&stages, "stage s%d(item in /m%[1]d) { read %s  write /m%[1]d/{item}/text }\n", i, strings.ReplaceAll(read, "/m", fmt.Sprint("/m", i)))
		}
	}
	text := "contract own\nstate {\n" + state.String() + `}
type Item { id: string  text: string  beside: key of /m0  owner: secret string  notes: map of { by: secret string } }
region seen = /** except secrets
region hidden = (secrets, /m0)
` + stages.String() + "prove no stage reads secrets\n"
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	return out.Contract
}

func TestWhatAnExceptionNamesElsewhereIsNoPartOfAStage(t *testing.T) {
	for _, read := range []string{"/m/{item} except secrets", "seen & /m/{item}", "/m/{item} except hidden", "/m/{item} except (/**/owner, secrets)", "(/m/{item}/text, /m/{item}) except secrets"} {
		var sizes []int
		for _, n := range []int{20, 40} {
			c := stagesOfTheirOwn(t, n, "map of Item", read)
			sizes = append(sizes, len(ir.Encode(c)))
			require.Empty(t, certificate.Check(footprint.New(c).Certificate(), c), "no stage reads secrets, %s", read)
		}
		require.Less(t, sizes[1], sizes[0]*21/10, "%s", read)
	}
}

func TestAClaimAboutStagesThatShareNothingTakesStepsByTheirNumber(t *testing.T) {
	for _, container := range []string{"map of Item", "list of Item by id", "map of { text: string  in: list of Item by id  beside: key of /m0 }"} {
		for _, read := range []string{"/m/{item} except secrets", "seen & /m/{item}"} {
			var steps []int
			for _, n := range []int{20, 40} {
				m := footprint.Measured(stagesOfTheirOwn(t, n, container, read))
				before := m.Meter.Left()
				require.Equal(t, footprint.Proved{}, m.Decide(m.Contract.Claims[0], nil))
				steps = append(steps, before-m.Meter.Left())
			}
			require.Less(t, steps[1], steps[0]*22/10, "%s, %s", container, read)
		}
	}
}
