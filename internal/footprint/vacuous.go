package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Vacuous says why a claim that is proved says nothing: there is no stage, path, run or
// phase on which it could fail. "" if there is one.
func (m *Model) Vacuous(claim ir.Claim) string {
	switch claim.Kind {
	case ir.Commutes, ir.Parallel:
		return m.vacuousPairs(m.pairs(claim.Stages), claim.When)
	case ir.AllCommute:
		if len(m.plainStages(claim.Phases[0])) < 2 {
			return "fewer than two stages of phase " + claim.Phases[0] + " stay in it"
		}
		return m.vacuousPairs(m.pairs(m.plainStages(claim.Phases[0])), nil)
	case ir.WithinClaim:
		return m.vacuousWithin(claim.Stages[0], claim.Stages[1])
	case ir.NoStage:
		return m.vacuousNoStage(claim)
	case ir.NoFlow:
		return m.vacuousNoFlow(claim)
	case ir.PhaseBefore:
		return m.vacuousBefore(claim.Phases[0], claim.Phases[1])
	}
	return ""
}

// vacuousPairs says why no pair of some can show that the order matters.
func (m *Model) vacuousPairs(pairs []Pair, when *ir.Hypothesis) string {
	why := "it is about no two stages"
	for _, p := range pairs {
		writes := func(s *ir.Stage) bool { return len(s.Write)+len(s.Blind) > 0 }
		switch {
		case !sharePhase(p.A, p.B):
			why = p.A.Name + " and " + p.B.Name + " never meet in a phase"
		case !when.Holds(p.classesOf(nil).mayDiffer):
			why = "parameters that it says differ are taken from one place"
		case !writes(p.A) && !writes(p.B):
			why = "neither " + p.A.Name + " nor " + p.B.Name + " writes anything"
		default:
			return ""
		}
	}
	return why
}

func (m *Model) vacuousWithin(a, b string) string {
	if a == b {
		return a + " is compared with itself"
	}
	for _, s := range m.stagesOf(a) {
		if len(turns(s, m.Contract)) > 0 && len(m.knows(s))+len(s.Write)+len(s.Blind)+len(s.Next) > 0 {
			return ""
		}
	}
	return a + " may do nothing at all"
}

func (m *Model) vacuousNoStage(claim ir.Claim) string {
	if m.isNowhere(claim.From) {
		return "no state has anything at that region"
	}
	x := m.reachOf()
	excepted := x.excepting(claim.Except)
	for i := range m.Contract.Stages {
		if excepted(&m.Contract.Stages[i]) {
			continue
		}
		for _, a := range x.authorities(i) {
			if a.verb == claim.Verb {
				return ""
			}
		}
	}
	if len(claim.Except) > 0 {
		return "no other stage " + claim.Verb + " anything"
	}
	return "no stage " + claim.Verb + " anything"
}

func (m *Model) vacuousNoFlow(claim ir.Claim) string {
	x, from := m.reachOf(), write{claim.From, region.Compile(claim.From)}
	knows := func(s *ir.Stage) bool { return !m.meetsSeen(x.stages[s.Name], from, region.Plain).Never() }
	writes := func(s *ir.Stage) bool {
		write := region.Union(s.Write, s.Blind)
		return len(write) > 0 && m.overlap(region.Compile(write), region.Compile(claim.To), region.Interior, region.Plain).Verdict != region.No
	}
	switch {
	case m.isNowhere(claim.From):
		return "no state has anything at the first region"
	case m.isNowhere(claim.To):
		return "no state has anything at the second region"
	case !m.someStage(knows):
		return "no stage knows anything of the first region"
	case !m.someStage(writes):
		return "no stage writes into the second region"
	}
	return ""
}

func (m *Model) someStage(is func(*ir.Stage) bool) bool {
	return slices.ContainsFunc(m.Contract.Stages, func(s ir.Stage) bool { return is(&s) })
}

// isNowhere reports whether no state of the contract's type has a path of a region.
func (m *Model) isNowhere(r region.Region) bool {
	all := region.Region{{Include: []region.Pattern{{}}}}
	return len(r) == 0 || m.overlap(region.Compile(r), region.Compile(all), region.Plain, region.Plain).Verdict == region.No
}

func (m *Model) vacuousBefore(p, q string) string {
	order := newPhaseOrder(m.Contract.Phases)
	switch start := m.Contract.Phases[0].Name; {
	case p == q:
		return "it names one phase twice"
	case p == start:
		return p + " is the first phase: nothing comes before it"
	case !order.has(order.after(start), q):
		return "phase " + q + " is never reached"
	}
	return ""
}
