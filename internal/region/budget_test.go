package region

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// scattered is a union of k patterns /**/ai/**/bi: its subsets grow as 2^k.
func scattered(k int) *Set {
	var texts []string
	for i := range k {
		texts = append(texts, fmt.Sprintf("/**/a%d/**/b%d", i, i))
	}
	return SetOf(texts...)
}

func TestASearchBeyondItsBudgetIsUnknownAndSaysSo(t *testing.T) {
	every := SetOf("/**/q/**/r")
	got := Within(every, scattered(12), Plain, Plain, Options{Budget: 100})
	require.Equal(t, No, got.Verdict, "a short witness needs no large budget")

	a := Compile(Union(scattered(12).regionForTest(), Of("/zz")))
	got = Equal(a, Compile(Union(Of("/zz"), scattered(12).regionForTest())), Plain, Options{Budget: 100})
	require.Equal(t, Unknown, got.Verdict)
	require.Nil(t, got.Witness)
	require.Contains(t, got.Why, fmt.Sprint(got.States))
	require.Greater(t, got.States, 100)
}

func TestTheNumberOfSearchStatesIsTheSameEveryTime(t *testing.T) {
	states := map[int]bool{}
	for range 5 {
		states[Equal(scattered(5), scattered(5), Plain, Options{}).States] = true
	}
	require.Len(t, states, 1)
}

func TestLivenessBeyondTheBudgetCountsAsDead(t *testing.T) {
	texts := []string{"/**/end"}
	for i := range 13 {
		texts = append(texts, fmt.Sprintf("/**/a%d", i))
	}
	needed := SetOf("/**/a0")
	for i := 1; i < 18; i++ {
		needed = IntersectSets(needed, SetOf(fmt.Sprintf("/**/a%d", i)))
	}
	c := needed.Start(nil)
	require.False(t, c.Live())
	require.False(t, c.Live(), "the shortest word has 18 letters, and 2^18 subsets lie before it")
	require.True(t, SetOf(texts...).Start(nil).Live())
}

func TestWitnessesUseAReadableKeyThatNoPatternNames(t *testing.T) {
	require.Equal(t, "/a/x", Within(SetOf("/a/*"), SetOf("/a/k"), Plain, Plain, Options{}).Witness.Pointer())
	require.Equal(t, "/a/k1", Within(SetOf("/a/:*"), SetOf("/a/x", "/a/y", "/a/z"), Plain, Plain, Options{}).Witness.Pointer())
	require.Equal(t, "/a/1", Within(SetOf("/a/[*]"), SetOf("/a/[0]"), Plain, Plain, Options{}).Witness.Pointer())
	require.Equal(t, Word{}, Overlap(SetOf(""), SetOf(""), Plain, Interior, Options{}).Witness)
}
