package main

import (
	"encoding/json"

	"github.com/patchoptic/poptic/internal/verify"
)

type applyVerb struct {
	stageFlags
	proposalFlags
	verdictFlags
	forceFlag
	Output  fileName `short:"o" xor:"target" help:"File for the new state; - is standard output." placeholder:"FILE"`
	InPlace bool     `xor:"target" help:"Replace the state document."`
	Advance string   `help:"Walk the host's edge to this phase, instead of judging a proposal." placeholder:"PHASE"`
}

// Help is printed by --help.
func (applyVerb) Help() string {
	return `Judges a proposal as "verify" does and, if it is accepted, writes the new state, whole or not at all. A state file does not hold its phase: the verdict tells it.

Without -o or --in-place the new state goes to standard output and the verdict to standard error; with --format json the verdict goes to standard output and holds the new state as its member "state".

Examples:

    poptic apply contract.poptic --state state.json --in-place \
        --stage classify --arg ticket=T1 --patch patch.json
    poptic apply contract.poptic --state state.json --phase intake --advance triage

Exit codes:

    0  accepted, and written
    1  rejected; nothing was written
    2  usage, unreadable or unfit input, unknown names, a file that cannot be written or is not to be overwritten`
}

// Run implements the verb.
func (v *applyVerb) Run(c *console) error {
	if err := v.check(); err != nil {
		return err
	}
	o, err := v.stageFlags.open(c)
	if err != nil {
		return err
	}
	d, err := v.decide(c, o)
	if err != nil {
		return err
	}
	state := o.program.Export(d.after.State, true)
	if err := v.write(c, o, d, state); err != nil {
		return err
	}
	if err := v.report(c, d, state); err != nil {
		return err
	}
	return d.answer()
}

// check refuses flags that contradict each other.
func (v *applyVerb) check() error {
	switch {
	case v.Advance != "" && (v.Patch != "" || v.Stage != "" || v.Next != ""):
		return fail("a host's move has no stage and no proposal", "--advance excludes --stage, --patch and --next")
	case v.InPlace && v.State == "-":
		return fail("use -o FILE", "--in-place needs a state file, not standard input")
	case v.Actor && v.Format == "json" && v.toStdout():
		return fail("write the state elsewhere, with -o FILE or --in-place", "with --actor the verdict is for the actor, and the whole state must not stand in it")
	}
	return v.apart(&v.stageFlags)
}

func (v *applyVerb) decide(c *console, o *opened) (*decided, error) {
	if v.Advance == "" {
		return propose(c, o, &v.stageFlags, &v.proposalFlags)
	}
	if err := checkGiven(v.Role, v.Advance, nil); err != nil {
		return nil, err
	}
	to, err := phaseOf(o.contract, v.Advance)
	if err != nil {
		return nil, err
	}
	if err := o.requireValid(c, v.State); err != nil {
		return nil, err
	}
	outcome, err := o.program.Advance(c.ctx, o.snapshot, to, v.Role)
	if err != nil {
		return nil, err
	}
	return decidedAs(outcome), nil
}

// write puts the accepted state where the flags say. Without a change the state
// document stays as it is, byte for byte.
func (v *applyVerb) write(c *console, o *opened, d *decided, state []byte) error {
	if v.toStdout() {
		return nil
	}
	to := output{name: string(v.Output), kind: stateKind(o.contract), force: v.Force, perm: c.inputs.perm("state")}
	if v.InPlace {
		to.name, to.inPlace = v.State, "state"
	}
	if err := c.mayWrite(to); err != nil {
		return err
	}
	if d.rejected() || v.InPlace && d.operator.StateBefore == d.operator.StateAfter {
		return nil
	}
	return c.write(to, state)
}

func (v *applyVerb) toStdout() bool { return !v.InPlace && (v.Output == "" || v.Output == "-") }

// report prints the verdict, and the state where standard output is its target.
func (v *applyVerb) report(c *console, d *decided, state []byte) error {
	switch {
	case !v.toStdout():
		return v.print(c, c.outText(), d)
	case v.Format == "json":
		return v.printWithState(c, d, state)
	}
	if err := v.print(c, c.errText(), d); err != nil || d.rejected() {
		return err
	}
	_, err := c.out.Write(state)
	return err
}

func (v *applyVerb) printWithState(c *console, d *decided, state []byte) error {
	if d.rejected() {
		state = nil
	}
	if v.Actor {
		return c.printJSON(struct {
			verify.ActorVerdict
			State json.RawMessage `json:"state,omitempty"`
		}{d.actor, state})
	}
	return c.printJSON(struct {
		verify.Verdict
		State json.RawMessage `json:"state,omitempty"`
	}{d.operator, state})
}
