package main

import (
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/terminal"
)

type graphVerb struct {
	contractArg
	forceFlag
	Format string   `enum:"dot,mermaid,svg,html,json" default:"dot" help:"How it is drawn: ${enum}."`
	All    bool     `help:"Draw every stage, however many there are."`
	Output fileName `short:"o" default:"-" help:"File for the picture; - is standard output." placeholder:"FILE"`
}

// Help is printed by --help.
func (graphVerb) Help() string {
	return `Draws phases with their stages: how they follow each other, which stages do not commute, always or for some arguments, and where what one stage writes is seen by another. In svg and html, resting the pointer on a line or a group says what it means.

A contract of more than 64 stages, or with more than 256 pairs of them that do not commute, is drawn in groups: stages that are alike, else all of a phase with roles and moves in common, else all of a phase. --all draws every stage.

Examples:

    poptic graph contract.poptic | dot -Tpdf -o contract.pdf
    poptic graph contract.poptic --format svg -o contract.svg
    poptic graph contract.poptic --format mermaid

Exit codes:

    0  drawn
    2  usage, unreadable input, a contract with errors, or a file that cannot be written or is not to be overwritten`
}

// Run implements the verb.
func (v *graphVerb) Run(c *console) error {
	contract, err := v.load(c)
	if err != nil {
		return err
	}
	g := plan.Draw(footprint.Measured(contract))
	if !v.All {
		g = g.Fold(contract)
	}
	data, err := g.Render(v.Format)
	if err != nil {
		return err
	}
	if g.LeftOut > 0 {
		c.errText().Line("not drawn: how %s beyond the limit of %d relate", terminal.Plural(g.LeftOut, "pair")+" of stages", plan.MaxPairs)
	}
	if g.FlowsLeftOut > 0 {
		c.errText().Line("not drawn: flows between %s of phases; --all draws those of stages", terminal.Plural(g.FlowsLeftOut, "pair"))
	}
	return c.write(output{name: string(v.Output), kind: drawingKind, force: v.Force}, data)
}
