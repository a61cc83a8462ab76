package ir_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A yard makes types by hand.
type yard struct{ c *ir.Contract }

func newYard() *yard { return &yard{&ir.Contract{Types: make([]ir.Type, 1)}} }

func (y *yard) add(t ir.Type) ir.TypeID {
	y.c.Types = append(y.c.Types, t)
	return ir.TypeID(len(y.c.Types) - 1)
}

func (y *yard) kind(k ir.TypeKind) ir.TypeID { return y.add(ir.Type{Kind: k}) }

func (y *yard) of(k ir.TypeKind, elem ir.TypeID) ir.TypeID {
	return y.add(ir.Type{Kind: k, Elem: elem})
}

func (y *yard) union(alternatives ...ir.TypeID) ir.TypeID {
	return y.add(ir.Type{Kind: ir.UnionType, Alternatives: alternatives})
}

// record has the members a, b, ... of the types given.
func (y *yard) record(members ...ir.TypeID) ir.TypeID {
	t := ir.Type{Kind: ir.RecordType}
	for i, m := range members {
		t.Members = append(t.Members, ir.Member{Name: string(rune('a' + i)), Type: m})
	}
	return y.add(t)
}

func TestAUnionIsUndecidedWhereAlternativesDisagreeAtOnePlace(t *testing.T) {
	y := newYard()
	text, whole, number, anything := y.kind(ir.StringType), y.kind(ir.IntType), y.kind(ir.NumberType), y.kind(ir.AnyType)
	list, set, log := y.of(ir.ListType, text), y.of(ir.SetType, text), y.of(ir.LogType, text)
	for name, of := range map[string]struct {
		union ir.TypeID
		want  bool
	}{
		"a log that only one has":      {y.union(y.record(text), y.record(text, log)), false},
		"a list and a set":             {y.union(y.record(text, list), y.record(text, set)), true},
		"a log and anything":           {y.union(y.record(log), anything), true},
		"a string and anything":        {y.union(text, anything), false},
		"an int and a number, below":   {y.union(y.of(ir.MapType, whole), y.of(ir.MapType, number)), true},
		"a declared member and a rest": {y.union(y.record(list), y.of(ir.MapType, set)), true},
		"elements of lists":            {y.union(y.of(ir.ListType, set), y.of(ir.ListType, log)), true},
		"a list and an object":         {y.union(list, y.of(ir.MapType, set)), false},
	} {
		require.Equal(t, of.want, ir.NewUnions(y.c).Undecided(of.union), name)
	}
}

func TestAUnionIsUndecidedWhereAlternativesSpellOneNumberDifferently(t *testing.T) {
	for types, want := range map[string]bool{
		"1 | 1.0": true, "10 | 1e1": true, "1e1 | 1E1": true, "1e1 | 1e+1": true, "-2 | -2.0": true, "0.5 | 5e-1": true, "1.5 | 1.50": true,
		"0 | 0.0": true, "-0.0 | 0": true, "-0 | 0": false, "-0.0 | 0.0": false,
		"1 | 1": false, "1 | 2": false, "1 | -1": false, "1.0 | 2": false, "1.5 | 2.5": false, "1.0 | 1.1": false, "1e2 | 1e3": false,
		"int | 1": false, "int | -7": false, "int | -0": false, "int | 1.5": false, "int | 5e-1": false, "int | 1e-2": false,
		"int | 1.0": true, "int | 1e1": true, "int | 1.5e1": true, "int | -0.0": true, "int | 100e-2": true,
		"number | 1": true, "number | 1.5": true, "any | 1": true, "any | 0.5": true, "any | int": true, "number | any": false,
		`"1" | 1`: false, `"1.0" | "1"`: false, "1e4000 | 1e4001": false, "1e4000 | 10e3999": true,
	} {
		y := newYard()
		of := func(text string) ir.TypeID {
			switch text {
			case "int", "number", "any":
				return y.kind(ir.TypeKind(text))
			}
			return y.add(ir.Type{Kind: ir.LiteralType, Literal: text})
		}
		left, right, _ := strings.Cut(types, " | ")
		text, of1, of2 := y.kind(ir.StringType), of(left), of(right)
		for where, union := range map[string]ir.TypeID{
			"here":                y.union(of1, of2),
			"in a member":         y.union(y.record(text, of1), y.record(text, of2)),
			"beside a string":     y.union(y.record(y.union(text, of1)), y.record(y.union(of2, text))),
			"in elements":         y.union(y.of(ir.ListType, of1), y.of(ir.ListType, of2)),
			"in a map in a map":   y.union(y.of(ir.MapType, y.of(ir.MapType, of1)), y.of(ir.MapType, y.of(ir.MapType, of2))),
			"in a further member": y.union(y.record(of1), y.of(ir.MapType, of2)),
		} {
			require.Equal(t, want, ir.NewUnions(y.c).Undecided(union), "%s, %s", types, where)
		}
	}
}

func TestWhatDecidesAboutARegionIsTheOutermostUndecidedUnionItGoesInto(t *testing.T) {
	y := newYard()
	text := y.kind(ir.StringType)
	list, set := y.of(ir.ListType, text), y.of(ir.SetType, text)
	box := y.union(y.record(text, list), y.record(text, set))
	y.c.State = y.record(box, y.of(ir.MapType, box), text)
	for patterns, want := range map[string]string{
		"/:a/:b":         "/:a",
		"/:a":            "",
		"/:a !/:a/:a":    "/:a",
		"/:b/{p}/:b":     "/:b/{p}",
		"/:b/:*/:b":      "/:b/:*",
		"/**/:b":         "/",
		"/:c":            "",
		"/:b !/:b/:*/:a": "/:b/:*",
	} {
		var got string
		for _, g := range ir.NewUnions(y.c).Deciding(region.Of(strings.Fields(patterns)...)) {
			require.Empty(t, got)
			require.Len(t, g.Include, 1)
			if got = g.Include[0].String(); got == "" {
				got = "/"
			}
		}
		require.Equal(t, want, got, patterns)
	}
}

func TestUnionsThatShareAlternativesAreAnsweredInNoTime(t *testing.T) {
	y := newYard()
	at := y.union(y.kind(ir.StringType), y.of(ir.ListType, y.kind(ir.IntType)))
	for range 60 {
		at = y.union(at, at, y.record(at, at))
	}
	require.True(t, ir.NewUnions(y.c).Undecided(y.union(at, y.of(ir.SetType, y.kind(ir.StringType)))))
}

func TestWhereNothingIsUndecidedThereIsNothingToLookUp(t *testing.T) {
	y := newYard()
	text := y.kind(ir.StringType)
	y.c.State = y.record(text, y.of(ir.MapType, y.record(text, y.of(ir.ListType, text))))
	u, r := ir.NewUnions(y.c), region.Of("/b/:*/a", "/b/*/b/[*]", "!/b/**/a")
	require.Empty(t, u.Deciding(r))
	require.Zero(t, testing.AllocsPerRun(100, func() { u.Deciding(r) }))
}
