package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
)

// auditOf runs an audit of a trace of one view, and gives what it prints from the view on.
func auditOf(t *testing.T, instance string, r trace.Record) []string {
	t.Helper()
	r.Kind, r.Contract, r.Time = trace.View, "sha256:c", time.Unix(0, 0)
	first, begun := trace.Start(instance).Seal(&trace.Record{Kind: trace.Create, Contract: r.Contract, Time: r.Time})
	line, _ := begun.Seal(&r)
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(name, fmt.Appendf(nil, "%s\n%s\n", first, line), 0o600))
	var out, errText bytes.Buffer
	require.Equal(t, exitFine, run(context.Background(), []string{"audit", name}, os.Stdin, &out, &errText), errText.String())
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")[1:]
}

func TestWhatAnActorChoseStandsInItsOwnRecordAsOneWord(t *testing.T) {
	for odd, want := range map[string]string{
		"bot":                   `bot`,
		"b\n    9  x  decision": `"b\n    9  x  decision"`,
		"\r\n\n":                `"\r\n\n"`,
		"b as admin":            `"b as admin"`,
		`"b"`:                   `"\"b\""`,
		`b\n`:                   `"b\\n"`,
		"b\u2028c":              `"b\u2028c"`,
		"b\u00a0c":              "\"b\u00a0c\"",
		"b\x1b[2J":              `"b\u001b[2J"`,
		"Zoë":                   `Zoë`,
	} {
		const begins = "    2  1970-01-01T00:00:00Z  view      "
		for what, c := range map[string]struct {
			record trace.Record
			want   string
		}{
			"role":     {trace.Record{Stage: "s", Role: odd}, "s as " + want},
			"argument": {trace.Record{Stage: "s", Args: map[string]string{"n": odd}, Role: "r"}, "s n=" + want + " as r"},
			"name":     {trace.Record{Stage: "s", Args: map[string]string{odd: "v"}, Role: "r"}, "s " + want + "=v as r"},
			"subject":  {trace.Record{Stage: "s", Role: "r", Principal: trace.Principal{Subject: odd}}, "s as r by " + want},
			"for whom": {trace.Record{Stage: "s", Principal: trace.Principal{Subject: "x", OnBehalf: odd}}, "s by x on behalf of " + want},
			"token":    {trace.Record{Stage: "s", Principal: trace.Principal{Token: odd}}, "s with " + want},
			"stage":    {trace.Record{Stage: odd}, want},
		} {
			lines := auditOf(t, "one", c.record)
			require.Equal(t, begins+c.want, lines[0], "%s %q", what, odd)
			require.Len(t, lines, 3, "%s %q", what, odd)
		}
		lines := auditOf(t, odd, trace.Record{})
		require.Equal(t, fmt.Sprintf("%s: 2 records, no commits; the chain holds", want), lines[1])
		require.Len(t, lines, 3)
	}
}
