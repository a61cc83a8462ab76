package tree_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/tree"
)

func TestMappedContainersEqualThoseBuiltFromScratch(t *testing.T) {
	for _, size := range []int{0, 1, 31, 33, 5000} {
		members, kept := map[string]*tree.Node{}, map[string]*tree.Node{}
		var elements, doubled []*tree.Node
		for i := range size {
			name, n := "k"+strconv.Itoa(i), tree.NewInt(int64(i))
			members[name] = n
			if i%3 != 0 {
				kept[name] = n
			}
			elements, doubled = append(elements, n), append(doubled, tree.NewInt(int64(2*i)))
		}
		object := tree.NewObject(members).MapMembers(func(name string, child *tree.Node) *tree.Node { return kept[name] })
		require.Equal(t, tree.NewObject(kept).String(), object.String())
		require.Equal(t, tree.NewObject(kept).Digest(), object.Digest())
		array := tree.NewArray(elements).WithOrder(tree.LogOrder).MapElements(func(i int, _ *tree.Node) *tree.Node { return doubled[i] })
		require.Equal(t, tree.LogOrder, map[bool]tree.Order{true: array.Order(), false: tree.LogOrder}[size > 0])
		require.Equal(t, tree.NewArray(doubled).String(), array.String())
	}
}

func TestMappingThatChangesNothingReturnsTheVeryNode(t *testing.T) {
	object := tree.NewObject(map[string]*tree.Node{"a": tree.NewNull()})
	require.Same(t, object, object.MapMembers(func(_ string, child *tree.Node) *tree.Node { return child }))
	array := tree.NewArray([]*tree.Node{tree.NewNull()})
	require.Same(t, array, array.MapElements(func(_ int, child *tree.Node) *tree.Node { return child }))
}
