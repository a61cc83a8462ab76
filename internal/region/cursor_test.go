package region

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// below holds the words with a word of m strictly below, through a letter that a
// container of the given kind has.
func (u *universe) below(m modelSet, kind Container) modelSet {
	out, live := u.empty(), u.atOrBelow(m)
	for i := len(u.words) - 1; i > 0; i-- {
		last := u.words[i][len(u.words[i])-1].Kind
		isArray := last == IndexLetter || last == FreshLetter
		if live.has(i) && isArray == (kind == Array) {
			out.add(u.parent[i])
		}
	}
	return out
}

// Patterns of this test have at most two segments, so words of up to four letters
// show everything about words of up to two.
func TestReachabilityAndHoldingAgreeWithEnumeration(t *testing.T) {
	u := typedUniverse(4)
	regions := u.regions(2)
	check(t, 12_000, func(t *rapid.T) {
		r := regions.Draw(t, "region")
		live := u.atOrBelow(r.sets[Plain])
		holds := [2]modelSet{Object: u.below(r.sets[Plain], Object), Array: u.below(r.sets[Plain], Array)}
		start := Compile(r.Region).Start(nil)
		for i, w := range u.words {
			if len(w) > 1 {
				break
			}
			c := start.Walk(w)
			require.Equal(t, live.has(i), c.Reachable(), "%v at %s", r.Region, w.Pointer())
			require.Equal(t, holds[Object].has(i), c.CanHold(Object), "%v at %s", r.Region, w.Pointer())
			require.Equal(t, holds[Array].has(i), c.CanHold(Array), "%v at %s", r.Region, w.Pointer())
		}
	})
}

func TestWholeMeansThatNoWordBelowIsMissing(t *testing.T) {
	u := typedUniverse(4)
	regions := u.regions(2)
	all, wholes := u.empty(), 0
	for i := range u.words {
		all.add(i)
	}
	check(t, 20_000, func(t *rapid.T) {
		r := regions.Draw(t, "region")
		missing := all.clone()
		missing.without(r.sets[Plain])
		missing = u.atOrBelow(missing)
		start := Compile(r.Region).Start(nil)
		for i, w := range u.words[:1+len(u.letters)] {
			require.Equal(t, !missing.has(i), start.Walk(w).Universal(), "%v at %s", r.Region, w.Pointer())
			if start.Walk(w).Universal() && !start.Walk(w).Interior() {
				wholes++
			}
		}
	})
	require.Positive(t, wholes, "no case in which only several grants together cover a subtree")
}

func TestWholePoolsGrantsAndInteriorDoesNot(t *testing.T) {
	set := Compile(Union(Of("/a", "!/a/b"), Of("/a/b")))
	a := set.Start(nil).Key("a")
	require.True(t, a.Universal())
	require.False(t, a.Interior())
	require.True(t, a.Key("b").Interior())
}

func TestASpineIsDeadWhereExceptionsTakeEverythingAway(t *testing.T) {
	c := SetOf("/a/*/x", "!/a/**/x").Start(nil)
	require.False(t, c.Reachable())
	require.False(t, c.Key("a").CanHold(Object))

	c = SetOf("/a/[*]/x", "!/a/[0]").Start(nil)
	require.True(t, c.Key("a").CanHold(Array))
	require.False(t, c.Key("a").CanHold(Object))
	require.False(t, c.Key("a").Index(0).Reachable())
	require.True(t, c.Key("a").Index(7).CanHold(Object))
}

func TestAShallowPatternShowsTheNodeOnly(t *testing.T) {
	c := SetOf("/a!").Start(nil).Key("a")
	require.True(t, c.In())
	require.True(t, c.Reachable())
	require.False(t, c.Interior())
	require.False(t, c.CanHold(Object))
	require.False(t, c.Key("b").Reachable())
}

// A bound set must behave as the set compiled with the values in place, for every
// value: one that no pattern names, one that some pattern names, equal ones.
func TestBindingAtStartEqualsCompilingTheBoundRegion(t *testing.T) {
	letters := []Letter{Key("a"), Key("x"), Key("y"), Key("0"), Index(0)}
	u := newUniverse(letters, 3, "a", "0", "*", "**", ":*", "{t}", "{u}", "{t}", "{u}")
	regions, values := u.regions(3), rapid.SampledFrom([]string{"a", "x", "y", "0"})
	check(t, 3000, func(t *rapid.T) {
		r := regions.Draw(t, "region")
		set := Compile(r.Region)
		for range 4 {
			args := Binding{"t": values.Draw(t, "t")}
			if !third.Draw(t, "u is unbound") {
				args["u"] = values.Draw(t, "u")
			}
			bound, fixed := set.Start(args), Compile(r.Bind(args)).Start(Binding{})
			for _, w := range u.words {
				got, want := bound.Walk(w), fixed.Walk(w)
				if got.In() != want.In() || got.Interior() != want.Interior() || got.Reachable() != want.Reachable() || got.CanHold(Object) != want.CanHold(Object) {
					t.Fatalf("%v with %v at %s", r.Region, args, w.Pointer())
				}
			}
		}
	})
}

func TestAnUnboundParameterMatchesItsSymbolOnly(t *testing.T) {
	set := SetOf("/t/{p}", "/t/lit")
	require.True(t, set.Contains(Word{Key("t"), Param("p")}))
	require.False(t, set.Contains(Word{Key("t"), Param("q")}))
	require.False(t, set.Contains(Word{Key("t"), Key("p")}))
	at := set.Start(Binding{"p": "T1"}).Key("t")
	require.True(t, at.Key("T1").Interior())
	require.False(t, at.Key("T2").Reachable())
	require.False(t, at.Step(Param("p")).Reachable())
}

func TestAFreshKeyMeetsEveryWildcardButNoOtherOwner(t *testing.T) {
	own := Compile(Of("/h/-").Own("A"))
	word := func(owner string) Word { return Word{Key("h"), Fresh(owner)} }
	require.True(t, own.Interior(word("A")))
	require.False(t, own.Contains(word("B")))
	for _, text := range []string{"/h", "/h/*", "/**", "/h/[*]", "/h/:*"} {
		require.True(t, SetOf(text).Contains(word("A")), text)
	}
	require.False(t, SetOf(`/h/"-"`).Contains(word("A")))
	other := Compile(Of("/h/-").Own("B"))
	require.Equal(t, No, Overlap(own, other, Interior, Interior, Options{}).Verdict)
	require.Equal(t, Yes, Overlap(own, SetOf("/h/[*]/x"), Interior, Plain, Options{}).Verdict)
}

func TestAtRunTimeAFreshSegmentMatchesEveryFreshKey(t *testing.T) {
	c := Compile(Of("/h/-").Own("A")).Start(Binding{}).Key("h")
	require.True(t, c.Step(Fresh("-")).Interior())
	require.True(t, c.CanHold(Array), "a log is an array in files")
	require.False(t, c.CanHold(Object))
	require.False(t, c.Index(0).Reachable())
	require.False(t, c.Interior())
}

func TestSteppingAlongAKnownWayAllocatesNothing(t *testing.T) {
	c := SetOf("/tickets/{t}/status", "/tickets/*", "!/tickets/*/secret").Start(Binding{"t": "T1"})
	walk := func() {
		at := c.Key("tickets").Key("T1").Key("labels").Index(3)
		if !at.In() || !at.Reachable() || !at.Interior() || !at.CanHold(Array) || !at.Universal() {
			t.Error("not in")
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, walk))
}

func TestASetMayBeWalkedConcurrently(t *testing.T) {
	set := SetOf("/a/*/x", "/**/y", "/{p}/z", "!/a/q", "!/**/w")
	words := newUniverse([]Letter{Key("a"), Key("x"), Key("y"), Key("w"), Key("v")}, 3).words
	want := Compile(set.regionForTest()).answers(words)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := set.answers(words); len(got) != len(want) {
				t.Error("answers differ")
			} else {
				for i := range got {
					if got[i] != want[i] {
						t.Errorf("at %s", words[i].Pointer())
					}
				}
			}
		})
	}
	wg.Wait()
}

func (s *Set) regionForTest() Region {
	return Region{{Include: s.sources[0].require[0], Except: s.sources[0].except}}
}

// answers is what a walk finds out about every word.
func (s *Set) answers(words []Word) []string {
	var out []string
	for _, w := range words {
		c := s.Start(Binding{"p": "v"}).Walk(w)
		text := ""
		for _, b := range []bool{c.In(), c.Reachable(), c.Interior(), c.Universal(), c.CanHold(Object), c.CanHold(Array)} {
			text += map[bool]string{true: "1", false: "0"}[b]
		}
		out = append(out, text)
	}
	return out
}

func TestOnlyKeysListsNamedAndBoundKeysThatStillLeadSomewhere(t *testing.T) {
	for _, test := range []struct {
		name     string
		patterns []string
		args     Binding
		below    Word
		keys     []string
		only     bool
	}{
		{"literal keys", []string{"/a/x", "/b", "/c", "!/c"}, Binding{}, nil, []string{"a", "b"}, true},
		{"bound parameter", []string{"/m/{p}/x"}, Binding{"p": "k"}, Word{Key("m")}, []string{"k"}, true},
		{"parameter bound to a literal", []string{"/m/{p}", "/m/k"}, Binding{"p": "k"}, Word{Key("m")}, []string{"k"}, true},
		{"wildcard", []string{"/m/*/x"}, Binding{}, Word{Key("m")}, nil, false},
		{"wildcard taken away", []string{"/m/*", "/m/a", "!/m/*"}, Binding{}, Word{Key("m")}, nil, true},
		{"everything", []string{"/**"}, Binding{}, nil, nil, false},
		{"nothing below", []string{"/a"}, Binding{}, Word{Key("b")}, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := SetOf(test.patterns...).Start(test.args).Walk(test.below)
			found, only := c.OnlyKeys()
			require.Equal(t, test.only, only)
			var keys []string
			for _, k := range found {
				keys = append(keys, k.Of(c))
			}
			require.ElementsMatch(t, test.keys, keys)
		})
	}
}

func TestAWalkIsFixedWhereNeitherValuesNorPositionsMatterBelow(t *testing.T) {
	for _, test := range []struct {
		patterns []string
		below    string
		fixed    bool
	}{
		{[]string{"/m/*/x", "!/m/*/x/y"}, "", true},
		{[]string{"/m/{p}", "/n/*/x"}, "", false},
		{[]string{"/m/{p}", "/n/*/x"}, "n", true},
		{[]string{"/m/{p}", "/n/*/x"}, "m", false},
		{[]string{"/m/{p}/*/x"}, "m/k", true},
		{[]string{"/l/[0]/x", "/l/[*]/y"}, "l", false},
		{[]string{"/l/[*]/y"}, "l", true},
		{[]string{"/**/{p}"}, "a/b", false},
	} {
		args := Binding{"p": "k"}
		_, fixed := walked(SetOf(test.patterns...).Start(args), test.below).BindingIndependent()
		require.Equal(t, test.fixed, fixed, "%v below %q", test.patterns, test.below)
	}
}

func walked(c Cursor, keys string) Cursor {
	for _, name := range strings.FieldsFunc(keys, func(r rune) bool { return r == '/' }) {
		c = c.Key(name)
	}
	return c
}

func TestFixedWalksOfDifferentBindingsAreTheSame(t *testing.T) {
	set := SetOf("/m/{p}", "/n/*/x", "!/n/a/x")
	a, okA := set.Start(Binding{"p": "k"}).Key("n").BindingIndependent()
	b, okB := set.Start(Binding{"p": "other"}).Key("n").BindingIndependent()
	require.True(t, okA && okB)
	require.True(t, a == b)
	c, _ := set.Start(Binding{"p": "k"}).Key("n").Key("b").BindingIndependent()
	require.False(t, a == c)
}
