package tree

import (
	"crypto/sha256"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// smallUniverse is every value of a few scalars, and all arrays and objects of at
// most two of these, in every order of arrays.
func smallUniverse(t *testing.T) []*Node {
	var leaves, all []*Node
	for _, s := range []string{`null`, `true`, `0`, `1`, `1.0`, `"1"`, `[]`, `{}`} {
		leaves = append(leaves, parsed(t, s))
	}
	all = append(all, leaves...)
	for _, a := range leaves {
		all = append(all, NewArray([]*Node{a}), NewObject(map[string]*Node{"a": a}), NewObject(map[string]*Node{"b": a}))
		for _, b := range leaves {
			pair := NewArray([]*Node{a, b})
			all = append(all, pair, pair.WithOrder(SetOrder), pair.WithOrder(LogOrder),
				NewObject(map[string]*Node{"a": a, "b": b}), NewArray([]*Node{pair}), NewArray([]*Node{pair.WithOrder(LogOrder)}))
		}
	}
	return all
}

// plainlyEqual is Equal written down without chunks or digests.
func plainlyEqual(a, b *Node) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case ir.Object:
		for name, child := range a.Members() {
			if b.Get(name) == nil || !plainlyEqual(child, b.Get(name)) {
				return false
			}
		}
		return true
	case ir.Array:
		return plainlyEqualArrays(a, b)
	case ir.Number:
		return decimal.Parse(a.Text()) == decimal.Parse(b.Text())
	default:
		return a.Text() == b.Text() && a.Bool() == b.Bool()
	}
}

func plainlyEqualArrays(a, b *Node) bool {
	inOrder := true
	for i, e := range a.Elements() {
		inOrder = inOrder && plainlyEqual(e, b.At(i))
	}
	if inOrder || a.Order() == ListOrder && b.Order() == ListOrder || a.Len() != 2 {
		return inOrder
	}
	return plainlyEqual(a.At(0), b.At(1)) && plainlyEqual(a.At(1), b.At(0))
}

func unordered(n *Node) bool { return n.Order() != ListOrder }

func TestDigestsAreEqualExactlyForEqualValues(t *testing.T) {
	all := smallUniverse(t)
	for _, a := range all {
		for _, b := range all {
			want := plainlyEqual(a, b)
			if Equal(a, b) != want {
				require.Fail(t, "Equal", "%s (%s) and %s (%s)", a, a.Order(), b, b.Order())
			}
			sameOrders := unordered(a) == unordered(b) && a.loose() == b.loose()
			if same := a.Digest() == b.Digest(); sameOrders && same != want || same && !want {
				require.Fail(t, "Digest", "%s (%s) and %s (%s)", a, a.Order(), b, b.Order())
			}
		}
	}
}

func TestADigestIsTheSameHoweverTheValueWasMade(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for range rounds(5000) {
		n := randomNode(r, 4)
		require.Equal(t, n.Digest(), rebuilt(n).Digest())
	}
	require.Equal(t, wideObject(5000).Digest(), rebuilt(wideObject(5000)).Digest())
}

// The digests are part of what others implement: these values must not change.
func TestDigestsAreStable(t *testing.T) {
	for text, want := range map[string]string{
		`null`:                 `sha256:1b16b1df538ba12dc3f97edbb85caa7050d46c148134290feba80f8236c83db9`,
		`[1.0,{"a":"b"}]`:      `sha256:eb2acc9273732ee287fce5d0342daaf308b535c22834ee58efe119f045353ec9`,
		wideArray(40).String(): `sha256:db41fbccc3303bd259e12cac1038d80bd02d64cc92e307b23edfc53d7f2a2064`,
	} {
		require.Equal(t, want, parsed(t, text).Digest().String(), text)
	}
}

func TestALongStringRemembersItsDigest(t *testing.T) {
	n := NewString(strings.Repeat("x", longString))
	d := n.Digest()
	known, ok := n.root.digest.get(ofChunk)
	require.True(t, ok)
	require.Equal(t, d, known)
	require.Equal(t, d, tagged('"', n.Text()))
	require.Equal(t, d, n.Digest())
	require.Equal(t, []int{0, 1, 0, longString + 2}, []int{n.Len(), n.Weight(), n.Depth(), n.Size()})
	require.Equal(t, NewArray([]*Node{n}).Size(), longString+4)
}

func TestDigestsMayBeAskedForConcurrently(t *testing.T) {
	n := wideObject(2000)
	log := wideArray(2000).WithOrder(LogOrder)
	want, wantLog := rebuilt(n).Digest(), rebuilt(log).Digest()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 20 {
				if n.Digest() != want || log.Digest() != wantLog {
					t.Error("another digest")
				}
				log.InsertAt(log.Len(), NewInt(int64(i))).Digest()
			}
		})
	}
	all.Wait()
}

func TestALogAndASetAreMultisets(t *testing.T) {
	ab, ba := parsed(t, `[{"x":1},2,2]`), parsed(t, `[2,{"x":1.0},2]`)
	other := parsed(t, `[2,{"x":1},{"x":1}]`)
	require.False(t, Equal(ab, ba))
	for _, o := range []Order{SetOrder, LogOrder} {
		require.True(t, Equal(ab.WithOrder(o), ba))
		require.True(t, Equal(ab, ba.WithOrder(o)))
		require.Equal(t, ab.WithOrder(o).Digest(), ba.WithOrder(o).Digest())
		require.False(t, Equal(ab.WithOrder(o), other))
		require.NotEqual(t, ab.WithOrder(o).Digest(), other.WithOrder(o).Digest())
		require.NotEqual(t, ab.Digest(), ab.WithOrder(o).Digest())
	}
}

func TestUnorderedArraysInsideUnorderedArraysCompareByContent(t *testing.T) {
	inner := func(s string) *Node { return parsed(t, s).WithOrder(SetOrder) }
	a := NewArray([]*Node{inner(`[1,2]`), inner(`[3,4]`)}).WithOrder(LogOrder)
	require.True(t, Equal(a, parsed(t, `[[4,3],[2,1]]`)))
	require.False(t, Equal(a, parsed(t, `[[4,3],[2,2]]`)))
	require.True(t, Equal(a, rebuilt(a)))
	a.Digest()
	plain := parsed(t, `[[4,3],[2,1]]`)
	plain.Digest()
	require.True(t, Equal(NewArray([]*Node{a}), NewArray([]*Node{plain})))
}

func TestTheBagOfALogFollowsItsEdits(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	n := wideArray(100).WithOrder(LogOrder)
	n.Digest()
	for range rounds(3000) {
		switch i := r.Intn(n.Len() + 1); {
		case r.Intn(2) == 0:
			n = n.InsertAt(i, NewInt(int64(r.Intn(20))))
		case i < n.Len() && r.Intn(2) == 0:
			n = n.SetAt(i, NewInt(int64(r.Intn(20))))
		case i < n.Len():
			n = n.DeleteAt(i)
		}
		if _, known := elementBags.Get(n); !known && n.Len() > 0 {
			require.Fail(t, "the bag was lost")
		}
	}
	require.Equal(t, rebuilt(n).Digest(), n.Digest())
}

func TestHoldsFindsEqualElements(t *testing.T) {
	set := parsed(t, `[1.0,"a",[2]]`).WithOrder(SetOrder)
	require.True(t, set.Holds(NewInt(1)))
	require.True(t, set.Holds(parsed(t, `[2.0]`)))
	require.False(t, set.Holds(NewInt(2)))
	require.True(t, set.Holds(parsed(t, `[2]`).WithOrder(SetOrder)))
	require.False(t, emptyArray.Holds(NewInt(2)))
}

// Digests stand in logs, which are read for years: where one comes out otherwise than
// here, trace.Format has to be raised, and then this test's digests may be changed.
func TestDigestsAreThoseOfTheFormatOfLogs(t *testing.T) {
	for name, c := range map[string]struct {
		text  func(i int) string
		order Order
		want  string
	}{
		"numbers":        {func(i int) string { return fmt.Sprint(i * i) }, ListOrder, "a3d90c666870e3f8"},
		"one text":       {func(int) string { return `"t"` }, ListOrder, "86132da2b986962f"},
		"texts in a log": {func(i int) string { return fmt.Sprintf(`"entry %d"`, i*7919%1000) }, LogOrder, "bb74b2c97cae2bc3"},
		"a set":          {func(i int) string { return fmt.Sprintf(`"%x"`, i*7919) }, SetOrder, "80c2d74575fcd238"},
		"records":        {func(i int) string { return fmt.Sprintf(`{"id":%d,"n":%d.50,"ok":%t,"none":null}`, i, i, i%3 == 0) }, ListOrder, "8ec62620be1b1c7f"},
	} {
		sum := sha256.New()
		for _, n := range []int{0, 1, 2, 30, 100, 430, 3000} {
			var elements, members []string
			for i := range n {
				elements = append(elements, c.text(i))
				members = append(members, fmt.Sprintf(`"k%d":%s`, i*i, c.text(i)))
			}
			array := parsed(t, "["+strings.Join(elements, ",")+"]").WithOrder(c.order)
			object := parsed(t, "{"+strings.Join(members, ",")+"}")
			fmt.Fprintln(sum, array.Digest(), object.Digest())
		}
		assert.Equal(t, c.want, fmt.Sprintf("%x", sum.Sum(nil)[:8]), name)
	}
}

// The digest of a few elements is made without the bag that it is the digest of.
func TestTheDigestOfFewElementsIsThatOfTheirBag(t *testing.T) {
	random := rand.New(rand.NewSource(11))
	for round := range 2000 {
		elements, counts := []*Node{}, map[string]int{}
		for range round % (small + 1) {
			e := NewInt(int64(random.Intn(1 + round%50)))
			elements = append(elements, e)
			counts[e.digestKey()]++
		}
		n := NewArray(elements).WithOrder(LogOrder)
		require.Equal(t, NewBag(counts).digest(), n.bagDigest())
		require.Equal(t, NewBag(counts).Repeats(), !n.Distinct())
		require.Equal(t, n.Digest(), NewArray(elements).WithOrder(SetOrder).Digest())
	}
}
