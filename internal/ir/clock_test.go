package ir

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhateverJudgesAStageByTheClockMakesItAskTheClock(t *testing.T) {
	clocked := Expr{Source: "now > x", Inputs: []string{NowInput}}
	plain := Contract{Stages: []Stage{{Name: "s"}}}
	require.False(t, plain.AsksClock("s"))
	for name, c := range map[string]Contract{
		"ensure":  {Stages: []Stage{{Name: "s", Ensure: []Expr{clocked}}}},
		"require": {Stages: []Stage{{Name: "s", Require: []Expr{clocked}}}},
		"where":   {Stages: []Stage{{Name: "s", Params: []Param{{Name: "p", Where: &clocked}}}}},
		"change":  {Stages: []Stage{{Name: "s"}}, Invariants: []Invariant{{Name: "r", Expr: &clocked}}},
	} {
		require.True(t, c.AsksClock("s"), name)
		require.False(t, c.AsksClock("t"), name)
	}
}
