package decimal_test

import (
	"math"
	"math/big"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/decimal"
)

func TestTheNumberGrammarIsThatOfJSON(t *testing.T) {
	grammar := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	letters := "-+01.eE"
	var try func(prefix string, n int)
	try = func(prefix string, n int) {
		require.Equal(t, grammar.MatchString(prefix), decimal.Valid(prefix), prefix)
		for i := 0; n > 0 && i < len(letters); i++ {
			try(prefix+letters[i:i+1], n-1)
		}
	}
	try("", 5)
	for _, bad := range []string{"", "NaN", "0x1", "01", " 1", "1 "} {
		require.False(t, decimal.Valid(bad), bad)
	}
}

func TestDecimalsCompareAsRationals(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	equal := 0
	for range 20_000 {
		a, b := fewDigits(random), fewDigits(random)
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		want := p.Cmp(q)
		x, y := decimal.Parse(a), decimal.Parse(b)
		require.Equal(t, want, x.Compare(y), "%s and %s", a, b)
		require.Equal(t, want == 0, x == y, "%s and %s", a, b)
		require.Equal(t, want == 0, string(x.Append(nil)) == string(y.Append(nil)), "%s and %s", a, b)
		require.Equal(t, p.Sign(), x.Sign(), a)
		i, whole := x.Int64()
		require.Equal(t, p.IsInt(), whole, a)
		if whole {
			require.Zero(t, p.Cmp(new(big.Rat).SetInt64(i)), a)
		}
		if want == 0 && a != b {
			equal++
		}
	}
	require.Greater(t, equal, 100)
}

// fewDigits draws from few digits, so that equal values meet in many spellings.
func fewDigits(r *rand.Rand) string {
	s := []string{"", "-"}[r.Intn(2)]
	s += []string{"0", "1", "10", "12", "100", "120"}[r.Intn(6)]
	s += []string{"", ".0", ".5", ".50", ".05", ".012"}[r.Intn(6)]
	return s + []string{"", "e0", "E1", "e+2", "e-1", "e-02"}[r.Intn(6)]
}

func TestAnEnormousExponentIsNotExpanded(t *testing.T) {
	a, b := decimal.Parse("1e999999999999999999999"), decimal.Parse("-1e-999999999999999999999")
	require.Equal(t, 1, a.Compare(b))
	require.Equal(t, decimal.Decimal{}, decimal.Parse("0e999999999999999999999"))
	_, whole := a.Int64()
	require.False(t, whole)
	require.Greater(t, decimal.Exponent("1e999999999999999999999"), int64(math.MaxInt32))
	require.EqualValues(t, -7, decimal.Exponent("1.5E-7"))
	require.Zero(t, decimal.Exponent("15"))
}

func TestSumsEqualThoseOfRationals(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 2000 {
		var sum decimal.Sum
		want := new(big.Rat)
		for range random.Intn(6) {
			literal := randomLiteral(random)
			sum = sum.Plus(decimal.SumOf(literal))
			r, ok := new(big.Rat).SetString(literal)
			require.True(t, ok)
			want.Add(want, r)
		}
		got, ok := new(big.Rat).SetString(sum.String())
		require.True(t, ok)
		require.Zero(t, want.Cmp(got))
		require.True(t, decimal.Valid(sum.String()))
	}
}

func randomLiteral(random *rand.Rand) string {
	signs, exponents := []string{"", "-"}, []string{"", "e2", "E-3", "e+1"}
	text := signs[random.Intn(2)] + big.NewInt(random.Int63()>>random.Intn(64)).String()
	if random.Intn(2) == 0 {
		text += "." + big.NewInt(int64(random.Intn(1000))).String()
	}
	return text + exponents[random.Intn(4)]
}

func TestProductsDifferencesAndOrderEqualThoseOfRationals(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 5000 {
		a, b := randomLiteral(random), randomLiteral(random)
		if random.Intn(4) == 0 {
			b = a
		}
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		x, y := decimal.SumOf(a), decimal.SumOf(b)
		same := func(want *big.Rat, got decimal.Sum) {
			t.Helper()
			r, ok := new(big.Rat).SetString(got.String())
			require.True(t, ok)
			require.Zero(t, want.Cmp(r), "%s and %s", a, b)
			require.Equal(t, want.Sign(), got.Sign())
			require.GreaterOrEqual(t, got.Digits(), len(strings.Trim(strings.Replace(got.String(), ".", "", 1), "-")))
		}
		same(new(big.Rat).Mul(p, q), x.Times(y))
		same(new(big.Rat).Mul(new(big.Rat).Mul(p, q), p), x.Times(y).Times(x))
		same(new(big.Rat).Sub(p, q), x.Plus(y.Negate()))
		require.Equal(t, p.Cmp(q), x.Compare(y), "%s and %s", a, b)
	}
	least := decimal.SumOfInt(math.MinInt64)
	require.Equal(t, "9223372036854775808", least.Negate().String())
	require.Equal(t, "9223372036854775808", least.Times(decimal.SumOfInt(-1)).String())
	require.Equal(t, "1"+strings.Repeat("0", 20), decimal.SumOf("1e10").Times(decimal.SumOf("1e10")).String())
}
