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

// mapsAndStages is a contract of n maps, each with secrets and a stage of its own that
// reads as given.
func mapsAndStages(n int, read string) string {
	var b strings.Builder
	b.WriteString("contract maps\ntype Item { text: string  owner: secret string  notes: map of { by: secret string } }\nregion seen = /** except secrets\nregion hidden = (secrets, /m0)\nstate {\n")
	for i := range n {
		fmt.Fprintf(&b, "  m%d: map of Item\n", i)
	}
	b.WriteString("}\n")
	for i := range n {
		fmt.Fprintf(&b, "stage s%d(item in /m%d) {\n  read %s\n  write /m%[2]d/{item}/text\n}\n", i+1, i+1, strings.ReplaceAll(read, "/m", fmt.Sprint("/m", i+1)))
	}
	return strings.Replace(b.String(), "}\nstage", fmt.Sprintf("  m%d: map of Item\n}\nprove no stage reads secrets\nstage", n), 1)
}

func TestWhatAnExceptionNamesElsewhereIsNoPartOfAStage(t *testing.T) {
	for _, read := range []string{"/m/{item} except secrets", "seen & /m/{item}", "/m/{item} except hidden", "/m/{item} except (/**/owner, secrets)", "(/m/{item}/text, /m/{item}) except secrets"} {
		var sizes []int
		for _, n := range []int{20, 40} {
			text := mapsAndStages(n, read)
			out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
			require.NoError(t, err)
			require.NotNil(t, out.Contract, "%v", out.Diagnostics)
			sizes = append(sizes, len(ir.Encode(out.Contract)))
			require.Empty(t, certificate.Check(footprint.New(out.Contract).Certificate(), out.Contract), "no stage reads secrets, %s", read)
		}
		require.Less(t, sizes[1], sizes[0]*21/10, "%s", read)
	}
}
