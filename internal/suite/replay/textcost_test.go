package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/verify"
)

// textual is a contract whose stage sees the status that decides its rule, and not the
// texts that the rule looks at.
const textual = `contract textual sealed
state { t: { status: "open" | "done"  owner: string  other: string  tags: list of string }  x: int }
invariant rule { %s }
stage s { read /t/status, /x  write /t/status, /x  ensure { after.t.status == "done" } }
`

// A rule that certainly holds whatever hidden texts it reads might still end by its limit
// on long ones: then it is not for certain.
func TestARuleThatGoesThroughHiddenTextsIsNotHeldForCertain(t *testing.T) {
	owner, other := "state.t.owner", "state.t.other"
	for looks, certain := range map[string]bool{
		owner + ` == "me"`: true,
		owner + `.contains("x") || size(` + owner + `) > 7`:                                                 true,
		owner + `.matches("^(a|b)*$")`:                                                                      false,
		`(` + owner + ` + "x").matches("^(a|b)*$")`:                                                         false,
		owner + ` == "a" || ` + other + ` == "b" || ` + owner + ` == ` + other + ` || ` + other + ` == "c"`: false,
		owner + `.replace("a", "b").replace("b", "c").trim().lowerAscii().split(",") == ["a"]`:              false,
		`size(` + owner + `.split(",")) > 3`:                                                                false,
		`state.t.tags.join("") == ""`:                                                                       false,
		`state.t.tags == ["a"]`:                                                                             false,
		`"a" in state.t.tags`:                                                                               false,
		`dyn(` + owner + `) == "a"`:                                                                         false,
		`cel.bind(o, ` + owner + `, o == "")`:                                                               false,
	} {
		last := sealedOf(fmt.Sprintf(textual, looks+` || state.t.status == "done"`))
		require.Equal(t, certain, last.Contract != nil, "%s: %+v", looks, last.Diagnostics)
		// The other way round nothing is looked at once the status has decided.
		first := sealedOf(fmt.Sprintf(textual, `state.t.status == "done" || `+looks))
		require.NotNil(t, first.Contract, "%s: %+v", looks, first.Diagnostics)
		answersAlike(t, first, looks, 1_000)
		if certain {
			answersAlike(t, last, looks, verify.DefaultLimits().Expr.CostLimit)
		}
	}
	// A text that is one of a few is no longer than they are.
	many := strings.Repeat(`state.t.owner == "me" || `, 20) + `state.t.status == "done"`
	require.Nil(t, sealedOf(fmt.Sprintf(textual, many)).Contract)
	require.NotNil(t, sealedOf(strings.Replace(fmt.Sprintf(textual, many), "owner: string", `owner: "me" | "you"`, 1)).Contract)
}

func sealedOf(text string) compiler.Output {
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	return out
}

// answersAlike proposes the same on states whose hidden texts have other lengths.
func answersAlike(t *testing.T, c compiler.Output, looks string, most uint64) {
	limits := verify.DefaultLimits()
	limits.Expr.CostLimit = most
	p, err := verify.Load(c.Contract, limits)
	require.NoError(t, err)
	first := ""
	for _, length := range []int{0, 3, 1000, 1_000_000} {
		hidden := strings.Repeat("a", length)
		state, err := p.Import([]byte(fmt.Sprintf(`{"x":0,"t":{"status":"done","owner":%q,"other":%q,"tags":[%q]}}`, hidden, hidden, hidden)))
		require.NoError(t, err)
		out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1},
			verify.Proposal{Stage: "s", Patch: []byte(`[{"op":"replace","path":"/x","value":2},{"op":"replace","path":"/t/status","value":"done"}]`)})
		require.NoError(t, err)
		said := text(out.Actor())
		if first == "" {
			first = said
		}
		require.Equal(t, first, said, "%s, %d steps, %d bytes", looks, most, length)
	}
}
