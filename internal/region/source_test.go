package region

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompiledPatternsAreWrittenAsAnAuthorWould(t *testing.T) {
	for compiled, want := range map[string]string{
		"":                       "/**",
		"/:tickets/:*/:status!":  "/tickets/*/status",
		"/:tickets/{ticket}":     "/tickets/{ticket}",
		"/:list/[*]/[3]":         "/list/*/3",
		"/:refunds/{@1}/:amount": "/refunds/*/amount",
		"/:history/-":            "/history/-",
		`/:a~1b/:"*"`:            `/a~1b/"*"`,
		`/:"a,b"/:""/[*]`:        `/"a,b"/""/*`,
	} {
		require.Equal(t, want, MustParse(compiled).Source(), compiled)
	}
}

func TestKeysWithSpaceOrControlCharactersAreQuoted(t *testing.T) {
	for key, want := range map[string]string{"a\x1bb": `"a\u001bb"`, "a\u00a0b": "\"a\u00a0b\"", "a\rb": `"a\rb"`, "日本": "日本"} {
		require.Equal(t, want, Segment{Kind: KeyLiteral, Text: key}.Source())
	}
}
