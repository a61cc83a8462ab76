package verify

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

// Few targets are looked through, many are found by a tree; both say the same.
func TestWhatWroteAPlaceIsTheSameForFewTargetsAndForMany(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	letters := []region.Letter{region.Key("a"), region.Key("b"), region.Index(0), region.Index(1)}
	word := func(fresh bool) region.Word {
		w := region.Word{}
		for range r.Intn(4) {
			w = append(w, letters[r.Intn(len(letters))])
		}
		if fresh && r.Intn(4) == 0 {
			w = append(w, region.Fresh("-"))
		}
		return w
	}
	for range 2000 {
		var few targetSet
		many := targetSet{trie: &targetTrie{}}
		for i := range r.Intn(12) {
			w := word(true)
			few.add(w, i)
			many.add(w, i)
		}
		require.Nil(t, few.trie)
		require.Equal(t, few.outermost(), many.outermost())
		for range 20 {
			w := word(false)
			require.Equal(t, few.over(w), many.over(w))
			require.Equal(t, few.writer(w), many.writer(w), "%v in %v", w, few.few)
		}
	}
	var both targetSet
	for i := range 3 * fewTargets {
		both.add(region.Word{region.Index(i % 20)}, i)
	}
	require.NotNil(t, both.trie)
	require.Len(t, both.outermost(), 20)
	require.Equal(t, 3*fewTargets, both.over(region.Word{region.Index((3*fewTargets - 1) % 20), region.Key("x")}))
}
