package spell

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestFindsWhatWasMeant(t *testing.T) {
	words := []string{"read", "write", "source", "require", "in", "by"}
	for name, want := range map[string]string{
		"red": "read", "raed": "read", "reads": "read", "wirte": "write", "sourse": "source", "requires": "require", "": "",
		"frobnicate": "", "read": "", "xyz": "",
	} {
		require.Equal(t, want, Nearest(name, words), name)
	}
}

func TestEditDistanceIsSymmetricAndCountsASwapOnce(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "kitten", "sitting"}
	for _, a := range words {
		for _, b := range words {
			require.Equal(t, editDistance(a, b, 100), editDistance(b, a, 100))
		}
	}
	require.Equal(t, 1, editDistance("ab", "ba", 100))
	require.Equal(t, 3, editDistance("kitten", "sitting", 100))
	require.Equal(t, 2, editDistance("kitten", "sitting", 2))
}
