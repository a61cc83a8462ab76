package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// An authority is one clause of a stage or composition, with the mode in which it
// counts: reading goes by what is seen, writing and taking by what a whole
// operation may cover.
type authority struct {
	clause string
	region region.Region
	mode   region.Mode
}

func authorities(s *ir.Stage) []authority {
	return []authority{
		{"read", s.Read, region.Plain},
		{"write", region.Union(s.Write, s.Blind), region.Interior},
		{"source", s.Source, region.Interior},
	}
}

// missing is Refuted with a place, or Unknown if the search found no path in time.
func missing(w region.Word, at Place) Result {
	if w == nil {
		return Unknown{Why: "the search for a path that only " + at.Stage + " has ran out of budget"}
	}
	return Refuted{Place: &at}
}

// verbs maps the verbs of "no stage" to the clause they are about.
var verbs = map[string]string{"reads": "read", "writes": "write", "copies": "source"}

func (m *Model) decideNoStage(claim ir.Claim) Result {
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		if m.excepted(s, claim.Except) {
			continue
		}
		for _, x := range authorities(s) {
			if x.clause != verbs[claim.Verb] || len(x.region) == 0 {
				continue
			}
			answer := region.Overlap(region.Compile(x.region), region.Compile(claim.From), x.mode, region.Plain, region.Options{Shape: m.Shape})
			switch answer.Verdict {
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
