package region

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sameWords compares a set with a model on every word of the universe.
func (u *universe) sameWords(t *rapid.T, what string, set *Set, plain, inner modelSet, a, b modelRegion) {
	c := set.Start(nil)
	for i, w := range u.words {
		at := c.Walk(w)
		if at.In() != plain.has(i) || inner != nil && at.Interior() != inner.has(i) {
			t.Fatalf("%s of %v and %v at %s: in %v, interior %v", what, a.Region, b.Region, w.Pointer(), at.In(), at.Interior())
		}
	}
}

func TestTheAlgebraAgreesWithSetOperationsOnWords(t *testing.T) {
	u := typedUniverse(3)
	regions := u.regions(3)
	check(t, 3000, func(t *rapid.T) {
		a, b := regions.Draw(t, "a"), regions.Draw(t, "b")
		plain, inner := a.sets[Plain].clone(), a.sets[Interior].clone()
		plain.or(b.sets[Plain])
		inner.or(b.sets[Interior])
		u.sameWords(t, "union", Compile(Union(a.Region, b.Region)), plain, inner, a, b)
		u.sameWords(t, "union", UnionSets(Compile(a.Region), Compile(b.Region)), plain, inner, a, b)

		plain, inner = a.sets[Plain].clone(), a.sets[Interior].clone()
		plain.and(b.sets[Plain])
		inner.and(b.sets[Interior])
		both, exact := Intersect(a.Region, b.Region, nil)
		require.True(t, exact)
		u.sameWords(t, "intersection", Compile(both), plain, inner, a, b)
		u.sameWords(t, "intersection", IntersectSets(Compile(a.Region), Compile(b.Region)), plain, inner, a, b)

		plain = a.sets[Plain].clone()
		plain.without(b.sets[Plain])
		left, exact := Difference(a.Region, b.Region, nil)
		require.True(t, exact)
		u.sameWords(t, "difference", Compile(left), plain, nil, a, b)
	})
}

func TestAnExceptionThatCannotMeetAGrantTakesNothingFromIt(t *testing.T) {
	for _, u := range []*universe{typedUniverse(3), logUniverse(3)} {
		regions := u.regions(3)
		check(t, 1500, func(t *rapid.T) {
			a := regions.Draw(t, "a")
			var trimmed Region
			for _, g := range a.Region {
				trimmed = append(trimmed, Grant{Include: g.Include}.Without(g.Except, nil))
			}
			u.sameWords(t, "what is left", Compile(trimmed), a.sets[Plain], a.sets[Interior], a, a)
			require.Equal(t, Yes, Equal(Compile(a.Region), Compile(trimmed), Shown, Options{}).Verdict)
		})
	}
}

func TestAGrantKeepsTheExceptionsThatItMayMeet(t *testing.T) {
	for _, x := range []struct {
		include string
		except  []string
		kept    []string
	}{
		{"/m/{p}", []string{"/m/*/x", "/n/*/x", "/m/*/y/z", "/n"}, []string{"/m/*/x", "/m/*/y/z"}},
		{"/m/{p}/x", []string{"/m", "/m/*/x", "/m/*/y"}, []string{"/m", "/m/*/x"}},
		{"/m/{p}", []string{"/m/k", "/m/{q}", "/n/{q}"}, []string{"/m/k", "/m/{q}"}},
		{"/**", []string{"/m/x", "/n/*/x"}, []string{"/m/x", "/n/*/x"}},
		{"/a/**/b", []string{"/a/c/d", "/c/**"}, []string{"/a/c/d"}},
		{"/l/-", []string{"/l/*", "/l/[*]/x", "/s/*"}, []string{"/l/*", "/l/[*]/x"}},
	} {
		g := Of(x.include)[0]
		var except, kept []Pattern
		for _, text := range x.except {
			except = append(except, MustParse(text))
		}
		for _, text := range x.kept {
			kept = append(kept, MustParse(text))
		}
		require.Equal(t, kept, g.Without(except, nil).Except, "%s", x.include)
		require.Empty(t, g.Except, "the grant itself is left alone")
		spent := NewMeter(0)
		require.Equal(t, except, g.Without(except, spent).Except, "without steps all are taken away")
	}
}

// A contract may have as many grants that take the same away as it likes.
func TestGrantsThatTakeTheSameAwayShareIt(t *testing.T) {
	except := []Pattern{MustParse("/a/x"), MustParse("/b/{p}/x")}
	all := Of("/**")[0].Without(except, nil)
	require.Same(t, &except[0], &all.Except[0])
	require.NotSame(t, &except[0], &all.Without(except, nil).Except[0], "a list of its own, where there are others")

	r := Region{all}
	require.Same(t, &except[0], &r.Own("A")[0].Except[0], "what stays as it is")
	renamed := r.Rename(func(s string) string { return "A." + s })
	require.Equal(t, Of("/**", "!/a/x", "!/b/{A.p}/x"), renamed)
	require.Same(t, &except[0].Segments[0], &renamed[0].Except[0].Segments[0])
	require.Equal(t, Of("/**", "!/a/x", "!/b/{p}/x"), r)

	one, other := append(all.Except, MustParse("/c")), append(all.Except, MustParse("/d"))
	require.Equal(t, MustParse("/c"), one[2], "nobody adds to what is shared")
	require.Equal(t, MustParse("/d"), other[2])
}

// With the decision procedure as judge, the laws hold on all words, not only
// those of a universe.
func TestTheLawsOfTheAlgebraHoldOnAllWords(t *testing.T) {
	regions := typedUniverse(1).regions(3)
	same := func(t *rapid.T, a, b Region, mode Mode) {
		if got := Equal(Compile(a), Compile(b), mode, Options{}); got.Verdict != Yes {
			t.Fatalf("%v and %v differ at %s", a, b, got.Witness.Pointer())
		}
	}
	check(t, 2000, func(t *rapid.T) {
		a, b := regions.Draw(t, "a").Region, regions.Draw(t, "b").Region
		both, _ := Intersect(a, b, nil)
		left, _ := Difference(a, b, nil)
		swapped, _ := Intersect(b, a, nil)
		same(t, Union(left, both), a, Plain)
		same(t, both, swapped, Interior)
		require.Equal(t, Yes, Equal(Compile(both), IntersectSets(Compile(a), Compile(b)), Interior, Options{}).Verdict)
		require.Equal(t, Yes, Within(Compile(both), Compile(a), Interior, Interior, Options{}).Verdict)
		require.Equal(t, No, Overlap(Compile(left), Compile(b), Plain, Plain, Options{}).Verdict)
	})
}

func TestPooledGrantsGiveNoAuthority(t *testing.T) {
	set := Compile(Union(Of("/a", "!/a/b"), Of("/a/b")))
	require.True(t, set.Contains(Word{Key("a")}))
	require.False(t, set.Interior(Word{Key("a")}))
	require.True(t, set.Interior(Word{Key("a"), Key("c")}))
	require.True(t, set.Interior(Word{Key("a"), Key("b")}))
}

func TestIntersectionOfOpenPatternsIsWrittenOut(t *testing.T) {
	both, exact := Intersect(Of("/**/a"), Of("/**/b"), nil)
	require.True(t, exact)
	require.Equal(t, Of("/**/a/**/b", "/**/b/**/a"), both)
	both, exact = Intersect(Of("/t/*/x"), Of("/t/{p}"), nil)
	require.True(t, exact)
	require.Equal(t, Of("/t/{p}/x"), both)
}

func TestIntersectionOfTwoParametersAtOnePlaceIsNotExact(t *testing.T) {
	both, exact := Intersect(Of("/t/{p}"), Of("/t/{q}"), nil)
	require.False(t, exact)
	require.Empty(t, both)
	set := IntersectSets(SetOf("/t/{p}"), SetOf("/t/{q}"))
	w := Word{Key("t"), Key("k")}
	require.True(t, set.Start(Binding{"p": "k", "q": "k"}).Walk(w).Interior())
	require.False(t, set.Start(Binding{"p": "k", "q": "l"}).Walk(w).Reachable())
}

func TestParametersAreBoundRenamedAndListed(t *testing.T) {
	r := Of("/a/{p}/{q}", "!/a/{p}/-")
	require.Equal(t, []string{"p", "q"}, r.Params())
	require.Equal(t, Of("/a/:k/{q}", "!/a/:k/-"), r.Bind(Binding{"p": "k"}))
	require.Equal(t, Of("/a/{A.p}/{A.q}", "!/a/{A.p}/-"), r.Rename(func(s string) string { return "A." + s }))
	require.Equal(t, []string{"q", "p"}, MustParse("/{q}/{p}/{q}").Params())
	require.Equal(t, Of("/a/{p}/{q}", "!/a/{p}/-"), r, "the region itself is left alone")
}
