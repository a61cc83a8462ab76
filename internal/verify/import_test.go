package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

func TestImportTurnsKeyedListsIntoObjectsAndMarksSetsAndLogs(t *testing.T) {
	n := openDesk(t).s.State
	lines := n.Get("tickets").Get("T1").Get("lines")
	require.Equal(t, `{"A":{"count":2,"sku":"A"},"B":{"count":3,"sku":"B"}}`, lines.String())
	require.Equal(t, tree.SetOrder, n.Get("tickets").Get("T1").Get("labels").Order())
	require.Equal(t, tree.LogOrder, n.Get("history").Order())
	require.Equal(t, tree.ListOrder, n.Get("tickets").Get("T1").Get("steps").Order())
}

func TestExportIsTheInverseOfImport(t *testing.T) {
	r := openDesk(t)
	for _, indent := range []bool{false, true} {
		file := r.p.Export(r.s.State, indent)
		again, err := r.p.Import(file)
		require.NoError(t, err)
		require.Equal(t, r.s.State.Digest(), again.Digest())
		require.Equal(t, string(file), string(r.p.Export(again, indent)))
	}
	require.Contains(t, string(r.p.Export(r.s.State, false)), `"lines":[{"count":2,"sku":"A"},{"count":3,"sku":"B"}]`)
	require.True(t, strings.HasSuffix(string(r.p.Export(r.s.State, true)), "}\n"))
}

func TestImportReportsEverythingThatDoesNotFitWithoutValues(t *testing.T) {
	p := openDesk(t).p
	bad := strings.NewReplacer(
		`"status": "open"`, `"status": "canary"`, `"customer": "C1"`, `"customer": "canary"`,
		`"labels": ["urgent"]`, `"labels": ["canary", "canary"]`, `"budget": 100`, `"budget": "canary"`, `"votes": {"V1": 4}`, `"votes": {}, "extra": 1`,
	).Replace(deskState)
	_, err := p.Import([]byte(bad))
	var unfit *verify.StateError
	require.ErrorAs(t, err, &unfit)
	got := map[string]verify.Code{}
	for _, problem := range unfit.Problems {
		got[problem.Path] = problem.Code
		require.NotContains(t, problem.Message+problem.Hint, "canary")
	}
	require.Equal(t, map[string]verify.Code{
		"/tickets/T1/status": verify.SchemaViolation, "/tickets/T1/customer": verify.SchemaViolation,
		"/tickets/T1/labels": verify.SchemaViolation, "/budget": verify.SchemaViolation, "/extra": verify.SchemaViolation,
	}, got)
	require.NotContains(t, err.Error(), "canary")
	require.Contains(t, err.Error(), "and 4 more")
}

func TestImportRefusesKeyedListsThatAreNone(t *testing.T) {
	p := openDesk(t).p
	for lines, want := range map[string][2]string{
		`{"A": {"sku": "A", "count": 1}}`:                      {"/tickets/T2/lines", "schema_violation"},
		`[{"sku": "A", "count": 1}, {"sku": "A", "count": 2}]`: {"/tickets/T2/lines/1", "duplicate_key"},
		`[{"count": 1}]`: {"/tickets/T2/lines/0", "schema_violation"},
		`[7]`:            {"/tickets/T2/lines/0", "schema_violation"},
	} {
		_, err := p.Import([]byte(strings.Replace(deskState, `"lines": []`, `"lines": `+lines, 1)))
		var unfit *verify.StateError
		require.ErrorAs(t, err, &unfit, lines)
		require.Equal(t, want, [2]string{unfit.Problems[0].Path, string(unfit.Problems[0].Code)}, lines)
	}
	_, err := p.Import([]byte(`{"a":1,"a":2}`))
	var decode *tree.DecodeError
	require.ErrorAs(t, err, &decode)
}

func TestUnionsImportWhicheverAlternativeFits(t *testing.T) {
	b := newBuilder(t)
	str := b.kind(ir.StringType)
	keyed := b.typ(ir.Type{Kind: ir.KeyedType, Elem: b.record("Item", "id", str), KeyField: "id"})
	set := b.of(ir.SetType, b.kind(ir.IntType))
	text := b.of(ir.ListType, str)
	b.c.State = b.of(ir.ListType, b.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{b.kind(ir.NullType), keyed, set, text}}))
	p := b.load()
	file := `[null,[{"id":"b"},{"id":"a"}],[2,1],["x","x"]]`
	n, err := p.Import([]byte(file))
	require.NoError(t, err)
	require.Equal(t, ir.Object, n.At(1).Kind())
	require.Equal(t, tree.SetOrder, n.At(2).Order())
	require.Equal(t, tree.ListOrder, n.At(3).Order())
	require.Equal(t, `[null,[{"id":"a"},{"id":"b"}],[1,2],["x","x"]]`, string(p.Export(n, false)))
	_, err = p.Import([]byte(`[[{"id":7}]]`))
	require.Error(t, err)
}

func TestCheckAllReportsEveryBrokenRule(t *testing.T) {
	r := openDesk(t)
	broken := strings.NewReplacer(`"status": "open"`, `"status": "solved"`, `"amount": 60`, `"amount": 160`, `canary-grace`, `canary-ada`).Replace(deskState)
	n, err := r.p.Import([]byte(broken))
	require.NoError(t, err)
	require.Equal(t, []string{
		"invariant invariant_violation /tickets/T1", "invariant invariant_violation", "invariant invariant_violation /customers/C2/email",
	}, short(r.p.CheckAll(context.Background(), n, "triage")))
	require.Len(t, r.p.CheckAll(context.Background(), n, "closed"), 4, "one rule reads the phase")
}

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
