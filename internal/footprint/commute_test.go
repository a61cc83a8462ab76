package footprint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
)

// Each way in which two stages may meet, alone: what keeps them apart is of that kind.
func TestEachWayToMeetIsAConflictOfItsKind(t *testing.T) {
	const state = `contract c
state { a: int  b: int  max: int  m: map of int  n: map of int  s: set of string  g: log of int  h: log of { n: int }  u: One | Two }
type One = { kind: "one"  x: int  y: int }
type Two = { kind: "two"  x: string  y: int }
invariant small each e in /h/* { e.n <= state.max }
invariant few { size(state.n) <= 9 }
phases { p -> q  q }
stage over { in q }
`
	for _, c := range []struct{ name, a, b, kinds string }{
		{"blind additions to one map", "write blind /m/*", "write blind /m/*", "write"},
		{"additions to one set, of an equal element", "read /s write /s/-", "read /s write /s/-", "write source view source view"},
		{"appends to one log", "write /g/-", "write /g/-", ""},
		{"an append beside who sees how many entries there are", "read /g except /g/*", "write /g/-", "view"},
		{"an ensure over what the other one writes", "ensure { after.a > 0 } discloses ensure", "read /a write /a", "rule"},
		{"two members of one union of records", "read /u/x write /u/x discloses /u", "read /u/y write /u/y discloses /u", "gate"},
		{"an entry that comes, beside what it is compared with", "write /h/- discloses small", "read /max write /max discloses small", "gate"},
		{"a move beside a stage that does nothing", "next q", "", "phase"},
		{"a move by a choice of one beside a write", "next q", "read /a write /a", "phase"},
	} {
		t.Run(c.name, func(t *testing.T) {
			move := "" // the arrow must be walked
			if !strings.Contains(c.a, "next") {
				move = "stage move { in p next q }\n"
			}
			var got []string
			for _, kind := range kinds(t, state+move+"stage a { in p "+c.a+" }\nstage b { in p "+c.b+" }\n", "a", "b") {
				got = append(got, string(kind))
			}
			require.Equal(t, c.kinds, strings.Join(got, " "))
		})
	}
}

// One stage may keep a bound alone: the other one still is refused before it, and not after.
func TestABoundThatOneOfTwoStagesKeepsIsShared(t *testing.T) {
	const text = `contract c
state { n: map of int }
invariant few { size(state.n) <= 9 }
stage a(k new in /n) { write /n/{k} discloses few }
stage b(k in /n) { read /n/{k} write /n/{k} }
`
	require.Contains(t, kinds(t, text, "a", "b"), footprint.GateConflict)
	require.NotContains(t, kinds(t, text, "b", "b"), footprint.GateConflict)
}

// isProved reports whether the one claim of a contract is proved.
func isProved(t *testing.T, text string) bool {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	require.NoError(t, err)
	require.Len(t, out.Results, 1, "%+v", out.Diagnostics)
	_, proved := out.Results[0].(footprint.Proved)
	return proved
}

func TestWhatAHypothesisMayTakeForGranted(t *testing.T) {
	const text = `contract c
state { cases: map of { box: key of /boxes  n: int }  boxes: map of { n: int }  m: map of int  n: map of int  k: map of int  at: key of /boxes }
phases { p -> q  q }
stage fill(id in /cases, box = /cases/{id}/box) { in p  read /cases/{id}, /boxes/{box}  write /cases/{id}/n, /boxes/{box}/n }
stage one(a new in /m) { in p  write /m/{a}, blind /k/{a} }
stage same(a new in /m) { in p  write /m/{a}, blind /k/{a} }
stage other(b new in /n) { in p  write /n/{b}, blind /k/{b} }
stage go(box = /at) { in p  read /at  next q }
prove `
	for claim, want := range map[string]bool{
		"fill commutes with fill":                       false,
		"fill commutes with fill when box differs":      true, // then the cases differ, for a case has one box
		"fill commutes with fill when id differs":       false,
		"one commutes with same":                        true, // nobody binds a new key of one map twice
		"one commutes with other":                       false,
		"one commutes with other when a differs from b": true,
		"go commutes with go":                           false,
		"go commutes with go when box differs":          false, // a move stands in the way whatever is supposed
	} {
		require.Equal(t, want, isProved(t, text+claim+"\n"), claim)
	}
}

// The host binds no key of one map twice that is new there.
func TestARunThatBindsOneNewKeyTwiceIsNoneOfAClaim(t *testing.T) {
	c := compiled(t, `contract c
state { m: map of int  n: map of int }
stage one(a new in /m) { write /m/{a} }
stage other(b new in /n) { write /n/{b} }
`)
	key := func(name, value string) map[string]string { return map[string]string{name: value} }
	twice := footprint.Pair{A: c.Stage("one"), B: c.Stage("one")}
	require.False(t, twice.Admits(key("a", "x"), key("a", "x")))
	require.True(t, twice.Admits(key("a", "x"), key("a", "y")))
	mixed := footprint.Pair{A: c.Stage("one"), B: c.Stage("other")}
	require.True(t, mixed.Admits(key("a", "x"), key("b", "x")))
}

// Stages with as many parameters as one may have: each of one run may be each of the other.
func TestManyParametersOverOneMapLeaveItKnownWhenRunsCommute(t *testing.T) {
	for name, c := range map[string]struct {
		stages, params int
		state          string
		place          string // "{p}" and "{q}" are a parameter and the next
		more           string
		equalities     int // of each condition
		conditions     int
	}{
		"one stage":               {1, 28, "state { m: map of int }", "/m/{p}", "", 1, 28 * 28},
		"at the limit":            {1, 32, "state { m: map of int }", "/m/{p}", "", 1, 32 * 32},
		"several stages":          {6, 20, "state { m: map of int }", "/m/{p}", "", 1, 20 * 20},
		"two parameters in each":  {1, 28, "state { m: map of { l: map of int } }", "/m/{p}/l/{q}", "", 2, 28 * 28},
		"a rule for every member": {1, 32, "state { m: map of int  k: int }\ninvariant small each e in /m/* { e < state.k }", "/m/{p}", "discloses small", 1, 32 * 32},
	} {
		t.Run(name, func(t *testing.T) {
			var params, places []string
			for i := range c.params {
				params = append(params, fmt.Sprintf("p%d in /m", i))
				places = append(places, strings.NewReplacer("{p}", fmt.Sprintf("{p%d}", i), "{q}", fmt.Sprintf("{p%d}", (i+1)%c.params)).Replace(c.place))
			}
			text := "contract c\n" + c.state + "\n"
			for i := range c.stages {
				all := strings.Join(places, ", ")
				text += fmt.Sprintf("stage s%d(%s) { read %s write %s %s }\n", i, strings.Join(params, ", "), all, all, c.more)
			}
			ir := compiled(t, text)
			m := footprint.Measured(ir)
			for i := range ir.Stages {
				for j := range ir.Stages[:i+1] {
					conflicts := m.Commutation(&ir.Stages[i], &ir.Stages[j])
					require.Len(t, footprint.Weakest(conflicts), c.conditions)
					for _, conflict := range conflicts {
						require.Len(t, conflict.When.All, c.equalities)
						require.False(t, conflict.Soft)
					}
				}
			}
			require.False(t, m.Spent())
		})
	}
}
