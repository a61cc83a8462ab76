package footprint

import (
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// What a stage may see or copy it may write: its actor can put anything of its
// view into anything it may change. So information at an origin can get to
// everything that stages seeing the origin write, then to what stages seeing that
// write, and so on. A flow is found breadth first over the stages, hence by the
// fewest of them. What a commit discloses by being accepted is not counted here;
// Disclosed lists it.

// reached is a stage that information can get into, and how.
type reached struct {
	stage *ir.Stage
	via   *reached    // nil at the origin
	at    region.Word // where the stage picks it up
}

func (m *Model) decideNoFlow(from, to region.Region) Result {
	goal := region.Compile(to)
	seen := map[string]bool{}
	queue := m.pickUps(nil, from, region.Plain, seen)
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		write := region.Union(r.stage.Write, r.stage.Blind)
		if len(write) == 0 {
			continue
		}
		answer := m.overlap(region.Compile(write), goal, region.Interior, region.Plain)
		if answer.Verdict == region.Yes {
			return Refuted{Chain: r.chain(answer.Witness)}
		}
		if answer.Verdict == region.Unknown {
			return Unknown{Why: answer.Why}
		}
		queue = append(queue, m.pickUps(r, write, region.Interior, seen)...)
	}
	return Proved{}
}

// pickUps lists the stages not met before that see some of a region. Parameters
// of different runs are different keys, so each side has its own.
func (m *Model) pickUps(via *reached, what region.Region, mode region.Mode, seen map[string]bool) []*reached {
	var out []*reached
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		if seen[s.Name] {
			continue
		}
		c := m.someKeys(region.Union(s.Read, s.Source), what, mode)
		if c.Never() {
			continue
		}
		seen[s.Name] = true
		out = append(out, &reached{stage: s, via: via, at: c.Any[0].Witness})
	}
	return out
}

// someKeys tells whether two regions meet for some values of their parameters.
func (m *Model) someKeys(see, write region.Region, mode region.Mode) region.Condition {
	own := func(r region.Region, owner string) region.Region {
		return r.Own(owner).Rename(func(p string) string { return OwnedParam(owner, p) })
	}
	return region.Conditions(own(see, OwnerA), own(write, OwnerB), region.Plain, mode, region.ConditionOptions{Options: region.Options{Shape: m.Shape}})
}

func (m *Model) overlap(a, b *region.Set, modeA, modeB region.Mode) region.Answer {
	return region.Overlap(a, b, modeA, modeB, region.Options{Shape: m.Shape})
}

// chain unwinds how a stage was reached, first hop first; last is where it writes
// into the goal.
func (r *reached) chain(last region.Word) []Hop {
	var out []Hop
	for writes := last; r != nil; r = r.via {
		out = append([]Hop{{Stage: r.stage.Name, Sees: r.at, Writes: writes}}, out...)
		writes = r.at
	}
	return out
}

// Disclosed lists the gates of stages that read some of a region their actor does
// not see: one bit of it is told by accepting or rejecting.
func (m *Model) Disclosed(from region.Region) []Place {
	var out []Place
	origin := region.Compile(from)
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		for _, g := range append(m.StageGates(s), m.gates()...) {
			if !discloses(s, g) {
				continue
			}
			answer := m.overlap(region.Compile(region.Region{{Include: g.Reads}}), origin, region.Plain, region.Plain)
			if answer.Verdict != region.No {
				out = append(out, Place{Stage: s.Name, Clause: GateName(g.Gate), Path: answer.Witness})
			}
		}
	}
	return out
}

// discloses reports whether a gate is one the stage triggers without seeing all it reads.
func discloses(s *ir.Stage, g Gate) bool {
	for _, known := range s.Gates {
		if known.Kind == g.Kind && known.Name == g.Name && samePattern(known.At, g.At) {
			return known.Visibility != ir.Seen
		}
	}
	return false
}

func samePattern(a, b *region.Pattern) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.String() == b.String()
}

// GateName is a gate as a discloses clause names it, and as messages do.
func GateName(g ir.Gate) string {
	switch g.Kind {
	case ir.InvariantGate:
		return "invariant " + g.Name
	case ir.GuardGate:
		return "next " + g.Name
	case ir.TypeGate:
		return "type of " + g.At.Source()
	case ir.RefGate:
		return "key at " + g.At.Source()
	}
	return string(g.Kind)
}
