package tree

import (
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

func TestANodeReadsAsTheValueExpressionsSee(t *testing.T) {
	var v ir.Value = parsed(t, `{"b":[10,"x",true],"a":null}`)
	require.Equal(t, ir.Object, v.Kind())
	require.Equal(t, 2, v.Len())
	require.Equal(t, ir.Null, v.Member("a").Kind())
	b := v.Member("b")
	require.Equal(t, "10", b.Element(0).Text())
	require.Equal(t, "x", b.Element(1).Text())
	require.True(t, b.Element(2).Bool())
	var seen []string
	v.EachMember(func(name string, child ir.Value) bool { seen = append(seen, name+child.Kind().String()); return true })
	b.EachElement(func(i int, child ir.Value) bool { seen = append(seen, child.Kind().String()); return i < 1 })
	require.Equal(t, []string{"anull", "barray", "number", "string"}, seen)
}

// A nil *Node in an interface would not be nil: absence must be a nil interface.
func TestWhatIsAbsentIsANilValue(t *testing.T) {
	v := parsed(t, `{"a":[1]}`)
	require.True(t, v.Member("b") == nil)
	require.True(t, v.Element(0) == nil)
	require.True(t, v.Member("a").Element(1) == nil)
	require.True(t, v.Member("a").Member("0") == nil)
}

func TestAnAbsentNodeHoldsNothing(t *testing.T) {
	var n *Node
	require.Equal(t, []int{0, 0, 0, 0}, []int{n.Len(), n.Weight(), n.Size(), n.Depth()})
	require.Equal(t, "", n.Text())
	require.False(t, n.Bool())
	require.Equal(t, ListOrder, n.Order())
	require.Nil(t, n.WithOrder(SetOrder))
	for range n.Members() {
		t.Fatal("a member")
	}
	n.EachElement(func(int, ir.Value) bool { t.Fatal("an element"); return true })
	require.True(t, Equal(nil, n))
	require.False(t, Equal(n, NewNull()))
}

func TestIterationStopsWhenToldToInWideContainersToo(t *testing.T) {
	count := 0
	for name := range wideObject(1000).Members() {
		if count++; name == "k108" {
			break
		}
	}
	require.Equal(t, 12, count) // k0 k1 k10 k100 to k108
	for i := range wideArray(1000).Elements() {
		if count = i; i == 500 {
			break
		}
	}
	require.Equal(t, 500, count)
}

func TestEqualTellsWideContainersApartWithAndWithoutDigests(t *testing.T) {
	for _, digested := range []bool{false, true} {
		a, b := wideObject(1000), wideObject(1000)
		other := b.With("k500", once)
		renamed := b.Without("k500").With("k500x", smallEntry(500))
		if digested {
			for _, n := range []*Node{a, b, other, renamed} {
				n.Digest()
			}
		}
		require.True(t, Equal(a, b))
		require.False(t, Equal(a, other))
		require.False(t, Equal(a, renamed))
	}
}

func TestAScalarIsOnlyEqualToItself(t *testing.T) {
	for i, a := range scalarTexts {
		for j, b := range scalarTexts {
			if i != j && !Equal(parsed(t, a), parsed(t, b)) {
				require.NotEqual(t, parsed(t, a).Digest(), parsed(t, b).Digest(), "%s %s", a, b)
			}
		}
	}
	require.False(t, Equal(NewBool(true), NewBool(false)))
	require.Equal(t, 0.0, NewString("1").Float64())
}

func TestSortedElementsDoNotDependOnWhereTheyStand(t *testing.T) {
	sorted := func(text string, order Order) string {
		n := parsed(t, text).WithOrder(order)
		var out []string
		n.EachSorted(func(v ir.Value) bool {
			out = append(out, string(AppendJSON(nil, v.(*Node))))
			return len(out) < 4
		})
		return strings.Join(out, " ")
	}
	want := sorted(`[3,"a",{"x":[1]},null,2]`, SetOrder)
	require.Equal(t, want, sorted(`[null,{"x":[1]},2,3,"a"]`, LogOrder))
	require.Equal(t, want, sorted(`["a",2,3,null,{"x":[1]}]`, ListOrder))
}

// randomLiteral draws from few digits, so that equal values meet in many spellings.
func randomLiteral(r *rand.Rand) string {
	s := []string{"", "-"}[r.Intn(2)]
	s += []string{"0", "1", "10", "12", "100", "120"}[r.Intn(6)]
	s += []string{"", ".0", ".5", ".50", ".05", ".012"}[r.Intn(6)]
	return s + []string{"", "e0", "E1", "e+2", "e-1", "e-02"}[r.Intn(6)]
}

func TestNumbersCompareAsExactRationals(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	equal := 0
	for range rounds(100_000) {
		a, b := randomLiteral(r), randomLiteral(r)
		x, y := numberNode(a), numberNode(b)
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		want := p.Cmp(q)
		if CompareNumbers(x, y) != want || Equal(x, y) != (want == 0) || (x.Digest() == y.Digest()) != (want == 0) {
			require.Fail(t, "comparison", "%s and %s", a, b)
		}
		if want == 0 && a != b {
			equal++
		}
	}
	require.Greater(t, equal, rounds(100_000)/200)
}

func TestLargeIntegersAreNotRounded(t *testing.T) {
	require.False(t, Equal(numberNode("9007199254740993"), numberNode("9007199254740992")))
	require.True(t, Equal(numberNode("9007199254740993"), numberNode("9007199254740993.0")))
}

func TestAnEnormousExponentCostsNothingToCompare(t *testing.T) {
	start := time.Now()
	a, b := numberNode("1e999999999"), numberNode("1e999999998")
	require.Equal(t, 1, CompareNumbers(a, b))
	require.False(t, IsInt64(a))
	require.True(t, Equal(numberNode("0e999999999999999999999"), numberNode("0")))
	require.Equal(t, 1, CompareNumbers(a, numberNode("1e-99999999999999999999")))
	require.Less(t, time.Since(start), time.Second)
}

func TestInt64IsRecognisedInAnySpelling(t *testing.T) {
	good := map[string]int64{
		"0": 0, "-0.0": 0, "1.0": 1, "1e3": 1000, "120e-1": 12, "-5": -5, "0e5": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9.223372036854775807e18": math.MaxInt64,
	}
	for literal, want := range good {
		got, ok := numberNode(literal).Int64()
		require.True(t, ok, literal)
		require.Equal(t, want, got, literal)
	}
	for _, literal := range []string{"1.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e-1", "12e-1"} {
		require.False(t, IsInt64(numberNode(literal)), literal)
	}
	require.False(t, IsInt64(NewString("1")))
	require.False(t, IsInt64(nil))
}

func TestFloat64IsTheNearestDouble(t *testing.T) {
	require.Equal(t, 0.1, numberNode("0.1").Float64())
	require.Equal(t, math.Inf(1), numberNode("1e1000").Float64())
	require.False(t, math.Signbit(numberNode("-0.0").Float64()))
}

func TestNoNumberIsMadeOfWhatIsNone(t *testing.T) {
	for _, bad := range []string{"", "NaN", "0x1", "01", " 1", "1 "} {
		_, err := NewNumber(bad)
		require.Error(t, err, bad)
	}
}

func TestANumberKeepsItsLiteralButNotTheSignOfZero(t *testing.T) {
	for literal, want := range map[string]string{"1.50": "1.50", "1E2": "1E2", "-0": "0", "-0.0e5": "0.0e5", "-0.1": "-0.1"} {
		n, err := NewNumber(literal)
		require.NoError(t, err)
		require.Equal(t, want, n.Text())
		require.Equal(t, want, parsed(t, literal).String())
	}
}

func TestNewNumberKeepsTheLimits(t *testing.T) {
	for literal, fits := range map[string]bool{"1e1024": true, "1e-1024": true, "1e1025": false, "1E+1025": false, "1e-1025": false, "-1.5e-2000000": false} {
		_, err := NewNumber(literal)
		require.Equal(t, fits, err == nil, literal)
		_, err = Parse([]byte(literal), DefaultLimits)
		require.Equal(t, fits, err == nil, literal)
	}
	_, err := NewNumber("1e2000000")
	require.ErrorContains(t, err, "exponent")
	_, err = NewNumber(strings.Repeat("1", 2000))
	require.ErrorContains(t, err, "longer")
}
