package tree

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

// An object under random edits is compared with a map, and its chunks with those
// of the object built from that map at once.
func TestAnEditedObjectIsTheObjectBuiltFromScratch(t *testing.T) {
	for _, most := range []int{5, 40, 700, 3000} {
		r := rand.New(rand.NewSource(int64(most)))
		n, model := emptyObject, map[string]*Node{}
		for round := range rounds(6000) {
			name, child := "m"+strconv.Itoa(r.Intn(most)), NewInt(int64(round))
			if r.Intn(3) == 0 {
				n = n.Without(name)
				delete(model, name)
			} else {
				n, model[name] = n.With(name, child), child
			}
			if round%97 == 0 || round < 100 {
				sameAsBuilt(t, n, NewObject(model))
			}
		}
		for name := range model {
			require.Same(t, model[name], n.Get(name))
			n = n.Without(name)
		}
		sameAsBuilt(t, n, emptyObject)
	}
}

func TestAnEditedArrayIsTheArrayBuiltFromScratch(t *testing.T) {
	for _, start := range []int{0, 30, 32, 33, 1024, 1100} {
		r := rand.New(rand.NewSource(int64(start)))
		n := wideArray(start)
		model := slices.Collect(func(yield func(*Node) bool) {
			for _, e := range n.Elements() {
				if !yield(e) {
					return
				}
			}
		})
		for round := range rounds(800) {
			child, i := NewInt(int64(round)), r.Intn(len(model)+1)
			switch k := r.Intn(4); {
			case k == 0 && i < len(model):
				n, model = n.DeleteAt(i), slices.Delete(slices.Clone(model), i, i+1)
			case k == 1 && i < len(model):
				n, model[i] = n.SetAt(i, child), child
			case k == 2:
				n, model = n.InsertAt(n.Len(), child), append(model, child)
			default:
				n, model = n.InsertAt(i, child), slices.Insert(model, i, child)
			}
			if round%23 == 0 || round < 40 {
				sameAsBuilt(t, n, NewArray(model))
			}
		}
		for n.Len() > 0 {
			n = n.DeleteAt(n.Len() - 1)
		}
		sameAsBuilt(t, n, emptyArray)
	}
}

func sameAsBuilt(t *testing.T, n, built *Node) {
	t.Helper()
	sameShape(t, built.root, n.root)
	require.Equal(t, built.Digest(), n.Digest())
	require.Equal(t, built.String(), n.String())
	require.Equal(t, len(built.String()), n.Size())
	require.Equal(t, built.Len(), n.Len())
}

func TestTheOldVersionIsUnchangedByEdits(t *testing.T) {
	object, array := wideObject(500), wideArray(500)
	textO, textA := object.String(), array.String()
	for i := 0; i < 500; i += 7 {
		key := "k" + strconv.Itoa(i)
		object.With(key, NewNull())
		object.With(key+"x", NewNull())
		object.Without(key)
		array.SetAt(i, NewNull())
		array.InsertAt(i, NewNull())
		array.DeleteAt(i)
	}
	require.Equal(t, textO, object.String())
	require.Equal(t, textA, array.String())
}

func TestWithNilRemovesAndRemovingWhatIsAbsentIsTheSameNode(t *testing.T) {
	n := parsed(t, `{"a":1,"b":2}`)
	require.Equal(t, `{"b":2}`, n.With("a", nil).String())
	require.Same(t, n, n.Without("c"))
	require.Same(t, emptyObject, emptyObject.Without("c"))
}

// What an edit of a wide container makes anew is counted, not timed.
func TestEditingOneOfAHundredThousandCopiesAFewChunks(t *testing.T) {
	n, few := rounds(100_000), 12
	object, array := wideObject(n), wideArray(n)
	edits := map[string]struct{ before, after *Node }{
		"replace a member":     {object, object.With("k5000", NewNull())},
		"add a member":         {object, object.With("new", NewNull())},
		"remove a member":      {object, object.Without("k5000")},
		"replace an element":   {array, array.SetAt(5000, NewNull())},
		"append an element":    {array, array.InsertAt(n, NewNull())},
		"remove the last":      {array, array.DeleteAt(n - 1)},
		"insert near the end":  {array, array.InsertAt(n-5, NewNull())},
		"insert at the front":  {array, array.InsertAt(0, NewNull())},
		"insert in the middle": {array, array.InsertAt(n/2, NewNull())},
		"remove the first":     {array, array.DeleteAt(0)},
		"remove in the middle": {array, array.DeleteAt(n / 3)},
		"append to a log":      {array.WithOrder(LogOrder), array.WithOrder(LogOrder).InsertAt(n, NewNull())},
		"descend into a chunk": {object, object.With("k777", smallEntry(1).With("n", NewNull()))},
	}
	for what, e := range edits {
		old, fresh, width := chunksOf(e.before), 0, 0
		for c := range chunksOf(e.after) {
			if !old[c] {
				fresh++
				width = max(width, c.width())
			}
		}
		require.Positive(t, fresh, what)
		require.LessOrEqual(t, fresh, few, what)
		require.LessOrEqual(t, width, fullKeyed, what)
	}
}

func TestDigestAfterAnEditHashesOnlyTheTouchedPath(t *testing.T) {
	before := wideObject(rounds(100_000))
	before.Digest()
	after := before.With("k5000", NewNull())
	unhashed := 0
	for c := range chunksOf(after) {
		if c.digest.state.Load() == 0 {
			unhashed++
		}
	}
	require.LessOrEqual(t, unhashed, 6)
	require.Equal(t, rebuilt(after).Digest(), after.Digest())
	require.NotEqual(t, before.Digest(), after.Digest())
}

func TestNamesWithoutLandmarksStillMakeATreeOfBoundedChunks(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		members := map[string]*Node{}
		for i := 0; len(members) < rounds(3000); i++ {
			if name := fmt.Sprint("x", i); landmark(name) == 0 != wanted {
				members[name] = once
			}
		}
		n := NewObject(members)
		for c := range chunksOf(n) {
			require.LessOrEqual(t, c.width(), fullKeyed)
		}
		for name := range members {
			delete(members, name)
			n = n.Without(name)
			if len(members)%100 == 0 {
				sameAsBuilt(t, n, NewObject(members))
			}
		}
	}
}

func TestLookupFindsEveryMemberAndNoOther(t *testing.T) {
	n := wideObject(2000)
	for i := range 2000 {
		v, ok := n.Get("k" + strconv.Itoa(i)).Get("n").Int64()
		require.True(t, ok)
		require.EqualValues(t, i, v)
		require.Nil(t, n.Get("k"+strconv.Itoa(i)+"x"))
	}
	require.Nil(t, n.Get(""))
	require.Nil(t, n.Get("zzz"))
	require.Nil(t, n.At(0))
	require.Nil(t, wideArray(3).At(3))
	require.Nil(t, wideArray(3).At(-1))
	require.Nil(t, (*Node)(nil).Get("a"))
}

// Edits at few positions, again and again, are those that would make chunks of one item.
func TestAnArrayEditedAtOnePlaceKeepsItsChunksFull(t *testing.T) {
	for what, at := range map[string]func(n int) int{
		"front": func(int) int { return 0 }, "middle": func(n int) int { return n / 2 }, "end": func(n int) int { return n },
		"before the end": func(n int) int { return max(0, n-1) }, "a third": func(n int) int { return n / 3 },
	} {
		n, want := wideArray(500), rounds(6000)
		for i := range want {
			n = n.InsertAt(at(n.Len()), NewInt(int64(i)))
		}
		balanced(t, n.root)
		require.Less(t, len(chunksOf(n)), (want+500)/8, what)
		require.Equal(t, rebuilt(n).Digest(), n.Digest(), what)
		for n.Len() > 40 {
			n = n.DeleteAt(min(at(n.Len()), n.Len()-1))
			if n.Len()%97 == 0 {
				balanced(t, n.root)
			}
		}
		require.Equal(t, rebuilt(n).Digest(), n.Digest(), what)
	}
}

func TestEqualArraysAreEqualHoweverTheyCameToBe(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for range rounds(300) {
		a := wideArray(30 + r.Intn(200))
		b := a
		for range 1 + r.Intn(40) {
			i, child := r.Intn(a.Len()+1), NewInt(int64(r.Intn(5)))
			a = a.InsertAt(i, child)
			b = b.InsertAt(r.Intn(b.Len()+1), NewNull())
		}
		for _, same := range []*Node{rebuilt(a), a.InsertAt(0, once).DeleteAt(0), a.DeleteAt(3).InsertAt(3, a.At(3))} {
			require.True(t, Equal(a, same) && Equal(same, a))
			require.Equal(t, a.Digest(), same.Digest())
			require.Empty(t, Diff(a, same))
		}
		require.Equal(t, a.Digest() == b.Digest(), Equal(a, b))
		other := rebuilt(a).SetAt(r.Intn(a.Len()), NewString("other"))
		require.False(t, Equal(a, other))
		got, _, problem := ApplyAll(a, Diff(a, other))
		require.Nil(t, problem)
		require.True(t, Equal(other, got))
		require.Len(t, Diff(a, other), 1)
	}
}

func TestAMemberKeepsNoMoreThanItsName(t *testing.T) {
	const kept = 100
	n := NewObject(nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		text := strings.Repeat("long ", 1<<17) + "/name" + strconv.Itoa(i)
		p, err := ParsePointer("/" + text)
		require.NoError(t, err)
		n = n.With(p[1], NewNull())
		n = NewObject(map[string]*Node{"only": n}).With("in", NewObject(nil).With(p[1], NewNull())).Get("only")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
	require.Equal(t, kept, n.Len())
}

func TestMappedContainersEqualThoseBuiltFromScratch(t *testing.T) {
	for _, size := range []int{0, 1, 31, 33, 5000} {
		members, kept := map[string]*Node{}, map[string]*Node{}
		var elements, doubled []*Node
		for i := range size {
			name, n := "k"+strconv.Itoa(i), NewInt(int64(i))
			members[name] = n
			if i%3 != 0 {
				kept[name] = n
			}
			elements, doubled = append(elements, n), append(doubled, NewInt(int64(2*i)))
		}
		object := NewObject(members).MapMembers(func(name string, child *Node) *Node { return kept[name] })
		require.Equal(t, NewObject(kept).String(), object.String())
		require.Equal(t, NewObject(kept).Digest(), object.Digest())
		array := NewArray(elements).WithOrder(LogOrder).MapElements(func(i int, _ *Node) *Node { return doubled[i] })
		require.Equal(t, LogOrder, map[bool]Order{true: array.Order(), false: LogOrder}[size > 0])
		require.Equal(t, NewArray(doubled).String(), array.String())
	}
}

func TestMappingThatChangesNothingReturnsTheVeryNode(t *testing.T) {
	object := NewObject(map[string]*Node{"a": NewNull()})
	require.Same(t, object, object.MapMembers(func(_ string, child *Node) *Node { return child }))
	array := NewArray([]*Node{NewNull()})
	require.Same(t, array, array.MapElements(func(_ int, child *Node) *Node { return child }))
}

func TestAPutValueThatSharesWithWhatItReplacesIsNotChangedWithIt(t *testing.T) {
	patch := patchOf(t, `[{"op":"replace","path":"/a/l/0","value":2},{"op":"replace","path":"/a/l/1","value":5}]`)
	e := NewEdit(parsed(t, `{"a":{"l":[1,4]},"kept":null}`), patch)
	_, problem := e.Apply(&patch[0], DefaultLimits)
	require.Nil(t, problem)
	a := e.Root().Get("a")
	e.Put(region.Word{region.Key("kept")}, a)
	_, problem = e.Apply(&patch[1], DefaultLimits)
	require.Nil(t, problem)
	require.Equal(t, `{"a":{"l":[2,5]},"kept":{"l":[2,4]}}`, e.Root().String())
}
