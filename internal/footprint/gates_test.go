package footprint_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// compiled is the contract of a text, whose findings may be anything but errors.
func compiled(t testing.TB, text string) *ir.Contract {
	t.Helper()
	files := fstest.MapFS{"c.poptic": {Data: []byte(text)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%+v", out.Diagnostics)
	return out.Contract
}

// kinds lists what stands between two stages of a contract.
func kinds(t testing.TB, text, a, b string) []footprint.ConflictKind {
	t.Helper()
	c := compiled(t, text)
	var out []footprint.ConflictKind
	for _, conflict := range footprint.New(c).Commutation(c.Stage(a), c.Stage(b)) {
		out = append(out, conflict.Kind)
	}
	return out
}

var onlyGate = []footprint.ConflictKind{footprint.GateConflict}

func TestARuleForEveryMemberOfARecordIsSharedThroughTheMembersName(t *testing.T) {
	const text = `contract c
state { limits: { day: Limit  night: Limit } }
type Limit { a: int  b: int }
invariant small each l in /limits/* { l.a + l.b <= 10 }
stage every { read /limits/*/a      write /limits/*/a    discloses small }
stage day   { read /limits/day/b    write /limits/day/b  discloses small }
stage night { read /limits/night/a  write /limits/night/a  discloses small }
`
	require.Equal(t, onlyGate, kinds(t, text, "every", "day"))
	require.Empty(t, kinds(t, text, "day", "night"), "each is about one member")
}

func TestAConstraintOnTheElementsOfAListIsOneGate(t *testing.T) {
	const text = `contract c
state { items: list of Item }
type Item = { a: int  b: int } where { self.a + self.b <= 10 }
stage one { read /items/*/a  write /items/*/a  discloses /items/* }
stage two { read /items/*/b  write /items/*/b  discloses /items/* }
`
	require.Equal(t, onlyGate, kinds(t, text, "one", "two"))
}

func TestAConstraintOnTheEntriesOfALogIsOneGateForEachEntry(t *testing.T) {
	const text = `contract c
state { events: log of Event }
type Event { what: string where { size(self) < 10 } }
stage one { write /events/- }
stage two { write /events/- }
`
	require.Empty(t, kinds(t, text, "one", "two"))
}

func TestARuleForEveryEntryIsSharedForEqualKeysOnly(t *testing.T) {
	const text = `contract c
state { items: map of Item }
type Item { a: int  b: int }
invariant small each i in /items/* { i.a + i.b <= 10 }
stage one(i in /items) { read /items/{i}/a  write /items/{i}/a  discloses small }
stage two(j in /items) { read /items/{j}/b  write /items/{j}/b  discloses small }
`
	c := compiled(t, text)
	found := footprint.New(c).Commutation(c.Stage("one"), c.Stage("two"))
	require.Len(t, found, 1)
	require.Equal(t, "A.i = B.j", found[0].When.String())
}

func TestAContainerThatAViewShowsEmptyIsSeen(t *testing.T) {
	const text = `contract c
state {
  k: list of { id: string  n?: { c: bool  b?: string }  x: int } by id
  r: { q: { a: int }  h?: { s: int }  l?: list of int }
  v: { k: "x"  o?: { c: bool } } | { k: "y" }
}
stage t { read /k/**/a, /k/*/x  write /k/**/a }
stage holes { read /k/*/n/* except (/k/*/n/b, /k/*/n/c) }
stage u(p in /k) { read /k/{p}/n, /k/{p}/id  write /k/{p}/n }
stage x(p in /k) { read /k/{p}/x  write /k/{p}/x }
stage wide { read /r/*/a }
stage h { read /r/h  write /r/h }
stage l { read /r/l  write /r/l }
stage o { read /v/o  write /v/o }
`
	view := []footprint.ConflictKind{footprint.ViewConflict}
	for _, c := range []struct {
		a, b string
		want []footprint.ConflictKind
	}{
		{"t", "u", view}, {"holes", "u", view}, {"holes", "x", nil},
		{"wide", "h", view}, {"wide", "l", nil}, {"wide", "o", nil},
	} {
		require.Equal(t, c.want, kinds(t, text, c.a, c.b), "%s and %s", c.a, c.b)
	}
}
