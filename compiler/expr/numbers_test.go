package expr

import (
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

func TestANumberThatOverflowsIsAnError(t *testing.T) {
	require.True(t, types.IsError(doubleValue("1e400")))
	require.Equal(t, types.Double(0.1), doubleValue("0.1"))
}
