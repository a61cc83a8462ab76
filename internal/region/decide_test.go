package region

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMembershipAndInteriorAgreeWithTheDefinitionOnEveryWord(t *testing.T) {
	for name, u := range map[string]*universe{"typed": typedUniverse(3), "log": logUniverse(3)} {
		t.Run(name, func(t *testing.T) {
			regions := u.regions(3)
			check(t, 2000, func(t *rapid.T) {
				r := regions.Draw(t, "region")
				set := Compile(r.Region)
				for i, w := range u.words {
					if set.Contains(w) != r.sets[Plain].has(i) || set.Interior(w) != r.sets[Interior].has(i) {
						t.Fatalf("%v at %s: in %v, interior %v", r.Region, w.Pointer(), set.Contains(w), set.Interior(w))
					}
				}
			})
		})
	}
}

// check compares an answer with the model: found says which word numbers are
// witnesses, wanted is the verdict if there is one.
func (u *universe) check(t *rapid.T, what string, a, b modelRegion, got Answer, wanted Verdict, witnesses modelSet, isWitness func(Word) bool) {
	first := witnesses.first()
	switch {
	case got.Verdict == Unknown:
		t.Fatalf("%s of %v and %v is unknown", what, a.Region, b.Region)
	case got.Verdict != wanted && first >= 0:
		t.Fatalf("%s of %v and %v: %v, but %s", what, a.Region, b.Region, got.Verdict, u.words[first].Pointer())
	case got.Verdict != wanted:
		return
	case !isWitness(got.Witness):
		t.Fatalf("%s of %v and %v: %s is no witness", what, a.Region, b.Region, got.Witness.Pointer())
	case first >= 0 && len(u.words[first]) < len(got.Witness):
		t.Fatalf("%s of %v and %v: %s is longer than %s", what, a.Region, b.Region, got.Witness.Pointer(), u.words[first].Pointer())
	case first < 0 && len(got.Witness) <= len(u.words[len(u.words)-1]):
		t.Fatalf("%s of %v and %v: %s is not in the model", what, a.Region, b.Region, got.Witness.Pointer())
	}
}

// has decides membership of one word, which may be longer than the universe, by
// the definition.
func (r modelRegion) has(w Word, mode Mode) bool {
	u := &universe{words: []Word{w}}
	for _, g := range r.Region {
		var include, except []modelPattern
		for _, p := range g.Include {
			include = append(include, u.model(p))
		}
		for _, p := range g.Except {
			except = append(except, u.model(p))
		}
		if u.grant(include, except)[mode].has(0) {
			return true
		}
	}
	return false
}

func TestDecisionsAgreeWithEnumerationAndTheirWitnessesAreShortest(t *testing.T) {
	for name, u := range map[string]*universe{"typed": typedUniverse(4), "log": logUniverse(4)} {
		t.Run(name, func(t *testing.T) {
			regions := u.regions(3)
			check(t, 30_000, func(t *rapid.T) {
				a, b := regions.Draw(t, "a"), regions.Draw(t, "b")
				u.checkDecisions(t, a, b, modes.Draw(t, "mode of a"), modes.Draw(t, "mode of b"))
			})
		})
	}
}

func (u *universe) checkDecisions(t *rapid.T, a, b modelRegion, modeA, modeB Mode) {
	setA, setB := Compile(a.Region), Compile(b.Region)

	both := a.sets[modeA].clone()
	both.and(b.sets[modeB])
	got := Overlap(setA, setB, modeA, modeB, Options{})
	u.check(t, "overlap", a, b, got, Yes, both, func(w Word) bool { return a.has(w, modeA) && b.has(w, modeB) })
	require.Equal(t, got.Verdict, Overlap(setA, setB, modeA, modeB, Options{VerdictOnly: true}).Verdict)

	outside := a.sets[modeA].clone()
	outside.without(b.sets[modeB])
	u.check(t, "containment", a, b, Within(setA, setB, modeA, modeB, Options{}), No, outside,
		func(w Word) bool { return a.has(w, modeA) && !b.has(w, modeB) })

	differ := a.sets[modeA].clone()
	differ.differing(b.sets[modeA])
	u.check(t, "equality", a, b, Equal(setA, setB, modeA, Options{}), No, differ,
		func(w Word) bool { return a.has(w, modeA) != b.has(w, modeA) })

	u.check(t, "emptiness", a, modelRegion{}, Empty(setA, modeA, Options{}), No, a.sets[modeA],
		func(w Word) bool { return a.has(w, modeA) })
}

// scattered is a union of k patterns /**/ai/**/bi: its subsets grow as 2^k.
func scattered(k int) *Set {
	var texts []string
	for i := range k {
		texts = append(texts, fmt.Sprintf("/**/a%d/**/b%d", i, i))
	}
	return SetOf(texts...)
}

func TestASearchBeyondItsBudgetIsUnknownAndSaysSo(t *testing.T) {
	every := SetOf("/**/q/**/r")
	got := Within(every, scattered(12), Plain, Plain, Options{Budget: 100})
	require.Equal(t, No, got.Verdict, "a short witness needs no large budget")

	a := Compile(Union(scattered(12).regionForTest(), Of("/zz")))
	got = Equal(a, Compile(Union(Of("/zz"), scattered(12).regionForTest())), Plain, Options{Budget: 100})
	require.Equal(t, Unknown, got.Verdict)
	require.Nil(t, got.Witness)
	require.Contains(t, got.Why, fmt.Sprint(got.States))
	require.Greater(t, got.States, 100)
}

func TestTheNumberOfSearchStatesIsTheSameEveryTime(t *testing.T) {
	states := map[int]bool{}
	for range 5 {
		states[Equal(scattered(5), scattered(5), Plain, Options{}).States] = true
	}
	require.Len(t, states, 1)
}

func TestReachabilityBeyondTheBudgetCountsAsDead(t *testing.T) {
	texts := []string{"/**/end"}
	for i := range 13 {
		texts = append(texts, fmt.Sprintf("/**/a%d", i))
	}
	needed := SetOf("/**/a0")
	for i := 1; i < 18; i++ {
		needed = IntersectSets(needed, SetOf(fmt.Sprintf("/**/a%d", i)))
	}
	c := needed.Start(nil)
	require.False(t, c.Reachable())
	require.False(t, c.Reachable(), "the shortest word has 18 letters, and 2^18 subsets lie before it")
	require.True(t, SetOf(texts...).Start(nil).Reachable())
}

func TestWitnessesUseAReadableKeyThatNoPatternNames(t *testing.T) {
	require.Equal(t, "/a/x", Within(SetOf("/a/*"), SetOf("/a/k"), Plain, Plain, Options{}).Witness.Pointer())
	require.Equal(t, "/a/k1", Within(SetOf("/a/:*"), SetOf("/a/x", "/a/y", "/a/z"), Plain, Plain, Options{}).Witness.Pointer())
	require.Equal(t, "/a/1", Within(SetOf("/a/[*]"), SetOf("/a/[0]"), Plain, Plain, Options{}).Witness.Pointer())
	require.Equal(t, Word{}, Overlap(SetOf(""), SetOf(""), Plain, Interior, Options{}).Witness)
}

// A shapeTable is a Shape given as a table: the members of each node, the node
// of all other keys and of all positions; -1 for none.
type shapeTable []shapeRow

type shapeRow struct {
	members map[string]int
	rest    int
	element int
}

func (s shapeTable) Step(node int, l Letter) (int, bool) {
	row := s[node]
	next := row.rest
	if l.Kind == IndexLetter || l.Kind == FreshLetter {
		next = row.element
	} else if to, ok := row.members[l.Name]; ok && l.Kind == KeyLetter {
		next = to
	}
	return next, next >= 0
}

func (s shapeTable) Keys(node int) ([][]string, bool, bool) {
	var groups [][]string
	for _, name := range slices.Sorted(maps.Keys(s[node].members)) {
		groups = append(groups, []string{name})
	}
	return groups, s[node].rest >= 0, s[node].element >= 0
}

func (s shapeTable) Values(node int) (object, array, leaf bool) {
	object, array = len(s[node].members) > 0 || s[node].rest >= 0, s[node].element >= 0
	return object, array, !object && !array
}

// tickets is { tickets: map of { status, labels: list of string } }.
var tickets = shapeTable{
	0: {members: map[string]int{"tickets": 1}, rest: -1, element: -1},
	1: {rest: 2, element: -1},
	2: {members: map[string]int{"status": 3, "labels": 4}, rest: -1, element: -1},
	3: {rest: -1, element: -1},
	4: {rest: -1, element: 3},
}

func TestAShapeRestrictsDecisionsToThePathsThatCanExist(t *testing.T) {
	o := Options{Shape: tickets}
	require.Equal(t, No, Within(SetOf("/tickets/*"), SetOf("/tickets/*!", "/tickets/*/status", "/tickets/*/labels"), Plain, Plain, Options{}).Verdict)
	require.Equal(t, Yes, Within(SetOf("/tickets/*"), SetOf("/tickets/*!", "/tickets/*/status", "/tickets/*/labels"), Plain, Plain, o).Verdict)
	require.Equal(t, Yes, Empty(SetOf("/tickets/*/state"), Plain, o).Verdict)
	require.Equal(t, Yes, Empty(SetOf("/tickets/*/status/*"), Plain, o).Verdict)

	got := Within(SetOf("/tickets"), SetOf("/tickets!", "/tickets/*!", "/tickets/*/status"), Plain, Plain, o)
	require.Equal(t, No, got.Verdict)
	require.Equal(t, "/tickets/x/labels", got.Witness.Pointer())

	require.Equal(t, "/tickets/{t}/labels/0", Empty(SetOf("/tickets/{t}/labels/[*]"), Plain, o).Witness.Pointer())
	require.Equal(t, No, Overlap(SetOf("/tickets/*/:*"), SetOf("/tickets/*/z"), Plain, Plain, o).Verdict)
}

func TestTheOtherKeyOfAnOpenShapeIsNotOneOfItsMembers(t *testing.T) {
	open := shapeTable{
		0: {members: map[string]int{"x": 1, "y": 1}, rest: 2, element: -1},
		1: {rest: -1, element: -1},
		2: {rest: -1, element: 1},
	}
	got := Empty(SetOf("/*/[*]"), Plain, Options{Shape: open})
	require.Equal(t, "/z/0", got.Witness.Pointer())
}

func TestShapedDecisionsAgreeWithEnumerationOfTypedPaths(t *testing.T) {
	shape := shapeTable{
		0: {members: map[string]int{"a": 1, "0": 2}, rest: -1, element: -1},
		1: {rest: 2, element: 1},
		2: {members: map[string]int{"a": 3, "x": 1}, rest: 3, element: -1},
		3: {rest: -1, element: 3},
	}
	u := typedUniverse(4)
	typed := u.empty()
	for i, w := range u.words {
		if shape.has(w) {
			typed.add(i)
		}
	}
	o := Options{Shape: shape}
	regions := u.regions(3)
	check(t, 20_000, func(t *rapid.T) {
		a, b := regions.Draw(t, "a"), regions.Draw(t, "b")
		setA, setB := Compile(a.Region), Compile(b.Region)
		both := a.sets[Plain].clone()
		both.and(b.sets[Interior])
		both.and(typed)
		u.check(t, "overlap", a, b, Overlap(setA, setB, Plain, Interior, o), Yes, both,
			func(w Word) bool { return shape.has(w) && a.has(w, Plain) && b.has(w, Interior) })
		outside := a.sets[Interior].clone()
		outside.without(b.sets[Plain])
		outside.and(typed)
		u.check(t, "containment", a, b, Within(setA, setB, Interior, Plain, o), No, outside,
			func(w Word) bool { return shape.has(w) && a.has(w, Interior) && !b.has(w, Plain) })
	})
}

func (s shapeTable) has(w Word) bool {
	node, ok := 0, true
	for _, l := range w {
		if node, ok = s.Step(node, l); !ok {
			return false
		}
	}
	return true
}

func TestWhatAViewShowsOnTheWayDoesNotDependOnWhatIsThere(t *testing.T) {
	o := Options{Shape: tickets}
	shown := func(read, written string) Verdict {
		return Overlap(SetOf(read), SetOf(written), Shown, Interior, o).Verdict
	}
	require.Equal(t, No, Overlap(SetOf("/tickets/*/**/a"), SetOf("/tickets/*/labels"), Plain, Interior, o).Verdict)
	require.Equal(t, Yes, shown("/tickets/*/**/a", "/tickets/*/labels"), "the view has a place for the list")
	require.Equal(t, No, shown("/tickets/*/**/a", "/tickets/*/status"), "a scalar is shown only if it is read")
	require.Equal(t, Yes, shown("/tickets/*/*/[*]", "/tickets/*/labels"))
	require.Equal(t, No, shown("/tickets/*/*/:a", "/tickets/*/labels"), "a list has no such place")
	require.Equal(t, Yes, shown("/tickets/*/*/:a", "/tickets/x"))
}
