package tree

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainNames are n names in order that make no landmark.
func plainNames(n int, prefix string) []string {
	out := make([]string, 0, n)
	for i := 0; len(out) < n; i++ {
		if name := prefix + fmt.Sprintf("%07d", i); landmark(name) == 0 {
			out = append(out, name)
		}
	}
	return out
}

func objectOf(names []string) *Node {
	members := map[string]*Node{}
	for _, name := range names {
		members[name] = once
	}
	return NewObject(members)
}

// landmarksAlone are names that are landmarks of exactly one level.
func landmarksAlone(n int) []string {
	var out []string
	for i := 0; len(out) < n; i++ {
		if name := fmt.Sprintf("%07d", i); landmark(name) == 1 {
			out = append(out, name)
		}
	}
	return out
}

// What an edit makes anew is counted, not timed.
func TestAnEditCostsTheSameHoweverTheNamesAreChosen(t *testing.T) {
	const few, n = 40, 8_000
	for what, names := range map[string][]string{
		"no landmarks": plainNames(n, ""), "long names": plainNames(n/4, strings.Repeat("k", 300)), "landmarks alone": landmarksAlone(n / 4),
	} {
		object := objectOf(names)
		for _, at := range []int{0, 1, len(names) / 3, len(names) - 1} {
			for _, after := range []*Node{object.Without(names[at]), object.With(names[at]+"~", once), object.With(names[at]+"!a", once).With(names[at]+"!b", once)} {
				old, fresh := chunksOf(object), 0
				for c := range chunksOf(after) {
					require.LessOrEqual(t, c.width(), fullKeyed)
					if !old[c] {
						fresh++
					}
				}
				require.LessOrEqual(t, fresh, few, "%s at %d", what, at)
				require.Equal(t, rebuiltObject(after).Digest(), after.Digest())
			}
			edited := object.With(names[at]+"!", once).Without(names[at])
			sameAsBuilt(t, edited, rebuiltObject(edited))
		}
	}
}

func rebuiltObject(n *Node) *Node {
	members := map[string]*Node{}
	for name, child := range n.Members() {
		members[name] = child
	}
	return NewObject(members)
}

func TestTheChunksOfAnObjectFollowFromItsMembersAlone(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for _, prefix := range []string{"", "a/very/long/way/to/", "\x00"} {
		plain, any := plainNames(900, prefix), []string{}
		for i := range 900 {
			any = append(any, prefix+fmt.Sprintf("%07dx", i*3))
		}
		for range rounds(10) {
			n, members := NewObject(nil), map[string]*Node{}
			edit := func(name string) {
				if members[name] == nil {
					members[name], n = once, n.With(name, once)
				} else {
					delete(members, name)
					n = n.Without(name)
				}
			}
			order := slices.Clone(plain)
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for i, name := range order {
				edit(name)
				if r.Intn(9) == 0 {
					edit(any[r.Intn(len(any))])
				}
				if r.Intn(9) == 0 {
					edit(plain[r.Intn(len(plain))])
				}
				if i%97 == 0 || n.Len() > 125 && n.Len() < 135 {
					sameAsBuilt(t, n, NewObject(members))
				}
			}
			for n.Len() > 0 {
				edit(n.root.nameAt(r.Intn(n.Len())))
				if n.Len()%31 == 0 {
					sameAsBuilt(t, n, NewObject(members))
				}
			}
		}
	}
}

func (c *chunk) nameAt(i int) string {
	for c.height > 0 {
		var k int
		k, i = c.kidAt(i)
		c = c.kids[k]
	}
	return c.names[i]
}

func TestAStretchIsCutNeitherTooOftenNorTooSeldom(t *testing.T) {
	for what, names := range map[string][]string{
		"counted": plainNames(2000, ""), "long": plainNames(500, strings.Repeat("é", 5000)), "each begins the next": nested(1500),
	} {
		ends := make([]bool, len(names))
		cutStretch(names, ends)
		last := -1
		for i, end := range ends {
			if !end {
				require.LessOrEqual(t, i-last, 16, what)
				continue
			}
			require.GreaterOrEqual(t, i-last, 2, what)
			last = i
		}
	}
}

// nested are names of which each is the beginning of the next.
func nested(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Repeat("x", i+1)
	}
	return out
}
