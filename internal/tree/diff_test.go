package tree

import (
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

func TestADiffAppliedGivesTheOtherValue(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	for range rounds(30_000) {
		a, b := randomNode(r, 3), randomNode(r, 3)
		if r.Intn(2) == 0 {
			b, _, _ = Apply(a, plainOp(t, r, 0))
		}
		patch := Diff(a, b)
		again, problems := PatchOf(patch.Node(), DefaultPatchLimits)
		require.Empty(t, problems)
		got, _, problem := ApplyAll(a, again)
		if problem != nil || !Equal(got, b) || (len(patch) == 0) != Equal(a, b) {
			require.Fail(t, "diff", "%s to %s: %s", a, b, patch.Node())
		}
	}
}

func TestADiffNamesOnlyWhatDiffers(t *testing.T) {
	a := parsed(t, `{"same":[1],"gone":1,"l":[1,{"x":1},3],"shorter":[1,2],"n":1}`)
	b := parsed(t, `{"same":[1.0],"new":null,"l":[1,{"x":2},3],"shorter":[1],"n":1e0}`)
	require.Equal(t, `[{"op":"remove","path":"/gone"},{"op":"replace","path":"/l/1/x","value":2},`+
		`{"op":"add","path":"/new","value":null},{"op":"replace","path":"/shorter","value":[1]}]`, Diff(a, b).Node().String())
}

func TestADiffOfUnorderedArraysIgnoresOrder(t *testing.T) {
	a := NewObject(map[string]*Node{"s": parsed(t, `[1,2]`).WithOrder(SetOrder)})
	require.Empty(t, Diff(a, parsed(t, `{"s":[2,1]}`)))
	require.Len(t, Diff(a, parsed(t, `{"s":[2,3]}`)), 1)
}

func TestChangedMembersOfTwoVersionsAreThoseEdited(t *testing.T) {
	before := wideObject(20_000)
	after := before.With("k77", once).Without("k5000").With("new", once).With("k9", smallEntry(9))
	changes := map[string]string{}
	ChangedMembers(before, after, func(name string, old, now *Node) bool {
		changes[name] = old.String() + now.String()
		return true
	})
	require.Equal(t, map[string]string{
		"k77": smallEntry(77).String() + "1", "k5000": smallEntry(5000).String() + "absent", "new": "absent1",
	}, changes)
	x, y := unshared(before.root, after.root)
	require.Less(t, x.len()+y.len(), 1000)
}

func TestChangedMembersAgreesWithAPlainComparison(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for range rounds(300) {
		a := wideObject(r.Intn(300))
		b := a
		for range r.Intn(60) {
			name := "k" + strconv.Itoa(r.Intn(320))
			b = b.With(name, []*Node{nil, once, smallEntry(1)}[r.Intn(3)])
		}
		want, got := map[string]bool{}, map[string]bool{}
		for _, n := range []*Node{a, b} {
			for name := range n.Members() {
				if !Equal(a.Get(name), b.Get(name)) {
					want[name] = true
				}
			}
		}
		ChangedMembers(a, b, func(name string, _, _ *Node) bool { got[name] = true; return true })
		require.Equal(t, want, got)
	}
}

func TestChangedElementsStopsWhenToldTo(t *testing.T) {
	a := wideArray(100)
	b := a.SetAt(3, once).SetAt(90, once)
	var at []int
	changedElements(a, b, func(i int, _, _ *Node) bool { at = append(at, i); return true })
	require.Equal(t, []int{3, 90}, at)
	changedElements(a, b, func(i int, _, _ *Node) bool { at = append(at, i); return false })
	require.Equal(t, []int{3, 90, 3}, at)
}

// rfc7396 is the pseudocode of RFC 7396 section 2.
func rfc7396(target, merge *Node) *Node {
	if merge.Kind() != ir.Object {
		return merge
	}
	if target == nil || target.Kind() != ir.Object {
		target = emptyObject
	}
	for name, value := range merge.Members() {
		if value.Kind() == ir.Null {
			target = target.Without(name)
		} else {
			target = target.With(name, rfc7396(target.Get(name), value))
		}
	}
	return target
}

func TestAMergePatchHasTheEffectOfRFC7396(t *testing.T) {
	r := rand.New(rand.NewSource(10))
	done := 0
	for range rounds(20_000) {
		view, merge := randomNode(r, 3), randomNode(r, 3)
		patch, err := MergePatch(view, AppendJSON(nil, merge))
		if err != nil {
			require.True(t, nullInArray(merge, false), "%s: %v", merge, err)
			continue
		}
		done++
		got, _, problem := ApplyAll(view, patch)
		want := rfc7396(view, merge)
		if problem != nil || !Equal(want, got) {
			require.Fail(t, "merge", "%s with %s gives %s, want %s", view, merge, got, want)
		}
	}
	require.Greater(t, done, rounds(20_000)/2)
}

func TestAMergePatchBecomesTheOperationsItMeans(t *testing.T) {
	view := parsed(t, `{"a":1,"b":{"c":2,"d":3},"e":[1]}`)
	patch, err := MergePatch(view, []byte(`{"a":null,"b":{"c":5,"x":"y"},"gone":null,"e":[1.0]}`))
	require.NoError(t, err)
	require.Equal(t, `[{"op":"remove","path":"/a"},{"op":"replace","path":"/b/c","value":5},{"op":"add","path":"/b/x","value":"y"}]`,
		patch.Node().String())
	_, err = MergePatch(view, []byte(`{"a":[{"b":null}]}`))
	require.ErrorContains(t, err, "inside an array")
	_, err = MergePatch(view, []byte(`{"a":1,"a":2}`))
	require.ErrorContains(t, err, "two members")
}

// Reading what is inside once for every level around it would take minutes.
func TestAMergePatchThatIsDeepAndLongIsMergedOnce(t *testing.T) {
	const levels = 500
	text := strings.Repeat("x", 4<<20)
	deep := strings.Repeat(`{"a":`, levels) + `"` + text + `"` + strings.Repeat("}", levels)
	start := time.Now()
	for _, view := range []string{`{"a":1}`, `{"b":{}}`, strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)} {
		got := apply(t, parsed(t, view), deep)
		for range levels {
			got = got.Get("a")
		}
		require.True(t, got.Text() == text)
	}
	require.Less(t, time.Since(start), time.Minute)
}

func apply(t *testing.T, view *Node, merge string) *Node {
	t.Helper()
	patch, err := MergePatch(view, []byte(merge))
	require.NoError(t, err)
	after, _, problem := ApplyAll(view, patch)
	require.Nil(t, problem)
	return after
}
