package ir

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

// Vars says which names an expression may use.
type Vars string

// The expression contexts. Measures and std functions are in scope in all of them
// but SelfVars. Stage parameters (strings) are in scope in BindVars (up to the one that is bound), BeforeVars and AfterVars.
const (
	StateVars  Vars = "state"  // state, phase, measures: invariants
	GuardVars  Vars = "guard"  // StateVars plus the inputs: guards
	EachVars   Vars = "each"   // StateVars plus the bound entry
	BindVars   Vars = "bind"   // state, parameters, measures, the inputs: conditions on binding
	BeforeVars Vars = "before" // before, parameters, measures, the inputs: require
	AfterVars  Vars = "after"  // before, after, parameters, measures (of after), the inputs: ensure
	ChangeVars Vars = "change" // before, after, or those of the bound entry, its key, the inputs: change rules
	SelfVars   Vars = "self"   // self: where
	ViewVars   Vars = "view"   // view: contract tests
)

// The inputs of a decision: what is known beside the state, the patch and the arguments.
// Role and Actor are strings, Now is a timestamp.
const (
	RoleInput  = "role"  // in which role it is asked for
	ActorInput = "actor" // who asks, "" where the host does not say
	NowInput   = "now"   // the clock that it is decided by
)

// Inputs lists the inputs.
func Inputs() []string { return []string{RoleInput, ActorInput, NowInput} }

// Asks reports whether one of some expressions reads an input.
func Asks(input string, xs ...Expr) bool {
	return slices.ContainsFunc(xs, func(x Expr) bool { return slices.Contains(x.Inputs, input) })
}

// An Expr is a checked CEL expression. Loading compiles Source again.
type Expr struct {
	Source     string `json:"source"`
	Reads      []Read `json:"reads,omitempty"`
	ReadsPhase bool   `json:"readsPhase,omitempty"`

	// Narrow is Reads with the parameters Lookups where a key that the state holds is
	// looked up; nil if there are none. InPhase is what is read in each phase, in the
	// contract's order; nil if that is the same in all.
	Narrow  []region.Pattern `json:"narrow,omitempty"`
	Lookups []Lookup         `json:"lookups,omitempty"`
	InPhase []PhaseReads     `json:"inPhase,omitempty"`

	// Pins are the places that hold a parameter's value where a require holds, before
	// the patch, or an ensure, after it, and before it where the pin says so.
	Pins []Pin `json:"pins,omitempty"`

	Inputs []string `json:"inputs,omitempty"` // which of the inputs it reads, in their order

	Name    string `json:"name,omitempty"`    // of a require or ensure that has one
	Message string `json:"message,omitempty"` // of a require, ensure or where: what is told if it does not hold
}

// A Pin is one place that holds the value of a parameter of the stage, or one of some
// texts.
type Pin struct {
	At    region.Pattern `json:"at"`
	Param string         `json:"param,omitempty"`
	Texts []string       `json:"texts,omitempty"`

	Before bool `json:"before,omitempty"` // of an ensure: it is the state before that holds it
}

// A Lookup is a key that an expression reads at a place and uses to find an entry.
// The place is one node: its pattern has no wildcards, and of lookups only earlier ones.
type Lookup struct {
	Key string         `json:"key"` // the parameter that stands for it, "@a", "@b", ...
	At  region.Pattern `json:"at"`
}

// PhaseReads is what an expression reads in one phase, as Narrow. Phases of one Case
// evaluate the same.
type PhaseReads struct {
	Phase string           `json:"phase"`
	Case  int              `json:"case"`
	Reads []region.Pattern `json:"reads,omitempty"`
}

// A Read is one pattern of an expression's footprint. In SelfVars it is relative
// to self. In EachVars the entry's wildcards appear as the parameters
// FamilyParam(1), FamilyParam(2), ... in order.
type Read struct {
	Pattern region.Pattern `json:"pattern"`
	Inexact bool           `json:"inexact,omitempty"` // over-approximated
}

// MaxFamilyKeys is how many wildcards of a pattern are family keys: their names are
// one digit.
const MaxFamilyKeys = 9

// FamilyParam names the i-th family key (from 1) of an each invariant or a
// per-entry gate: the value of its i-th wildcard. No stage parameter is called so.
func FamilyParam(i int) string { return "@" + string(rune('0'+i)) }

// Patterns lists what an expression reads, in any phase, with its look-ups as
// parameters.
func (x *Expr) Patterns() []region.Pattern {
	if x.Narrow != nil {
		return x.Narrow
	}
	var out []region.Pattern
	for _, r := range x.Reads {
		out = append(out, r.Pattern)
	}
	return out
}

// PatternsIn lists what an expression reads in some of the phases.
func (x *Expr) PatternsIn(phases []string) []region.Pattern {
	var out []region.Pattern
	for _, phase := range phases {
		i := x.phase(phase)
		if i < 0 {
			return x.Patterns()
		}
		for _, p := range x.InPhase[i].Reads {
			if !slices.ContainsFunc(out, func(q region.Pattern) bool { return q.String() == p.String() }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// SameIn reports whether an expression evaluates the same in two phases.
func (x *Expr) SameIn(a, b string) bool {
	i, j := x.phase(a), x.phase(b)
	return !x.ReadsPhase || a == b || i >= 0 && j >= 0 && x.InPhase[i].Case == x.InPhase[j].Case
}

func (x *Expr) phase(name string) int {
	return slices.IndexFunc(x.InPhase, func(p PhaseReads) bool { return p.Phase == name })
}
