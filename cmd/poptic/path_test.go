package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler/region"
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
	} {
		require.Equal(t, want, authored(region.MustParse(compiled)), compiled)
	}
}

func TestPatternsThatDifferInTheLastNameAreJoined(t *testing.T) {
	require.Equal(t, []string{"/t/{p}/(a|b|c)", "/t/{p}/*", "/x", "/**"}, authoredAll([]region.Pattern{
		region.MustParse("/:t/{p}/:a"), region.MustParse("/:t/{p}/:b"), region.MustParse("/:t/{p}/:*"),
		region.MustParse("/:x"), region.MustParse("/:t/{p}/:c"), region.MustParse(""),
	}))
}
