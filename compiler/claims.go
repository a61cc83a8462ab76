package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// answers decides the claims, and says of each that is wrong what is. In a contract without
// errors, results[i] answers the i-th claim, and one that is unknown is as wrong as one
// that is false. In one with errors the claims about what no error touches are refuted or
// left open: mending the errors does not make a false one true.
func (out *Output) answers(m *footprint.Model, replay footprint.Replayer) (results []footprint.Result, found []source.Diagnostic) {
	for i, claim := range m.Contract.Claims {
		result := m.Decide(claim, replay)
		if _, refuted := result.(footprint.Refuted); out.Lowered == nil && !refuted {
			continue
		}
		if d, ok := claimDiagnostic(m, claim, result); ok {
			d.Span, d.Related = out.checked.Claims[i], related(m, result, out.checked.Places)
			found = append(found, d)
		}
		if out.Lowered != nil {
			results = append(results, result)
		}
	}
	return results, found
}

// claimDiagnostic says what is wrong with a claim, if anything is; where is for the caller.
func claimDiagnostic(m *footprint.Model, claim ir.Claim, result footprint.Result) (source.Diagnostic, bool) {
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
