package footprint

import (
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Certificate gives the certificate of a contract all of whose claims are proved, as
// internal/certificate checks it.
func (m *Model) Certificate() []byte {
	numbers := map[string]int{}
	for i, s := range m.Contract.Stages {
		numbers[s.Name] = i
	}
	return certificate.Issue(m.Contract, func(a, b *ir.Stage) ([]certificate.Term, bool) {
		var unless []certificate.Term
		for _, t := range Weakest(m.Matrix().Conflicts(numbers[a.Name], numbers[b.Name])) {
			term, ok := certifiable(t)
			if !ok {
				return nil, false
			}
			unless = append(unless, term)
		}
		return unless, true
	})
}

// Weakest lists the conditions of conflicts, without those that another one implies.
func Weakest(conflicts []Conflict) []region.Term {
	var out []region.Term
	for _, c := range conflicts {
		out = addWeakest(out, c.When)
	}
	return out
}

func addWeakest(terms []region.Term, t region.Term) []region.Term {
	var kept []region.Term
	for _, old := range terms {
		if implies(t.All, old.All) {
			return terms
		}
		if !implies(old.All, t.All) {
			kept = append(kept, old)
		}
	}
	return append(kept, t)
}

// certifiable writes a condition as certificates do: equalities of parameters only,
// and at least one.
func certifiable(t region.Term) (certificate.Term, bool) {
	var out certificate.Term
	for _, e := range t.All {
		if e.Literal || e.Not {
			return nil, false
		}
		out = append(out, certificate.Equality{e.Left, e.Right})
	}
	return out, len(out) > 0
}
