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
)

// proof writes a proof for people.
func (p *printer) proof(x explain.Proof) {
	if len(x.Claims) > 0 {
		p.heading("claims")
	}
	for _, a := range x.Claims {
		p.answer(a)
	}
	if len(x.Delegates) > 0 {
		p.heading("delegates")
	}
	for _, d := range x.Delegates {
		p.line("  %s %s within %s", p.settled(d.Answer), d.Stage, d.Within)
	}
	for _, ph := range x.Phases {
		p.relations(ph)
	}
}

// settled is a claim's answer, padded so that claims are aligned.
func (p *printer) settled(answer string) string {
	padded := fmt.Sprintf("%-8s", answer)
	if answer == "proved" {
		return p.green(padded)
	}
	return p.red(padded)
}

func (p *printer) answer(a explain.Answer) {
	const indent = "           "
	p.wrapped("  "+p.settled(a.Answer)+" ", indent, strings.TrimPrefix(a.Claim, "prove ")+when(a.Basis != "", " ("+string(a.Basis)+")"))
	if a.Message != "" {
		p.wrapped(indent, indent, a.Message)
	}
	if a.Run != nil {
		p.run(indent, *a.Run)
	}
	if a.Help != "" {
		p.wrapped(indent+"help: ", indent+"      ", a.Help)
	}
	if a.Basis != ir.Decided && len(a.Unmodelled) > 0 {
		p.wrapped(indent, indent+"  ", "not modelled: "+strings.Join(a.Unmodelled, "; "))
	}
	if len(a.Assumes) > 0 {
		p.wrapped(indent, indent+"  ", "assumed: "+strings.Join(a.Assumes, "; "))
	}
	if a.Vacuous != "" {
		p.wrapped(indent, indent+"  ", p.yellow("vacuous:")+" "+a.Vacuous)
	}
	for _, d := range a.Discloses {
		p.wrapped(indent, indent+"  ", "one bit each time: "+d.Text())
	}
}

// run shows two proposals whose order matters.
func (p *printer) run(indent string, r footprint.Counterexample) {
	p.wrapped(indent+"state ", indent+"      ", r.State)
	for _, x := range []footprint.Proposal{r.A, r.B} {
		p.wrapped(indent+"run   ", indent+"      ", called(x)+" "+x.Patch)
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

// relations writes which stages of a phase commute.
func (p *printer) relations(ph plan.Phase) {
	if len(ph.Stages)+len(ph.Movers)+len(ph.LeftOut) == 0 {
		return
	}
	p.heading("commutation in " + ph.Name)
	width := 0
	for _, r := range ph.Relations {
		width = max(width, len(pairOf(r)))
	}
	for _, r := range ph.Relations {
		rest := strings.Repeat(" ", 2+width+2)
		p.wrapped(fmt.Sprintf("  %-*s  ", width, pairOf(r)), rest, p.relation(r))
	}
	if len(ph.LeftOut) > 0 {
		p.wrapped("  ", "    ", "left out are "+plan.Omitted(len(ph.LeftOut)))
	}
	if len(ph.Movers) > 0 {
		p.wrapped("  ", "    ", listed(ph.Movers, "and")+when(len(ph.Movers) == 1, " moves")+when(len(ph.Movers) > 1, " move")+" the phase: nothing commutes with that")
	}
}

func pairOf(r plan.Relation) string { return r.A + ", " + r.B }

func (p *printer) relation(r plan.Relation) string {
	switch r.Answer {
	case plan.Yes:
		return p.green("yes")
	case plan.Unless:
		return p.yellow("unless") + " " + strings.Join(r.Unless, ", or ")
	}
	return p.red("no") + ": " + r.Why[0]
}

// checked writes what a certificate shows.
func (p *printer) checked(name string, contract *ir.Contract, data []byte, x explain.Certified) {
	if cert, err := certificate.Decode(data); err == nil && x.Certified {
		p.line("%s %s shows of %s: %s", p.green("ok:"), name, contract.Name, certified(cert))
		for _, c := range x.Claims {
			if len(c.Assumes) > 0 {
				p.wrapped("  ", "    ", strings.TrimPrefix(c.Claim, "prove ")+" ("+string(c.Basis)+"): "+strings.Join(c.Assumes, "; "))
			}
		}
		return
	}
	p.line("%s %s does not show everything", p.red("not certified:"), name)
	for _, problem := range x.Problems {
		p.wrapped("  ", "    ", problem.About+": "+problem.Why)
	}
}
