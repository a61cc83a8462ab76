package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

func TestARuleThatGoesThroughAWholeContainerIsRemarkedUpon(t *testing.T) {
	for rule, want := range map[string]string{
		`{ state.tickets.exists(k, state.tickets[k].status == "open") || total > 0 }`: "goes through all of /tickets",
		`{ state.tickets.all(k, t, state.items.exists(i, i == t.customer)) }`:         "goes through all of /items",
		`{ state.tickets.all(k, t, t.status != "solved" || has(t.reply)) }`:           "",
		`each t in /tickets/* { t.status != "solved" || has(t.reply) }`:               "",
	} {
		said := ""
		for _, d := range compile(with(t, "invariant replied", "invariant replied "+rule)).Diagnostics {
			if d.Code == "whole_state_rule" {
				require.Equal(t, source.Info, d.Severity)
				said = d.Message
			}
		}
		if want == "" {
			require.Empty(t, said, rule)
		}
		require.Contains(t, said, want, rule)
	}
}
