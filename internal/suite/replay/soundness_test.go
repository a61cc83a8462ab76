package replay_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/witness"
)

// Theorems 1, 3 and 8 of spec/semantics.md: where the certificate says that two
// stages commute, no state and no patches tell the orders apart, be it by state, by
// verdict or by view. POPTIC_SOUNDNESS=1000000 runs that many trials of each kind.

// trials is how many trials of certified pairs are run.
func trials() int { return rounds(5_000, 1_000) }

// A shape tells what a generator drew.
type shape struct {
	pairs, certified, conditional int // pairs of stages; certified for all arguments; for some
	trials, invalid               int
	accepted                      [3]int // trials with that many proposals accepted on the state
	parted                        int    // trials of pairs without certificate that parted
	contracts                     map[string]bool
	constructs                    map[string]int // certified pairs of drawn contracts that have to do with each
	meter                         meter
}

func newShape() *shape { return &shape{contracts: map[string]bool{}, constructs: map[string]int{}} }

// note counts a contract, by the text that tells it from others, and tells of a long run.
func (s *shape) note(t *testing.T, contract string) {
	s.contracts[contract] = true
	if s.meter.due(s.trials) {
		s.log(t)
	}
}

// A course is a contract with the states to try it on.
type course struct {
	maker
	c       *ir.Contract
	text    string // of a drawn contract
	run     replay.Runner
	reaches map[string]reach
	phase   string
	states  []placed
	sum     *shape
}

// statesPerCourse is how many states are drawn for one contract.
const statesPerCourse = 16

func (m maker) course(t *testing.T, c *ir.Contract, sum *shape, draw func(p *verify.Program) *tree.Node) *course {
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	co := &course{maker: m, c: c, run: replay.NewRunner(p), reaches: map[string]reach{}, phase: c.Phases[0].Name, sum: sum}
	for i := range c.Stages {
		co.reaches[c.Stages[i].Name] = reachOf(&c.Stages[i])
	}
	for range statesPerCourse {
		n := draw(p)
		if file := string(p.Export(n, false)); co.run.Valid(file, co.phase) {
			co.states = append(co.states, placed{n, file, places(n)})
		} else {
			sum.invalid++
		}
	}
	return co
}

// pairsOf lists the pairs of stages of a contract, with their conflicts.
func pairsOf(c *ir.Contract, sum *shape) []footprint.Pair {
	model := footprint.New(c)
	var out []footprint.Pair
	for i := range c.Stages {
		for j := 0; j <= i; j++ {
			a, b := &c.Stages[j], &c.Stages[i]
			p := footprint.Pair{A: a, B: b, Conflicts: model.Commutation(a, b)}
			out = append(out, p)
			sum.pairs++
			if len(p.Conflicts) == 0 {
				sum.certified++
			} else if depends(p) {
				sum.conditional++
			}
		}
	}
	return out
}

// depends reports whether arguments may tell the stages apart.
func depends(p footprint.Pair) bool { return len(p.A.Params)+len(p.B.Params) > 0 }

// all tries pairs of stages, and fails where a certified one parts.
func (co *course) all(t *testing.T, pairs []footprint.Pair, perPair int) {
	for _, p := range pairs {
		tries := perPair
		if len(p.Conflicts) > 0 && !depends(p) {
			tries = 1 // to see that there is something to certify
		}
		accepted := co.sum.accepted
		for range tries {
			if len(co.states) > 0 {
				co.try(t, p)
			}
		}
		if co.text != "" && (co.sum.accepted[1] > accepted[1] || co.sum.accepted[2] > accepted[2]) {
			part := involved(co.text, p.A, p.B)
			for name, pattern := range drawnConstructs {
				if pattern.MatchString(part) {
					co.sum.constructs[name]++
				}
			}
		}
	}
}

// try runs one trial of a pair.
func (co *course) try(t *testing.T, pair footprint.Pair) {
	state, other := co.states[co.Intn(len(co.states))], co.states[co.Intn(len(co.states))]
	argsA, okA := co.arguments(pair.A, state.node)
	argsB, okB := co.arguments(pair.B, state.node)
	if !okA || !okB {
		return
	}
	certified := !stands(pair.Conflicts, argsA, argsB)
	if !certified && !co.chance(10) {
		return
	}
	a := co.actor(pair.A, co.reaches[pair.A.Name], argsA, state, other.node)
	b := co.actor(pair.B, co.reaches[pair.B.Name], argsB, state, other.node)
	if a.idle() || b.idle() {
		return
	}
	trial := witness.Trial{State: state.file, Phase: co.phase}
	trial.A, trial.B = a.proposal(co.c, pair.A, argsA, state.node), b.proposal(co.c, pair.B, argsB, state.node)
	example, accepted := co.run.Compare(trial)
	switch {
	case certified && example != nil:
		t.Fatalf("certified, but %s\n%s", example.Detail, counterexample(co.c, pair, trial))
	case certified:
		co.sum.trials++
		co.sum.accepted[accepted]++
	case example != nil:
		co.sum.parted++
	}
}

// stands reports whether some conflict holds for the arguments.
func stands(conflicts []footprint.Conflict, argsA, argsB region.Binding) bool {
	all := region.Binding{}
	for name, key := range argsA {
		all[footprint.OwnedParam(footprint.OwnerA, name)] = key
	}
	for name, key := range argsB {
		all[footprint.OwnedParam(footprint.OwnerB, name)] = key
	}
	for _, c := range conflicts {
		if (region.Condition{Any: []region.Term{c.When}}).Holds(all) {
			return true
		}
	}
	return false
}

// arguments binds a stage's parameters to keys of a state; ok is false if it has
// none.
func (co *course) arguments(s *ir.Stage, state *tree.Node) (args region.Binding, ok bool) {
	args = region.Binding{}
	for _, p := range s.Params {
		at := tree.NodeAt(state, wordOf(p.Of.Bind(args)))
		switch {
		case p.Kind == ir.NewParam:
			args[p.Name] = co.newKey(at)
		case p.Kind == ir.DependentParam && at != nil && at.Kind() == ir.String:
			args[p.Name] = at.Text()
		case p.Kind == ir.ExistingParam && at.Len() > 0 && at.Kind() == ir.Object:
			var keys []string
			for name := range at.Members() {
				keys = append(keys, name)
			}
			args[p.Name] = co.pick(keys...)
		case p.Kind == ir.ElementParam && len(textsOf(at)) > 0:
			args[p.Name] = co.pick(textsOf(at)...)
		default:
			return nil, false
		}
	}
	return args, true
}

// textsOf lists the strings of a list or set that a parameter may be.
func textsOf(list *tree.Node) (out []string) {
	for _, n := range list.Elements() {
		if n.Kind() == ir.String && n.Text() != "" {
			out = append(out, n.Text())
		}
	}
	return out
}

// newKey is a key for a new entry of a container, mostly one that it does not have.
func (m maker) newKey(container *tree.Node) string {
	for range 4 {
		if key := m.pick("k1", "k2", "k4"); container == nil || container.Get(key) == nil {
			return key
		}
	}
	return m.pick("k1", "k2")
}

func (a actor) proposal(c *ir.Contract, s *ir.Stage, args region.Binding, state *tree.Node) footprint.Proposal {
	out := footprint.Proposal{Stage: s.Name, Args: map[string]string{}, Patch: a.patch(state)}
	for _, p := range s.Params {
		if p.Kind != ir.DependentParam {
			out.Args[p.Name] = args[p.Name]
		}
	}
	for _, v := range s.Values {
		out.Args[v.Name] = a.typed(c, v.Type)
	}
	a.inputs(s, &out)
	return out
}

func counterexample(c *ir.Contract, pair footprint.Pair, trial witness.Trial) string {
	return fmt.Sprintf("%s\n%s\nrules %s\nstate %s\nA %s\nB %s", text(pair.A), text(pair.B), text(c.Invariants), trial.State, text(trial.A), text(trial.B))
}

func (s shape) log(t *testing.T) {
	t.Helper()
	t.Logf("%d trials of certified pairs in %d distinct contracts: %d with both proposals accepted, %d with one, 0 counterexamples; %d pairs, %d certified, %d more depend on arguments; %d invalid states; %d trials of other pairs parted",
		s.trials, len(s.contracts), s.accepted[2], s.accepted[1], s.pairs, s.certified, s.conditional, s.invalid, s.parted)
}

func TestCertifiedPairsCommuteWithoutTypes(t *testing.T) {
	t.Parallel()
	const seed = 2
	m, sum := newMaker(seed), newShape()
	for enough := trials(); sum.trials < enough; {
		c := m.untyped(6)
		m.gate(t, c)
		sum.note(t, text(c))
		m.course(t, c, sum, func(*verify.Program) *tree.Node { return m.planted(c) }).all(t, pairsOf(c, sum), 80)
	}
	sum.log(t)
	require.Positive(t, sum.parted, "the generator makes nothing that parts")
	require.Greater(t, sum.accepted[2], sum.trials/10)
}

// gate adds parameters and rules to some stages of an untyped contract, and rules
// of its own.
func (m maker) gate(t *testing.T, c *ir.Contract) {
	env, err := expr.New(c, expr.Default())
	require.NoError(t, err)
	rule := func(source string, scope expr.Scope) ir.Expr {
		x, issues := env.Check(source, scope)
		require.False(t, expr.HasErrors(issues), "%s: %v", source, issues)
		return x
	}
	for i := range m.Intn(3) {
		c.Invariants = append(c.Invariants, m.invariant(i, rule))
	}
	for i := range c.Stages {
		s := &c.Stages[i]
		if m.chance(40) {
			m.parameter(s)
		}
		if m.chance(12) {
			s.Require = []ir.Expr{rule(m.condition("before"), expr.Scope{Vars: ir.BeforeVars, Params: params(s)})}
		}
		if m.chance(12) {
			s.Ensure = []ir.Expr{rule(m.condition(m.pick("before", "after")), expr.Scope{Vars: ir.AfterVars, Params: params(s)})}
		}
		if m.chance(5) {
			s.Produce = []region.Pattern{region.MustParse("/" + m.pick("a", "b"))}
		}
	}
}

func (m maker) invariant(i int, rule func(string, expr.Scope) ir.Expr) ir.Invariant {
	out := ir.Invariant{Name: "rule" + strconv.Itoa(i)}
	switch m.Intn(4) {
	case 0:
		p := region.MustParse("/" + m.pick("a", "b") + "/*")
		out.Unique = &p
	case 1:
		out.Each = &ir.Each{Var: "x", Over: region.MustParse("/" + m.pick("a", "b") + "/*"), Type: 1}
		x := rule(m.pick("x != 1", "!has(x.a) || !has(x.b)", `x != "a" || !has(state.b)`), expr.Scope{Vars: ir.EachVars, Each: out.Each})
		out.Expr = &x
	default:
		x := rule(m.condition("state"), expr.Scope{Vars: ir.StateVars})
		out.Expr = &x
	}
	return out
}

// condition draws a rule over an untyped root that holds on many states.
func (m maker) condition(root string) string {
	a, b := root+"."+m.pick("a", "b"), root+"."+m.pick("a", "b")
	switch m.Intn(5) {
	case 0:
		return "!has(" + a + ") || " + a + " != 1"
	case 1:
		return "!has(" + a + ") || size(" + a + ") < 2"
	case 2:
		return "!has(" + a + ") || !has(" + b + ")"
	case 3:
		return "!has(" + a + ".a) || !has(" + b + ".b)"
	default:
		return "!has(" + a + ".b) || " + a + `.b != "a"`
	}
}

// reserved are the keys that patterns name.
var reserved = []string{"a", "b", "0", "1"}

// parameter gives a stage a parameter and a grant that uses it.
func (m maker) parameter(s *ir.Stage) {
	of := region.MustParse("/" + m.pick("a", "b"))
	s.Params = []ir.Param{{Name: "p", Kind: []ir.ParamKind{ir.ExistingParam, ir.NewParam}[m.Intn(2)], Of: of, Reserved: reserved}}
	if m.chance(30) {
		s.Params[0] = ir.Param{Name: "p", Kind: ir.DependentParam, Of: region.MustParse("/a/b"), Reserved: reserved}
		s.Read = append(s.Read, region.Of("/a/b")...)
	}
	entry := of.String() + "/{p}" + m.pick("", "", "/a")
	s.Write = append(s.Write, region.Of(entry)...)
	s.Read = append(s.Read, region.Of(of.String()+"/{p}")...)
}

func params(s *ir.Stage) []string {
	var out []string
	for _, p := range s.Params {
		out = append(out, p.Name)
	}
	return out
}
