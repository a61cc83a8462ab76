package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

// spelt is a contract with integers and literals below every kind of container.
func spelt(t testing.TB) *builder {
	b := newBuilder(t)
	integer, number := b.kind(ir.IntType), b.kind(ir.NumberType)
	literal := func(text string) ir.TypeID { return b.typ(ir.Type{Kind: ir.LiteralType, Literal: text}) }
	either := func(alternatives ...ir.TypeID) ir.TypeID {
		return b.typ(ir.Type{Kind: ir.UnionType, Alternatives: alternatives})
	}
	line := b.record("Line", "id", b.kind(ir.StringType), "n", integer)
	b.c.State = b.record("State",
		"i", integer, "l", either(literal("1"), literal("2"), literal("0.5")), "n", number, "x", b.kind(ir.AnyType),
		"m", b.of(ir.MapType, integer), "a", b.of(ir.ListType, either(b.kind(ir.StringType), integer)),
		"s", b.of(ir.SetType, integer), "h", b.of(ir.LogType, integer),
		"k", b.typ(ir.Type{Kind: ir.KeyedType, Elem: line, KeyField: "id"}),
		"u", either(
			b.record("Whole", "kind", b.oneOf("whole"), "v", integer),
			b.record("Any", "kind", b.oneOf("any"), "v", number),
		),
	)
	b.stage(ir.Stage{Name: "root", Read: of("/**"), Write: of("/**"), Source: of("/:x")})
	return b
}

// file is the state's file.
func (r *run) file() string { return string(r.p.Export(r.s.State, false)) }

func TestIntegersAndLiteralsHaveOneSpelling(t *testing.T) {
	file := `{"i":1e0,"l":2.00000000000,"n":1.50,"x":{"v":1.0},"m":{"a":-0.0},"a":[20e-1,"1.0"],"s":[1.0,3e2],"h":[1.0,1.00],
		"k":[{"id":"1.0","n":9007199254740993.0}],"u":{"kind":"whole","v":5.0}}`
	r := open(t, spelt(t).load(), file)
	require.Equal(t, `{"a":[2,"1.0"],"h":[1,1],"i":1,"k":[{"id":"1.0","n":9007199254740993}],"l":2,"m":{"a":0},"n":1.50,"s":[1,300],"u":{"kind":"whole","v":5},"x":{"v":1.0}}`,
		r.file())

	patch := func(text string) verify.Proposal { return verify.Proposal{Stage: "root", Patch: []byte(text)} }
	r.commits(patch(`[{"op":"replace","path":"/i","value":0.2e1},{"op":"replace","path":"/l","value":50e-2},{"op":"add","path":"/m/b","value":4.0},
		{"op":"add","path":"/a/-","value":7.00},{"op":"add","path":"/s/-","value":5e0},{"op":"add","path":"/h/-","value":1e1},
		{"op":"replace","path":"/k/1.0/n","value":3.0},{"op":"replace","path":"/u","value":{"kind":"any","v":8.0}},{"op":"replace","path":"/n","value":2.0}]`))
	require.Equal(t, `{"a":[2,"1.0",7],"h":[1,1,10],"i":2,"k":[{"id":"1.0","n":3}],"l":0.5,"m":{"a":0,"b":4},"n":2.0,"s":[1,300,5],"u":{"kind":"any","v":8.0},"x":{"v":1.0}}`,
		r.file())

	// What was a number becomes an integer by another member, and by being copied.
	r.commits(patch(`[{"op":"replace","path":"/u/kind","value":"whole"},{"op":"copy","from":"/x/v","path":"/m/c"}]`))
	require.Contains(t, r.file(), `"u":{"kind":"whole","v":8},"x":{"v":1.0}`)
	require.Contains(t, r.file(), `"m":{"a":0,"b":4,"c":1}`)
}
