package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// newTill is a contract with decimals.
func newTill(t testing.TB) *Env {
	e, err := New(tillContract(), Default())
	require.NoError(t, err)
	return e
}

func tillContract() *ir.Contract {
	tt := &typeTable{types: make([]ir.Type, 1)}
	amount, num, whole := tt.kind(ir.DecimalType), tt.kind(ir.NumberType), tt.kind(ir.IntType)
	state := tt.record("",
		member("a", amount), member("b", amount), member("c", amount), member("i", whole), member("n", num),
		optional("o", amount),
		member("nullable", tt.union(amount, tt.kind(ir.NullType))),
		member("either", tt.union(amount, whole)),
		member("text", tt.union(amount, tt.kind(ir.StringType))),
		member("list", tt.of(ir.ListType, amount)), member("map", tt.of(ir.MapType, amount)), member("set", tt.of(ir.SetType, amount)),
		member("any", tt.kind(ir.AnyType)),
	)
	over := pattern(key("map"), anyKey)
	return &ir.Contract{Types: tt.types, State: state, Measures: []ir.Measure{
		{Name: "total", Kind: ir.Sum, Over: over}, {Name: "least", Kind: ir.Min, Over: over},
	}}
}

// A term is an expression of decimals with its value.
type term struct {
	source string
	value  *big.Rat
	int    bool // it is an int: of two of them CEL makes an int
}

// drawTerm draws an expression over the numbers of a state.
func drawTerm(r *rand.Rand, state map[string]*big.Rat, depth int) term {
	if depth == 0 || r.Intn(5) == 0 {
		switch r.Intn(4) {
		case 0:
			return term{"state.i", state["i"], true}
		case 1:
			text := fewDecimals(r)
			v, _ := new(big.Rat).SetString(text)
			return term{`decimal("` + text + `")`, v, false}
		}
		name := []string{"a", "b", "c"}[r.Intn(3)]
		return term{"state." + name, state[name], false}
	}
	x, y := drawTerm(r, state, depth-1), drawTerm(r, state, depth-1)
	if literal := strings.TrimPrefix(fewDecimals(r), "-"); !x.int && r.Intn(3) == 0 && strings.Contains(literal, ".") {
		v, _ := new(big.Rat).SetString(literal)
		y = term{literal, v, false}
	}
	switch r.Intn(5) {
	case 0:
		return term{"(" + x.source + " + " + y.source + ")", new(big.Rat).Add(x.value, y.value), x.int && y.int}
	case 1:
		return term{"(" + x.source + " - " + y.source + ")", new(big.Rat).Sub(x.value, y.value), x.int && y.int}
	case 2:
		return term{"(" + x.source + " * " + y.source + ")", new(big.Rat).Mul(x.value, y.value), x.int && y.int}
	case 3:
		return term{"(-" + x.source + ")", new(big.Rat).Neg(x.value), x.int}
	}
	if x.int || y.int {
		return x
	}
	return term{"sum([" + x.source + ", " + y.source + ", state.a])", new(big.Rat).Add(new(big.Rat).Add(x.value, y.value), state["a"]), false}
}

func fewDecimals(r *rand.Rand) string {
	s := []string{"", "-"}[r.Intn(2)] + []string{"0", "1", "10", "12", "9007199254740993", "99999999999999999999"}[r.Intn(6)]
	return s + []string{"", ".0", ".5", ".50", ".1", ".2", ".3", ".012", ".30000000000000000000001"}[r.Intn(9)] + []string{"", "", "e2", "E-3"}[r.Intn(4)]
}

func TestDecimalsAreComputedAsRationalsAre(t *testing.T) {
	e := newTill(t)
	r := rand.New(rand.NewSource(1))
	outcomes := map[bool]int{}
	for range 250 {
		doc, values := map[string]any{"i": json.Number(fmt.Sprint(r.Intn(200) - 100))}, map[string]*big.Rat{}
		for _, name := range []string{"a", "b", "c"} {
			doc[name] = json.Number(fewDecimals(r))
		}
		for name, v := range doc {
			values[name], _ = new(big.Rat).SetString(string(v.(json.Number)))
		}
		x, y := drawTerm(r, values, 3), drawTerm(r, values, 1+r.Intn(2))
		if r.Intn(3) == 0 {
			text := x.value.FloatString(200)
			y = term{`decimal("` + strings.TrimRight(strings.TrimRight(text, "0"), ".") + `")`, x.value, false}
		}
		order := x.value.Cmp(y.value)
		for operator, want := range map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0, "==": order == 0, "!=": order != 0} {
			source := x.source + " " + operator + " " + y.source
			got, err := compile(t, e, source, stateScope).Eval(context.Background(), &Input{State: jsonValue{doc}})
			require.NoError(t, err, "%s of %v", source, doc)
			require.Equal(t, want, got, "%s of %v", source, doc)
			outcomes[got]++
		}
	}
	require.Greater(t, outcomes[true], 400)
	require.Greater(t, outcomes[false], 400)
}

func TestLiteralsBesideDecimalsAreTheDecimalsThatAreWritten(t *testing.T) {
	e := newTill(t)
	state := value(`{"a": 0.1, "b": 0.2, "c": 0.30, "i": 3, "n": 0.3, "nullable": null, "either": 1, "text": 0.5,
		"list": [0.10, 0.2], "map": {"x": 0.1, "y": 0.2}, "set": [0.1, 1e-7], "any": 0.3, "o": 12345678901234567890.12}`)
	measures := func(name string) (string, bool) { return "0.3", name == "total" }
	for _, source := range []string{
		`state.c == state.a + state.b`, `state.a + state.b == 0.3`, `0.3 == state.a + state.b`, `state.c <= 0.30 && state.c >= 0.300`,
		`state.a * 0.05 == 0.005`, `-0.05 + state.a == 0.05`, `state.a - - 0.05 == 0.15`, `.5 + state.a == 0.6`, `state.a * 3 == 0.3`, `3 * state.a == state.c`,
		`has(state.o) && state.o > 12345678901234567890.11 && state.o < 12345678901234567890.13`, `state.?o.orValue(0.0) - 12345678901234567890.12 == 0.0`,
		`state.i * state.a == state.c`, `state.i - state.a == 2.9`, `state.i > state.a`, `state.c in [0.1, 0.30]`, `state.a in state.list && state.a in state.set`,
		`sum(state.map) == total`, `sum(state.list) == 0.3`, `sum(state.list.map(x, x * 2)) == 0.6`, `state.list.map(x, x * 0.5).sum() == 0.15`,
		`sum(state.list.filter(x, x > 5)) == 0`, `total == state.c && total + 0.1 == 0.4`, `least.orValue(0.25) == 0.25`, `least.orValue(7) == 7`,
		`min(state.list).value() == 0.1 && max(state.list).orValue(0) == state.b`, `(state.i > 1 ? state.a : 0.0) == 0.1`, `(state.i > 5 ? state.a : 0) == 0`,
		`state.nullable == null || state.nullable > 1.5`, `state.either == 1 && state.either < 1.5`, `state.either + state.a == 1.1`,
		`state.list == [0.1, 0.20]`, `state.set == [0.0000001, 0.1]`, `[state.a, 0.2] == state.list`, `sum([state.a, 0.2, 1]) == 1.3`,
		`decimal(state.n) == state.c`, `decimal("0.30") == state.c`, `decimal(3) == state.i && decimal(state.a) == state.a`, `state.any == state.c && state.c == state.any`,
		`string(state.c) == "0.3" && string(state.a * 10) == "1"`, `double(state.a) == 0.1`, `int(state.a * 10) == 1`, `money.cents(state.a) && !money.cents(state.a * 0.01)`,
		`state.text == 0.5`, `dyn(state.a) + state.b == state.c && dyn(state.i) * state.a == state.c && -dyn(state.a) == -0.1 && dyn(3) - state.a == 2.9`, `dyn(3) - 1 == 2 && dyn(3) * 2 == 6 && -dyn(3) == -3 && dyn("a") + "b" == "ab"`,
		`state.any != state.list && dyn(state.a) != dyn("a") && dyn([state.a]) != dyn([null])`,
		`state.a * 1e-3 == 0.0001`, `state.a * 1e3 == 100`, `state.list.exists(x, x == 0.20)`, `cel.bind(f, 0.5, state.i > 1)`,
	} {
		got, err := compile(t, e, source, stateScope).Eval(context.Background(), &Input{State: state, Measure: measures})
		require.NoError(t, err, source)
		require.True(t, got, source)
	}
}

func TestADecimalDoesNotMixWithNumbersAndIsNotDivided(t *testing.T) {
	e := newTill(t)
	for source, help := range map[string]string{
		`state.a + state.n > 0`:                              "declare both as `decimal`",
		`state.n * state.a > 0`:                              "declare both as `decimal`",
		`state.a == state.n`:                                 "declare both as `decimal`",
		`state.n != state.a`:                                 "declare both as `decimal`",
		`state.a < state.n`:                                  "declare both as `decimal`",
		`0.5 * 2.0 * state.a > 0`:                            "declare both as `decimal`",
		`state.a in [state.n]`:                               "declare both as `decimal`",
		`sum([state.a, state.n]) > 0`:                        "declare both as `decimal`",
		`state.?o.orValue(state.n) > 1`:                      "declare both as `decimal`",
		`state.?o.orValue(state.i) > 1`:                      "`decimal(n)` makes a decimal of an int",
		`state.a / 3 > 1`:                                    "may have no end",
		`1.0 / state.a > 1.0`:                                "may have no end",
		`decimal("1,5") < state.a`:                           "as a number is in JSON",
		`state.n < 0.1234567890123456789012`:                 "as many digits as a double",
		`state.a < 1 && state.n > 0.12345678901234567890123`: "as many digits as a double",
	} {
		_, issues := e.Check(source, stateScope)
		require.True(t, HasErrors(issues), source)
		require.Contains(t, issues[0].Help, help, source)
	}
}

func TestTheDigitsOfADecimalThatIsComputedAreBounded(t *testing.T) {
	e := newTill(t)
	product := strings.TrimSuffix(strings.Repeat("state.a * ", 40), " * ")
	for literal, ends := range map[string]bool{"1.5": true, "1e1000": false, "1e-1000": false, strings.Repeat("7", 1000): false} {
		_, err := compile(t, e, product+" > 0", stateScope).Eval(context.Background(), &Input{State: value(`{"a": ` + literal + `}`)})
		if ends {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "4,096 digits")
	}
	sum := "state.a + state.b - 0.1 > 0" // a number of the state is within, however it is written
	got, err := compile(t, e, sum, stateScope).Eval(context.Background(), &Input{State: value(`{"a": ` + strings.Repeat("9", 1000) + `e1000, "b": ` + "0." + strings.Repeat("9", 1000) + `e-1000}`)})
	require.NoError(t, err)
	require.True(t, got)
}

func TestWritesOutsideTheFootprintOfDecimalsChangeNothing(t *testing.T) {
	e := newTill(t)
	var subjects []*subject
	for _, source := range []string{
		`state.a == state.b + state.c`, `state.a * 0.5 - state.i < 1`, `sum(state.list) > 2.5 || state.a in state.set`, `sum(state.map) <= state.a`,
		`state.?o.orValue(0.5) > state.either`, `state.list.exists(x, x * x > 4)`, `state.nullable == null || state.nullable < 2.5`,
		`state.text == 2.5 || state.text == "a"`, `state.set == [0.0, 2.5]`, `state.any == state.a`, `max(state.list).orValue(1.5) == -state.b + 4`,
		`state.map.exists(k, v, v == state.c)`, `dyn(state.text) + 1 > 2`, `decimal(state.n) == state.a`, `state.list[state.i] < 1.5`,
	} {
		subjects = append(subjects, newSubject(t, e, source, stateScope))
	}
	r := source{rand.New(rand.NewSource(3)), e.contract.Types, false}
	missed, changed := run(t, r, e.contract.State, subjects, rounds(480))
	require.Greater(t, missed, rounds(480)*len(subjects))
	require.Greater(t, changed, rounds(480)/2)
}
