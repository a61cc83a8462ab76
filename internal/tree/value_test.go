package tree

import (
	"strings"
	"testing"

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
