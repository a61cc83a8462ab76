package main

import (
	"errors"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/runtime"
)

type blameVerb struct {
	Path     string   `arg:"" name:"path" help:"JSON Pointer to a place of the state; keyed lists have keys." placeholder:"POINTER"`
	Contract []string `arg:"" name:"contract" help:"The contract that the instance runs under, and those that it ran under." placeholder:"CONTRACT"`
	Root     string   `help:"Folder that imports may not leave; by default the current directory, or a contract's folder outside of it." placeholder:"DIR"`
	Store    storeURL `required:"" help:"Store of the instance, as sqlite:FILE." placeholder:"URL"`
	Instance stated   `help:"Instance that is meant, where there are several." placeholder:"ID"`
	Limit    int      `help:"List so many parts at most." default:"100" placeholder:"N"`
	Format   string   `enum:"text,json" default:"text" help:"How the result is printed: ${enum}."`
}

// Help is printed by --help.
func (blameVerb) Help() string {
	return `Tells who wrote what stands at a place of an instance's state, and in it: a line for each part that has a writer of its own, with version, time, stage, role, principal and the record of the proposal. What stands there since the beginning is of "create". What was moved or copied keeps its writers, and the line says who brought it. No values are shown.

Examples:

    poptic blame /tickets/T1/status desk.poptic --store sqlite:desk.db --instance T-7
    poptic blame "" desk.poptic desk2.poptic --store sqlite:desk.db --instance T-7 --format json

Exit codes:

    0  listed
    1  nothing stands there
    2  usage, unreadable input, a log that does not hold, a contract that is needed and not given`
}

// Run implements the verb.
func (v *blameVerb) Run(c *console) error {
	path, err := tree.ParsePointer(v.Path)
	if err != nil {
		return fail("write it like /tickets/T1/status; \"\" is the whole state", "%q is no JSON Pointer: %s", v.Path, err)
	}
	if v.Limit < 1 {
		return fail("give 1 at least", "--limit %d lists nothing", v.Limit)
	}
	var contracts []*runtime.Contract
	for _, name := range v.Contract {
		contract, err := contractArg{Contract: name, Root: v.Root}.load(c)
		if err != nil {
			return err
		}
		loaded, err := runtime.Load(ir.Encode(contract))
		if err != nil {
			return broken(name, err)
		}
		contracts = append(contracts, loaded)
	}
	st, err := v.Store.look(c)
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := logArg{v.Store.file, logFlags{v.Store, v.Instance}}.one(c, st, "blame")
	if err != nil {
		return err
	}
	all, more, found, err := runtime.Blame(c.ctx, st, id, path, v.Limit, contracts...)
	var other *runtime.ContractMismatchError
	switch {
	case errors.As(err, &other):
		return fail("give the contract too that it runs under, or its compiled form: one that was migrated had several", "%s", other)
	case err != nil:
		return instanceError(v.Store.file, err)
	case !found:
		c.errText().Line("nothing stands there")
		return errNo
	case v.Format == "json":
		return c.printJSON(struct {
			Instance string           `json:"instance"`
			Parts    []runtime.Blamed `json:"parts"`
			More     int              `json:"more,omitempty"`
		}{id, all, more})
	}
	p := c.outText()
	for i := range all {
		p.Line("%s", terminal.Word(place(all[i].Path)))
		p.Wrapped("    ", "      ", writerOf(&all[i].Written))
		if b := all[i].Brought; b != nil {
			p.Wrapped("    ", "      ", "brought by "+writerOf(b))
		}
	}
	if more > 0 {
		p.Line("%s", p.Dim("and "+terminal.Plural(more, "other part")+": --limit lists more"))
	}
	return nil
}

// writerOf says who wrote something. What actors chose is each one word.
func writerOf(w *runtime.Write) string {
	words := []string{string(w.Kind)}
	add := func(label, text string) {
		if text != "" {
			words = append(words, label+terminal.Word(text))
		}
	}
	add("", w.Stage)
	add("as ", w.Role)
	add("by ", w.Principal.Subject)
	add("on behalf of ", w.Principal.OnBehalf)
	add("with ", w.Principal.Token)
	words = append(words, "version "+terminal.Grouped(int(w.Version)), w.Time.UTC().Format(time.RFC3339), recordNumber(w.Seq))
	add("key ", w.Key)
	return strings.Join(words, ", ")
}
