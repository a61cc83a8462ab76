package spec_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

func TestTheLimitsAreThoseListed(t *testing.T) {
	chapter, err := os.ReadFile("language.md")
	require.NoError(t, err)
	source, expression := syntax.DefaultLimits, expr.Default()
	state, patch := tree.DefaultLimits, tree.DefaultPatchLimits
	for name, limit := range map[string]int{
		"bytes of a source file": source.FileSize,
		"brackets and type prefixes (`map of`, `secret`) open at once in a source file": source.Nesting,
		"declarations in a source file":                                        source.Declarations,
		"bytes of a path":                                                      source.PathLength,
		"bytes of a string":                                                    source.StringLength,
		"findings reported for one file":                                       source.Diagnostics,
		"bytes of an expression":                                               expression.MaxSource,
		"syntax nodes of an expression":                                        expression.MaxNodes,
		"levels of an expression":                                              expression.MaxNesting,
		"definitions within one another where they are used":                   expr.MaxDefinitionDepth,
		"steps of a compiled regular expression":                               expression.MaxRegexp,
		"bytes of a string that an expression builds":                          expression.MaxText,
		"cost of one evaluation":                                               int(expression.CostLimit),
		"cost of one rule, condition, guard or measure for one proposal":       int(verify.DefaultCostLimits.Rule),
		"search states of one decision about regions":                          region.DefaultBudget,
		"bytes of a state":                                                     state.MaxBytes,
		"levels of a state or patch":                                           state.MaxDepth,
		"values in a state":                                                    state.MaxNodes,
		"bytes of a patch":                                                     patch.MaxBytes,
		"operations of a patch":                                                patch.MaxOps,
		"values in a patch":                                                    patch.MaxNodes,
		"tokens of a pointer in a patch":                                       patch.MaxTokens,
		"bytes of a pointer in a patch":                                        patch.MaxPointerBytes,
		"tokens of all pointers in a patch":                                    patch.MaxPatchTokens,
		"violations that a reply lists":                                        verify.MaxViolations,
		"bytes of a path, message or hint in a reply":                          verify.MaxText,
		"bytes of a reply":                                                     verify.MaxReply,
		"bytes of a role, phase, key or text of a principal that a host gives": runtime.MaxGiven,
		"bytes of a number, and its exponent":                                  state.MaxNumberLength,
		"levels of a type":                                                     ir.MaxLevels,
		"places of a type":                                                     ir.MaxPlaces,
		"types of a contract with their members and alternatives":              ir.MaxTypeEntries,
		"members that the alternatives of unions have, where they meet":        expr.MaxMerged,
		"paths that the alternatives of one pattern multiply to":               check.MaxChoices,
		"secret places of a state type":                                        check.MaxSecrets,
		"patterns of a region":                                                 check.MaxRegion,
		"patterns of all regions of a contract":                                check.MaxRegions,
		"parameters of a stage":                                                check.MaxParams,
		"moves of a stage":                                                     check.MaxMoves,
		"declarations of imported libraries":                                   check.MaxImported,
		"steps of searches about the regions of a contract":                    footprint.MaxSteps,
		"gates that stages trigger":                                            check.MaxTriggered,
		"pairs of stages compared for one claim":                               footprint.MaxCompared,
		"runs made to refute the claims of a contract":                         replay.MaxTrials,
	} {
		require.Contains(t, string(chapter), fmt.Sprintf("\n| %s | %s |\n", name, grouped(limit)))
	}
	require.Contains(t, string(chapter), fmt.Sprintf("\n| cost of all those that the stage sees for one proposal; of all others | %s; as much |\n", grouped(int(verify.DefaultCostLimits.Proposal))))
	require.Equal(t, state.MaxDepth, patch.MaxDepth)
	require.Equal(t, state.MaxDepth, patch.MaxTokens)
	require.Equal(t, state.MaxNumberLength, state.MaxExponent)
}

// grouped writes a number with a comma after every three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
