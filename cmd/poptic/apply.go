package main

import (
	"encoding/json"
	"time"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

type applyVerb struct {
	stageFlags
	instanceFlags
	proposalFlags
	verdictFlags
	principalFlags
	forceFlag
	Key     stated   `help:"Of an instance: the proposal's idempotency key. The same proposal with the same key again is answered with the first verdict." placeholder:"TEXT"`
	Version *uint64  `help:"Of an instance: the version of the view that the proposal was made on; by default the one that there is." placeholder:"VERSION"`
	DryRun  bool     `help:"Of an instance: print the verdict that there would be; nothing is recorded."`
	Output  fileName `short:"o" xor:"target" help:"File for the new state; - is standard output." placeholder:"FILE"`
	InPlace bool     `xor:"target" help:"Replace the state document."`
	Advance string   `help:"Walk the host's edge to this phase, instead of judging a proposal." placeholder:"PHASE"`
}

// Help is printed by --help.
func (applyVerb) Help() string {
	return `Judges a proposal as "verify" does and, if it is accepted, writes the new state, whole or not at all. A state file does not hold its phase: the verdict tells it.

Without -o or --in-place the new state goes to standard output and the verdict to standard error; with --format json the verdict goes to standard output and holds the new state as its member "state".

With --store, the proposal is decided by an instance ("poptic create") and kept in its log, whatever becomes of it; the verdict is all that is printed. With --dry-run, it is the verdict that there would be, and nothing is kept. When it is not known whether a command did its work, because it was killed say, run it again with the same --key.

Examples:

    poptic apply contract.poptic --state state.json --in-place \
        --stage classify --arg ticket=T1 --patch patch.json
    poptic apply contract.poptic --state state.json --phase intake --advance triage
    poptic apply contract.poptic --store sqlite:desk.db --instance T-7 \
        --stage classify --arg ticket=T1 --version 3 --key classify-T1 \
        --principal bot-3 --on-behalf ann --patch patch.json
    poptic apply contract.poptic --store sqlite:desk.db --instance T-7 \
        --stage classify --arg ticket=T1 --patch patch.json --dry-run

Exit codes:

    0  accepted, and written
    1  rejected; nothing was written but the log of an instance
    2  usage, unreadable or unfit input, unknown names, no such instance, a file that cannot be written or is not to be overwritten`
}

// Run implements the verb.
func (v *applyVerb) Run(c *console) error {
	if err := v.check(); err != nil {
		return err
	}
	stored, err := v.stored(v.Phase)
	if err != nil {
		return err
	}
	by, err := v.principal(v.Store)
	if err != nil {
		return err
	}
	if stored {
		return v.toInstance(c, by)
	}
	o, err := v.stageFlags.open(c, v.State)
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

// toInstance has an instance decide, and prints the verdict.
func (v *applyVerb) toInstance(c *console, by runtime.Principal) error {
	args, err := v.given()
	if err != nil {
		return err
	}
	open := v.instanceFlags.open
	if v.DryRun {
		open = v.instanceFlags.look
	}
	in, err := open(c, &v.contractArg)
	if err != nil {
		return err
	}
	defer in.close()
	verdict, err := v.ask(c, in, args, by)
	if err != nil {
		return in.explain(err)
	}
	d := &decided{operator: verdict.OperatorVerdict, actor: verdict.Actor()}
	if err := v.print(c, c.outText(), d); err != nil {
		return err
	}
	return d.answer()
}

// ask proposes, or asks for the host's move. An answer that holds several patches is
// proposed as it is: then it is refused, and the log has it.
func (v *applyVerb) ask(c *console, in *running, args map[string]string, by runtime.Principal) (runtime.Verdict, error) {
	if v.Advance != "" {
		to, err := phaseOf(in.contract, v.Advance)
		if err != nil {
			return runtime.Verdict{}, err
		}
		return in.Advance(c.ctx, to, v.Role, by)
	}
	if err := v.complete(in.contract, &v.stageFlags); err != nil {
		return runtime.Verdict{}, err
	}
	n, err := v.proposalFlags.read(c)
	if err != nil {
		return runtime.Verdict{}, err
	}
	base := in.Instance.Version()
	if v.Version != nil {
		base = *v.Version
	}
	decide := in.Propose
	if v.DryRun {
		decide = in.Instance.Verify
	}
	return decide(c.ctx, runtime.Proposal{
		Stage: v.Stage, Args: args, Role: v.Role, Base: base, Patch: n.patch, Next: v.Next, Key: string(v.Key), Normalised: n.applied,
		Principal: by,
	})
}

// check refuses flags that contradict each other.
func (v *applyVerb) check() error {
	switch {
	case v.Store.given() && (v.Output != "" || v.InPlace):
		return fail("\"poptic replay --store URL --instance ID CONTRACT --at VERSION\" gives the state at a version", "the store keeps the new state: -o and --in-place are for --state")
	case v.Store.given() && v.MergePatch:
		return fail("translate it against the view, into a JSON Patch", "an instance decides JSON Patches: --merge-patch is for --state")
	case !v.Store.given() && (v.Key != "" || v.Version != nil):
		return fail("give --store and --instance instead of --state", "--key and --version are about the log of an instance, and a state document has none")
	case !v.Store.given() && v.DryRun:
		return fail("\"poptic verify\" judges a proposal on a state document, and writes nothing", "--dry-run is for an instance, and a state document is none")
	case v.Advance != "" && v.DryRun:
		return fail("leave one of them out", "--dry-run is about a proposal, and a host's move is none")
	case v.Advance != "" && (v.Key != "" || v.Version != nil):
		return fail("leave --key and --version out", "a host's move is no proposal")
	case v.Advance != "" && (v.Patch != "" || v.Stage != "" || v.Next != ""):
		return fail("a host's move has no stage and no proposal", "--advance excludes --stage, --patch and --next")
	case v.InPlace && v.State == "-":
		return fail("use -o FILE", "--in-place needs a state file, not standard input")
	case v.Actor && v.Format == "json" && v.toStdout() && !v.Store.given():
		return fail("write the state elsewhere, with -o FILE or --in-place", "with --actor the verdict is for the actor, and the whole state must not stand in it")
	}
	return v.apart(v.State)
}

func (v *applyVerb) decide(c *console, o *opened) (*decided, error) {
	if v.Advance == "" {
		return propose(c, o, &v.stageFlags, &v.proposalFlags, "")
	}
	if err := checkGiven(v.Role, v.Advance, nil); err != nil {
		return nil, err
	}
	to, err := phaseOf(o.contract, v.Advance)
	if err != nil {
		return nil, err
	}
	if err := o.requireValid(c); err != nil {
		return nil, err
	}
	outcome, err := o.program.Advance(c.ctx, o.snapshot, verify.Move{To: to, Role: v.Role, Now: time.Now().UTC()})
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
