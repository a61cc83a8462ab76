package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

const grown = `contract grown
state { k: string  s: set of int  t: set of { a: int }  l: log of int  m: map of { s: set of int } }
stage set { read /s  write /s/- }
stage records { read /t  write /t/- }
stage say { write /l/- }
stage deep(p in /m) { read /m/{p}  write /m/{p}/s/- }
`

// The view has a place for each element of a set or log that it shows, and none of one
// that it does not show.
func TestAnExceptionHidesHowManyElementsThereAreOnlyWhereItLeavesNothing(t *testing.T) {
	for _, x := range []struct{ read, other, help string }{
		{"(/s/* except /s/*), /k", "set", ""},
		{"(/s/* except /**), /k", "set", ""},
		{"(/l/* except /l/*), /k", "say", ""},
		{"(/t/*/a except /t/*), /k", "records", ""},
		{"(/t/* except (/t/*/a, /t/*)), /k", "records", ""},
		{"(/m/*/s/* except /m/*/s/*), /k", "deep", ""},
		{"(/s except /s/*), /k", "set", "keep /s as a whole out of the `read` of see"},
		{"(/t except /t/*), /k", "records", "keep /t as a whole out of the `read` of see"},
		{"(/l except /l/*), /k", "say", "keep /l as a whole out of the `read` of see"},
		{"(/s/* except /s/*), /s, /k", "set", "see sees /s"},
	} {
		out := compile(t, grown+"stage see { read "+x.read+"  write /k }\nprove see commutes with "+x.other+"\n", replay.New(replay.Options{}))
		if x.help == "" {
			require.NotContains(t, codesOf(out), "claim_", x.read)
			require.Empty(t, certificate.Check(footprint.New(out.Contract).Certificate(), out.Contract), x.read)
			continue
		}
		require.Contains(t, codesOf(out), "claim_", x.read)
		for _, d := range out.Diagnostics {
			if d.Code == "claim_refuted" || d.Code == "claim_unknown" {
				require.Contains(t, d.Help, x.help, x.read)
			}
		}
	}
}
