package region

import (
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	rnd := rand.New(rand.NewSource(9))
	u := typedUniverse(rnd, 4)
	typed := u.empty()
	for i, w := range u.words {
		if shape.has(w) {
			typed.add(i)
		}
	}
	o := Options{Shape: shape}
	for range cases(20_000) {
		a, b := u.region(rnd), u.region(rnd)
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
	}
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
