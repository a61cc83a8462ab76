package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// An authority is one clause of a stage, by the verb of claims about it, with the mode
// in which it counts: reading goes by what is seen, writing and taking by what a whole
// operation may cover.
type authority struct {
	verb, clause string
	region       region.Region
	mode         region.Mode
	against      region.Mode // in which what the claim is about counts
}

func (m *Model) authorities(s *ir.Stage) []authority {
	return []authority{
		{"reads", "read", m.showing(s.Read), region.Plain, region.Plain},
		{"reads", "read", m.showing(s.Read), region.Shown, region.Interior},
		{"reads", "parameters", m.Told(s), region.Plain, region.Plain},
		{"reads", "keys", m.KeysKnown(s), region.Plain, region.Plain},
		{"writes", "write", region.Union(s.Write, s.Blind), region.Interior, region.Plain},
		{"copies", "source", s.Source, region.Interior, region.Plain},
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
	target := region.Compile(claim.From)
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		if m.excepted(s, claim.Except) {
			continue
		}
		for _, x := range m.authorities(s) {
			if x.verb != claim.Verb || len(x.region) == 0 {
				continue
			}
			switch answer := m.overlap(region.Compile(x.region), target, x.mode, x.against); answer.Verdict {
			case region.Yes:
				return Refuted{Place: &Place{Stage: s.Name, Clause: x.clause, Path: answer.Witness}}
			case region.Unknown:
				return Unknown{Why: answer.Why}
			}
		}
	}
	return Proved{}
}

// excepted reports whether a stage, or one it was delegated from, is named.
func (m *Model) excepted(s *ir.Stage, names []string) bool {
	for ; s != nil; s = m.Contract.Stage(s.From) {
		if slices.Contains(names, s.Name) {
			return true
		}
	}
	return false
}
