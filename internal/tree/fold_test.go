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

func spell(name string, child *Node) (string, bool) {
	return name + "=" + child.Get("n").Text() + ";", true
}

func spelledFromScratch(n *Node) string {
	var b strings.Builder
	for _, items := range [][]*Node{itemsOf(n)} {
		for i, child := range items {
			text, _ := spell(nameOf(n, i), child)
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
		got, lasting := spelled.Of(n, spell)
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
			if got, _ := spelled.Of(n, spell); got != want {
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
		spelled.Of(n, spell)
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
