package main

import (
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/plan"
)

type planVerb struct {
	contractArg
	Format string `enum:"text,json,mermaid" default:"text" help:"How it is printed: ${enum}."`
}

// Help is printed by --help.
func (planVerb) Help() string {
	return `For every phase: the largest groups of stages that may run side by side, and under which condition on their arguments; how many runs of one stage may be under way; and a schedule of few rounds that respects "after". A stage that moves the phase runs alone.

Examples:

    poptic plan contract.poptic
    poptic plan contract.poptic --format mermaid

Exit codes:

    0  planned
    2  usage, unreadable input, a contract with errors`
}

// Run implements the verb.
func (v *planVerb) Run(c *console) error {
	contract, err := v.load(c)
	if err != nil {
		return err
	}
	p := plan.Of(footprint.Measured(contract))
	switch v.Format {
	case "json":
		return c.printJSON(p)
	case "mermaid":
		p.Mermaid(c.out)
	default:
		p.Text(c.out)
	}
	return nil
}
