package certificate

import (
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
)

// Conditions says, for a pair of stages that the prover found to commute, under
// which equalities of parameters they may not. ok is false if they do not commute.
type Conditions func(a, b *ir.Stage) (unless []Term, ok bool)

// Issue writes the certificate of a contract: evidence for every delegation and
// claim, and for every pair of stages that shares a phase and commutes. What was
// proved by more than the reasons of a certificate can express is marked as not
// certified. Cost: what Check costs, times the reasons there are.
func Issue(contract *ir.Contract, conditions Conditions) []byte {
	k := newChecker(contract)
	cert := Certificate{Contract: contract.Digest()}
	for _, s := range contract.Stages {
		if s.From != "" {
			d := Delegate{Stage: s.Name, From: s.From}
			e := &evidence{issuing: true}
			if d.Uncertified = k.delegate(e, d); d.Uncertified == "" {
				d.Evidence = e.all
			}
			cert.Delegates = append(cert.Delegates, d)
		}
	}
	cert.Pairs = k.issuePairs(conditions)
	for _, c := range contract.Claims {
		cert.Claims = append(cert.Claims, k.issueClaim(c))
	}
	return Seal(cert)
}

func (k *checker) issuePairs(conditions Conditions) []Pair {
	var out []Pair
	for i := range k.contract.Stages {
		for j := i; j < len(k.contract.Stages); j++ {
			a, b := &k.contract.Stages[i], &k.contract.Stages[j]
			if !sharePhase(a, b) || len(a.Next)+len(b.Next) > 0 {
				continue
			}
			unless, ok := conditions(a, b)
			if !ok {
				continue
			}
			p := Pair{A: a.Name, B: b.Name, Unless: unless}
			e := &evidence{issuing: true}
			if why := k.pair(e, p); why != "" {
				k.beyond[[2]string{p.A, p.B}], k.beyond[[2]string{p.B, p.A}] = why, why
				continue
			}
			p.Evidence = e.all
			k.commuting[[2]string{p.A, p.B}] = p.Unless
			out = append(out, p)
		}
	}
	return out
}

func (k *checker) issueClaim(claim ir.Claim) Claim {
	c := Claim{Claim: claim}
	switch claim.Kind {
	case ir.NoFlow:
		c.Reached = k.reach(claim)
	case ir.WithinClaim:
		c.Matches = k.issueMatches(claim.Stages[0], claim.Stages[1])
	case ir.PhaseBefore:
		c.Phases = k.phasesWithout(claim.Phases[0])
	}
	e := &evidence{issuing: true}
	if c.Uncertified = k.claim(e, c); c.Uncertified == "" {
		c.Evidence, c.Known = e.all, k.contract.Known(claim, e.assumed)
		return c
	}
	if claim.Kind != ir.Commutes && claim.Kind != ir.Parallel {
		return c
	}
	for _, pair := range k.commutePairs(claim.Stages) {
		if why := k.beyond[pair]; why != "" {
			c.Uncertified = fmt.Sprintf("%s and %s: %s", pair[0], pair[1], why)
		}
	}
	return c
}

// phasesWithout lists the phases that can be reached without passing p.
func (k *checker) phasesWithout(p string) []string {
	reached := []string{k.contract.Phases[0].Name}
	for i := 0; i < len(reached); i++ {
		for _, a := range k.contract.Phase(reached[i]).Arrows {
			if a.To != p && !contains(reached, a.To) {
				reached = append(reached, a.To)
			}
		}
	}
	return reached
}
