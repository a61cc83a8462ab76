package main

import (
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/ir"
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
	if v.Stage != "" {
		if err := needStage(contract, v.Stage); err != nil {
			return err
		}
	}
	e, err := v.explain(contract)
	if err != nil {
		return err
	}
	if v.Format == "json" {
		return c.printJSON(e)
	}
	c.outText().explanation(e)
	return nil
}

func (v *explainVerb) explain(contract *ir.Contract) (explain.Explanation, error) {
	if v.Stage != "" {
		return explain.OneStage(contract, v.Stage)
	}
	return explain.Contract(contract)
}
