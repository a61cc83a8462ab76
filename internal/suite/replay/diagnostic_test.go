package replay_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/lang/report"
)

// The finding of a false claim names both stages, both clauses and the path, says
// where the orders part, and shows the run. POPTIC_UPDATE=1 rewrites the golden.
func TestTheFindingOfAFalseClaimShowsTheClausesAndTheRun(t *testing.T) {
	source, err := os.ReadFile("testdata/claims.poptic")
	require.NoError(t, err)
	out := compile(t, string(source), replay.New(replay.Options{}))
	var text bytes.Buffer
	require.NoError(t, report.Text(&text, out.Diagnostics, report.Options{}))
	const golden = "testdata/claims.golden"
	if os.Getenv("POPTIC_UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}
