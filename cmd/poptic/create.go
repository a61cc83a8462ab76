package main

import (
	"errors"
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

type createVerb struct {
	contractArg
	stateFlag
	Store    storeURL `required:"" help:"Store that is to keep the instance, as sqlite:FILE; a file that is not there is made." placeholder:"URL"`
	Instance stated   `required:"" help:"Name of the new instance." placeholder:"ID"`
	principalFlags
	Label  []string `sep:"none" help:"Something to find the instance by, not secret; repeat the flag for each." placeholder:"NAME=VALUE"`
	Format string   `enum:"text,json" default:"text" help:"How the result is printed: ${enum}."`
}

// Help is printed by --help.
func (createVerb) Help() string {
	return `Begins an instance: a state under a contract, whose every view, proposal and decision is kept in a log from now on. "view" and "apply" go on with it, "audit" and "replay" check it. An instance keeps its contract until "migrate" puts it under another one.

The file of a new store is for its owner alone, because it holds the whole state, secrets included.

Examples:

    poptic create desk.poptic --store sqlite:desk.db --instance T-7 --state state.json
    poptic create desk.poptic --store sqlite:desk.db --instance T-8 --state state.json --label tenant=acme
    poptic view desk.poptic --store sqlite:desk.db --instance T-7 \
        --stage classify --arg ticket=T1 --role triage_bot
    poptic apply desk.poptic --store sqlite:desk.db --instance T-7 \
        --stage classify --arg ticket=T1 --role triage_bot --patch patch.json --key 1

Exit codes:

    0  begun
    2  usage, unreadable input, a state that does not fit, an instance that is there already`
}

// Run implements the verb.
func (v *createVerb) Run(c *console) error {
	by, err := v.principal(v.Store)
	if err != nil {
		return err
	}
	contract, err := v.load(c)
	if err != nil {
		return err
	}
	loaded, err := runtime.Load(ir.Encode(contract))
	if err != nil {
		return broken(v.Contract, err)
	}
	state, err := c.read("state", v.State)
	if err != nil {
		return err
	}
	labels, err := pairs(v.Label, "label", "write --label NAME=VALUE, for example --label tenant=acme")
	if err != nil {
		return err
	}
	with := []runtime.Option{runtime.WithPrincipal(by), runtime.WithLabels(labels)}
	if err := v.startable(c, loaded, state, with); err != nil {
		return err
	}
	in, err := v.begin(c, loaded, state, with)
	if err != nil {
		return err
	}
	return v.print(c, in)
}

// startable begins an instance nowhere, so that what cannot be begun leaves no store
// behind. A store is no file that the verb reads.
func (v *createVerb) startable(c *console, contract *runtime.Contract, state []byte, with []runtime.Option) error {
	if what, read := c.inputs.reads(v.Store.file, ""); read {
		return fail("name another file", "%s can be no store: it is the %s that is read", v.Store.file, what)
	}
	_, err := runtime.Create(c.ctx, contract, store.NewMemory(), string(v.Instance), state, with...)
	var id *runtime.IDError
	var invalid *runtime.InvalidStateError
	var long *runtime.TooLongError
	var many *runtime.TooManyLabelsError
	var noText *runtime.NotTextError
	switch {
	case errors.As(err, &long), errors.As(err, &many), errors.As(err, &noText):
		return fail("nothing was begun", "%s", err)
	case errors.As(err, &id):
		return instanceError(v.Store.file, err)
	case errors.As(err, &invalid):
		return brokenRules(v.State, invalid.Violations, "an instance can only begin with a state in which every rule holds")
	case err != nil:
		return unfit(v.State, err)
	}
	return nil
}

func (v *createVerb) begin(c *console, contract *runtime.Contract, state []byte, with []runtime.Option) (*runtime.Instance, error) {
	st, err := sqlite.Open(c.ctx, v.Store.file)
	if err != nil {
		return nil, instanceError(v.Store.file, err)
	}
	defer st.Close()
	in, err := runtime.Create(c.ctx, contract, st, string(v.Instance), state, with...)
	if errors.Is(err, store.ErrExists) {
		return nil, fail("\"view\" and \"apply\" go on with it; a new one needs another name", "%s has an instance %q already", v.Store.file, string(v.Instance))
	}
	if err != nil {
		return nil, instanceError(v.Store.file, err)
	}
	return in, nil
}

// print says what was begun.
func (v *createVerb) print(c *console, in *runtime.Instance) error {
	if v.Format == "json" {
		return c.printJSON(struct {
			Instance string `json:"instance"`
			Contract string `json:"contract"`
			Version  uint64 `json:"version"`
			Phase    string `json:"phase"`
			Digest   string `json:"digest"`
		}{in.ID(), in.Contract().Digest(), in.Version(), in.Phase(), in.StateDigest()})
	}
	p := c.outText()
	p.Line("%s %s", p.Green("created"), terminal.Word(in.ID()))
	const names = len("version")
	p.Field("  ", names, "version", fmt.Sprint(in.Version()))
	p.Field("  ", names, "phase", in.Phase())
	p.Field("  ", names, "state", short(in.StateDigest()))
	return nil
}
