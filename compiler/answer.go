package compiler

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An Answer is the answer to a claim as data: "proved", "refuted" or "unknown", with
// the words of the diagnostic and what shows it.
type Answer struct {
	Claim   string `json:"claim"`
	Answer  string `json:"answer"`
	Message string `json:"message,omitempty"`
	Help    string `json:"help,omitempty"`

	Place      *Place                    `json:"place,omitempty"`      // authority where there should be none
	Excess     *Excess                   `json:"excess,omitempty"`     // what else a stage may do
	Chain      []Place                   `json:"chain,omitempty"`      // a flow: what each stage sees, and then writes
	Route      []string                  `json:"route,omitempty"`      // phases past the one that was to come before
	Run        *footprint.Counterexample `json:"run,omitempty"`        // two proposals whose order matters
	Basis      ir.Basis                  `json:"basis,omitempty"`      // how a proved claim is known
	Assumes    []string                  `json:"assumes,omitempty"`    // what has to hold outside of the contract
	Unmodelled []string                  `json:"unmodelled,omitempty"` // what counts for more than it may do, or is left out
	Vacuous    string                    `json:"vacuous,omitempty"`    // why it says nothing
	Discloses  []Note                    `json:"discloses,omitempty"`  // of a proved no flow or no stage: what may tell one bit each time
}

// A Place is a path that a stage touches by one of its clauses, or that a rule of the
// stage reads.
type Place struct {
	Stage  string `json:"stage"`
	Clause string `json:"clause"`
	Path   string `json:"path"`
}

// A Note is a way to tell one bit each time, of the kind gate, blind, new, phase or
// guard: Stage is told it, or tells it, by What. Path is what it is about.
type Note struct {
	Kind  footprint.NoteKind `json:"kind"`
	Stage string             `json:"stage,omitempty"`
	What  string             `json:"what"`
	Path  string             `json:"path"`
}

// Text says a note in words.
func (n Note) Text() string {
	switch n.Kind {
	case footprint.BlindNote:
		return fmt.Sprintf("stage %s is told by a blind write whether %s is there", n.Stage, n.What)
	case footprint.NewNote:
		return fmt.Sprintf("stage %s is told by `%s` that a key is free", n.Stage, n.What)
	case footprint.PhaseNote:
		return fmt.Sprintf("stage %s tells what it knows by the phase it moves to: %s", n.Stage, n.What)
	case footprint.GuardNote:
		return fmt.Sprintf("the host moves the phase, %s, by a guard that reads %s", n.What, n.Path)
	case footprint.RuleNote:
		return fmt.Sprintf("the host moves the phase, %s, which reads %s", n.What, n.Path)
	}
	return fmt.Sprintf("stage %s is judged by %s, which reads %s", n.Stage, n.What, n.Path)
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
	m := footprint.Measured(contract)
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
		a.Answer, a.Route = "refuted", r.Route
		if r.Counterexample != nil {
			run := m.Shown(*r.Pair, *r.Counterexample)
			a.Run = &run
		}
		a.Place, a.Excess = PlaceOf(r), ExcessOf(r)
		a.Chain = chain(r.Chain)
	case footprint.Proved:
		var fresh []string
		for _, of := range r.Fresh {
			fresh = append(fresh, of.Source())
		}
		slices.Sort(fresh)
		known := m.Contract.Known(claim, fresh)
		a.Basis, a.Assumes, a.Unmodelled, a.Vacuous = known.Basis, known.Assumes, known.Unmodelled, m.Vacuous(claim)
		for _, n := range m.Notes(claim) {
			a.Discloses = append(a.Discloses, Note{n.Kind, n.Stage, n.What, written(n.Path)})
		}
	}
	return a
}

// chain is a flow as places: what each stage sees, and what it writes where it hands on
// by that. Whatever else it is told and tells is in the message.
func chain(hops []footprint.Hop) []Place {
	var out []Place
	for i, h := range hops {
		if i == 0 || hops[i-1].By == footprint.ByWriting {
			out = append(out, Place{h.Stage, "read", written(h.Sees)})
		}
		if h.By == footprint.ByWriting {
			out = append(out, Place{h.Stage, "write", written(h.Writes)})
		}
	}
	return out
}

func written(w region.Word) string { return footprint.PathText(w) }
