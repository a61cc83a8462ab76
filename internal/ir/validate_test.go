package ir_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// wholeContract has a little of everything.
func wholeContract() *ir.Contract {
	all := region.Region{{Include: []region.Pattern{region.MustParse("/:m/{k}")}}}
	over := region.MustParse("/:m/:*")
	return &ir.Contract{
		Name: "c",
		Types: []ir.Type{
			{}, {Kind: ir.LiteralType, Literal: `"a"`}, {Kind: ir.StringType}, {Kind: ir.UnionType, Alternatives: []ir.TypeID{1, 2}},
			{Kind: ir.MapType, Elem: 3}, {Kind: ir.RecordType, Members: []ir.Member{{Name: "m", Type: 4}, {Name: "n", Type: 2}}},
		},
		State:      5,
		Phases:     []ir.Phase{{Name: "p", Arrows: []ir.Arrow{{To: "q"}}}, {Name: "q"}},
		Measures:   []ir.Measure{{Name: "total", Kind: ir.Count, Over: over}},
		Invariants: []ir.Invariant{{Name: "i", Each: &ir.Each{Var: "e", Over: over, Type: 3}, Expr: &ir.Expr{Source: "true"}}},
		Stages: []ir.Stage{
			{Name: "s", In: []string{"p"}, Params: []ir.Param{{Name: "k", Kind: ir.ExistingParam, Of: region.MustParse("/:m")}}, Read: all, Write: all},
			{Name: "t", In: []string{"p"}, From: "s", Gates: []ir.Gate{{Kind: ir.InvariantGate, Name: "i", Visibility: ir.Seen}}},
		},
		Compositions: []ir.Composition{{Name: "both", Stages: []string{"s", "t"}}},
		Claims:       []ir.Claim{{Kind: ir.Commutes, Text: "prove s commutes with t", Stages: []string{"s", "t"}}},
	}
}

// What is wrong inside is refused where it is read, so that no reader meets it.
func TestACompiledContractThatIsWrongInsideIsRefused(t *testing.T) {
	_, err := ir.Decode(ir.Encode(wholeContract()))
	require.NoError(t, err)
	for what, spoil := range map[string]func(c *ir.Contract){
		"a literal without its value":         func(c *ir.Contract) { c.Types[1].Literal = "" },
		"a literal that is no scalar":         func(c *ir.Contract) { c.Types[1].Literal = `[1]` },
		"a literal that is no JSON":           func(c *ir.Contract) { c.Types[1].Literal = `tru` },
		"a literal with blanks":               func(c *ir.Contract) { c.Types[1].Literal = ` 1` },
		"an unknown kind of type":             func(c *ir.Contract) { c.Types[2].Kind = "zz" },
		"a type that is a literal also":       func(c *ir.Contract) { c.Types[2].Literal = `1` },
		"a union that is called a literal":    func(c *ir.Contract) { c.Types[3].Kind = ir.LiteralType },
		"an alternative that is no type":      func(c *ir.Contract) { c.Types[3].Alternatives[0] = ir.NoType },
		"a map of nothing":                    func(c *ir.Contract) { c.Types[4].Elem = ir.NoType },
		"a keyed list without a field":        func(c *ir.Contract) { c.Types[4].Kind = ir.KeyedType },
		"a member without a type":             func(c *ir.Contract) { c.Types[5].Members[0].Type = ir.NoType },
		"two members of one name":             func(c *ir.Contract) { c.Types[5].Members[1].Name = "m" },
		"a type below itself":                 func(c *ir.Contract) { c.Types[4].Elem = 4 },
		"a first type that is one":            func(c *ir.Contract) { c.Types[0].Kind = ir.AnyType },
		"a reference to nothing":              func(c *ir.Contract) { c.Types[2].Kind = ir.RefType },
		"a constraint that says nothing":      func(c *ir.Contract) { c.Types[2].Where = []ir.Expr{{}} },
		"no state":                            func(c *ir.Contract) { c.State = 9 },
		"no phase":                            func(c *ir.Contract) { c.Phases = nil },
		"two phases of one name":              func(c *ir.Contract) { c.Phases[1].Name = "p" },
		"an arrow to nowhere":                 func(c *ir.Contract) { c.Phases[0].Arrows[0].To = "r" },
		"a measure of no kind":                func(c *ir.Contract) { c.Measures[0].Kind = "avg" },
		"an invariant over no type":           func(c *ir.Contract) { c.Invariants[0].Each.Type = -1 },
		"an invariant without a rule":         func(c *ir.Contract) { c.Invariants[0].Expr = nil },
		"a stage that runs in no phase":       func(c *ir.Contract) { c.Stages[1].In = nil },
		"a stage that runs in an unknown one": func(c *ir.Contract) { c.Stages[1].In[0] = "" },
		"a stage without a name":              func(c *ir.Contract) { c.Stages[1].Name = "" },
		"a stage that is its own delegate":    func(c *ir.Contract) { c.Stages[0].From = "t" },
		"a delegate of nobody":                func(c *ir.Contract) { c.Stages[1].From = "u" },
		"a parameter of no kind":              func(c *ir.Contract) { c.Stages[0].Params[0].Kind = "out" },
		"a clause with an unknown parameter":  func(c *ir.Contract) { c.Stages[0].Params[0].Name = "l" },
		"a grant of nothing":                  func(c *ir.Contract) { c.Stages[1].Write = region.Region{{}} },
		"rights of other grants":              func(c *ir.Contract) { c.Stages[0].Rights = []ir.Rights{ir.Create, ir.Update} },
		"rights without a grant":              func(c *ir.Contract) { c.Stages[1].Rights = []ir.Rights{ir.Create} },
		"no right":                            func(c *ir.Contract) { c.Stages[0].Rights = []ir.Rights{0} },
		"a right that is none":                func(c *ir.Contract) { c.Stages[0].Rights = []ir.Rights{8} },
		"all rights, spelled out":             func(c *ir.Contract) { c.Stages[0].Rights = []ir.Rights{ir.AllRights} },
		"fewer than no attempts":              func(c *ir.Contract) { c.Stages[0].Attempts = -1 },
		"a gate of an unknown invariant":      func(c *ir.Contract) { c.Stages[1].Gates[0].Name = "j" },
		"a gate that nobody may learn of":     func(c *ir.Contract) { c.Stages[1].Gates[0].Visibility = "" },
		"a gate on a type nowhere":            func(c *ir.Contract) { c.Stages[1].Gates[0].Kind = ir.TypeGate },
		"a composition of nothing":            func(c *ir.Contract) { c.Compositions[0].Stages = nil },
		"a claim about one stage":             func(c *ir.Contract) { c.Claims[0].Stages = []string{"s"} },
		"a claim about an unknown stage":      func(c *ir.Contract) { c.Claims[0].Stages[1] = "both" },
		"a claim of no kind":                  func(c *ir.Contract) { c.Claims[0].Kind = "" },
		"a claim about no phases":             func(c *ir.Contract) { c.Claims[0].Kind = ir.PhaseBefore },
	} {
		c := wholeContract()
		spoil(c)
		_, err := ir.Decode(ir.Encode(c))
		require.Error(t, err, what)
		requireCode(t, err, "malformed")
	}
}
