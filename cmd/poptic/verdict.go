package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/verify"
)

// verdictFlags say how a verdict is printed.
type verdictFlags struct {
	Actor  bool   `help:"Print what the stage's actor may learn of the verdict, instead of the operator's rendering."`
	Format string `enum:"text,json" default:"text" help:"How the verdict is printed: ${enum}."`
}

// print writes the verdict: JSON to standard output, text to p.
func (f *verdictFlags) print(c *console, p *terminal.Printer, d *decided) error {
	switch {
	case f.Format == "json" && f.Actor:
		return c.printJSON(d.actor)
	case f.Format == "json":
		return c.printJSON(d.operator)
	case f.Actor:
		writeActorVerdict(p, d.actor)
	default:
		writeVerdict(p, d.operator)
	}
	return nil
}

// writeVerdict writes the operator's rendering for people.
func writeVerdict(p *terminal.Printer, v verify.Verdict) {
	writeDecision(p, v.Verdict, len(v.Violations)+v.More)
	names := namesWidth(v.Normalised)
	if v.Verdict != verify.Reject {
		p.Field("  ", names, "version", change(fmt.Sprint(v.VersionBefore), fmt.Sprint(v.VersionAfter)))
		p.Field("  ", names, "phase", change(v.PhaseBefore, v.PhaseAfter))
		p.Field("  ", names, "state", change(short(v.StateBefore), short(v.StateAfter)))
	}
	p.Field("  ", names, "normalised", strings.Join(v.Normalised, ", "))
	writeViolations(p, v.Violations, v.More, v.NotChecked)
}

// writeActorVerdict writes the actor's rendering for people.
func writeActorVerdict(p *terminal.Printer, v verify.ActorVerdict) {
	writeDecision(p, v.Verdict, len(v.Violations)+v.More)
	names := namesWidth(v.Normalised)
	if v.Verdict != verify.Reject {
		p.Field("  ", names, "phase", change(v.PhaseBefore, v.PhaseAfter))
	}
	p.Field("  ", names, "normalised", strings.Join(v.Normalised, ", "))
	writeViolations(p, v.Violations, v.More, v.NotChecked)
}

// namesWidth is the width of the names beside a verdict's fields.
func namesWidth(normalised []string) int {
	if len(normalised) > 0 {
		return len("normalised")
	}
	return 8
}

func writeDecision(p *terminal.Printer, d verify.Decision, violations int) {
	switch d {
	case verify.Commit:
		p.Line("%s", p.Green("commit"))
	case verify.Noop:
		p.Line("%s: the proposal is allowed and changes nothing", p.Yellow("noop"))
	default:
		p.Line("%s: %s, nothing was changed", p.Red("reject"), terminal.Plural(violations, "violation"))
	}
}

// writeViolations writes those that a verdict lists, and how many more there are.
func writeViolations(p *terminal.Printer, vs []verify.Violation, more int, notChecked []verify.Gate) {
	for _, v := range vs {
		p.Line("")
		writeViolation(p, "  ", v)
	}
	if more > 0 {
		p.Line("")
		p.Line("  and %s more", terminal.Grouped(more))
	}
	if len(notChecked) > 0 {
		p.Line("")
		names := make([]string, len(notChecked))
		for i, g := range notChecked {
			names[i] = string(g)
		}
		p.Line("  not checked yet: %s", strings.Join(names, ", "))
	}
}

// writeViolation writes one violation as an aligned block.
func writeViolation(p *terminal.Printer, indent string, v verify.Violation) {
	const names = len("message")
	p.Field(indent, names, "gate", string(v.Gate))
	p.Field(indent, names, "code", p.Bold(string(v.Code)))
	if v.OpIndex != nil {
		p.Field(indent, names, "op", fmt.Sprint(*v.OpIndex))
	}
	if v.Path != nil {
		p.Field(indent, names, "path", terminal.Visible(place(*v.Path)))
	}
	p.Field(indent, names, "rule", terminal.Visible(v.Rule))
	p.Field(indent, names, "message", terminal.Visible(v.Message))
	p.Field(indent, names, "hint", terminal.Visible(v.Hint))
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

// A decided proposal, in both renderings, and the state it leads to.
type decided struct {
	operator verify.Verdict
	actor    verify.ActorVerdict
	after    verify.Snapshot
}

func decidedAs(outcome verify.Outcome) *decided {
	return &decided{operator: outcome.Verdict, actor: outcome.Actor(), after: outcome.After}
}

func (d *decided) rejected() bool { return d.operator.Verdict == verify.Reject }

// answer is the exit code's reason: a reject is a no.
func (d *decided) answer() error {
	if d.rejected() {
		return errNo
	}
	return nil
}

// refuse decides a proposal that cannot be read as a patch at all: the actor's
// answer holds several, or a merge patch that cannot be used.
func (o *opened) refuse(c *console, s *stageFlags, n *normalised) (*decided, error) {
	view, _, err := o.program.View(c.ctx, o.snapshot, verify.ViewRequest{Stage: s.Stage, Args: o.args, Role: s.Role, Now: time.Now().UTC()})
	if err != nil {
		return nil, misnamed(o.contract, err)
	}
	violations := []verify.Violation{verify.Unreadable(n.refused)}
	state := o.snapshot.State.Digest().String()
	return &decided{
		operator: verify.Verdict{
			Verdict: verify.Reject, VersionBefore: o.snapshot.Version, VersionAfter: o.snapshot.Version,
			StateBefore: state, StateAfter: state, Contract: o.program.Digest(),
			PhaseBefore: o.snapshot.Phase, PhaseAfter: o.snapshot.Phase,
			Violations: violations, Retryable: true, Normalised: orEmpty(n.applied),
		},
		actor: verify.ActorVerdict{
			Verdict: verify.Reject, ViewDigest: view.Digest, Contract: o.program.Digest(),
			PhaseBefore: o.snapshot.Phase, PhaseAfter: o.snapshot.Phase,
			Violations: violations, Retryable: true, Normalised: orEmpty(n.applied),
		},
		after: o.snapshot,
	}, nil
}
