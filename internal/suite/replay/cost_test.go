package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

// What an evaluation costs is a function of what the rule reads, as its value is: else
// the limit on it would tell what is hidden (spec/semantics.md section 6.2).

// cost is a contract whose stage sees all that its rule reads, but for a text in the
// entries of a bag.
const cost = `contract cost sealed
state { x: int  big: list of int  bag: %s of { n: int  s: string  sub: %s of { n: int  s: string } } }
invariant rule { %s }
stage s { read /x, /big, /bag/*/n, /bag/*/sub/*/n  write /x }
`

func TestWhatIsHiddenDoesNotDecideWhetherARuleIsTooCostly(t *testing.T) {
	for _, bag := range []string{"log", "set"} {
		for _, rule := range []string{
			`state.bag.exists(e, e.n == 1 || state.big.exists(b, b > 9 + state.x))`,
			`!state.bag.all(e, e.n != 1 && !state.big.exists(b, b > 9 + state.x))`,
			`state.bag.filter(e, e.n < 9).exists(f, f.n == 1 || state.big.exists(b, b > 9 + state.x))`,
			`state.bag.all(e, e.n > 0 || e.sub.exists(i, i.n == 1 || state.big.exists(b, b > 9 + state.x)))`,
			`(state.x > 5 ? state.bag : state.bag).exists(e, e.n == 1 || state.big.exists(b, b > 9 + state.x))`,
			`cel.bind(all, state.bag, all.exists(e, e.n == 1 || state.big.exists(b, b > 9 + state.x)))`,
		} {
			c := compile(t, fmt.Sprintf(cost, bag, bag, rule), nil)
			require.NotNil(t, c.Contract, "%s: %+v", rule, c.Diagnostics)
			met := map[verify.Code]bool{}
			for most := uint64(20); most < 700; most += 9 {
				limits := verify.DefaultLimits()
				limits.Expr.CostLimit = most
				p, err := verify.Load(c.Contract, limits)
				require.NoError(t, err)
				first := ""
				for _, texts := range [][]any{{"a", "b", "c", "d", "e", "f"}, {"u", "v", "w", "x", "y", "z"}, {"k", "b", "k", "d", "m", "f"}, {"p", "q", "r", "d", "e", "z"}} {
					state, err := p.Import([]byte(fmt.Sprintf(`{"x":0,"big":[`+strings.Repeat("1,", 19)+`1],
"bag":[{"n":0,"s":%q,"sub":[{"n":1,"s":%q},{"n":0,"s":%q}]},{"n":1,"s":%q,"sub":[]},{"n":2,"s":%q,"sub":[{"n":2,"s":%q}]}]}`, texts...)))
					require.NoError(t, err)
					out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1},
						verify.Proposal{Stage: "s", Patch: []byte(`[{"op":"replace","path":"/x","value":2}]`)})
					require.NoError(t, err)
					said := text(out.Actor())
					for _, v := range out.Verdict.Violations {
						met[v.Code] = true
					}
					if first == "" {
						first = said
					}
					require.Equal(t, first, said, "%s, %d steps", rule, most)
				}
			}
			require.True(t, met[verify.LimitExceeded], rule)
		}
	}
}
