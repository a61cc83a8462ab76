package main

import (
	"errors"
	"io"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
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
	var contract *ir.Contract
	left := 0
	if stored {
		view, contract, left, refused, err = v.ofInstance(c, by)
	} else {
		view, contract, refused, err = v.ofState(c)
	}
	if err != nil {
		return err
	}
	if refused != nil {
		p := c.errText()
		p.Line("%s: the stage %s sees nothing now", p.Red("no view"), v.Stage)
		writeViolations(p, refused.Violations, refused.More, nil)
		return errNo
	}
	return v.print(c, contract, view, left)
}

// ofState shows a state document, or says why the stage sees nothing.
func (v *viewVerb) ofState(c *console) (shown runtime.View, contract *ir.Contract, refused *verify.Verdict, err error) {
	o, err := v.stageFlags.open(c, v.State)
	if err != nil {
		return shown, nil, nil, err
	}
	if err := needStage(o.contract, v.Stage); err != nil {
		return shown, nil, nil, err
	}
	view, refused, err := o.program.View(c.ctx, o.snapshot, verify.ViewRequest{Stage: v.Stage, Args: o.args, Role: v.Role, Now: time.Now().UTC()})
	if err != nil || refused != nil {
		return shown, nil, refused, misnamed(o.contract, err)
	}
	return shownView(view), o.contract, nil, nil
}

// shownView is a view as an instance gives it.
func shownView(view verify.View) runtime.View {
	return runtime.View{
		Stage: view.Stage, Version: view.Version, Phase: view.Phase, Contract: view.Contract, Digest: view.Digest, Task: view.Task,
		Writes: orEmpty(view.Writes), Sources: orEmpty(view.Sources), Next: view.Next, Placeholders: orEmpty(view.Placeholders), Conditions: view.Conditions,
		Value: tree.AppendJSON(nil, view.Value),
	}
}

// ofInstance shows the state of an instance, and has that recorded.
func (v *viewVerb) ofInstance(c *console, by runtime.Principal) (shown runtime.View, contract *ir.Contract, left int, refused *verify.Verdict, err error) {
	args, err := v.given()
	if err != nil {
		return shown, nil, 0, nil, err
	}
	in, err := v.instanceFlags.open(c, &v.contractArg)
	if err != nil {
		return shown, nil, 0, nil, err
	}
	defer in.close()
	if err := needStage(in.contract, v.Stage); err != nil {
		return shown, nil, 0, nil, err
	}
	request := runtime.Request{Stage: v.Stage, Args: args, Role: v.Role, Principal: by}
	shown, err = in.View(c.ctx, request)
	var refusal *runtime.ViewRefusedError
	if errors.As(err, &refusal) {
		return shown, nil, 0, &refusal.Verdict.OperatorVerdict, nil
	}
	left, _ = in.AttemptsLeft(request)
	return shown, in.contract, left, nil, in.explain(err)
}

func (v *viewVerb) print(c *console, contract *ir.Contract, view runtime.View, left int) error {
	switch v.Format {
	case "envelope":
		return c.printJSON(view)
	case "prompt":
		return v.printPrompt(c, contract, view, left)
	}
	return c.printIndented(view.Value)
}

func (v *viewVerb) printPrompt(c *console, contract *ir.Contract, view runtime.View, left int) error {
	loaded, err := runtime.Load(ir.Encode(contract))
	if err != nil {
		return broken(v.Contract, err)
	}
	args, err := v.given()
	if err != nil {
		return err
	}
	data, err := prompt.Of(loaded, runtime.Request{Stage: v.Stage, Args: args, Role: v.Role}, view)
	if err != nil {
		return err
	}
	if left > 0 {
		data.AttemptsLeft = left
	}
	_, err = io.WriteString(c.out, data.Text())
	return err
}
