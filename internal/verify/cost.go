package verify

import (
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// What judging one proposal may cost, in the steps of expressions (package expr). One
// evaluation has a limit, one rule has one over all the entries that it is asked of, and so
// have all the rules that a proposal is judged by.
//
// A limit that is reached refuses, so what is counted must follow from what decides the
// rule. What one rule costs follows from what it reads. For the sum, what the stage sees
// the gates of is counted apart from all else: then no cost of what is hidden refuses, or
// keeps untold, what is seen. Nor may a count hang on what is remembered from before: the
// same proposal would be judged in two ways. So entries count if they differ from what they
// were, and of a value that is checked against its type all of it counts, whether it
// was checked before or not. Loading a state is no proposal: there the limit on one
// evaluation holds alone.

// CostLimits bound the steps that judging one proposal takes. A field that is 0 means its
// default.
type CostLimits struct {
	Rule     uint64 // of one rule, condition, guard or measure, over all the entries that it is asked of
	Proposal uint64 // of all whose gates the stage sees, and as many of all others
}

// DefaultCostLimits hold when nothing else is said.
var DefaultCostLimits = CostLimits{Rule: 20_000_000, Proposal: 50_000_000}

// A costs is what is left for one proposal. The nil costs has no end.
type costs struct {
	rule         uint64
	seen, hidden *expr.Budget

	unasked, hiddenUnasked bool // rules had no room left, which a stage sees, or does not
}

func newCosts(l CostLimits) *costs {
	if l.Rule == 0 {
		l.Rule = DefaultCostLimits.Rule
	}
	if l.Proposal == 0 {
		l.Proposal = DefaultCostLimits.Proposal
	}
	return &costs{rule: l.Rule, seen: expr.NewBudget(l.Proposal, nil), hidden: expr.NewBudget(l.Proposal, nil)}
}

// A ruleCost is what is left for one rule. The zero one has no end.
type ruleCost struct {
	budget *expr.Budget
	hidden bool // the stage does not see the gate
}

// forRule is the room for a rule of which the stage sees the gate, or does not.
func (c *costs) forRule(seen bool) ruleCost {
	switch {
	case c == nil:
		return ruleCost{}
	case seen:
		c.unasked = c.unasked || c.seen.Over()
		return ruleCost{budget: expr.NewBudget(c.rule, c.seen)}
	}
	c.hiddenUnasked = c.hiddenUnasked || c.hidden.Over()
	return ruleCost{budget: expr.NewBudget(c.rule, c.hidden), hidden: true}
}

// over reports whether nothing more is to be asked of the rule.
func (c ruleCost) over() bool { return c.budget.Over() }

// because is finding.because, which says of a rule that ran out of steps what it ran out of.
func (c ruleCost) because(f finding, j judgement) finding {
	f = f.because(j)
	switch {
	case j != exhausted || !c.over():
		return f
	case c.budget.Outer().Over():
		f.Message, f.Hint = "the rules that judge the patch need more steps together than allowed", changeLess
		if c.hidden {
			f.known = ir.Hidden // it may follow from what another one costs
		}
	default:
		f.Message, f.Hint = "the rule needs more steps than allowed over all that the patch has it asked of", changeLess
	}
	return f
}

const changeLess = "change less in one patch: what it writes is what its rules are asked of"

// seesGates reports whether a stage sees its gates of a kind and name, whatever is
// proposed. A host that moves the phase sees all.
func (s *stage) seesGates(kind ir.GateKind, name string) bool {
	if s == nil {
		return true
	}
	known := false
	for i := range s.Gates {
		if g := &s.Gates[i]; g.Kind == kind && (g.Name == "" || name == "" || g.Name == name) {
			if g.Visibility != ir.Seen || len(g.Given) > 0 {
				return false
			}
			known = true
		}
	}
	return known
}

// Measures with conditions.

// checkMeasures asks the conditions of measures of the entries that the commit changed, so
// that what they cost is counted before any rule asks for the measure.
func (v *verification) checkMeasures() []finding {
	var found []finding
	for i := range v.p.measures {
		m := &v.p.measures[i]
		if m.where == nil || !meetsAny(m.reads, v.targets) {
			continue
		}
		room := v.costs.forRule(v.stage == nil || v.stage.seesMeasure[i])
		if room.budget.Outer().Over() {
			v.measuresAfter.without(i)
			continue
		}
		j := holds
		eachChange(v.snapshot.State, v.after, m.fold.segments, func(_, n *tree.Node) {
			v.p.watch.tick()
			if n != nil && !room.over() && m.where.judge(v.ctx, &expr.Input{Self: n, Budget: room.budget}) == exhausted && room.over() {
				j = exhausted
			}
		})
		if j == exhausted {
			v.measuresAfter.without(i)
			f := room.because(messages.measure(m.Measure), j)
			if f.reads = m.all; room.hidden {
				f.known = ir.Hidden
			}
			found = append(found, f)
		}
	}
	return found
}
