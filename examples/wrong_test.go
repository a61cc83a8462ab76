package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/lang/report"
)

// Beside each workflow stands a variant that is wrong on purpose, with what check
// says of it. POPTIC_UPDATE=1 writes the findings anew.
func TestTheWrongVariantsAreFoundOut(t *testing.T) {
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			out, err := compiler.Compile(t.Context(), compiler.Input{
				FS: os.DirFS(filepath.Join(name, "testdata")), Path: "wrong.poptic", Replay: replay.New(replay.Options{}),
			})
			require.NoError(t, err)
			require.NotEmpty(t, out.Diagnostics)
			var got bytes.Buffer
			require.NoError(t, report.Text(&got, out.Diagnostics, report.Options{}))
			golden := filepath.Join(name, "testdata", "wrong.txt")
			if os.Getenv("POPTIC_UPDATE") != "" {
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got.String())
		})
	}
}
