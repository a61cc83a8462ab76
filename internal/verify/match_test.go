package verify

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

// matchesSlowly goes through every split of a word.
func matchesSlowly(segments []region.Segment, w region.Word) bool {
	switch {
	case len(segments) == 0:
		return len(w) == 0
	case segments[0].Kind == region.AnyDepth:
		return matchesSlowly(segments[1:], w) || len(w) > 0 && matchesSlowly(segments, w[1:])
	default:
		return len(w) > 0 && segments[0].Matches(w[0]) && matchesSlowly(segments[1:], w[1:])
	}
}

func TestAPatternMatchesAsGoingThroughEverySplitSays(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	pieces := []string{"a", "b", "*", "**", "**", "[0]", ":*"}
	for range 20_000 {
		var pattern strings.Builder
		for range r.Intn(7) {
			pattern.WriteString("/" + pieces[r.Intn(len(pieces))])
		}
		var w region.Word
		for range r.Intn(8) {
			w = append(w, []region.Letter{region.Key("a"), region.Key("b"), region.Index(0), region.Fresh("-")}[r.Intn(4)])
		}
		p := region.MustParse(pattern.String())
		require.Equal(t, matchesSlowly(p.Segments, w), matchesWord(p.Segments, w), "%s on %s", pattern.String(), w.Pointer())
	}
}

func TestMatchingALongWordTakesNoSplits(t *testing.T) {
	p := region.MustParse(strings.Repeat("/**/a", 20) + "/b")
	w := make(region.Word, 512)
	for i := range w {
		w[i] = region.Key("a")
	}
	require.False(t, matchesWord(p.Segments, w))
	require.True(t, matchesWord(p.Segments, append(w, region.Key("b"))))
}
