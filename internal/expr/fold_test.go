package expr

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// foldContract has numbers in every container.
func foldContract() *ir.Contract {
	tt := &typeTable{types: make([]ir.Type, 1)}
	whole, num, str := tt.kind(ir.IntType), tt.kind(ir.NumberType), tt.kind(ir.StringType)
	line := tt.record("Line", member("id", str), member("qty", whole), member("price", num), optional("off", whole))
	state := tt.record("",
		member("ints", tt.of(ir.ListType, whole)), member("nums", tt.of(ir.ListType, num)),
		member("set", tt.of(ir.SetType, whole)), member("log", tt.of(ir.LogType, num)), member("entries", tt.of(ir.LogType, line)),
		member("stock", tt.of(ir.MapType, whole)), member("lines", tt.of(ir.ListType, line)),
		member("keyed", tt.add(ir.Type{Kind: ir.KeyedType, Elem: line, KeyField: "id"})),
		member("extra", tt.kind(ir.AnyType)),
	)
	return &ir.Contract{Types: tt.types, State: state}
}

const foldSample = `{
	"ints": [3, 1, 2], "nums": [0.1, 0.2, 9007199254740993], "set": [5, 4], "log": [0.1, 0.2], "stock": {"a": 7, "b": -2},
	"lines": [{"id": "x", "qty": 2, "price": 1.5}, {"id": "y", "qty": 3, "price": 0.1, "off": 4}],
	"entries": [{"id": "x", "qty": 2, "price": 1.5}, {"id": "y", "qty": 3, "price": 0.1}],
	"keyed": {"x": {"id": "x", "qty": 2, "price": 1.5}, "y": {"id": "y", "qty": 3, "price": 0.1}},
	"extra": [1, 2.5, 9223372036854775808]
}`

func TestFoldsAreExact(t *testing.T) {
	e, err := New(foldContract(), Default())
	require.NoError(t, err)
	for _, src := range []string{
		`sum(state.ints) == 6 && state.ints.sum() + 1 == 7`,
		`sum(state.lines.map(l, l.qty * 2)) == 10`,
		`sum(state.keyed.map(k, state.keyed[k].qty)) == 5 && sum(state.keyed.transformList(k, l, l.price)) == 1.6`,
		`sum(state.entries.filter(l, l.qty > 2).map(l, l.qty)) == 3 && sum(state.log) == 0.3`,
		`sum(state.set) == 9 && sum(state.stock) == 5`,
		`sum(state.nums.filter(n, n < 1.0)) == 0.3 && 0.1 + 0.2 != 0.3`,
		`state.log.sum() == 0.3 && state.nums.filter(n, n > 1e300).sum() == 0.0`,
		`sum(state.nums) > 9007199254740993 && sum(state.nums) < 9007199254740994`,
		`sum(state.lines.filter(l, has(l.off)).map(l, l.off)) == 4`,
		`sum(state.ints.filter(n, n > 9)) == 0 && sum(state.nums.filter(n, n < 0.0)) + 1.5 == 1.5`,
		`sum(state.ints.map(n, double(n))) / 4.0 == 1.5`,
		`max(state.ints).value() == 3 && min(state.ints).value() == 1 && state.stock.min().orValue(0) == -2`,
		`!max(state.ints.filter(n, n > 9)).hasValue() && min(state.log).orValue(1.0) == 0.1`,
		`max(state.nums).value() == 9007199254740993`,
		`sum([9223372036854775807, 1, -1]) == 9223372036854775807`,
		`sum(state.extra.filter(x, x < 3)) == 3.5 && max(state.extra).value() > 9223372036854775807`,
		`sum([]) == 0 && sum({"a": 1, "b": 2}) == 3 && max([1, 5]).value() == 5`,
	} {
		got, err := compile(t, e, src, stateScope).Eval(context.Background(), &Input{State: value(foldSample)})
		require.NoError(t, err, src)
		require.True(t, got, src)
	}
}

func TestAFoldWithoutAValueIsAnErrorThatOperatorsMayAbsorb(t *testing.T) {
	e, err := New(foldContract(), Default())
	require.NoError(t, err)
	for src, message := range map[string]string{
		`sum([9223372036854775807, 1]) > 0`:                                  "an int is out of range",
		`sum(state.ints.map(n, n * 3074457345618258602)) > 0`:                "an int is out of range",
		`sum(state.nums.map(n, n < 1.0 ? n / 0.0 : 1.0)) > 0.0`:              "a number that is added up has no value",
		`max(state.nums.map(n, n < 1.0 ? 0.0 / 0.0 : 1.0)).hasValue()`:       "a number that is compared has no value",
		`sum(dyn(["a", 1])) == 1`:                                            "an operator or function does not take values of these kinds",
		`sum(state.extra.map(x, x == 2.5 ? dyn("a") : dyn(x))) == 1`:         "an operator or function does not take values of these kinds",
		`sum(dyn(state.lines)) == 1`:                                         "an operator or function does not take values of these kinds",
		`max(state.ints.filter(n, n > 9)).value() == 1`:                      "an optional that the expression opens is empty",
		`sum(dyn(1)) == 1`:                                                   "an operator or function does not take values of these kinds",
		`sum(dyn([1.0 / 0.0, "a"])) == 1 || sum(dyn(["a", 1.0 / 0.0])) == 1`: "an operator or function does not take values of these kinds",
	} {
		_, err := compile(t, e, src, stateScope).Eval(context.Background(), &Input{State: value(foldSample)})
		var failed *EvalError
		require.ErrorAs(t, err, &failed, src)
		require.Equal(t, EvalError{EvaluationError, message}, *failed, src)
		got, err := compile(t, e, "("+src+") || true", stateScope).Eval(context.Background(), &Input{State: value(foldSample)})
		require.NoError(t, err, src)
		require.True(t, got, src)
	}
}

func TestAFoldReadsWhatItAddsUp(t *testing.T) {
	e, err := New(foldContract(), Default())
	require.NoError(t, err)
	checkReads(t, e, stateScope, []reads{
		{`sum(state.ints) == 1`, `/:ints`},
		{`state.stock.max().orValue(0) == 1`, `/:stock`},
		{`sum(state.lines.map(l, l.qty * 2)) == 1`, `/:lines! /:lines/[*]/:qty`},
		{`sum(state.entries.filter(l, l.qty > 1).map(l, l.price)) < 2.0`, `/:entries! /:entries/[*]! /:entries/[*]/:price /:entries/[*]/:qty`},
		{`min(state.keyed.transformList(k, l, l.price)).hasValue()`, `/:keyed! /:keyed/:*! /:keyed/:*/:price`},
		{`sum(state.extra) == 1`, `/:extra`},
	})
}

func TestWhatCannotBeFoldedIsExplained(t *testing.T) {
	e, err := New(foldContract(), Default())
	require.NoError(t, err)
	checkMistakes(t, e, stateScope, []mistake{
		{`«sum(state.lines)» == 1`, OperandTypes, "`sum` does not take list of record Line", ""},
		{`«sum(state.ints[0])» == 1`, OperandTypes, "`sum` does not take int", ""},
		{`«max(1, 2)» == 2`, OperandTypes, "`max` does not take int and int", ""},
		{`«sum()» == 1`, OperandTypes, "`sum` needs an argument", ""},
		{`«sum(state.lines.map(l, l.id))» == 1`, OperandTypes, "`sum` does not take list of string", ""},
		{`«state.lines.max()».hasValue()`, OperandTypes, "`max` does not take list of record Line", ""},
		{`state.ints.«smu»() == 1`, UnknownFunction, "there is no function `smu`", "state.ints.sum() == 1"},
	})
}

// Every number that is added up is a step, also of a list that the expression has made
// before a loop.
func TestAFoldCountsWhatItGoesThrough(t *testing.T) {
	const n = 300
	d := newDesk(t)
	state := fmt.Sprintf(`{"orders":[%s]}`, strings.TrimSuffix(strings.Repeat(`{"id":"a","price":1,"count":1},`, n), ","))
	for _, call := range []string{`sum(l) < 0`, `max(l).orValue(1) < 0`, `o.count + 1 in l`, `l == l.map(x, x + 1)`} {
		src := `cel.bind(l, state.orders.map(o, o.count), state.orders.all(o, !(` + call + `)))`
		require.Greater(t, stepsOf(t, d, src, state), int64(n*n/2), call)
	}
}
