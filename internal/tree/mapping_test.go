package tree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// shown leaves out some members, empties some elements, changes others.
func shown(name string, child *Node) Image {
	i, _ := child.Get("n").Int64()
	switch {
	case i%7 == 3 && name != "":
		return Image{}
	case i%7 == 3:
		return Image{Node: NewNull(), Hidden: []region.Word{{}}}
	case i%5 == 1:
		return Image{Node: child.Without("s"), Hidden: []region.Word{{region.Key("s")}}}
	default:
		return Image{Node: child}
	}
}

// shownFromScratch is the image as a plain loop makes it.
func shownFromScratch(n *Node, item func(string, *Node) Image) Image {
	var out Image
	note := func(l region.Letter, image Image) {
		for _, w := range image.Hidden {
			out.Hidden = append(out.Hidden, append(region.Word{l}, w...))
		}
	}
	if n.Kind() == ir.Object {
		members := map[string]*Node{}
		for name, child := range n.Members() {
			image := item(name, child)
			members[name] = image.Node
			note(region.Key(name), image)
		}
		out.Node = NewObject(members)
		return out
	}
	var elements []*Node
	for i, child := range n.Elements() {
		image := item("", child)
		elements = append(elements, image.Node)
		note(region.Index(i), image)
	}
	out.Node = NewArray(elements).WithOrder(n.Order())
	return out
}

func TestTheImageOfAVersionIsTheImageFromScratch(t *testing.T) {
	items := []func(string, *Node) Image{
		shown,
		func(_ string, child *Node) Image { return Image{Node: child.Get("n")} },
		func(_ string, child *Node) Image { return Image{Node: child} },
	}
	keys := []*identity{new(identity), new(identity), new(identity)}
	eachVersion(rounds(300), func(n *Node) {
		for i, item := range items {
			got, want := n.Map(keys[i], item), shownFromScratch(n, item)
			require.Equal(t, want.Node.String(), got.Node.String())
			require.Equal(t, want.Hidden, got.Hidden)
			require.Equal(t, want.Node.Digest(), got.Node.Digest())
			require.Equal(t, n.Order(), got.Node.Order())
			if got.Node.root != nil {
				sameShape(t, rebuilt(got.Node).root, got.Node.root)
			}
		}
	})
}

func TestAnImageIsMadeAgainOnlyOfWhatAnEditTouched(t *testing.T) {
	n, key, asked := wideObject(20_000), new(identity), 0
	item := func(_ string, child *Node) Image { asked++; return Image{Node: child.Without("s")} }
	first := n.Map(key, item).Node
	require.Same(t, first, n.Map(key, item).Node)
	asked = 0
	second := n.With("k777", smallEntry(1)).Map(key, item).Node
	require.LessOrEqual(t, asked, fullKeyed)
	renewed := 0
	for name, child := range second.Members() {
		if first.Get(name) != child {
			renewed++
		}
	}
	require.LessOrEqual(t, renewed, fullKeyed)
}

func TestWhatChangesNothingIsTheContainerItself(t *testing.T) {
	for _, n := range []*Node{wideObject(500), wideArray(500), emptyObject, wideArray(5)} {
		require.Same(t, n, n.Map(new(identity), func(_ string, child *Node) Image { return Image{Node: child} }).Node)
	}
}

func TestRememberedEncodingsAreTheEncodings(t *testing.T) {
	nested := NewObject(map[string]*Node{"set": wideArray(100).WithOrder(SetOrder), "list": wideArray(90)})
	require.Equal(t, string(AppendJSON(nil, nested)), string(AppendRemembered(nil, nested)))
	eachVersion(rounds(300), func(n *Node) {
		outer := nested.With("x", n)
		require.Equal(t, string(AppendJSON(nil, outer)), string(AppendRemembered(nil, outer)))
		if n.Kind() == ir.Array {
			set := n.WithOrder(SetOrder)
			require.Equal(t, string(AppendJSON(nil, set)), string(AppendRemembered(nil, set)))
		}
	})
}

func TestTheNextVersionIsEncodedFromRememberedBytes(t *testing.T) {
	n := wideObject(20_000)
	AppendRemembered(nil, n)
	next := n.With("k777", smallEntry(1))
	leaves, unknown := 0, 0
	for c := range chunksOf(next) {
		if c.height > 0 {
			continue
		}
		leaves++
		if _, ok := c.memos.get(encodedItems); !ok {
			unknown++
		}
	}
	require.Greater(t, leaves, 100)
	require.Equal(t, 1, unknown)
}
