package expr

import (
	"context"
	"math/big"
	"math/rand"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/stretchr/testify/require"
)

func TestAnIntAndADoubleAreOrderedAsTheirExactValues(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	near := []int64{0, 1 << 53, -(1 << 53), 1<<63 - 1, -1 << 63, 1 << 62, 5}
	for range rounds(100_000) {
		i := near[r.Intn(len(near))] + int64(r.Intn(7)) - 3
		f := float64(near[r.Intn(len(near))]) + float64(r.Intn(7)-3)/2
		got, ok := compareIntFloat(i, f)
		require.True(t, ok)
		want := new(big.Float).SetInt64(i).Cmp(big.NewFloat(f))
		if got != want {
			require.Equal(t, want, got, "%d and %v", i, f)
		}
		if same := new(big.Float).SetInt64(i).Cmp(big.NewFloat(f)) == 0; same != (doubleText(f) == big.NewInt(i).String()) {
			require.Fail(t, "texts differ", "%d and %v", i, f)
		}
	}
}

func TestAnIntMayBeWrittenAsADecimal(t *testing.T) {
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "1.0": 1, "-2.50e1": -25, "1e2": 100, "12300E-2": 123, "0.0e5": 0, "0e-999": 0,
		"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63, "9223372036854775807.0": 1<<63 - 1, "922337203685477580.7e1": 1<<63 - 1,
	} {
		require.Equal(t, types.Int(want), intValue(literal), literal)
	}
	for _, literal := range []string{"1.5", "1e-1", "9223372036854775808", "1e19", "1e999999999", "0.1e0"} {
		require.True(t, types.IsError(intValue(literal)), literal)
	}
}

func TestANumberBeyondTheDoublesKeepsItsValue(t *testing.T) {
	for _, literal := range []string{"1e400", "-1e400", "1e-400", "-1e-400", "3e-324", "1.1e-323", "0.1e-330", "1e-1024", "1.5e309", "0.00001e-320", "1e23", "100000000000000000000000", "1e308"} {
		exact, ok := new(big.Rat).SetString(literal)
		require.True(t, ok)
		require.Equal(t, wide{exact}, numberValue(literal), literal)
	}
	for literal, want := range map[string]float64{
		"0": 0, "0.0": 0, "0e400": 0, "0e-400": 0, "0.1": 0.1, "5e-324": 5e-324, "1e-323": 1e-323, "2.2250738585072014e-308": 0x1p-1022, "1e22": 1e22, "1e-300": 1e-300,
	} {
		require.Equal(t, types.Double(want), numberValue(literal), literal)
	}
}

func TestNumbersThatNoDoubleHoldsCompareExactlyAndAreNoDoubles(t *testing.T) {
	d := newDesk(t)
	for literal, outcomes := range map[string]map[string]string{
		"738529527931269425": {
			`state.extra != 738529527931269425`:                                                     "false",
			`state.budget != 738529527931269425`:                                                    "false",
			`state.budget == 738529527931269424`:                                                    "false",
			`state.extra == 738529527931269376.0`:                                                   "false",
			`state.budget > 738529527931269424 && state.budget < 738529527931269426`:                "true",
			`state.extra >= state.budget && state.extra == state.budget`:                            "true",
			`state.extra in [738529527931269425]`:                                                   "true",
			`[state.extra] == [738529527931269425]`:                                                 "true",
			`int(state.extra) == 738529527931269425`:                                                "true",
			`state.extra == "a" || "a" == state.extra || state.extra == null || state.extra == [1]`: "false",
			`state.extra in ["a", 1]`:                                                               "false",
			`{"a": state.extra} == {"a": 738529527931269425}`:                                       "true",
			`type(state.extra) == double`:                                                           "true",
			`state.budget < 1e300 && state.budget > -1.0 / 0.0`:                                     "true",
			`state.budget + 1.0 > 0.0`:                                                              "no value",
			`-state.budget < 0.0`:                                                                   "no value",
			`money.cents(state.budget)`:                                                             "no value",
			`double(state.budget) == 738529527931269425 && double(state.extra) == state.budget`:     "true",
			`string(state.budget) == "738529527931269425" && dyn(state.budget) == state.extra`:      "true",
			`-state.budget > 0.0 || true`:                                                           "true",
			`state.limit > 0 || state.budget + 1.0 > 0.0`:                                           "no value",
			`!(-state.extra > 0.0 && false)`:                                                        "true",
			`[state.budget].exists(x, x * 2.0 > 0.0) || true`:                                       "true",
			`[state.budget, state.budget].all(x, x / 2.0 > 0.0 || x > 3)`:                           "true",
			`state.budget - state.budget == 0.0 ? false : true`:                                     "no value",
			`optional.ofNonZeroValue(state.budget).hasValue()`:                                      "true",
		},
		"738529527931269400":     {`state.extra == 738529527931269400`: "true", `state.budget != 738529527931269400`: "false"},
		"7.38529527931269425e17": {`state.extra == 738529527931269425`: "true"},
		"9223372036854775808":    {`state.budget > 9223372036854775807`: "true", `state.budget + 1.0 > 0.0`: "true"},
		"12345678901234567890":   {`state.budget > 9223372036854775807`: "true", `int(state.budget) > 0`: "no value"},
		"0.10000000000000000001": {`state.budget == 0.1`: "false", `state.budget > 0.1`: "true", `state.extra != 0.1`: "true", `string(state.extra) == "0.10000000000000000001"`: "true"},
		"-12.500000000000000000050": {
			`string(state.budget) == "-12.50000000000000000005" && string(double(state.extra)) == string(state.budget)`: "true",
		},
		"1.25000000000000000000000000000000000000000001e3": {`string(state.budget) == "1250.00000000000000000000000000000000000000001"`: "true"},
		"1e-400": {
			`state.budget == 0`: "false", `state.budget > 0`: "true", `state.extra == 0.0`: "false", `state.extra in [0]`: "false", `state.budget < 5e-324`: "true",
			`1.0 / state.budget > 0.0`: "no value", `string(state.budget) == "0"`: "false", `size(string(state.budget)) == 402`: "true", `[state.extra] == [0]`: "false", `int(state.extra) == 0`: "no value",
		},
		"-3e-324":              {`state.budget < 0`: "true", `state.extra == -5e-324`: "false", `state.budget > -5e-324`: "true"},
		"1e400":                {`state.budget > 1e308`: "true", `state.extra > 0`: "true", `state.budget < 1.0 / 0.0`: "true", `size(string(state.budget)) == 401`: "true", `state.budget * 0.0 == 0.0`: "no value"},
		"-1e400":               {`state.budget <= 1000`: "true", `state.extra > -1.0 / 0.0`: "true"},
		"1152921504606846976":  {`state.budget + 1.0 > 0.0`: "true", `state.budget == 1152921504606846976`: "true"},
		"0.1000000000000000":   {`state.budget == 0.1 && state.budget + 0.2 > 0.3`: "true"},
		"2.500000000000000000": {`state.budget == 2.5`: "true"},
	} {
		for src, want := range outcomes {
			in := &Input{State: value(`{"extra":` + literal + `,"budget":` + literal + `}`)}
			require.Equal(t, want, outcomeOf(compile(t, d.env, src, stateScope).Eval(context.Background(), in)), "%s of %s", src, literal)
		}
	}
}
