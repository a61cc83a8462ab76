package main

import (
	"fmt"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
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
	p := explain.Prove(contract, results)
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
	if p.Unproved() > 0 {
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
	return contract, nil, nil
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
func (v *proveVerb) certify(c *console, contract *ir.Contract, p explain.Proof) error {
	text := c.errText()
	if n := p.Unproved(); n > 0 {
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
	x := explain.Check(data, contract)
	if v.Format == "json" {
		if err := c.printJSON(x); err != nil {
			return err
		}
	} else {
		c.outText().checked(v.Check, contract, data, x)
	}
	if !x.Certified {
		return errNo
	}
	return nil
}
