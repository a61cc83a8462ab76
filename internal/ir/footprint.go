package ir

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

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

// PhasesAfter lists the phases in which a commit of the stage may leave the instance.
func (s *Stage) PhasesAfter() []string {
	if len(s.Next) > 0 {
		return s.Next
	}
	return s.In
}
