package explain

import (
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

// A Proof is what is proved of a contract. Its JSON is what "poptic prove --format json" prints.
type Proof struct {
	Contract  string       `json:"contract"`
	Digest    string       `json:"digest"`
	Claims    []Answer     `json:"claims"`
	Delegates []Delegate   `json:"delegates"`
	Phases    []plan.Phase `json:"commutation"`
}

// A Delegate is a stage that has its authority from another, and whether it stays within.
type Delegate struct {
	Stage  string  `json:"stage"`
	Within string  `json:"within"`
	Answer string  `json:"answer"`
	Place  *Place  `json:"place,omitempty"`
	Excess *Excess `json:"excess,omitempty"`
}

// Prove says what is proved of a contract. results answer its claims, as compiling it does;
// if they are nil, the claims are decided here, and one that only a run could refute is unknown.
func Prove(contract *ir.Contract, results []footprint.Result) Proof {
	m := footprint.Measured(contract)
	if results == nil {
		results = decided(m)
	}
	return Proof{
		Contract: contract.Name, Digest: contract.Digest(), Claims: Answers(contract, results),
		Delegates: delegates(m), Phases: plan.Relations(m),
	}
}

// decided answers the claims of a contract without runs.
func decided(m *footprint.Model) (out []footprint.Result) {
	for _, claim := range m.Contract.Claims {
		out = append(out, m.Decide(claim, nil))
	}
	return out
}

// delegates says of each delegate whether it stays within its stage.
func delegates(m *footprint.Model) []Delegate {
	out := []Delegate{}
	for _, s := range m.Contract.Stages {
		if s.From == "" {
			continue
		}
		d := Delegate{Stage: s.Name, Within: s.From, Answer: "proved"}
		switch r := m.Decide(ir.Claim{Kind: ir.WithinClaim, Stages: []string{s.Name, s.From}}, nil).(type) {
		case footprint.Refuted:
			d.Answer, d.Place, d.Excess = "refuted", placeOf(r), excessOf(r)
		case footprint.Unknown:
			d.Answer = "unknown"
		}
		out = append(out, d)
	}
	return out
}

// Unproved counts the claims that are refuted or unknown.
func (p Proof) Unproved() int {
	n := 0
	for _, a := range p.Claims {
		if a.Answer != "proved" {
			n++
		}
	}
	return n
}

// A Certified is what a certificate shows of a contract. Its JSON is what
// "poptic prove --check --format json" prints.
type Certified struct {
	Certified bool                  `json:"certified"`
	Problems  []certificate.Problem `json:"problems"`
	Claims    []CertifiedClaim      `json:"claims,omitempty"`
}

// A CertifiedClaim is a claim that a certificate shows, and on what grounds.
type CertifiedClaim struct {
	Claim string `json:"claim"`
	ir.Known
}

// Check checks a certificate against a contract. Problems say what it does not show;
// Claims are there if there are none.
func Check(data []byte, contract *ir.Contract) Certified {
	problems := certificate.Check(data, contract)
	out := Certified{Certified: len(problems) == 0, Problems: append([]certificate.Problem{}, problems...)}
	cert, err := certificate.Decode(data)
	if err != nil || len(problems) > 0 {
		return out
	}
	for _, c := range cert.Claims {
		out.Claims = append(out.Claims, CertifiedClaim{c.Claim.Text, c.Known})
	}
	return out
}
