package tree

import (
	"math/rand"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABagCounts(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	want := map[string]int{}
	var bag *Bag
	require.False(t, bag.Repeats())
	require.Zero(t, bag.Count("x"))
	for range rounds(20_000) {
		key := "\xff" + strconv.Itoa(r.Intn(300)) // keys need not be text
		by := 1 - 2*r.Intn(2)
		bag = bag.Add(key, by)
		if want[key] += by; want[key] <= 0 {
			delete(want, key)
		}
		require.Equal(t, want[key], bag.Count(key))
	}
	repeats := false
	for key, count := range want {
		require.Equal(t, count, bag.Count(key))
		repeats = repeats || count > 1
	}
	require.Equal(t, repeats, bag.Repeats())
	require.True(t, NewBag(want).Equal(bag))
	require.False(t, NewBag(want).Equal(bag.Add("one more", 1)))
	for key, count := range want {
		bag = bag.Add(key, 1-count)
	}
	require.False(t, bag.Repeats())
}

func TestWhatChangedIsTheDifferenceAsMultisets(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	count := func(n *Node) map[string]int {
		out := map[string]int{}
		for _, child := range itemsOf(n) {
			out[child.String()]++
		}
		return out
	}
	from := []*Node{wideObject(100), wideArray(100), wideArray(100).WithOrder(SetOrder), emptyArray, NewInt(1), nil}
	for range rounds(2000) {
		a := from[r.Intn(len(from))]
		b := from[r.Intn(len(from))]
		if r.Intn(3) > 0 {
			b = a
		}
		for range r.Intn(4) {
			if b != nil && b.Depth() > 0 {
				b = edited(r, b)
			}
		}
		got := count(a)
		calls := 0
		ChangedItems(a, b, func(was, is *Node) bool {
			calls++
			if was != nil {
				got[was.String()]--
			}
			if is != nil {
				got[is.String()]++
			}
			return true
		})
		for key, n := range got {
			if n == 0 {
				delete(got, key)
			}
		}
		require.Equal(t, count(b), got)
		if a == b {
			require.Zero(t, calls)
		}
	}
}

func TestSharedChunksAreNotComparedAgain(t *testing.T) {
	for _, pair := range [][2]*Node{
		{wideArray(20_000), nil}, {wideObject(20_000), nil},
	} {
		a := pair[0]
		b := edited(rand.New(rand.NewSource(1)), a)
		calls := 0
		ChangedItems(a, b, func(_, _ *Node) bool { calls++; return true })
		require.LessOrEqual(t, calls, 1)
	}
}
