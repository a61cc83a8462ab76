package tree

import (
	"math/rand"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// edited makes a random edit of a container of small entries.
func edited(r *rand.Rand, n *Node) *Node {
	child := smallEntry(r.Intn(50))
	if n.Kind() == ir.Object {
		name := "k" + strconv.Itoa(r.Intn(400))
		if r.Intn(3) == 0 {
			return n.Without(name)
		}
		return n.With(name, child)
	}
	switch i := r.Intn(n.Len() + 1); {
	case r.Intn(3) > 0 && i < n.Len():
		return n.SetAt(i, child)
	case r.Intn(2) == 0 && i < n.Len():
		return n.DeleteAt(i)
	default:
		return n.InsertAt(i, child)
	}
}

// eachVersion calls check for the versions that many random edits make.
func eachVersion(edits int, check func(n *Node)) {
	r := rand.New(rand.NewSource(11))
	for _, n := range []*Node{wideObject(150), wideArray(150), wideArray(150).WithOrder(LogOrder), emptyObject, emptyArray} {
		for range edits {
			n = edited(r, n)
			check(n)
		}
	}
}

// spelled is a fold whose merge depends on the order of the items.
var spelled = NewFold(func(a, b string) string { return a + b })

func spelling(name string, child *Node) (string, bool) {
	return name + "=" + child.Get("n").Text() + ";", true
}

func spelledFromScratch(n *Node) string {
	var b strings.Builder
	for _, items := range [][]*Node{itemsOf(n)} {
		for i, child := range items {
			text, _ := spelling(nameOf(n, i), child)
			b.WriteString(text)
		}
	}
	return b.String()
}

func itemsOf(n *Node) (items []*Node) {
	n.eachItem(func(child *Node) bool { items = append(items, child); return true })
	return items
}

func nameOf(n *Node, i int) string {
	names := []string{}
	for name := range n.Members() {
		names = append(names, name)
	}
	if i < len(names) {
		return names[i]
	}
	return ""
}

func TestTheFoldOfAVersionIsTheFoldFromScratch(t *testing.T) {
	eachVersion(rounds(600), func(n *Node) {
		got, lasting := spelled.Of(n, spelling)
		require.Equal(t, spelledFromScratch(n), got)
		require.True(t, lasting)
	})
}

func TestAFoldAsksAgainOnlyAboutWhatAnEditTouched(t *testing.T) {
	for _, n := range []*Node{wideObject(20_000), wideArray(20_000)} {
		asked, merged := 0, 0
		count := NewFold(func(a, b int) int { merged++; return a + b })
		item := func(string, *Node) (int, bool) { asked++; return 1, true }
		count.Of(n, item)
		require.Equal(t, 20_000, asked)
		for range 50 {
			asked, merged = 0, 0
			if n.Kind() == ir.Object {
				n = n.With("k777", smallEntry(asked))
			} else {
				n = n.SetAt(777, smallEntry(asked))
			}
			all, _ := count.Of(n, item)
			require.Equal(t, 20_000, all)
			require.LessOrEqual(t, asked, fullKeyed)
			require.LessOrEqual(t, merged, 4*fullKeyed)
		}
	}
}

func TestWhatMayNotLastIsAskedAgain(t *testing.T) {
	n, asked := wideObject(1000), 0
	fold := NewFold(func(a, b int) int { return a + b })
	item := func(name string, _ *Node) (int, bool) { asked++; return 1, name != "k5" }
	_, lasting := fold.Of(n, item)
	require.False(t, lasting)
	asked = 0
	fold.Of(n, item)
	require.Positive(t, asked)
	require.Less(t, asked, 2*fullKeyed)
}

func TestTwoFoldsOfOneContainerAreToldApart(t *testing.T) {
	n := wideObject(300)
	for i := range 3 * maxMemos {
		fold := NewFold(func(a, b int) int { return a + b })
		for range 2 {
			got, _ := fold.Of(n, func(string, *Node) (int, bool) { return i, true })
			require.Equal(t, 300*i, got)
		}
	}
}

func TestManyGoroutinesFoldOneContainer(t *testing.T) {
	n := wideObject(2000)
	want := spelledFromScratch(n)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got, _ := spelled.Of(n, spelling); got != want {
				t.Error("another fold")
			}
		})
	}
	group.Wait()
}

// Everything that can be remembered is remembered of every version; only the last
// version is kept.
func TestWhatIsRememberedKeepsNoDeadVersionAlive(t *testing.T) {
	bags, key := NewMemo[*Bag](), new(identity)
	derive := func(n, before *Node) {
		spelled.Of(n, spelling)
		n.Digest()
		AppendRemembered(nil, n)
		n.Map(key, func(_ string, child *Node) Image { return Image{Node: child.Without("s")} })
		bag, _ := bags.Get(before)
		ChangedItems(before, n, func(was, is *Node) bool {
			bag = bag.Add(is.digestKey(), 1).Add(was.digestKey(), -1)
			return true
		})
		bags.Put(n, bag)
	}
	for _, start := range []func() *Node{
		func() *Node { return wideObject(3000) }, func() *Node { return wideArray(3000) },
		func() *Node { return wideArray(3000).WithOrder(SetOrder) },
	} {
		n := start()
		bags.Put(n, NewBag(map[string]int{"other": 1}))
		var dead []weak.Pointer[chunk]
		for i := range 100 {
			var next *Node
			if n.Kind() == ir.Object {
				next = n.With("k"+strconv.Itoa(i), smallEntry(-i))
			} else {
				next = n.SetAt(i, smallEntry(-i))
			}
			derive(next, n)
			dead = append(dead, weak.Make(n.root))
			n = next
		}
		runtime.GC()
		for i, root := range dead {
			require.True(t, root.Value() == nil, "version %d lives", i)
		}
		runtime.KeepAlive(n)
	}
}

func TestOneMoreVersionCostsItsDifference(t *testing.T) {
	n := wideObject(20_000)
	spelled := NewFold(func(a, b int) int { return a + b })
	item := func(string, *Node) (int, bool) { return 1, true }
	spelled.Of(n, item)
	n.Digest()
	const versions = 200
	kept := make([]*Node, 0, versions)
	before := heapInUse()
	for i := range versions {
		for j := range 5 {
			name := "k" + strconv.Itoa((i*5+j)*17%20_000)
			n = n.With(name, n.Get(name).With("s", NewString("changed")))
		}
		spelled.Of(n, item)
		n.Digest()
		kept = append(kept, n)
	}
	each := (heapInUse() - before) / versions
	t.Logf("%d bytes a version of five edits in different places", each)
	require.Less(t, each, int64(16<<10))
	runtime.KeepAlive(kept)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

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
