package compiler

import (
	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// An Answer is the answer to a claim as data: "proved", "refuted" or "unknown", with
// the words of the diagnostic and what shows it.
type Answer struct {
	Claim   string `json:"claim"`
	Answer  string `json:"answer"`
	Message string `json:"message,omitempty"`
	Help    string `json:"help,omitempty"`

	Place     *Place             `json:"place,omitempty"`     // authority where there should be none
	Excess    *Excess            `json:"excess,omitempty"`    // what else a stage may do
	Chain     []Place            `json:"chain,omitempty"`     // a flow: what each stage sees, and then writes
	Route     []string           `json:"route,omitempty"`     // phases past the one that was to come before
	Run       *footprint.Parting `json:"run,omitempty"`       // two proposals whose order matters
	Assumes   []string           `json:"assumes,omitempty"`   // of a proved commutation: what the host has to keep to
	Discloses []Place            `json:"discloses,omitempty"` // of a proved no flow: rules that tell one bit each
}

// A Place is a path that a stage touches by one of its clauses, or that a rule of the
// stage reads.
type Place struct {
	Stage  string `json:"stage"`
	Clause string `json:"clause"`
	Path   string `json:"path"`
}

// An Excess is what a stage may do, apart from its regions: Clause is in, by, next,
// attempts, rules or parameters, and What says it in words.
type Excess struct {
	Stage  string `json:"stage"`
	Clause string `json:"clause"`
	What   string `json:"what"`
}

// PlaceOf is the place that refutes a claim, nil if something else does.
func PlaceOf(r footprint.Refuted) *Place {
	if r.Place == nil {
		return nil
	}
	return &Place{r.Place.Stage, r.Place.Clause, written(r.Place.Path)}
}

// ExcessOf is what a stage may do that refutes a claim, nil if something else does.
func ExcessOf(r footprint.Refuted) *Excess {
	if r.Excess == nil {
		return nil
	}
	return &Excess{r.Excess.Stage, r.Excess.Clause, r.Excess.What}
}

// Answers words the results of a contract's claims; results[i] answers
// contract.Claims[i].
func Answers(contract *ir.Contract, results []footprint.Result) []Answer {
	out := []Answer{}
	m := footprint.New(contract)
	for i, claim := range contract.Claims {
		out = append(out, answer(m, claim, results[i]))
	}
	return out
}

func answer(m *footprint.Model, claim ir.Claim, result footprint.Result) Answer {
	a := Answer{Claim: claim.Text, Answer: "proved"}
	if d, wrong := claimDiagnostic(m, claim, result); wrong {
		a.Message, a.Help = d.Message, d.Help
	}
	switch r := result.(type) {
	case footprint.Unknown:
		a.Answer = "unknown"
	case footprint.Refuted:
		a.Answer, a.Run, a.Route = "refuted", r.Parting, r.Route
		a.Place, a.Excess = PlaceOf(r), ExcessOf(r)
		for _, h := range r.Chain {
			a.Chain = append(a.Chain, Place{h.Stage, "read", written(h.Sees)}, Place{h.Stage, "write", written(h.Writes)})
		}
	case footprint.Proved:
		for _, of := range r.Fresh {
			a.Assumes = append(a.Assumes, "no key that is new in "+of.Source()+" is bound twice")
		}
		if claim.Kind == ir.NoFlow {
			for _, p := range m.Disclosed(claim.From) {
				a.Discloses = append(a.Discloses, Place{p.Stage, p.Clause, written(p.Path)})
			}
		}
	}
	return a
}

func written(w region.Word) string { return footprint.PathText(w) }
