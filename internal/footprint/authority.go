package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An authority is one clause of a stage, by the verb of claims about it, with the mode
// in which it counts: reading goes by what is seen, writing and taking by what a whole
// operation may cover.
type authority struct {
	verb, clause string
	region       region.Region
	mode         region.Mode
	against      region.Mode // in which what the claim is about counts
	set          *region.Set // once compiled
}

func (m *Model) authorities(s *ir.Stage) []authority {
	return []authority{
		{"reads", "read", m.showing(s.Read), region.Plain, region.Plain, nil},
		{"reads", "read", m.showing(s.Read), region.Shown, region.Interior, nil},
		{"reads", "parameters", m.Told(s), region.Plain, region.Plain, nil},
		{"reads", "keys", m.KeysKnown(s), region.Plain, region.Plain, nil},
		{"writes", "write", region.Union(s.Write, s.Blind), region.Interior, region.Plain, nil},
		{"copies", "source", s.Source, region.Interior, region.Plain, nil},
	}
}

// missing is Refuted with a place, or Unknown if the search found no path in time.
func missing(w region.Word, at Place) Result {
	if w == nil {
		return Unknown{Why: "the search for a path that only " + at.Stage + " has ran out of budget"}
	}
	return Refuted{Place: &at}
}

func (m *Model) decideNoStage(claim ir.Claim) Result {
	target, x := region.Compile(claim.From), m.reachOf()
	excepted := x.excepting(claim.Except)
	var result Result = Proved{}
	x.find(x.verbs[claim.Verb], claim.From).each(func(i int) {
		if s := &m.Contract.Stages[i]; isProved(result) && !excepted(s) {
			result = m.byParameter(s, m.decideAuthority(s.Name, x.authorities(i), claim.Verb, target), target)
		}
	})
	return result
}

// byParameter names the parameters as the clause of a refutation where it is by the
// value of one that a stage sees a place, and not by what its read clause says.
func (m *Model) byParameter(s *ir.Stage, result Result, target *region.Set) Result {
	r, refuted := result.(Refuted)
	if !refuted || r.Place == nil || r.Place.Clause != "read" {
		return result
	}
	var said region.Region
	for _, g := range s.Read {
		if !slices.ContainsFunc(s.Params, func(p ir.Param) bool {
			return p.Kind == ir.DependentParam && len(g.Include) == 1 && g.Include[0].String() == p.Of.String()
		}) {
			said = append(said, g)
		}
	}
	for _, a := range m.authorities(&ir.Stage{Name: s.Name, Read: said}) {
		if a.clause == "read" && m.overlap(region.Compile(a.region), target, a.mode, a.against).Verdict != region.No {
			return result
		}
	}
	at := *r.Place
	at.Clause = "parameters"
	return Refuted{Place: &at}
}

// decideAuthority answers whether a stage may not do what the verb says to a target.
func (m *Model) decideAuthority(stage string, all []authority, verb string, target *region.Set) Result {
	for _, a := range all {
		if a.verb != verb {
			continue
		}
		switch answer := m.overlap(a.set, target, a.mode, a.against); answer.Verdict {
		case region.Yes:
			return Refuted{Place: &Place{Stage: stage, Clause: a.clause, Path: answer.Witness}}
		case region.Unknown:
			return Unknown{Why: answer.Why}
		}
	}
	return Proved{}
}
