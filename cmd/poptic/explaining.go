package main

import (
	"strings"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/plan"
)

// explanation writes a contract's explanation for people.
func (p *printer) explanation(e explain.Explanation) {
	if e.Phases != nil {
		p.contractHead(e)
	}
	for i, s := range e.Stages {
		if i > 0 || e.Phases != nil {
			p.line("")
		}
		p.stage(s)
	}
	if len(e.Rules) > 0 {
		p.line("")
		p.heading("rules")
		for _, r := range e.Rules {
			p.rule("  ", r)
		}
	}
	p.authorities(e.Authority)
}

func (p *printer) contractHead(e explain.Explanation) {
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

func (p *printer) stage(s explain.Stage) {
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
		p.rule("  ", r)
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

func (p *printer) rule(indent string, r explain.Rule) {
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

func (p *printer) authorities(all []explain.Authority) {
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
