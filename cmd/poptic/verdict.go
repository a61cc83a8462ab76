package main

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/verify"
)

// verdictFlags say how a verdict is printed.
type verdictFlags struct {
	Actor  bool   `help:"Print what the stage's actor may learn of the verdict, instead of the operator's rendering."`
	Format string `enum:"text,json" default:"text" help:"How the verdict is printed: ${enum}."`
}

// print writes the verdict: JSON to standard output, text to p.
func (f *verdictFlags) print(c *console, p *printer, d *decided) error {
	switch {
	case f.Format == "json" && f.Actor:
		return c.printJSON(d.actor)
	case f.Format == "json":
		return c.printJSON(d.operator)
	case f.Actor:
		p.actorVerdict(d.actor)
	default:
		p.verdict(d.operator)
	}
	return nil
}

// verdict writes the operator's rendering for people.
func (p *printer) verdict(v verify.Verdict) {
	p.decision(v.Verdict, len(v.Violations)+v.More)
	names := namesWidth(v.Normalised)
	if v.Verdict != verify.Reject {
		p.field("  ", names, "version", change(fmt.Sprint(v.VersionBefore), fmt.Sprint(v.VersionAfter)))
		p.field("  ", names, "phase", change(v.PhaseBefore, v.PhaseAfter))
		p.field("  ", names, "state", change(short(v.StateBefore), short(v.StateAfter)))
	}
	p.field("  ", names, "normalised", strings.Join(v.Normalised, ", "))
	p.violations(v.Violations, v.More)
}

// actorVerdict writes the actor's rendering for people.
func (p *printer) actorVerdict(v verify.ActorVerdict) {
	p.decision(v.Verdict, len(v.Violations)+v.More)
	names := namesWidth(v.Normalised)
	if v.Verdict != verify.Reject {
		p.field("  ", names, "phase", change(v.PhaseBefore, v.PhaseAfter))
	}
	p.field("  ", names, "normalised", strings.Join(v.Normalised, ", "))
	p.violations(v.Violations, v.More)
}

// namesWidth is the width of the names beside a verdict's fields.
func namesWidth(normalised []string) int {
	if len(normalised) > 0 {
		return len("normalised")
	}
	return 8
}

func (p *printer) decision(d verify.Decision, violations int) {
	switch d {
	case verify.Commit:
		p.line("%s", p.green("commit"))
	case verify.Noop:
		p.line("%s: the proposal is allowed and changes nothing", p.yellow("noop"))
	default:
		p.line("%s: %s, nothing was changed", p.red("reject"), plural(violations, "violation"))
	}
}

// violations writes those that a verdict lists, and how many more there are.
func (p *printer) violations(vs []verify.Violation, more int) {
	for _, v := range vs {
		p.line("")
		p.violation("  ", v)
	}
	if more > 0 {
		p.line("")
		p.line("  and %s more", grouped(more))
	}
}

// violation writes one violation as an aligned block.
func (p *printer) violation(indent string, v verify.Violation) {
	const names = len("message")
	p.field(indent, names, "gate", string(v.Gate))
	p.field(indent, names, "code", p.bold(string(v.Code)))
	if v.OpIndex != nil {
		p.field(indent, names, "op", fmt.Sprint(*v.OpIndex))
	}
	if v.Path != nil {
		p.field(indent, names, "path", visible(place(*v.Path)))
	}
	p.field(indent, names, "rule", visible(v.Rule))
	p.field(indent, names, "message", visible(v.Message))
	p.field(indent, names, "hint", visible(v.Hint))
}

// change shows a value before and after, once if it is the same.
func change(before, after string) string {
	if before == after {
		return before
	}
	return before + " -> " + after
}

// short cuts a digest to what people compare by eye.
func short(digest string) string {
	const shown = len("sha256:") + 12
	if len(digest) > shown {
		return digest[:shown]
	}
	return digest
}
