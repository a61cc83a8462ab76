package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/lang/source"
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

// Answers says the results of a contract's claims; results[i] answers
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
	if d, wrong := Claim(m, claim, result); wrong {
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
		a.Place, a.Excess = placeOf(r), excessOf(r)
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

// placeOf is the place that refutes a claim, nil if something else does.
func placeOf(r footprint.Refuted) *Place {
	if r.Place == nil {
		return nil
	}
	return &Place{r.Place.Stage, r.Place.Clause, written(r.Place.Path)}
}

// excessOf is what a stage may do that refutes a claim, nil if something else does.
func excessOf(r footprint.Refuted) *Excess {
	if r.Excess == nil {
		return nil
	}
	return &Excess{r.Excess.Stage, r.Excess.Clause, r.Excess.What}
}

// Claim says what is wrong with a claim, if anything is; where is for the caller.
func Claim(m *footprint.Model, claim ir.Claim, result footprint.Result) (source.Diagnostic, bool) {
	switch r := result.(type) {
	case footprint.Unknown:
		help := "what is not proved counts as false"
		if r.Pair != nil && len(r.Pair.Conflicts) > 0 {
			help += "; " + clash(m, claim, *r.Pair, r.Others, r.More)
		}
		return diagnostic.ClaimUnknown.Diagnostic(source.Span{}, help, "unknown: "+r.Why), true
	case footprint.Refuted:
		message, help := refutation(m, claim, r)
		return diagnostic.ClaimRefuted.Diagnostic(source.Span{}, help, message), true
	}
	return source.Diagnostic{}, false
}

// clash says why a pair of a claim does not commute, which others do not, and what
// would make the claim true.
func clash(m *footprint.Model, claim ir.Claim, p footprint.Pair, others []footprint.Pair, more int) string {
	out := footprint.Explain(p) + alsoClashing(others)
	if more > 0 {
		return out + fmt.Sprintf("; %d more pairs were not looked at", more)
	}
	if cure := m.Cure(claim, append([]footprint.Pair{p}, others...)); cure != "" {
		out += "; " + cure
	}
	return out
}

func refutation(m *footprint.Model, claim ir.Claim, r footprint.Refuted) (message, help string) {
	switch {
	case r.Counterexample != nil:
		return fmt.Sprintf("%s does not commute with %s: %s", r.Pair.A.Name, r.Pair.B.Name, m.Shown(*r.Pair, *r.Counterexample).Detail), clash(m, claim, r.Pair.LedBy(*r.Conflict), r.Others, r.More)
	case r.Excess != nil:
		return fmt.Sprintf("%s may do what %s may not: %s", r.Excess.Stage, claim.Stages[1], r.Excess.What), "change the clause (`" + r.Excess.Clause + "`), or drop the claim"
	case r.Place != nil && claim.Kind == ir.WithinClaim:
		return fmt.Sprintf("%s has `%s` of %s, which %s has not", r.Place.Stage, r.Place.Clause, r.Place.Path.Pointer(), claim.Stages[1]), "narrow the clause, or drop the claim"
	case r.Place != nil && r.Place.Clause == "parameters":
		return fmt.Sprintf("stage %s is told by its parameters that %s is there", r.Place.Stage, footprint.PathText(r.Place.Path)), "find the member by something that may be known, or add `except " + r.Place.Stage + "` to the claim"
	case r.Place != nil && r.Place.Clause == "keys":
		return fmt.Sprintf("stage %s sees %s: the name of an entry, and a reference to it, is what its key field holds", r.Place.Stage, footprint.PathText(r.Place.Path)), "key the list by another field, take what shows its entries or refers to them out of `read`, or add `except " + r.Place.Stage + "` to the claim"
	case r.Place != nil:
		return fmt.Sprintf("stage %s %s %s", r.Place.Stage, claim.Verb, footprint.PathText(r.Place.Path)), "narrow its `" + r.Place.Clause + "`, or add `except " + r.Place.Stage + "` to the claim"
	case r.Chain != nil:
		return "there is a flow: " + flow(r.Chain), dam(r.Chain)
	}
	return fmt.Sprintf("phase %s can be reached past %s: %s", claim.Phases[1], claim.Phases[0], strings.Join(r.Route, " -> ")), "remove one of these arrows, or drop the claim"
}

// alsoClashing names the other pairs of a claim that may not commute: whoever mends
// the claim has to mend them all.
func alsoClashing(pairs []footprint.Pair) string {
	var names []string
	for _, p := range pairs {
		names = append(names, p.A.Name+" and "+p.B.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "; nor do " + strings.Join(names, ", ")
}

func flow(chain []footprint.Hop) string {
	var hops []string
	for i, h := range chain {
		gets, gives := "sees "+footprint.PathText(h.Sees), "may write "+footprint.PathText(h.Writes)
		if i > 0 && chain[i-1].By == footprint.ByPhase {
			gets = "runs after that"
		}
		if i > 0 && chain[i-1].By == footprint.ByMemory {
			gets = "is run by the same role"
		}
		switch h.By {
		case footprint.ByPhase:
			gives = "may choose between the phases " + strings.Join(h.Tells, ", ")
		case footprint.ByMemory:
			gives = "its role remembers"
		}
		hops = append(hops, fmt.Sprintf("stage %s %s and %s", h.Stage, gets, gives))
	}
	return strings.Join(hops, "; then ")
}

// dam says what would stop a flow.
func dam(chain []footprint.Hop) string {
	for _, h := range chain {
		if h.By == footprint.ByPhase {
			return "let stage " + h.Stage + " move to one phase only, say `discloses phase` there if it may tell, or narrow a clause of one of these stages"
		}
	}
	if slices.ContainsFunc(chain, func(h footprint.Hop) bool { return h.By == footprint.ByMemory }) {
		return "let another role run one of these stages (`by`), or narrow a clause of one"
	}
	return "narrow a clause of one of these stages"
}
