package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

// What an evaluation costs is a function of what the rule reads, as its value is: else
// the limit on it would tell what is hidden (spec/semantics.md section 6.2).

// cost is a contract whose stage sees all that its rule reads, but for a text in the
// entries of a bag.
const cost = `contract cost sealed
state { x: int  big: list of int  bag: %s of { n: int  s: string  sub: %s of { n: int  s: string } } }
invariant rule { %s }
stage s { read /x, /big, /bag/*/n, /bag/*/sub/*/n  write /x }
`

func TestWhatIsHiddenDoesNotDecideWhetherARuleIsTooCostly(t *testing.T) {
	for _, bag := range []string{"log", "set"} {
		for _, rule := range []string{
			`state.bag.exists(e, e.n == 1 || state.big.exists(b, b > 9 + state.x))`,
			`!state.bag.all(e, e.n != 1 && !state.big.exists(b, b > 9 + state.x))`,
			`state.bag.filter(e, e.n < 9).exists(f, f.n == 1 || state.big.exists(b, b > 9 + state.x))`,
			`state.bag.all(e, e.n > 0 || e.sub.exists(i, i.n == 1 || state.big.exists(b, b > 9 + state.x)))`,
			`(state.x > 5 ? state.bag : state.bag).exists(e, e.n == 1 || state.big.exists(b, b > 9 + state.x))`,
			`cel.bind(all, state.bag, all.exists(e, e.n == 1 || state.big.exists(b, b > 9 + state.x)))`,
		} {
			c := compile(t, fmt.Sprintf(cost, bag, bag, rule), nil)
			require.NotNil(t, c.Contract, "%s: %+v", rule, c.Diagnostics)
			met := map[verify.Code]bool{}
			for most := uint64(20); most < 700; most += 9 {
				limits := verify.DefaultLimits()
				limits.Expr.CostLimit = most
				p, err := verify.Load(c.Contract, limits)
				require.NoError(t, err)
				first := ""
				for _, texts := range [][]any{{"a", "b", "c", "d", "e", "f"}, {"u", "v", "w", "x", "y", "z"}, {"k", "b", "k", "d", "m", "f"}, {"p", "q", "r", "d", "e", "z"}} {
					state, err := p.Import([]byte(fmt.Sprintf(`{"x":0,"big":[`+strings.Repeat("1,", 19)+`1],
"bag":[{"n":0,"s":%q,"sub":[{"n":1,"s":%q},{"n":0,"s":%q}]},{"n":1,"s":%q,"sub":[]},{"n":2,"s":%q,"sub":[{"n":2,"s":%q}]}]}`, texts...)))
					require.NoError(t, err)
					out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1},
						verify.Proposal{Stage: "s", Patch: []byte(`[{"op":"replace","path":"/x","value":2}]`)})
					require.NoError(t, err)
					said := text(out.Actor())
					for _, v := range out.Verdict.Violations {
						met[v.Code] = true
					}
					if first == "" {
						first = said
					}
					require.Equal(t, first, said, "%s, %d steps", rule, most)
				}
			}
			require.True(t, met[verify.LimitExceeded], rule)
		}
	}
}

// A costly is a contract with one rule whose cost is the square of what a patch adds: n
// entries, or one entry with a list of n.
type costly struct{ name, rule, state, file, patch, entry string }

const manyEntries, longEntry = `[{"op":"add","path":"/l","value":{%s}}]`, `[{"op":"add","path":"/l/a","value":{"name":"a","tags":[%s]}},{"op":"remove","path":"/l/old"}]`

var costlies = []costly{
	{"each entry goes through all", `invariant r each k, a in /l/* { state.l.exists_one(b, b == k) || a.name == "" }`, "", `{}`, manyEntries, `"k%[1]d":{"name":"n","tags":[]}`},
	{"all over all", `invariant r { state.l.all(a, state.l.exists(b, state.l[b].name == state.l[a].name + "")) }`, "", `{}`, manyEntries, `"k%[1]d":{"name":"n%[1]d","tags":[]}`},
	{"an entry goes through its list", `invariant r each a in /l/* { a.tags.all(x, a.tags.exists_one(y, x == y)) }`, "", `{}`, longEntry, `"t%[1]d"`},
	{"a change rule", `change r each a in /l/* { after.tags.all(x, after.tags.exists_one(y, x == y)) }`, "", `{"a":{"name":"","tags":[]}}`, longEntry, `"t%[1]d"`},
	{"a measure with a condition", `measure m = count /l/* where { self.tags.all(x, self.tags.exists_one(y, x == y)) }  invariant r { m < 1000 }`, "", `{}`, longEntry, `"t%[1]d"`},
	{"a constraint of a type", ``, `where { self.tags.all(x, self.tags.exists_one(y, x == y)) }`, `{}`, longEntry, `"t%[1]d"`},
	{"a constraint in many values", ``, `where { self.name.matches("^(a|b|n)*[0-9]*$") }`, `{}`, manyEntries, `"k%[1]d":{"name":"n%[1]d","tags":[]}`},
	{"a fold", `invariant r each a in /l/* { sum(state.l.map(b, size(state.l[b].name))) >= size(a.name) }`, "", `{}`, manyEntries, `"k%[1]d":{"name":"n%[1]d","tags":[]}`},
	{"what a stage ensures", `ensure r { after.l.all(a, after.l.exists_one(b, b == a)) }`, "", `{}`, manyEntries, `"k%[1]d":{"name":"n","tags":[]}`},
}

func (c costly) contract(t *testing.T, more string) *ir.Contract {
	ensure, rule := "", c.rule
	if strings.HasPrefix(rule, "ensure") {
		ensure, rule = rule, ""
	}
	out := compile(t, fmt.Sprintf("contract c\ntype E = { name: string  tags: list of string } %s\nstate { l: map of E }\nstage s { read /l write /l %s }\n%s\n%s", c.state, ensure, rule, more), nil)
	require.NotNil(t, out.Contract, "%s: %+v", c.name, out.Diagnostics)
	return out.Contract
}

func (c costly) adding(n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(c.entry, i)
	}
	return fmt.Sprintf(c.patch, strings.Join(entries, ","))
}

// judged is what becomes of a patch under limits, on a state that was just imported.
func judged(t *testing.T, c *ir.Contract, limits verify.Limits, file, patch string) verify.Outcome {
	p, err := verify.Load(c, limits)
	require.NoError(t, err)
	state, err := p.Import([]byte(`{"l":` + file + `}`))
	require.NoError(t, err)
	out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1}, verify.Proposal{Stage: "s", Patch: []byte(patch)})
	require.NoError(t, err)
	again, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1}, verify.Proposal{Stage: "s", Patch: []byte(patch)})
	require.NoError(t, err)
	require.Equal(t, text(out.Verdict), text(again.Verdict), "the same was judged in two ways")
	return out
}

// leastCost is the least limit under which a patch commits.
func leastCost(t *testing.T, c *ir.Contract, file, patch string, set func(*verify.Limits, uint64)) uint64 {
	low, high := uint64(0), uint64(10_000_000)
	for low+1 < high {
		limits, middle := verify.DefaultLimits(), (low+high)/2
		set(&limits, middle)
		if judged(t, c, limits, file, patch).Verdict.Verdict == verify.Commit {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

func ofRule(l *verify.Limits, most uint64)     { l.Cost.Rule = most }
func ofProposal(l *verify.Limits, most uint64) { l.Cost.Proposal = most }

func withOld(file string) string {
	return strings.Replace(strings.Replace(file, "{", `{"old":{"name":"","tags":[]},`, 1), ",}", "}", 1)
}

func TestARuleCountsWhatItCostsOverAllItsEntries(t *testing.T) {
	for _, c := range costlies {
		t.Run(c.name, func(t *testing.T) {
			contract, file := c.contract(t, ""), withOld(c.file)
			few, many := leastCost(t, contract, file, c.adding(12), ofRule), leastCost(t, contract, file, c.adding(48), ofRule)
			require.Greater(t, many, 3*few)
			if c.name != "a constraint in many values" {
				require.Greater(t, many, 10*few)
			}
			limits := verify.DefaultLimits()
			limits.Cost.Rule = many - 1
			out := judged(t, contract, limits, file, c.adding(48))
			require.Len(t, out.Verdict.Violations, 1, text(out.Verdict))
			require.Equal(t, verify.LimitExceeded, out.Verdict.Violations[0].Code)
			require.Equal(t, verify.GateLimit, out.Verdict.Violations[0].Gate)
			require.NotEmpty(t, out.Verdict.Violations[0].Rule)
			require.Equal(t, out.Verdict.Violations, out.Actor().Violations)
		})
	}
}

func TestRulesThatAreEachCheapMayCostTooMuchTogether(t *testing.T) {
	var more strings.Builder
	for i := range 9 {
		fmt.Fprintf(&more, "invariant r%d each k, a in /l/* { state.l.exists_one(b, b == k) || a.name == \"\" }\n", i)
	}
	c := costlies[0]
	contract, patch := c.contract(t, more.String()), c.adding(40)
	one, all := leastCost(t, contract, withOld(`{}`), patch, ofRule), leastCost(t, contract, withOld(`{}`), patch, ofProposal)
	require.Greater(t, all, 9*one)
	require.LessOrEqual(t, all, 11*one)
	limits := verify.DefaultLimits()
	limits.Cost = verify.CostLimits{Rule: one, Proposal: 4 * one}
	out := judged(t, contract, limits, withOld(`{}`), patch)
	require.Len(t, out.Verdict.Violations, 1, "the rules that are not asked any more say nothing")
	require.Equal(t, verify.LimitExceeded, out.Verdict.Violations[0].Code)
	require.Contains(t, out.Verdict.Violations[0].Message, "together")
	require.Equal(t, out.Verdict.Violations, out.Actor().Violations)
	require.Equal(t, []verify.Gate{verify.GateInvariant}, out.Verdict.NotChecked, "what was not asked is told of")
	require.Equal(t, out.Verdict.NotChecked, out.Actor().NotChecked)
}

// What a stage does not see the rules of has room of its own, and shows nothing of itself.
func TestWhatHiddenRulesCostKeepsNoOtherRuleFromBeingTold(t *testing.T) {
	c := compile(t, `contract c
state { x: int  tags: list of int  hidden: list of string }
stage s { read /x, /tags write /x, /tags }
invariant secret { state.x < 0 || state.hidden.all(a, state.hidden.exists_one(b, a == b)) }
invariant told { state.tags.all(a, state.tags.exists_one(b, a == b)) && state.x < 2 }
`, nil)
	require.NotNil(t, c.Contract, "%+v", c.Diagnostics)
	limits := verify.DefaultLimits()
	limits.Cost = verify.CostLimits{Rule: 3_000, Proposal: 3_000}
	p, err := verify.Load(c.Contract, limits)
	require.NoError(t, err)
	for patch, told := range map[string]string{
		`[{"op":"replace","path":"/x","value":3}]`:                                                          "invariant told",
		`[{"op":"replace","path":"/tags","value":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]}]`: "invariant told",
		`[{"op":"replace","path":"/x","value":1}]`:                                                          "",
	} {
		met := map[string]bool{}
		for _, n := range []int{1, 10, 60} {
			var hidden []string
			for i := range n {
				hidden = append(hidden, fmt.Sprintf(`"h%d"`, i))
			}
			state, err := p.Import([]byte(`{"x":0,"tags":[1],"hidden":[` + strings.Join(hidden, ",") + `]}`))
			require.NoError(t, err)
			out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1}, verify.Proposal{Stage: "s", Patch: []byte(patch)})
			require.NoError(t, err)
			said := out.Actor()
			if told == "" && n > 10 {
				require.Len(t, said.Violations, 1)
				require.Equal(t, verify.Refused, said.Violations[0].Code)
				require.Equal(t, verify.LimitExceeded, out.Verdict.Violations[0].Code)
				continue
			}
			met[text(said.Violations)] = true
			if told != "" {
				require.Len(t, said.Violations, 1, text(out.Verdict))
				require.Equal(t, told, said.Violations[0].Rule)
			}
		}
		require.Len(t, met, 1)
	}
}

// A state that is read, and what was there before, are not what a patch costs.
func TestWhatAPatchDoesNotChangeCostsItNothing(t *testing.T) {
	for _, c := range costlies {
		if c.patch != longEntry {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			contract := c.contract(t, "")
			file := `{"old":{"name":"","tags":[]},"a":{"name":"","tags":[]}}`
			alone := leastCost(t, contract, file, c.adding(20), ofRule)
			full := make([]string, 60)
			for i := range full {
				full[i] = fmt.Sprintf(`"t%d"`, i)
			}
			for _, name := range []string{"b", "z"} {
				file = strings.Replace(file, "{", fmt.Sprintf(`{%q:{"name":"","tags":[%s]},`, name, strings.Join(full, ",")), 1)
			}
			require.Equal(t, alone, leastCost(t, contract, file, c.adding(20), ofRule))
		})
	}
}

func TestAReplySaysThatRulesWereNotJudgedWhichOnlyFollowFromAnother(t *testing.T) {
	c := compile(t, `contract shop
state { orders: map of { product: string  qty: int }  products: map of { stock: int } }
stage s(o in /orders) {
  read /orders/{o}, /products  write /orders/{o}
  ensure known { after.orders[o].product in after.products }
  ensure enough { after.products[after.orders[o].product].stock >= after.orders[o].qty }
}
invariant few each o in /orders/* { o.qty < 100 / o.qty }
`, nil)
	require.NotNil(t, c.Contract, "%+v", c.Diagnostics)
	p, err := verify.Load(c.Contract, verify.DefaultLimits())
	require.NoError(t, err)
	state, err := p.Import([]byte(`{"orders":{"a":{"product":"p","qty":1}},"products":{"p":{"stock":3}}}`))
	require.NoError(t, err)
	for value, want := range map[string]struct {
		codes []verify.Code
		gates []verify.Gate
	}{
		`{"product":"q","qty":1}`: {[]verify.Code{verify.EnsureViolation}, []verify.Gate{verify.GateInvariant}},
		`{"product":"p","qty":4}`: {[]verify.Code{verify.EnsureViolation}, nil},
		`{"product":"p","qty":0}`: {[]verify.Code{verify.EvaluationError}, nil},
		`{"product":"q","qty":0}`: {[]verify.Code{verify.EnsureViolation, verify.EvaluationError}, []verify.Gate{verify.GateInvariant}},
	} {
		out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main", Version: 1},
			verify.Proposal{Stage: "s", Args: map[string]string{"o": "a"}, Patch: []byte(`[{"op":"replace","path":"/orders/a","value":` + value + `}]`)})
		require.NoError(t, err)
		var codes []verify.Code
		for _, v := range out.Verdict.Violations {
			codes = append(codes, v.Code)
		}
		require.Equal(t, want.codes, codes, value)
		require.Equal(t, want.gates, out.Verdict.NotChecked, value)
		require.Equal(t, want.gates, out.Actor().NotChecked, value)
	}
}

func TestAViewAndAProposalBindAlikeWhateverOtherRulesMayCost(t *testing.T) {
	c := compile(t, `contract c
state { l: map of { tags: list of int } }
stage s(k in /l where { state.l[k].tags.all(a, state.l[k].tags.exists_one(b, a == b)) }) { read /l/{k} write /l/{k}/tags }
`, nil)
	require.NotNil(t, c.Contract, "%+v", c.Diagnostics)
	for most, bound := range map[uint64]bool{0: true, 100: false} {
		limits := verify.DefaultLimits()
		limits.Cost = verify.CostLimits{Rule: 10, Proposal: 10}
		limits.Expr.CostLimit = most
		p, err := verify.Load(c.Contract, limits)
		require.NoError(t, err)
		state, err := p.Import([]byte(`{"l":{"a":{"tags":[1,2,3,4,5,6,7,8,9]}}}`))
		require.NoError(t, err)
		at := verify.Snapshot{State: state, Phase: "main", Version: 1}
		_, refused, err := p.View(context.Background(), at, verify.ViewRequest{Stage: "s", Args: map[string]string{"k": "a"}})
		require.NoError(t, err)
		require.Equal(t, bound, refused == nil)
		out, err := p.Verify(context.Background(), at, verify.Proposal{Stage: "s", Args: map[string]string{"k": "a"}, Patch: []byte(`[{"op":"replace","path":"/l/a/tags","value":[1]}]`)})
		require.NoError(t, err)
		require.Equal(t, bound, out.Verdict.Verdict == verify.Commit, text(out.Verdict))
	}
}
