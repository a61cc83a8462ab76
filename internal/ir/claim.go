package ir

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

// A Composition is a footprint for claims: the union of its stages' grants.
type Composition struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc,omitempty"`
	Stages []string `json:"stages"`
}

// ClaimKind is the form of a claim.
type ClaimKind string

// The claims of the language.
const (
	Commutes    ClaimKind = "commutes"    // Stages[0] commutes with Stages[1]
	Parallel    ClaimKind = "parallel"    // all of Stages commute pairwise; Name is the group's
	AllCommute  ClaimKind = "all commute" // all pairs of plain stages in Phases[0]
	WithinClaim ClaimKind = "within"      // Stages[0] within Stages[1]; either may be a composition
	NoStage     ClaimKind = "no stage"    // no stage but Except does Verb to From
	NoFlow      ClaimKind = "no flow"     // nothing gets from From to To
	PhaseBefore ClaimKind = "before"      // every way into Phases[1] passes Phases[0]
)

// A Claim is a statement about the contract that is decided before anything
// runs. Text is the statement in canonical form.
type Claim struct {
	Kind   ClaimKind     `json:"kind"`
	Text   string        `json:"text"`
	Name   string        `json:"name,omitempty"`
	Stages []string      `json:"stages,omitempty"`
	When   *Hypothesis   `json:"when,omitempty"` // of commutes and parallel: what is assumed of the parameters
	Phases []string      `json:"phases,omitempty"`
	Except []string      `json:"except,omitempty"`
	Verb   string        `json:"verb,omitempty"` // reads, writes or copies
	From   region.Region `json:"from,omitempty"` // the region of no stage, the origin of no flow
	To     region.Region `json:"to,omitempty"`
	Memory bool          `json:"memory,omitempty"` // of no flow: a role remembers what its stages see
}

// A Hypothesis is what a claim assumes of the parameters of its two runs: that two of
// them differ, or all or any of several hypotheses. One field is set.
type Hypothesis struct {
	Differ *Difference  `json:"differ,omitempty"`
	All    []Hypothesis `json:"all,omitempty"`
	Any    []Hypothesis `json:"any,omitempty"`
}

// A Difference says that a parameter of the first run is not one of the second.
type Difference struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

// Holds evaluates a hypothesis, given which parameters differ; nil always holds.
func (h *Hypothesis) Holds(differ func(first, second string) bool) bool {
	switch {
	case h == nil:
		return true
	case h.Differ != nil:
		return differ(h.Differ.First, h.Differ.Second)
	case len(h.Any) > 0:
		for i := range h.Any {
			if h.Any[i].Holds(differ) {
				return true
			}
		}
		return false
	}
	for i := range h.All {
		if !h.All[i].Holds(differ) {
			return false
		}
	}
	return true
}

// isWhole reports whether exactly one field is set, here and below.
func (h *Hypothesis) isWhole() bool {
	parts := append(h.All[:len(h.All):len(h.All)], h.Any...)
	for i := range parts {
		if !parts[i].isWhole() {
			return false
		}
	}
	if h.Differ != nil {
		return len(parts) == 0
	}
	return len(h.All) > 0 != (len(h.Any) > 0)
}

// A Basis is how a claim that was proved is known.
type Basis string

// The ways of knowing.
const (
	Decided   Basis = "decided"           // what the claim says of the contract was looked at, no more and no less
	Overdrawn Basis = "over-approximated" // something counts for more than it may do: a true claim might have been refused
	Assumed   Basis = "assumed"           // it holds only under assumptions about what is outside of the contract
)

// Known says how a claim that was proved is known: what it assumes, and what it does not
// model: takes for more than it may do, or leaves out.
type Known struct {
	Basis      Basis    `json:"basis"`
	Assumes    []string `json:"assumes,omitempty"`
	Unmodelled []string `json:"unmodelled,omitempty"`
}

// The assumptions that claims make.
const (
	assumesForgetful = "actors keep nothing between steps: the claim is about what gets through the state"
	assumesHost      = "the host chooses stages, arguments, times and its own arrows without regard to the first region"
	assumesTiming    = "whether, when and how often proposals commit tells nothing"
	assumesAttempts  = "the host leaves stages that declare no attempts the 3 that they have"
)

// Known says how a claim of the contract is known, if it is proved. Fresh are the containers
// in which the proof needs that the host binds no new key twice.
func (c *Contract) Known(claim Claim, fresh []string) Known {
	var k Known
	over := false
	overdraw := func(what string) {
		over = true
		k.Unmodelled = append(k.Unmodelled, what)
	}
	switch claim.Kind {
	case Commutes, Parallel, AllCommute:
		for _, of := range fresh {
			k.Assumes = append(k.Assumes, "no key that is new in "+of+" is bound twice")
		}
		for _, what := range c.inexact(c.commuting(claim)) {
			overdraw(what + " may read less than is counted")
		}
		k.Unmodelled = append(k.Unmodelled, "limits on sizes, counts of attempts")
	case WithinClaim:
		if c.mixesAttempts(claim) {
			k.Assumes = append(k.Assumes, assumesAttempts)
		}
	case NoFlow:
		if !claim.Memory {
			k.Assumes = append(k.Assumes, assumesForgetful)
		}
		k.Assumes = append(k.Assumes, assumesHost, assumesTiming)
		overdraw("what is written: all of it may tell all that a stage knows")
		if c.isGuarded() {
			overdraw("guards: every arrow may be walked")
		}
	case PhaseBefore:
		if c.isGuarded() {
			overdraw("guards: every arrow may be walked")
		}
	}
	switch {
	case len(k.Assumes) > 0:
		k.Basis = Assumed
	case over:
		k.Basis = Overdrawn
	default:
		k.Basis = Decided
	}
	return k
}

// commuting lists the stages that a claim about commuting is about.
func (c *Contract) commuting(claim Claim) []*Stage {
	var out []*Stage
	for i := range c.Stages {
		s := &c.Stages[i]
		if slices.Contains(claim.Stages, s.Name) || claim.Kind == AllCommute && c.IsPlain(s, claim.Phases[0]) {
			out = append(out, s)
		}
	}
	return out
}

// inexact names the rules that judge commits of some stages and whose reads are
// over-approximated.
func (c *Contract) inexact(stages []*Stage) []string {
	var out []string
	add := func(name string, xs ...Expr) {
		isInexact := func(x Expr) bool {
			return slices.ContainsFunc(x.Reads, func(r Read) bool { return r.Inexact })
		}
		if slices.ContainsFunc(xs, isInexact) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, s := range stages {
		add("a condition on binding of "+s.Name, s.Bindings()...)
		add("`require` of "+s.Name, s.Require...)
		add("`ensure` of "+s.Name, s.Ensure...)
	}
	for _, v := range c.Invariants {
		if v.Expr != nil && slices.ContainsFunc(stages, func(s *Stage) bool { return s.mayTouch(*v.Expr) }) {
			add(v.Title(), *v.Expr)
		}
	}
	for _, t := range c.Types {
		name := "a constraint"
		if t.Name != "" {
			name += " of type " + t.Name
		}
		add(name, t.Where...)
	}
	return out
}

// mayTouch reports whether a stage may write something that an expression reads, by the
// names that their patterns have in the same places.
func (s *Stage) mayTouch(x Expr) bool {
	return slices.ContainsFunc(x.Reads, func(r Read) bool {
		return slices.ContainsFunc(append(s.Write[:len(s.Write):len(s.Write)], s.Blind...), func(g region.Grant) bool {
			return slices.ContainsFunc(g.Include, func(p region.Pattern) bool { return mayMeet(p.Segments, r.Pattern.Segments) })
		})
	})
}

func mayMeet(a, b []region.Segment) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Kind == region.AnyDepth || b[i].Kind == region.AnyDepth {
			return true
		}
		if a[i].IsLiteral() && b[i].IsLiteral() && a[i].Text != b[i].Text {
			return false
		}
	}
	return true
}

// mixesAttempts reports whether a claim compares attempts that are declared with some that
// are not.
func (c *Contract) mixesAttempts(claim Claim) bool {
	declared, left := false, false
	for i := range c.Stages {
		s := &c.Stages[i]
		if slices.ContainsFunc(claim.Stages, func(name string) bool { return name == s.Name || c.isComposedOf(name, s.Name) }) {
			declared = declared || s.Attempts > 0
			left = left || s.Attempts == 0
		}
	}
	return declared && left
}

func (c *Contract) isComposedOf(name, stage string) bool {
	return slices.ContainsFunc(c.Compositions, func(x Composition) bool { return x.Name == name && slices.Contains(x.Stages, stage) })
}

func (c *Contract) isGuarded() bool {
	return slices.ContainsFunc(c.Phases, func(p Phase) bool {
		return slices.ContainsFunc(p.Arrows, func(a Arrow) bool { return a.Guard != nil })
	})
}
