package footprint_test

import (
	"fmt"
	"math/rand"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A generator makes contracts out of typed paths over one state:
//
//	state { a, b: map of Rec  l: log of Rec  s: list of Rec  u: set of int  x: any }
//	type Rec { p, q: int  m: map of int  r: key of /a }
//
// with a rule for every entry of /a, one for every member of /b, one over all of
// /s, and one constraint on Rec.
type generator struct {
	*rand.Rand
	c *ir.Contract
}

func newGenerator(seed int64) *generator {
	g := &generator{rand.New(rand.NewSource(seed)), &ir.Contract{Name: "random", Types: make([]ir.Type, 1)}}
	add := func(t ir.Type) ir.TypeID {
		g.c.Types = append(g.c.Types, t)
		return ir.TypeID(len(g.c.Types) - 1)
	}
	members := func(namesAndTypes ...any) (out []ir.Member) {
		for i := 0; i < len(namesAndTypes); i += 2 {
			out = append(out, ir.Member{Name: namesAndTypes[i].(string), Type: namesAndTypes[i+1].(ir.TypeID)})
		}
		return out
	}
	whole := add(ir.Type{Kind: ir.IntType})
	wholes := add(ir.Type{Kind: ir.MapType, Elem: whole})
	target := region.MustParse("/:a")
	ref := add(ir.Type{Kind: ir.RefType, Target: &target})
	rec := add(ir.Type{Kind: ir.RecordType, Members: members("p", whole, "q", whole, "m", wholes, "r", ref), Where: []ir.Expr{reads("/:p", "/:q")}})
	recs := add(ir.Type{Kind: ir.MapType, Elem: rec})
	few := add(ir.Type{Kind: ir.RecordType, Members: members("k1", rec, "k2", rec)})
	g.c.State = add(ir.Type{Kind: ir.RecordType, Members: members("a", recs, "b", few,
		"l", add(ir.Type{Kind: ir.LogType, Elem: rec}), "s", add(ir.Type{Kind: ir.ListType, Elem: rec}), "u", add(ir.Type{Kind: ir.SetType, Elem: whole}), "x", add(ir.Type{Kind: ir.AnyType}))})
	g.c.Phases = []ir.Phase{{Name: "one", Arrows: []ir.Arrow{{To: "two"}}}, {Name: "two"}}
	g.invariant("/:a/:*", "/:a/{@1}/:p", "/:a/{@1}/:m")
	g.invariant("/:b/:*", "/:b/{@1}/:q")
	g.invariant("", "/:s/[*]/:p", "/:x/count")
	return g
}

func reads(patterns ...string) ir.Expr {
	x := ir.Expr{Source: "true"}
	for _, p := range patterns {
		x.Reads = append(x.Reads, ir.Read{Pattern: region.MustParse(p)})
	}
	return x
}

func (g *generator) invariant(over string, patterns ...string) {
	x := reads(patterns...)
	inv := ir.Invariant{Name: fmt.Sprint("inv", len(g.c.Invariants)), Expr: &x}
	if over != "" {
		inv.Each = &ir.Each{Var: "e", Over: region.MustParse(over)}
	}
	g.c.Invariants = append(g.c.Invariants, inv)
}

func (g *generator) oneOf(texts ...string) string { return texts[g.Intn(len(texts))] }

// path is a typed pattern; params are those it may mention.
func (g *generator) path(params []string) string {
	entry := "/" + g.oneOf(append([]string{":*", ":k1", ":k2"}, params...)...)
	inRec := g.oneOf("", "/:p", "/:q", "/:r", "/:m", "/:m/:*", "/:m/:k1", "/**/:k1")
	switch g.Intn(10) {
	case 0, 1, 2, 3:
		return "/:a" + entry + inRec
	case 4, 5:
		return "/:b/" + g.oneOf(":k1", ":k2", ":*") + inRec
	case 6:
		return "/:s/[*]" + inRec
	case 7:
		return g.oneOf("/:l/-", "/:l", "/:u/-", "/:u")
	case 8:
		return "/:x/" + g.oneOf("count", "0", "*") + g.oneOf("", "/y", "/**/z")
	default:
		return g.oneOf("/:a", "/:b", "/**/:p", "/:x")
	}
}

func (g *generator) region(params []string, most int, exceptions bool) (out region.Region) {
	for range g.Intn(most + 1) {
		texts := []string{g.path(params)}
		for exceptions && g.Intn(4) == 0 {
			texts = append(texts, "!"+g.path(params))
		}
		out = append(out, region.Of(texts...)...)
	}
	return out
}

// stage adds a stage of one to three grants a clause.
func (g *generator) stage(exceptions bool) {
	s := ir.Stage{Name: fmt.Sprint("s", len(g.c.Stages)), In: []string{g.oneOf("one", "one", "two")}}
	var params []string
	for i := range g.Intn(3) {
		name := string(rune('t' + i))
		params = append(params, "{"+name+"}")
		s.Params = append(s.Params, ir.Param{Name: name, Kind: ir.ExistingParam, Of: region.MustParse("/:a")})
	}
	s.Read = g.region(params, 2, exceptions)
	s.Write = append(g.region(params, 2, exceptions), region.Of(g.path(params))...)
	s.Source = g.region(params, 1, exceptions)
	if g.Intn(4) == 0 {
		s.Require = []ir.Expr{reads(g.path(params))}
	}
	if g.Intn(12) == 0 && s.In[0] == "one" {
		s.Next = []string{"two"}
	}
	g.c.Stages = append(g.c.Stages, s)
}
