package main

import (
	"errors"
	"io"
	"time"

	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
)

type viewVerb struct {
	stageFlags
	instanceFlags
	principalFlags
	Format string `enum:"json,envelope,prompt" default:"json" help:"json: the view alone; envelope: with what the host needs; prompt: with task and rules, for a model. One of ${enum}."`
}

// Help is printed by --help.
func (viewVerb) Help() string {
	return `Projects the state to what the stage may see. Hidden members are left out, not masked. An envelope is for the host, which keeps its version; actors get json or prompt.

The state is a document, or that of an instance of a store ("poptic create"). The log of an instance records what was shown, or refused.

Examples:

    poptic view contract.poptic --state state.json --stage classify --arg ticket=T1
    poptic view contract.poptic --state state.json --stage classify --arg ticket=T1 --format prompt
    poptic view contract.poptic --store sqlite:desk.db --instance T-7 \
        --stage classify --arg ticket=T1 --principal bot-3 --format envelope

Exit codes:

    0  shown
    1  the stage does not run in this phase, for this role or with these arguments; no data
    2  usage, unreadable or unfit input, unknown names, a contract with errors, no such instance`
}

// Run implements the verb.
func (v *viewVerb) Run(c *console) error {
	stored, err := v.stored(v.Phase)
	if err != nil {
		return err
	}
	by, err := v.principal(v.Store)
	if err != nil {
		return err
	}
	var view runtime.View
	var refused *verify.Verdict
	if stored {
		view, refused, err = v.ofInstance(c, by)
	} else {
		view, refused, err = v.ofState(c)
	}
	if err != nil {
		return err
	}
	if refused != nil {
		p := c.errText()
		p.Line("%s: the stage %s sees nothing now", p.Red("no view"), v.Stage)
		writeViolations(p, refused.Violations, refused.More)
		return errNo
	}
	return v.print(c, view)
}

// ofState shows a state document, or says why the stage sees nothing.
func (v *viewVerb) ofState(c *console) (shown runtime.View, refused *verify.Verdict, err error) {
	o, err := v.stageFlags.open(c, v.State)
	if err != nil {
		return shown, nil, err
	}
	if err := needStage(o.contract, v.Stage); err != nil {
		return shown, nil, err
	}
	view, refused, err := o.program.View(c.ctx, o.snapshot, verify.ViewRequest{Stage: v.Stage, Args: o.args, Role: v.Role, Now: time.Now().UTC()})
	if err != nil || refused != nil {
		return shown, refused, misnamed(o.contract, err)
	}
	return runtime.View{
		Stage: view.Stage, Version: view.Version, Phase: view.Phase, Contract: view.Contract, Digest: view.Digest, Task: view.Task,
		Writes: orEmpty(view.Writes), Sources: orEmpty(view.Sources), Next: view.Next, Placeholders: orEmpty(view.Placeholders), Conditions: view.Conditions,
		Value: tree.AppendJSON(nil, view.Value),
	}, nil, nil
}

// ofInstance shows the state of an instance, and has that recorded.
func (v *viewVerb) ofInstance(c *console, by runtime.Principal) (shown runtime.View, refused *verify.Verdict, err error) {
	args, err := v.given()
	if err != nil {
		return shown, nil, err
	}
	in, err := v.instanceFlags.open(c, &v.contractArg)
	if err != nil {
		return shown, nil, err
	}
	defer in.close()
	if err := needStage(in.contract, v.Stage); err != nil {
		return shown, nil, err
	}
	shown, err = in.View(c.ctx, runtime.Request{Stage: v.Stage, Args: args, Role: v.Role, Principal: by})
	var refusal *runtime.ViewRefusedError
	if errors.As(err, &refusal) {
		return shown, &refusal.Verdict.OperatorVerdict, nil
	}
	return shown, nil, in.explain(err)
}

func (v *viewVerb) print(c *console, view runtime.View) error {
	switch v.Format {
	case "envelope":
		return c.printJSON(view)
	case "prompt":
		_, err := io.WriteString(c.out, prompt.Of(view).Text())
		return err
	}
	return c.printIndented(view.Value)
}
