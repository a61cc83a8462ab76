package footprint

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Decide answers a claim of the contract. A commutation is refuted only by a run
// that replay has found; without replay, or where it finds none, the answer is
// Unknown. Once the searches have used up their steps all that is neither proved nor shown
// by a run is Unknown.
func (m *Model) Decide(claim ir.Claim, replay Replayer) Result {
	result := m.decide(claim, replay)
	if r, refuted := result.(Refuted); refuted && r.Counterexample == nil && m.Spent() {
		return spent()
	}
	return result
}

func spent() Unknown {
	return Unknown{Why: fmt.Sprintf("the searches about the regions of the contract took more than %d steps", MaxSteps)}
}

func (m *Model) decide(claim ir.Claim, replay Replayer) Result {
	switch claim.Kind {
	case ir.Commutes, ir.Parallel:
		return m.decideCommute(claim.Stages, claim.When, replay)
	case ir.AllCommute:
		return m.decideCommute(m.plainStages(claim.Phases[0]), nil, replay)
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

// Limits of a claim that stages commute.
const (
	// MaxCompared is how many pairs, of those that patterns alone do not keep apart, are
	// compared for one claim.
	MaxCompared = 1 << 16
	// maxClashing is how many pairs that may not commute are looked for.
	maxClashing = 16
)

func (m *Model) decideCommute(names []string, when *ir.Hypothesis, replay Replayer) Result {
	var clashing, pairs []Pair
	var fresh []region.Pattern
	x, compared := m.Matrix(), 0
	at := m.indices(names)
	for n, i := range at {
		for _, j := range at[n+1:] {
			if !x.Flagged(i, j) {
				continue
			}
			if compared++; compared > MaxCompared {
				return Unknown{Why: fmt.Sprintf("more than %d pairs of its stages touch what the other touches, and would have to be compared", MaxCompared)}
			}
			p := Pair{A: x.Stage(i), B: x.Stage(j), When: when, Conflicts: x.Conflicts(i, j)}
			left, assumed := p.assume(when)
			for _, of := range assumed {
				fresh = appendPattern(fresh, of)
			}
			pairs = append(pairs, p)
			if p.Conflicts = left; len(left) == 0 {
				continue
			}
			if clashing = append(clashing, p); len(clashing) == maxClashing {
				return m.refuteOne(clashing, m.flagged(at)-compared, replay)
			}
		}
	}
	if len(clashing) == 0 {
		return Proved{Pairs: pairs, Fresh: fresh}
	}
	return m.refuteOne(clashing, 0, replay)
}

// indices are the numbers of stages in the matrix.
func (m *Model) indices(names []string) []int {
	numbers := map[string]int{}
	for i := range m.Contract.Stages {
		numbers[m.Contract.Stages[i].Name] = i
	}
	var out []int
	for _, name := range names {
		out = append(out, numbers[name])
	}
	return out
}

// flagged counts the pairs of some stages that patterns alone do not keep apart.
func (m *Model) flagged(at []int) int {
	n := 0
	for k, i := range at {
		for _, j := range at[k+1:] {
			if m.Matrix().Flagged(i, j) {
				n++
			}
		}
	}
	return n
}

// refuteOne shows that one of some clashing pairs does not commute, or says why the
// first of them is not known to; the others are listed with it. more is how many
// further pairs were not looked at.
func (m *Model) refuteOne(clashing []Pair, more int, replay Replayer) Result {
	var unknown *Unknown
	for i, p := range clashing {
		others := slices.Delete(slices.Clone(clashing), i, i+1)
		switch r := m.refute(p, replay).(type) {
		case Refuted:
			r.Others, r.More = others, more
			return r
		case Unknown:
			if unknown == nil {
				r.Others, r.More = others, more
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
		example, err := replay(m.Contract, p, c)
		if err != nil {
			unknown.Why = err.Error()
			return unknown
		}
		if example != nil {
			return Refuted{Counterexample: example, Pair: &p, Conflict: &c}
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
