package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/spec/diagnostics"
)

type explainVerb struct {
	Contract string `arg:"" name:"contract" help:"A .poptic file or a compiled contract; the bytes tell which. Or the code of a finding or a refusal, whose page is printed." placeholder:"CONTRACT|CODE"`
	Root     string `help:"Folder that imports may not leave; by default the current directory, or the contract's folder outside of it." placeholder:"DIR"`
	Stage    string `help:"Only this stage." placeholder:"NAME"`
	sampleFlags
	Format string `enum:"text,json,prose" default:"text" help:"How it is printed: ${enum}. prose is Markdown, for a reviewer who does not know the language."`
}

// Help is printed by --help.
func (explainVerb) Help() string {
	return `For every stage: when and by whom it runs, what it sees, changes and takes, what its commit is judged by, and what the actor learns of each rule. For every expression: what it reads, and whether that is exact or a safe over-approximation. Last, who may touch each part of the state.

With --state, also what each stage sees of that sample, as "poptic view" shows it, and how many tokens that is: of the view, of the prompt, of the whole state. A parameter that no --arg is given for gets the first key that binds, marked "(chosen)". Text shows 40 lines of a view, json all of it.

Of a code it prints the page: what it means, why it matters, and an example, wrong and right.

A rule is "seen" if all it reads is in the stage's view, "disclosed" if the contract says that accepting or rejecting may tell, and "hidden" if a failure is answered by one nameless refusal.

As prose, the contract is read back for somebody who does not know the language, and who can sign it: what each role and each step may see, change and copy, when, under which rules, who sees what, what is told without being shown, and what is proved. It is made from the compiled contract alone, and names its digest.

Examples:

    poptic explain contract.poptic
    poptic explain contract.popticc --format prose > review.md
    poptic explain contract.poptic --stage classify
    poptic explain contract.poptic --state state.json
    poptic explain contract.poptic --state state.json --stage classify --arg ticket=T1
    poptic explain contract.popticc --format json
    poptic explain undisclosed_gate

Exit codes:

    0  explained
    2  usage, unreadable input, an unknown name or code, a contract with errors`
}

// Run implements the verb.
func (v *explainVerb) Run(c *console) error {
	if isCode(v.Contract) {
		return v.page(c)
	}
	sampled, err := v.sampleFlags.given()
	if err != nil {
		return err
	}
	if sampled && v.Format == "prose" {
		return fail("leave --state out, or ask for --format text or json", "prose is made from the contract alone, whatever the state")
	}
	contract, err := contractArg{v.Contract, v.Root}.load(c)
	if err != nil {
		return err
	}
	if v.Format == "prose" {
		return v.prose(c, contract)
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
	if sampled {
		return v.sampled(c, contract, e)
	}
	if v.Format == "json" {
		return c.printJSON(e)
	}
	writeExplanation(c.outText(), e, nil)
	return nil
}

// sampled explains with what the stages see of a sample.
func (v *explainVerb) sampled(c *console, contract *ir.Contract, e explain.Explanation) error {
	s, err := v.sampleFlags.open(c, v.Contract, contract, v.Stage)
	if err != nil {
		return err
	}
	all, err := s.all(c, e)
	if err != nil {
		return err
	}
	if v.Format == "json" {
		return c.printJSON(all)
	}
	p := c.outText()
	writeExplanation(p, e, func(i int) { writeSample(p, all.Stages[i].Sample, all.Tokenizer, all.StateTokens) })
	return nil
}

// prose reads the contract back as a document.
func (v *explainVerb) prose(c *console, contract *ir.Contract) error {
	if v.Stage != "" {
		return fail("leave --stage out", "a contract is read back as prose as a whole")
	}
	d, err := explain.Prose(contract)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.out, d.Markdown())
	return err
}

// code is the form of a code.
var code = regexp.MustCompile("^[a-z]+(_[a-z]+)*$")

// isCode reports whether a word has the form of a code, and is no file.
func isCode(word string) bool {
	_, err := os.Lstat(word)
	return code.MatchString(word) && errors.Is(err, fs.ErrNotExist)
}

// page prints the page of a code.
func (v *explainVerb) page(c *console) error {
	text, ok := diagnostics.Page(v.Contract)
	switch {
	case !ok:
		help := "the codes are in the language's section 14 and the interfaces' section 3"
		if near := spell.Nearest(v.Contract, diagnostics.Codes()); near != "" {
			help = "did you mean \"" + near + "\"?"
		}
		return fail(help, "there is neither a file nor a code %s", v.Contract)
	case v.Stage != "":
		return fail("leave --stage out", "%s is a code, and has no stages", v.Contract)
	case v.State != "":
		return fail("leave --state out", "%s is a code, and sees no state", v.Contract)
	case v.Format == "prose":
		return fail("leave --format out", "%s is a code, and no contract", v.Contract)
	case v.Format == "json":
		return c.printJSON(map[string]string{"code": v.Contract, "page": text, "help": diagnostic.HelpURI(v.Contract)})
	}
	_, err := c.out.Write([]byte(text))
	return err
}

// writeExplanation writes a contract's explanation for people, and behind each stage what
// more there is to write of it, if anything.
func writeExplanation(p *terminal.Printer, e explain.Explanation, more func(stage int)) {
	if e.Phases != nil {
		writeContractHead(p, e)
	}
	for i, s := range e.Stages {
		if i > 0 || e.Phases != nil {
			p.Line("")
		}
		writeStage(p, s)
		if more != nil {
			more(i)
		}
	}
	if len(e.Rules) > 0 {
		p.Line("")
		p.Heading("rules")
		for _, r := range e.Rules {
			writeRule(p, "  ", r)
		}
	}
	writeAuthorities(p, e.Authority)
}

func writeContractHead(p *terminal.Printer, e explain.Explanation) {
	title := "contract " + e.Contract
	if e.Sealed {
		title += " sealed"
	}
	p.Heading(title)
	const names = len("measures")
	p.Field("  ", names, "about", e.About)
	p.Field("  ", names, "phases", phaseLines(e.Phases))
	p.Field("  ", names, "secrets", strings.Join(e.SecretsAre, ", "))
	var measures []string
	for _, m := range e.Measures {
		text := m.Name + " = " + m.Kind + " " + m.Over
		if m.Where != "" {
			text += " where { " + m.Where + " }"
		}
		measures = append(measures, text)
	}
	p.Field("  ", names, "measures", strings.Join(measures, "\n"))
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

func writeStage(p *terminal.Printer, s explain.Stage) {
	title := "stage " + s.Name
	if len(s.Params) > 0 {
		title += "(" + strings.Join(s.Params, ", ") + ")"
	}
	p.Heading(title)
	const names = len("takes from")
	p.Field("  ", names, "task", s.Task)
	p.Field("  ", names, "delegate", terminal.When(s.From != "", "of "+s.From))
	p.Field("  ", names, "runs in", strings.Join(s.In, ", "))
	p.Field("  ", names, "run by", terminal.OrElse(strings.Join(s.By, ", "), "every role"))
	p.Field("  ", names, "sees", grantLines(s.Reads, "nothing"))
	p.Field("  ", names, "knows keys", strings.Join(s.Keys, ", "))
	p.Field("  ", names, "changes", grantLines(s.Writes, terminal.When(len(s.Blind) == 0, "nothing")))
	p.Field("  ", names, "adds blind", grantLines(s.Blind, ""))
	p.Field("  ", names, "takes from", grantLines(s.Sources, "nothing"))
	p.Field("  ", names, "hands on", handsOnLines(s.HandsOn))
	p.Field("  ", names, "produces", strings.Join(s.Produces, ", "))
	p.Field("  ", names, "moves to", terminal.Listed(s.Next, "or")+terminal.When(s.Tells, ", and may tell by it what it sees"))
	p.Field("  ", names, "judged by", gateLines(s.Gates))
	p.Field("  ", names, "beside", besideLines(s))
	for _, r := range s.Rules {
		writeRule(p, "  ", r)
	}
}

func grantLines(grants []explain.Grant, none string) string {
	var lines []string
	for _, g := range grants {
		line := strings.Join(g.Paths, ", ")
		if len(g.Rights) > 0 {
			line += " (" + terminal.Listed(g.Rights, "and") + " only)"
		}
		if len(g.Except) > 0 {
			line += ", but not " + strings.Join(g.Except, ", ")
		}
		lines = append(lines, line)
	}
	return terminal.OrElse(strings.Join(lines, "\n"), none)
}

// handsOnLines says what the delegates of a stage may be given.
func handsOnLines(h *explain.HandsOn) string {
	if h == nil {
		return ""
	}
	var lines []string
	add := func(what string, grants []explain.Grant) {
		for _, line := range strings.Split(grantLines(grants, ""), "\n") {
			if line != "" {
				lines = append(lines, what+" "+line)
			}
		}
	}
	add("what it has of", h.Part)
	add("seeing", h.Reads)
	add("changing", h.Writes)
	add("adding blind", h.Blind)
	add("taking from", h.Sources)
	return strings.Join(lines, "\n")
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

func writeRule(p *terminal.Printer, indent string, r explain.Rule) {
	p.Wrapped(indent, indent+"  ", p.Bold(r.Rule)+terminal.When(r.Message != "", ": "+r.Message))
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
	for _, input := range r.Asks {
		reads = append(reads, map[string]string{"role": "the role that asks", "actor": "who asks", "now": "the clock"}[input])
	}
	p.Field(indent+"  ", len("reads"), "reads", terminal.OrElse(strings.Join(reads, ", "), "nothing of the state"))
	if all := strings.Join(r.GoesThrough, ", "); all != "" {
		p.Field(indent+"  ", len("reads"), "costs", "goes through all of "+all+" whenever it is checked")
	}
}

func writeAuthorities(p *terminal.Printer, all []explain.Authority) {
	if len(all) == 0 {
		return
	}
	p.Line("")
	p.Heading("who may touch what")
	for _, a := range all {
		p.Line("  %s", p.Bold(a.Path))
		const names = len("taken from by")
		p.Field("    ", names, "read by", terminal.OrElse(strings.Join(a.Read, ", "), "no stage"))
		p.Field("    ", names, "written by", terminal.OrElse(strings.Join(a.Written, ", "), "no stage"))
		p.Field("    ", names, "taken from by", strings.Join(a.Taken, ", "))
	}
}
