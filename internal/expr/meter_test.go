package expr

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stepsOf is how many steps an evaluation takes.
func stepsOf(t *testing.T, d *desk, src string, state string) int64 {
	for limit := uint64(1); ; limit *= 2 {
		e, err := New(d.contract, Limits{CostLimit: limit})
		require.NoError(t, err)
		p := compile(t, e, src, stateScope)
		if _, err = p.Eval(context.Background(), &Input{State: value(state)}); err == nil {
			return int64(limit)
		}
		var failure *EvalError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, CostExceeded, failure.Code, src)
	}
}

// A text that a loop has in hand is not read anew at every turn, but every turn goes
// through it.
func TestEveryCallCountsTheTextsItGoesThrough(t *testing.T) {
	const turns, length = 200, 100_000
	d := newDesk(t)
	state := fmt.Sprintf(`{"extra":%q,"orders":[%s]}`, strings.Repeat("a b", length/3), strings.TrimSuffix(strings.Repeat(`{"id":"a","price":1,"count":1},`, turns), ","))
	for _, call := range []string{
		`t.contains("zz")`, `size(t) < 0`, `t.split("zz") == ["q"]`, `t.matches("^(a|b)*z$")`, `t + "x" == "y"`, `t.replace("zz", "y") == ""`,
		`t.indexOf("zz") > 0`, `t.substring(0, 1) == "q"`, `t.trim() == ""`, `t.lowerAscii() == ""`, `[t].join(",") == ""`, `text.words(t) == 0`, `t.startsWith("q")`,
		`t == "q" + t`, `t in ["q"]`, `string(t) == ""`, `pii.email(t)`, `dyn(t) == "x"`, `t < "A"`,
	} {
		src := `cel.bind(t, string(state.extra), state.orders.all(o, !(` + call + `)))`
		require.Greater(t, stepsOf(t, d, src, state), int64(turns*length/textStep/2), call)
	}
}

// Nothing that is counted is computed twice.
func TestAMatchWithinAMatchIsComputedOnce(t *testing.T) {
	src := `""`
	for range 45 {
		src = `(` + src + `.matches("a") ? "a" : "")`
	}
	d := newDesk(t)
	require.Equal(t, "true", outcomeOf(compile(t, d.env, src+` == ""`, stateScope).Eval(context.Background(), &Input{State: value(`{}`)})))
}

// What an expression splits, and computes of long decimals, counts by the work.
func TestSplittingAndLongDecimalsCount(t *testing.T) {
	const turns, length = 100, 50_000
	d := newDesk(t)
	state := fmt.Sprintf(`{"extra":%q,"orders":[%s]}`, strings.Repeat("a", length), strings.TrimSuffix(strings.Repeat(`{"id":"a","price":1,"count":1},`, turns), ","))
	src := `cel.bind(t, string(state.extra), state.orders.all(o, t.split("").size() > 0))`
	require.Greater(t, stepsOf(t, d, src, state), int64(turns*length/splitStep/2), src)

	till := &desk{contract: tillContract()}
	for _, src := range []string{`state.a * state.c < state.b || true`, `state.a + state.c == state.b || true`, `state.a < state.b || true`, `[state.a, state.c].exists(x, x == state.b) || true`} {
		long := strings.Repeat("7", 1000)
		require.Less(t, stepsOf(t, till, src, `{"a":1,"b":2,"c":3}`), int64(100), src)
		require.Greater(t, stepsOf(t, till, src, `{"a":`+long+`,"b":`+long+`1,"c":`+long+`}`), int64(150), src)
	}
}
