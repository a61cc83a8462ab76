package tree

import (
	"math/rand"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// rounds is n, or a tenth of it where time is short.
func rounds(n int) int {
	if testing.Short() || raceDetector {
		return n / 10
	}
	return n
}

func parsed(t testing.TB, text string) *Node {
	t.Helper()
	n, err := Parse([]byte(text), DefaultLimits)
	require.NoError(t, err, text)
	return n
}

func patchOf(t testing.TB, text string) Patch {
	t.Helper()
	p, problems := ParsePatch([]byte(text), DefaultPatchLimits)
	require.Empty(t, problems, text)
	return p
}

// scalars that collide with each other in value but not in spelling, and the reverse.
var scalarTexts = []string{`null`, `true`, `false`, `0`, `-0`, `1`, `1.0`, `10e-1`, `"1"`, `""`, `"a"`, `9007199254740993`, `9007199254740992`}

var names = []string{"a", "b", "0", "1", "", "-", "a/b", "m~n", "é"}

// randomNode draws a value of at most the given depth.
func randomNode(r *rand.Rand, depth int) *Node {
	switch k := r.Intn(6); {
	case depth == 0 || k < 2:
		n, err := Parse([]byte(scalarTexts[r.Intn(len(scalarTexts))]), DefaultLimits)
		if err != nil {
			panic(err)
		}
		return n
	case k < 4:
		elements := make([]*Node, r.Intn(4))
		for i := range elements {
			elements[i] = randomNode(r, depth-1)
		}
		return NewArray(elements)
	default:
		members := map[string]*Node{}
		for range r.Intn(4) {
			members[names[r.Intn(len(names))]] = randomNode(r, depth-1)
		}
		return NewObject(members)
	}
}

// wideObject has n members k0 to k(n-1), each an object of two members.
func wideObject(n int) *Node {
	members := make(map[string]*Node, n)
	for i := range n {
		members["k"+strconv.Itoa(i)] = smallEntry(i)
	}
	return NewObject(members)
}

func wideArray(n int) *Node {
	elements := make([]*Node, n)
	for i := range elements {
		elements[i] = smallEntry(i)
	}
	return NewArray(elements)
}

func smallEntry(i int) *Node {
	return NewObject(map[string]*Node{"n": NewInt(int64(i)), "s": NewString("entry")})
}

// rebuilt makes n again, from scratch and bottom up.
func rebuilt(n *Node) *Node {
	switch n.Kind() {
	case ir.Object:
		members := map[string]*Node{}
		for name, child := range n.Members() {
			members[name] = rebuilt(child)
		}
		return NewObject(members)
	case ir.Array:
		var elements []*Node
		for _, e := range n.Elements() {
			elements = append(elements, rebuilt(e))
		}
		return NewArray(elements).WithOrder(n.Order())
	default:
		return n
	}
}

// sameShape checks that two chunk trees remember equal things, and those of objects
// that they have equal chunks. Those of arrays depend on how they came to be; b must be
// a tree all the same.
func sameShape(t testing.TB, a, b *chunk) {
	t.Helper()
	require.Equal(t, a == nil, b == nil)
	if a == nil {
		return
	}
	if a.names == nil {
		require.Equal(t, a.summary, b.summary)
		require.Equal(t, a.count, b.count)
		balanced(t, b)
		return
	}
	require.Equal(t, a.summary, b.summary)
	require.Equal(t, a.names, b.names)
	require.Equal(t, []int{a.count, int(a.height), len(a.nodes), len(a.kids)},
		[]int{b.count, int(b.height), len(b.nodes), len(b.kids)})
	for i := range a.kids {
		sameShape(t, a.kids[i], b.kids[i])
	}
}

// balanced checks that the chunks of an array are full enough, and remember what they
// hold.
func balanced(t testing.TB, root *chunk) {
	t.Helper()
	height := 0
	for n := root.count; n > fullArray; n /= sparse {
		height++
	}
	require.LessOrEqual(t, int(root.height), height+1, "%d items", root.count)
	var visit func(c *chunk)
	visit = func(c *chunk) {
		require.Positive(t, c.width())
		require.LessOrEqual(t, c.width(), fullArray)
		again := c.run(false)
		again.nodes, again.kids = slices.Clone(again.nodes), slices.Clone(again.kids)
		fresh := again.chunk(0)
		require.Equal(t, fresh.summary, c.summary)
		require.Equal(t, fresh.count, c.count)
		for _, kid := range c.kids {
			require.Equal(t, c.height, kid.height+1)
			visit(kid)
		}
	}
	visit(root)
}

// chunksOf collects the chunks of n's own items.
func chunksOf(n *Node) map[*chunk]bool {
	all := map[*chunk]bool{}
	var visit func(c *chunk)
	visit = func(c *chunk) {
		all[c] = true
		for _, kid := range c.kids {
			visit(kid)
		}
	}
	if n.root != nil {
		visit(n.root)
	}
	return all
}
