package footprint

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// Decide answers a claim of the contract. A commutation is refuted only by a run
// that replay has found; without replay, or where it finds none, the answer is
// Unknown.
func (m *Model) Decide(claim ir.Claim, replay Replayer) Result {
	switch claim.Kind {
	case ir.Commutes, ir.Parallel:
		return m.decideCommute(m.pairs(claim.Stages), claim.When, replay)
	case ir.AllCommute:
		return m.decideCommute(m.pairs(m.plainStages(claim.Phases[0])), nil, replay)
	case ir.WithinClaim:
		return m.decideWithin(claim.Stages[0], claim.Stages[1])
	case ir.NoStage:
		return m.decideNoStage(claim)
	case ir.NoFlow:
		return m.decideNoFlow(claim)
	case ir.PhaseBefore:
		return m.decideBefore(claim.Phases[0], claim.Phases[1])
	}
	return Unknown{Why: "this version does not know the claim " + string(claim.Kind)}
}

// plainStages lists the stages of a phase that "all commute" speaks of: those
// that neither move the phase nor are delegates.
func (m *Model) plainStages(phase string) []string {
	var out []string
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		if s.IsPlain(phase) {
			out = append(out, s.Name)
		}
	}
	return out
}

// pairs lists the pairs of distinct entries of a list of stages. "A commutes with
// A" is the pair of two instances of A.
func (m *Model) pairs(names []string) []Pair {
	var out []Pair
	for i, a := range names {
		for _, b := range names[i+1:] {
			out = append(out, Pair{A: m.Contract.Stage(a), B: m.Contract.Stage(b)})
		}
	}
	return out
}

func (m *Model) decideCommute(pairs []Pair, when *ir.Hypothesis, replay Replayer) Result {
	var clashing []Pair
	var fresh []region.Pattern
	for i := range pairs {
		p := &pairs[i]
		p.When, p.Conflicts = when, m.matrixConflicts(p.A, p.B)
		left, assumed := p.assume(when)
		for _, of := range assumed {
			fresh = appendPattern(fresh, of)
		}
		if p.Conflicts = left; len(left) > 0 {
			clashing = append(clashing, *p)
		}
	}
	if len(clashing) == 0 {
		return Proved{Pairs: pairs, Fresh: fresh}
	}
	return m.refuteOne(clashing, replay)
}

// refuteOne shows that one of some clashing pairs does not commute, or says why the
// first of them is not known to; the others are listed with it.
func (m *Model) refuteOne(clashing []Pair, replay Replayer) Result {
	var unknown *Unknown
	for i, p := range clashing {
		others := slices.Delete(slices.Clone(clashing), i, i+1)
		switch r := m.refute(p, replay).(type) {
		case Refuted:
			r.Others = others
			return r
		case Unknown:
			if unknown == nil {
				r.Others = others
				unknown = &r
			}
		}
	}
	return *unknown
}

// refute looks for a run that shows one of a pair's conflicts.
func (m *Model) refute(p Pair, replay Replayer) Result {
	unknown := Unknown{Why: p.undecided(), Path: p.Conflicts[0].Path, Pair: &p}
	if replay == nil {
		unknown.Why = "the overlap was not replayed"
		return unknown
	}
	for _, c := range p.Conflicts {
		parting, err := replay(m.Contract, p, c)
		if err != nil {
			unknown.Why = err.Error()
			return unknown
		}
		if parting != nil {
			return Refuted{Parting: parting, Pair: &p, Conflict: &c}
		}
	}
	return unknown
}

// undecided says what stands where no run shows a conflict.
func (p Pair) undecided() string {
	first := p.Conflicts[0]
	if first.Kind == PhaseConflict {
		return fmt.Sprintf("%s moves the phase, no valid example found", p.Name(first.A))
	}
	return fmt.Sprintf("overlap at %s, no valid example found", PathText(first.Path))
}
