package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/terminal"
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
		writeProof(c.outText(), p)
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
		text.Line("%s %s not proved", text.Red("no certificate:"), are(n, "claim"))
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
		text.Line("wrote %s: %s", v.Cert, certified(cert))
	}
	for _, problem := range certificate.Check(data, contract) {
		text.Wrapped("  ", "    ", problem.About+": "+problem.Why)
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
	return fmt.Sprintf("%s, %s and %s that commute", terminal.Plural(claims, "claim"), terminal.Plural(delegates, "delegate"), terminal.Plural(len(cert.Pairs), "pair"))
}

// are says of how many things something is said: "1 claim is", "2 claims are".
func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return terminal.Plural(n, noun) + " are"
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
		writeCertified(c.outText(), v.Check, contract, data, x)
	}
	if !x.Certified {
		return errNo
	}
	return nil
}

// writeProof writes a proof for people.
func writeProof(p *terminal.Printer, x explain.Proof) {
	if len(x.Claims) > 0 {
		p.Heading("claims")
	}
	for _, a := range x.Claims {
		writeAnswer(p, a)
	}
	if len(x.Delegates) > 0 {
		p.Heading("delegates")
	}
	for _, d := range x.Delegates {
		p.Line("  %s %s within %s", settled(p, d.Answer), d.Stage, d.Within)
	}
	for _, ph := range x.Phases {
		writeRelations(p, ph)
	}
}

// settled is a claim's answer, padded so that claims are aligned.
func settled(p *terminal.Printer, answer string) string {
	padded := fmt.Sprintf("%-8s", answer)
	if answer == "proved" {
		return p.Green(padded)
	}
	return p.Red(padded)
}

func writeAnswer(p *terminal.Printer, a explain.Answer) {
	const indent = "           "
	p.Wrapped("  "+settled(p, a.Answer)+" ", indent, strings.TrimPrefix(a.Claim, "prove ")+terminal.When(a.Basis != "", " ("+string(a.Basis)+")"))
	if a.Message != "" {
		p.Wrapped(indent, indent, a.Message)
	}
	if a.Run != nil {
		writeRun(p, indent, *a.Run)
	}
	if a.Help != "" {
		p.Wrapped(indent+"help: ", indent+"      ", a.Help)
	}
	if a.Basis != ir.Decided && len(a.Unmodelled) > 0 {
		p.Wrapped(indent, indent+"  ", "not modelled: "+strings.Join(a.Unmodelled, "; "))
	}
	if len(a.Assumes) > 0 {
		p.Wrapped(indent, indent+"  ", "assumed: "+strings.Join(a.Assumes, "; "))
	}
	if a.Vacuous != "" {
		p.Wrapped(indent, indent+"  ", p.Yellow("vacuous:")+" "+a.Vacuous)
	}
	for _, d := range a.Discloses {
		p.Wrapped(indent, indent+"  ", "one bit each time: "+d.Text())
	}
}

// writeRun shows two proposals whose order matters.
func writeRun(p *terminal.Printer, indent string, r footprint.Counterexample) {
	p.Wrapped(indent+"state ", indent+"      ", r.State)
	for _, x := range []footprint.Proposal{r.A, r.B} {
		p.Wrapped(indent+"run   ", indent+"      ", called(x)+" "+x.Patch)
	}
}

// called writes the stage and arguments of a proposal.
func called(x footprint.Proposal) string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(x.Args)) {
		args = append(args, name+"="+x.Args[name])
	}
	if len(args) == 0 {
		return x.Stage
	}
	return x.Stage + "(" + strings.Join(args, ", ") + ")"
}

// writeRelations writes which stages of a phase commute.
func writeRelations(p *terminal.Printer, ph plan.Phase) {
	if len(ph.Stages)+len(ph.Movers)+len(ph.LeftOut) == 0 {
		return
	}
	p.Heading("commutation in " + ph.Name)
	width := 0
	for _, r := range ph.Relations {
		width = max(width, len(pairOf(r)))
	}
	for _, r := range ph.Relations {
		rest := strings.Repeat(" ", 2+width+2)
		p.Wrapped(fmt.Sprintf("  %-*s  ", width, pairOf(r)), rest, relationText(p, r))
	}
	if len(ph.LeftOut) > 0 {
		p.Wrapped("  ", "    ", "left out are "+plan.Omitted(len(ph.LeftOut)))
	}
	if len(ph.Movers) > 0 {
		p.Wrapped("  ", "    ", terminal.Listed(ph.Movers, "and")+terminal.When(len(ph.Movers) == 1, " moves")+terminal.When(len(ph.Movers) > 1, " move")+" the phase: nothing commutes with that")
	}
}

func pairOf(r plan.Relation) string { return r.A + ", " + r.B }

func relationText(p *terminal.Printer, r plan.Relation) string {
	switch r.Answer {
	case plan.Yes:
		return p.Green("yes")
	case plan.Unless:
		return p.Yellow("unless") + " " + strings.Join(r.Unless, ", or ")
	}
	return p.Red("no") + ": " + r.Why[0]
}

// writeCertified writes what a certificate shows.
func writeCertified(p *terminal.Printer, name string, contract *ir.Contract, data []byte, x explain.Certified) {
	if cert, err := certificate.Decode(data); err == nil && x.Certified {
		p.Line("%s %s shows of %s: %s", p.Green("ok:"), name, contract.Name, certified(cert))
		for _, c := range x.Claims {
			if len(c.Assumes) > 0 {
				p.Wrapped("  ", "    ", strings.TrimPrefix(c.Claim, "prove ")+" ("+string(c.Basis)+"): "+strings.Join(c.Assumes, "; "))
			}
		}
		return
	}
	p.Line("%s %s does not show everything", p.Red("not certified:"), name)
	for _, problem := range x.Problems {
		p.Wrapped("  ", "    ", problem.About+": "+problem.Why)
	}
}
