package main

import (
	"strings"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

type explainVerb struct {
	contractArg
	Stage  string `help:"Only this stage." placeholder:"NAME"`
	Format string `enum:"text,json" default:"text" help:"How it is printed: ${enum}."`
}

// Help is printed by --help.
func (explainVerb) Help() string {
	return `For every stage: when and by whom it runs, what it sees, changes and takes, what its commit is judged by, and what the actor learns of each rule. For every expression: what it reads, and whether that is exact or a safe over-approximation. Last, who may touch each part of the state.

A rule is "seen" if all it reads is in the stage's view, "disclosed" if the contract says that accepting or rejecting may tell, and "hidden" if a failure is answered by one nameless refusal.

Examples:

    poptic explain contract.poptic
    poptic explain contract.poptic --stage classify
    poptic explain contract.popticc --format json

Exit codes:

    0  explained
    2  usage, unreadable input, an unknown stage, a contract with errors`
}

// Run implements the verb.
func (v *explainVerb) Run(c *console) error {
	contract, err := v.load(c)
	if err != nil {
		return err
	}
	of := explain.Contract
	if v.Stage != "" {
		if err := needStage(contract, v.Stage); err != nil {
			return err
		}
		of = func(c *ir.Contract) (explain.Explanation, error) { return explain.OneStage(c, v.Stage) }
	}
	e, err := of(contract)
	if err != nil {
		return err
	}
	if v.Format == "json" {
		return c.printJSON(e)
	}
	writeExplanation(c.outText(), e)
	return nil
}

// writeExplanation writes a contract's explanation for people.
func writeExplanation(p *printer, e explain.Explanation) {
	if e.Phases != nil {
		writeContractHead(p, e)
	}
	for i, s := range e.Stages {
		if i > 0 || e.Phases != nil {
			p.line("")
		}
		writeStage(p, s)
	}
	if len(e.Rules) > 0 {
		p.line("")
		p.heading("rules")
		for _, r := range e.Rules {
			writeRule(p, "  ", r)
		}
	}
	writeAuthorities(p, e.Authority)
}

func writeContractHead(p *printer, e explain.Explanation) {
	title := "contract " + e.Contract
	if e.Sealed {
		title += " sealed"
	}
	p.heading(title)
	const names = len("measures")
	p.field("  ", names, "about", e.About)
	p.field("  ", names, "phases", phaseLines(e.Phases))
	p.field("  ", names, "secrets", strings.Join(e.SecretsAre, ", "))
	var measures []string
	for _, m := range e.Measures {
		measures = append(measures, m.Name+" = "+m.Kind+" "+m.Over)
	}
	p.field("  ", names, "measures", strings.Join(measures, "\n"))
}

func phaseLines(phases []explain.Phase) string {
	var lines []string
	for _, ph := range phases {
		switch len(ph.Arrows) {
		case 0:
			lines = append(lines, ph.Name+" (the end)")
		default:
			lines = append(lines, ph.Name+" -> "+strings.Join(ph.Arrows, ", "))
		}
	}
	return strings.Join(lines, "\n")
}

func writeStage(p *printer, s explain.Stage) {
	title := "stage " + s.Name
	if len(s.Params) > 0 {
		title += "(" + strings.Join(s.Params, ", ") + ")"
	}
	p.heading(title)
	const names = len("takes from")
	p.field("  ", names, "task", s.Task)
	p.field("  ", names, "delegate", when(s.From != "", "of "+s.From))
	p.field("  ", names, "runs in", strings.Join(s.In, ", "))
	p.field("  ", names, "run by", orElse(strings.Join(s.By, ", "), "every role"))
	p.field("  ", names, "sees", grantLines(s.Reads, "nothing"))
	p.field("  ", names, "knows keys", strings.Join(s.Keys, ", "))
	p.field("  ", names, "changes", grantLines(s.Writes, when(len(s.Blind) == 0, "nothing")))
	p.field("  ", names, "adds blind", grantLines(s.Blind, ""))
	p.field("  ", names, "takes from", grantLines(s.Sources, "nothing"))
	p.field("  ", names, "produces", strings.Join(s.Produces, ", "))
	p.field("  ", names, "moves to", listed(s.Next, "or")+when(s.Tells, ", and may tell by it what it sees"))
	p.field("  ", names, "judged by", gateLines(s.Gates))
	p.field("  ", names, "beside", besideLines(s))
	for _, r := range s.Rules {
		writeRule(p, "  ", r)
	}
}

func grantLines(grants []explain.Grant, none string) string {
	var lines []string
	for _, g := range grants {
		line := strings.Join(g.Paths, ", ")
		if len(g.Except) > 0 {
			line += ", but not " + strings.Join(g.Except, ", ")
		}
		lines = append(lines, line)
	}
	return orElse(strings.Join(lines, "\n"), none)
}

func gateLines(gates []explain.Gate) string {
	var lines []string
	for _, g := range gates {
		line := g.Gate + ": " + g.Visibility
		if g.Unseen != "" {
			line += ", reads " + g.Unseen + " which the stage does not see"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// besideLines says what may run beside a stage: always, sometimes, never.
func besideLines(s explain.Stage) string {
	if len(s.Next) > 0 {
		return "nothing: it moves the phase"
	}
	var always, lines []string
	for _, b := range s.Beside {
		name := b.Stage
		if name == s.Name {
			name = "itself"
		}
		switch b.Commutes {
		case plan.Yes:
			always = append(always, name)
		case plan.Unless:
			lines = append(lines, name+" unless "+strings.Join(b.Unless, ", or "))
		default:
			lines = append(lines, "not "+name+": "+b.Why[0])
		}
	}
	if len(always) > 0 {
		lines = append([]string{strings.Join(always, ", ")}, lines...)
	}
	if s.Omitted > 0 {
		lines = append(lines, "left out are "+plan.Omitted(s.Omitted))
	}
	return strings.Join(lines, "\n")
}

func writeRule(p *printer, indent string, r explain.Rule) {
	p.wrapped(indent, indent+"  ", p.bold(r.Rule)+when(r.Message != "", ": "+r.Message))
	var reads []string
	for _, read := range r.Reads {
		how := "exactly"
		if !read.Exact {
			how = "at most"
		}
		reads = append(reads, how+" "+read.Path)
	}
	if r.Phase {
		reads = append(reads, "the phase")
	}
	p.field(indent+"  ", len("reads"), "reads", orElse(strings.Join(reads, ", "), "nothing of the state"))
	if all := strings.Join(r.GoesThrough, ", "); all != "" {
		p.field(indent+"  ", len("reads"), "costs", "goes through all of "+all+" whenever it is checked")
	}
}

func writeAuthorities(p *printer, all []explain.Authority) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.heading("who may touch what")
	for _, a := range all {
		p.line("  %s", p.bold(a.Path))
		const names = len("taken from by")
		p.field("    ", names, "read by", orElse(strings.Join(a.Read, ", "), "no stage"))
		p.field("    ", names, "written by", orElse(strings.Join(a.Written, ", "), "no stage"))
		p.field("    ", names, "taken from by", strings.Join(a.Taken, ", "))
	}
}
