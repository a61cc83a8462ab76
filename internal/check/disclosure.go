package check

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// A gate that a stage's commit can trigger, and that reads what the stage does
// not see, tells its actor one bit by accepting or rejecting. That is allowed
// but never silent: "discloses" declares it; what is not declared is a warning,
// and in a sealed contract an error.

// disclosure is one item of a stage's "discloses" clauses.
type disclosure struct {
	ref  *syntax.GateRef
	at   []string // of a path: the typed patterns it means
	used bool
}

// checkDisclosure finds the gates of every stage, and which of them tell what it does not see.
func (c *checker) checkDisclosure() {
	declarations := map[*stage][]*disclosure{}
	for _, st := range c.stages {
		st.faulty = c.faultily(func() { declarations[st] = c.declaredGates(st) }) || st.faulty
	}
	c.model.Holds = c.holds
	shared := c.model.StateGates()
	index := footprint.NewGateIndex(c.model, shared)
	triggered := 0
	for _, st := range c.stages {
		if c.exhausted(st.decl.Name.Span) {
			return
		}
		if !st.faulty && !c.stateless {
			c.discloseStage(st, shared, index, declarations[st])
		}
		if triggered += len(st.out.Gates); triggered > MaxTriggered {
			c.report(tooLarge(st.decl.Name.Span, "gates that stages trigger", MaxTriggered, "a rule counts for each stage whose commits it judges; let fewer stages write what it reads, or write several rules as one"))
			return
		}
	}
}

// MaxTriggered bounds the gates of all stages, each as often as there are stages whose
// commits it judges.
const MaxTriggered = 1 << 16

// holds reports whether a rule of the state certainly holds where places have the texts.
func (c *checker) holds(g footprint.Gate, phases []string, known []ir.Pin) bool {
	in := expr.Scope{Vars: ir.StateVars}
	if g.Each != nil {
		in.Vars, in.Each = ir.EachVars, g.Each
	}
	return g.Kind == ir.InvariantGate && c.env != nil && c.env.Holds(*g.Expr, in, phases, known)
}

// discloseStage goes through the gates that a stage's commits can trigger.
func (c *checker) discloseStage(st *stage, shared []footprint.Gate, index *footprint.GateIndex, declared []*disclosure) {
	seen := region.Compile(c.model.Seen(st.out))
	for _, g := range c.model.StageGates(st.out) {
		c.discloseGate(st, g, []footprint.Use{c.model.Depends(g, st.out)}, seen, declared)
	}
	var g footprint.Gate
	var touched []footprint.Use
	settle := func() {
		if len(touched) > 0 {
			c.discloseGate(st, g, touched, seen, declared)
		}
		touched = nil
	}
	index.Touched(st.out, func(i int) {
		if !isOneRule(g, shared[i]) {
			settle()
			g = shared[i]
		}
		if !c.model.CannotFail(shared[i], st.out) {
			touched = append(touched, c.model.Touched(shared[i], st.out)...)
		}
	})
	settle()
	c.disclosePhase(st, declared)
	for _, d := range declared {
		if !d.used && st.parent == nil && c.groundwork {
			c.report(needlessDisclosure(st, d.ref))
		}
	}
}

// disclosedPhase is what "discloses" calls the choice between phases. It is no gate: what
// it declares is that the stage may tell by it what it sees.
const disclosedPhase = "phase"

// disclosePhase takes the declaration that a stage tells by the phase it moves to. One
// that never has a choice tells nothing.
func (c *checker) disclosePhase(st *stage, declared []*disclosure) {
	st.out.DisclosesPhase = false
	for _, d := range declared {
		if d.ref.Path == nil && d.ref.Name.Text == disclosedPhase && len(st.out.Next) > 1 {
			d.used, st.out.DisclosesPhase = true, true
		}
	}
}

// isOneRule reports whether two gates, the one behind the other, are one rule to the
// actor: parts of one invariant.
func isOneRule(g, h footprint.Gate) bool {
	return g.Kind == h.Kind && g.Name == h.Name && g.At == h.At
}

// discloseGate decides what the stage's actor may learn of a gate, and reports
// what is not declared.
func (c *checker) discloseGate(st *stage, g footprint.Gate, uses []footprint.Use, seen *region.Set, declared []*disclosure) {
	out := g.Gate
	out.Visibility = ir.Seen
	if unseen, hidden := c.unseen(st.out, uses, seen); hidden {
		out.Unseen = unseen.Source()
		out.Visibility = ir.Hidden
		if d := find(declared, out); d != nil {
			d.used = true
			out.Visibility = ir.Disclosed
		} else {
			c.report(undisclosed(st, out, c.out.Sealed))
		}
	} else {
		out.Given = given(uses)
	}
	st.out.Gates = append(st.out.Gates, out)
}

// given is what conditions of the stage say, for a gate to depend on no more than its uses
// read.
func given(uses []footprint.Use) (out []ir.Pin) {
	for i := range uses {
		for _, p := range uses[i].Given {
			if !slices.ContainsFunc(out, func(q ir.Pin) bool { return reflect.DeepEqual(p, q) }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// unseen finds a pattern that a gate reads and the stage does not see. What the
// stage adds itself it knows, and that an object stands where one certainly does is
// known to everybody. Where the type leaves the kind of a node on the way open, an
// expression depends on it as well.
func (c *checker) unseen(s *ir.Stage, uses []footprint.Use, seen *region.Set) (region.Pattern, bool) {
	for _, u := range uses {
		for _, p := range u.Reads {
			if c.model.OwnEntry(s, p) {
				continue
			}
			for _, q := range append(c.model.OpenPrefixes(p), p) {
				if !c.model.Known(s, q) && !c.model.Shows(seen, q) {
					return q, true
				}
			}
		}
	}
	return region.Pattern{}, false
}

// declaredGates resolves what a stage, and for a delegate its parents, disclose.
func (c *checker) declaredGates(st *stage) []*disclosure {
	var out []*disclosure
	for at := st; at != nil; at = at.parent {
		for _, cl := range at.decl.Clauses {
			if cl.Keyword.Text != "discloses" {
				continue
			}
			for _, ref := range cl.Gates {
				if d := c.declaredGate(st, ref); d != nil {
					out = append(out, d)
				}
			}
		}
	}
	return out
}

func (c *checker) declaredGate(st *stage, ref *syntax.GateRef) *disclosure {
	switch name := ref.Name.Text; {
	case ref.Path == nil && c.isMissing(ref.Name), (name == "next" || name == "where") && c.isMissing(ref.Of):
		return nil
	case ref.Path != nil:
		d := &disclosure{ref: ref}
		for _, p := range c.patterns(ref.Path, otherPath, st.params) {
			d.at = append(d.at, anyKeys(p).String())
		}
		if len(d.at) == 0 {
			return nil
		}
		return d
	case name == "next":
		if len(c.phases) > 0 && c.phases[ref.Of.Text] == nil {
			c.report(unknownName(diagnostic.UnknownPhase, ref.Of, ref.Of.Text, keys(c.phases)))
			return nil
		}
	case name == "where":
		if bound := st.boundUnderConditions(); !slices.Contains(bound, ref.Of.Text) {
			c.report(unknownName(diagnostic.UnknownGate, ref.Of, ref.Of.Text, bound))
			return nil
		}
	case name == "require" || name == "ensure" || name == "produce" || name == disclosedPhase:
	default:
		if isCondition(st.out, name) {
			break
		}
		if !c.faultyRules[name] && !slices.ContainsFunc(c.out.Invariants, func(v ir.Invariant) bool { return v.Name == name }) {
			candidates := []string{"require", "ensure", "produce", "next", "where", disclosedPhase}
			for _, x := range slices.Concat(st.out.Require, st.out.Ensure) {
				candidates = append(candidates, x.Name)
			}
			for _, v := range c.out.Invariants {
				candidates = append(candidates, v.Name)
			}
			c.report(unknownName(diagnostic.UnknownGate, ref.Name, name, candidates))
			return nil
		}
	}
	return &disclosure{ref: ref}
}

// boundUnderConditions lists the parameters of a stage that are bound under a condition.
func (st *stage) boundUnderConditions() (out []string) {
	for st.parent != nil {
		st = st.parent
	}
	for _, p := range st.decl.Params {
		if p.Where != nil {
			out = append(out, p.Name.Text)
		}
	}
	return out
}

// isCondition reports whether a require or ensure of a stage has a name.
func isCondition(s *ir.Stage, name string) bool {
	return slices.ContainsFunc(slices.Concat(s.Require, s.Ensure), func(x ir.Expr) bool { return x.Name == name })
}

// find returns the declaration that covers a gate.
func find(declared []*disclosure, g ir.Gate) *disclosure {
	for _, d := range declared {
		switch g.Kind {
		case ir.TypeGate, ir.RefGate:
			if slices.Contains(d.at, anyKeys(*g.At).String()) {
				return d
			}
		case ir.GuardGate:
			if d.ref.Name.Text == "next" && d.ref.Of.Text == g.Name {
				return d
			}
		case ir.BindGate:
			if d.ref.Name.Text == "where" && d.ref.Of.Text == g.Name {
				return d
			}
		case ir.InvariantGate, ir.ChangeGate:
			if d.ref.Name.Text == g.Name {
				return d
			}
		default:
			if d.ref.Path == nil && d.ref.Name.Text == cmp.Or(g.Clause, string(g.Kind)) {
				return d
			}
		}
	}
	return nil
}

// anyKeys replaces parameters by wildcards: a typed node is disclosed for every key.
func anyKeys(p region.Pattern) region.Pattern {
	out := region.Pattern{Segments: slices.Clone(p.Segments)}
	for i, s := range out.Segments {
		if s.Kind == region.ParamSegment {
			out.Segments[i] = region.Segment{Kind: region.AnyKey}
		}
	}
	return out
}
