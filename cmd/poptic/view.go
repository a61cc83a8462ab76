package main

import (
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

type viewVerb struct {
	stageFlags
	Format string `enum:"json,envelope,prompt" default:"json" help:"json: the view alone; envelope: with what the host needs; prompt: with task and rules, for a model. One of ${enum}."`
}

// Help is printed by --help.
func (viewVerb) Help() string {
	return `Projects the state to what the stage may see. Hidden members are left out, not masked. An envelope is for the host, which keeps its version; actors get json or prompt.

Examples:

    poptic view contract.poptic --state state.json --stage classify --arg ticket=T1
    poptic view contract.poptic --state state.json --stage classify --arg ticket=T1 --format prompt

Exit codes:

    0  shown
    1  the stage does not run in this phase, for this role or with these arguments; no data
    2  usage, unreadable or unfit input, unknown names, a contract with errors`
}

// Run implements the verb.
func (v *viewVerb) Run(c *console) error {
	o, err := v.stageFlags.open(c)
	if err != nil {
		return err
	}
	if err := needStage(o.contract, v.Stage); err != nil {
		return err
	}
	view, refusal, err := o.program.View(c.ctx, o.snapshot, verify.ViewRequest{Stage: v.Stage, Args: o.args, Role: v.Role})
	if err != nil {
		return misnamed(o.contract, err)
	}
	if refusal != nil {
		p := c.errText()
		p.line("%s: the stage %s sees nothing now", p.red("no view"), v.Stage)
		p.violations(refusal.Violations, refusal.More)
		return errNo
	}
	return v.print(c, o, view)
}

func (v *viewVerb) print(c *console, o *opened, view verify.View) error {
	switch v.Format {
	case "envelope":
		return c.printJSON(view)
	case "prompt":
		writePrompt(c.out, view)
		return nil
	}
	_, err := c.out.Write(append(tree.AppendIndent(nil, view.Value), '\n'))
	return err
}
