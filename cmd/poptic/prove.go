package main

import (
	"fmt"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

type proveVerb struct {
	contractArg
	statesArg
	forceFlag
	Cert   fileName `xor:"cert" help:"Write a certificate of all claims to this file; - is standard output." placeholder:"FILE"`
	Check  string   `xor:"cert" help:"Check this certificate against the contract instead, with a checker that shares nothing with the prover." placeholder:"FILE"`
	Format string   `enum:"text,json" default:"text" help:"How it is printed: ${enum}."`
}

// Help is printed by --help.
func (proveVerb) Help() string {
	return `Answers every claim of the contract: proved, refuted with an example, or unknown. Then shows that every delegate stays within its stage, and which stages commute: "yes", "unless" some parameters are equal, or "no" and why.

A certificate lets others check the claims without trusting the prover. It is written only if all claims are proved.

Examples:

    poptic prove contract.poptic
    poptic prove contract.poptic --cert contract.cert
    poptic prove --check contract.cert contract.popticc

Exit codes:

    0  every claim is proved; with --check: the certificate shows all of them
    1  a claim is refuted or unknown; with --check: something is not shown
    2  usage, unreadable input, a contract with other errors, a file that is not to be overwritten`
}

// Run implements the verb.
func (v *proveVerb) Run(c *console) error {
	contract, results, err := v.decide(c)
	if err != nil {
		return err
	}
	if v.Check != "" {
		return v.check(c, contract)
	}
	if err := v.mayCertify(c); err != nil {
		return err
	}
	p := prove(contract, results)
	if v.Format == "json" && v.Cert != "-" {
		if err := c.printJSON(p); err != nil {
			return err
		}
	} else if v.Cert != "-" {
		c.outText().proof(p)
	}
	if v.Cert != "" {
		if err := v.certify(c, contract, p); err != nil {
			return err
		}
	}
	if p.unproved() > 0 {
		return errNo
	}
	return nil
}

// decide loads the contract and answers its claims. A source whose claims are false
// is good enough here.
func (v *proveVerb) decide(c *console) (*ir.Contract, []footprint.Result, error) {
	data, err := c.readFile("contract", v.Contract)
	if err != nil {
		return nil, nil, err
	}
	states, err := v.states(c)
	if err != nil {
		return nil, nil, err
	}
	if !ir.IsCompiled(data) {
		out, err := c.compileText(v.Contract, data, v.Root, states)
		if err != nil {
			return nil, nil, err
		}
		if out.Lowered != nil {
			return out.Lowered, out.Results, requireFitting(states, []*ir.Contract{out.Lowered})
		}
		_, err = c.accept(v.Contract, out)
		return nil, nil, err
	}
	contract, err := ir.Decode(data)
	if err != nil {
		return nil, nil, broken(v.Contract, err)
	}
	if err := requireFitting(states, []*ir.Contract{contract}); err != nil {
		return nil, nil, err
	}
	m := footprint.Measured(contract)
	var results []footprint.Result
	for _, claim := range contract.Claims {
		results = append(results, m.Decide(claim, nil))
	}
	return contract, results, nil
}

// mayCertify refuses a file that must not be written before anything is printed.
func (v *proveVerb) mayCertify(c *console) error {
	if v.Cert == "" {
		return nil
	}
	return c.mayWrite(v.output())
}

func (v *proveVerb) output() output {
	return output{name: string(v.Cert), kind: certificateKind, force: v.Force}
}

// certify writes the certificate, and says what it does not show.
func (v *proveVerb) certify(c *console, contract *ir.Contract, p proof) error {
	text := c.errText()
	if n := p.unproved(); n > 0 {
		text.line("%s %s not proved", text.red("no certificate:"), are(n, "claim"))
		return nil
	}
	data := footprint.Measured(contract).Certificate()
	if err := c.write(v.output(), data); err != nil {
		return err
	}
	cert, err := certificate.Decode(data)
	if err != nil {
		return err
	}
	if v.Cert != "-" {
		text.line("wrote %s: %s", v.Cert, certified(cert))
	}
	for _, problem := range certificate.Check(data, contract) {
		text.wrapped("  ", "    ", problem.About+": "+problem.Why)
	}
	return nil
}

// certified counts what a certificate shows.
func certified(cert *certificate.Certificate) string {
	claims, delegates := 0, 0
	for _, x := range cert.Claims {
		if x.Uncertified == "" {
			claims++
		}
	}
	for _, x := range cert.Delegates {
		if x.Uncertified == "" {
			delegates++
		}
	}
	return fmt.Sprintf("%s, %s and %s that commute", plural(claims, "claim"), plural(delegates, "delegate"), plural(len(cert.Pairs), "pair"))
}

// are says of how many things something is said: "1 claim is", "2 claims are".
func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return plural(n, noun) + " are"
}

func (v *proveVerb) check(c *console, contract *ir.Contract) error {
	data, err := c.readFile("certificate", v.Check)
	if err != nil {
		return err
	}
	problems := certificate.Check(data, contract)
	if v.Format == "json" {
		if err := c.printJSON(struct {
			Certified bool                  `json:"certified"`
			Problems  []certificate.Problem `json:"problems"`
			Claims    []knownClaim          `json:"claims,omitempty"`
		}{len(problems) == 0, append([]certificate.Problem{}, problems...), shown(data, problems)}); err != nil {
			return err
		}
	} else {
		c.outText().checked(v.Check, contract, data, problems)
	}
	if len(problems) > 0 {
		return errNo
	}
	return nil
}

// A knownClaim is a claim that a certificate shows, and on what grounds.
type knownClaim struct {
	Claim string `json:"claim"`
	ir.Known
}

// shown lists the claims that a certificate without problems shows.
func shown(data []byte, problems []certificate.Problem) []knownClaim {
	cert, err := certificate.Decode(data)
	if err != nil || len(problems) > 0 {
		return nil
	}
	var out []knownClaim
	for _, c := range cert.Claims {
		out = append(out, knownClaim{c.Claim.Text, c.Known})
	}
	return out
}

// A proof is what prove prints.
type proof struct {
	Contract  string            `json:"contract"`
	Digest    string            `json:"digest"`
	Claims    []compiler.Answer `json:"claims"`
	Delegates []delegateProof   `json:"delegates"`
	Phases    []plan.Phase      `json:"commutation"`
}

type delegateProof struct {
	Stage  string           `json:"stage"`
	Within string           `json:"within"`
	Answer string           `json:"answer"`
	Place  *compiler.Place  `json:"place,omitempty"`
	Excess *compiler.Excess `json:"excess,omitempty"`
}

func prove(contract *ir.Contract, results []footprint.Result) proof {
	m := footprint.Measured(contract)
	p := proof{
		Contract: contract.Name, Digest: contract.Digest(), Claims: compiler.Answers(contract, results),
		Delegates: []delegateProof{}, Phases: plan.Relations(m),
	}
	for _, s := range contract.Stages {
		if s.From == "" {
			continue
		}
		d := delegateProof{Stage: s.Name, Within: s.From, Answer: "proved"}
		switch r := m.Decide(ir.Claim{Kind: ir.WithinClaim, Stages: []string{s.Name, s.From}}, nil).(type) {
		case footprint.Refuted:
			d.Answer, d.Place, d.Excess = "refuted", compiler.PlaceOf(r), compiler.ExcessOf(r)
		case footprint.Unknown:
			d.Answer = "unknown"
		}
		p.Delegates = append(p.Delegates, d)
	}
	return p
}

// unproved counts the claims that are refuted or unknown.
func (p proof) unproved() int {
	n := 0
	for _, a := range p.Claims {
		if a.Answer != "proved" {
			n++
		}
	}
	return n
}
