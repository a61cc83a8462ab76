package main

import (
	"errors"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/runtime"
)

type migrateVerb struct {
	contractArg
	Store    storeURL `required:"" help:"Store of the instance, as sqlite:FILE." placeholder:"URL"`
	Instance stated   `help:"Instance of the store." placeholder:"ID"`
	To       string   `required:"" help:"Contract to go on under: a .poptic file or a compiled contract." placeholder:"CONTRACT"`
	Patch    string   `help:"JSON Patch on the instance's state file, to make it a state of that contract; - is standard input." placeholder:"FILE"`
	Phase    stated   `help:"Phase to go on in; by default the one of the same name." placeholder:"NAME"`
	DryRun   bool     `help:"Say what would come of it, and record nothing."`
	principalFlags
	Format string `enum:"text,json" default:"text" help:"How the verdict is printed: ${enum}."`
}

// Help is printed by --help.
func (migrateVerb) Help() string {
	return `Puts a running instance under another contract. CONTRACT is the one that it runs under. The state, after the patch if there is one, must be a state of the other contract that breaks none of its rules, and the contract must have the phase. Whatever comes of it stands in the log; "replay" then needs both contracts.

An instance whose log was written in format 1 is migrated to the contract that it has: it then goes on in the present format, one version later. One to another contract makes that migration before.

The patch is one of the state in the form of a state file, as "replay --at" prints it: keyed lists are arrays there. Proposals that were made on a view from before are stale afterwards.

Examples:

    poptic migrate desk.poptic --store sqlite:desk.db --instance T-7 --to desk2.poptic --dry-run
    poptic migrate desk.poptic --store sqlite:desk.db --instance T-7 --to desk2.poptic \
        --patch fill.json --principal ann
    poptic replay desk.db desk.poptic desk2.poptic

Exit codes:

    0  the instance runs under the other contract, or would
    1  it cannot; nothing has changed
    2  usage, unreadable input, a contract with errors, no such instance, one under another contract`
}

// Run implements the verb.
func (v *migrateVerb) Run(c *console) error {
	by, err := v.principal(v.Store)
	if err != nil {
		return err
	}
	if err := checkGiven("", string(v.Phase), nil); err != nil {
		return err
	}
	to, err := contractArg{Contract: v.To, Root: v.Root}.load(c)
	if err != nil {
		return err
	}
	loaded, err := runtime.Load(ir.Encode(to))
	if err != nil {
		return broken(v.To, err)
	}
	m := runtime.Migration{Principal: by, DryRun: v.DryRun}
	if v.Phase != "" {
		if m.Phase, err = phaseOf(to, string(v.Phase)); err != nil {
			return err
		}
	}
	if v.Patch != "" {
		if m.Patch, err = c.read("patch", v.Patch); err != nil {
			return err
		}
		if len(m.Patch) == 0 {
			return fail("leave --patch out to migrate without one; [] is a patch that changes nothing", "the patch of --patch %s is empty", v.Patch)
		}
	}
	of := &instanceFlags{Store: v.Store, Instance: v.Instance}
	open := of.open
	if v.DryRun {
		open = of.look
	}
	in, err := open(c, &v.contractArg)
	if err != nil {
		return err
	}
	defer in.close()
	_, verdict, err := in.Migrate(c.ctx, loaded, m)
	var same *runtime.SameContractError
	if errors.As(err, &same) {
		return fail("give another one with --to", "the instance %q runs under that contract already", same.Instance)
	}
	if err != nil {
		return in.explain(err)
	}
	d := &decided{operator: verdict.OperatorVerdict}
	if err := (&verdictFlags{Format: v.Format}).print(c, c.outText(), d); err != nil {
		return err
	}
	return d.answer()
}
