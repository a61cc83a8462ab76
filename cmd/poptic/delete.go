package main

import (
	"errors"

	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

type deleteVerb struct {
	Store    storeURL `required:"" help:"Store that has the instance, as sqlite:FILE." placeholder:"URL"`
	Instance stated   `required:"" help:"Instance that is taken out." placeholder:"ID"`
	Yes      bool     `help:"Do it: nothing brings it back."`
}

// Help is printed by --help.
func (deleteVerb) Help() string {
	return `Takes an instance out of a store: its state, its log and its snapshots. Nothing of it remains in the store's files, and its name is free. The other instances are as they were. Without --yes, says what would go, and does nothing.

Copies of the file, traces and anchors that were noted down elsewhere are not touched: an audit with an anchor says that the instance is gone.

Examples:

    poptic delete --store sqlite:desk.db --instance T-7
    poptic delete --store sqlite:desk.db --instance T-7 --yes

Exit codes:

    0  deleted
    2  usage, --yes is missing, no such instance, a store that cannot be written`
}

// Run implements the verb.
func (v *deleteVerb) Run(c *console) error {
	if !v.Yes {
		return v.refuse(c)
	}
	st, err := v.Store.open(c)
	if err != nil {
		return err
	}
	defer st.Close()
	err = runtime.Delete(c.ctx, st, string(v.Instance))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noInstance(c, st, v.Store.file, string(v.Instance))
	case err != nil:
		return instanceError(v.Store.file, err)
	}
	p := c.outText()
	p.Line("%s %s", p.Green("deleted"), terminal.Word(string(v.Instance)))
	return nil
}

// refuse says what would be deleted.
func (v *deleteVerb) refuse(c *console) error {
	st, err := v.Store.look(c)
	if err != nil {
		return err
	}
	defer st.Close()
	info, err := runtime.InfoOf(c.ctx, st, string(v.Instance))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noInstance(c, st, v.Store.file, string(v.Instance))
	case err != nil:
		return instanceError(v.Store.file, err)
	}
	return fail("give --yes to delete it: nothing brings it back", "the instance %q has %s, with %s: nothing was deleted",
		info.Instance, terminal.Plural(int(info.Seq), "record"), terminal.Plural(int(info.Version), "commit"))
}
