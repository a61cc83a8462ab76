package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/runtime"
)

type instancesVerb struct {
	Store  storeURL `required:"" help:"Store whose instances are listed, as sqlite:FILE." placeholder:"URL"`
	After  stated   `help:"List those after this one only." placeholder:"ID"`
	Limit  int      `help:"List so many at most; 0 for all." placeholder:"N" default:"0"`
	Format string   `enum:"text,json" default:"text" help:"How the list is printed: ${enum}."`
}

// Help is printed by --help.
func (instancesVerb) Help() string {
	return `Lists the instances of a store in the order of their names: where each stands, when it was created, under which contract it runs, and its labels. Nothing is checked of what is listed; "audit" does. The store is left as it is.

Where --limit ends the list, the last line names the instance to go on after.

Examples:

    poptic instances --store sqlite:desk.db
    poptic instances --store sqlite:desk.db --after T-7 --limit 100 --format json

Exit codes:

    0  listed; there may be none
    1  listed, and the log of one is damaged
    2  usage, a store that cannot be read`
}

// A listing is a part of the list.
type listing struct {
	Instances []runtime.Info `json:"instances"`
	Next      string         `json:"next,omitempty"` // what to go on after; "" at the end
}

// Run implements the verb.
func (v *instancesVerb) Run(c *console) error {
	if v.Limit < 0 {
		return fail("give 0 for all", "--limit %d is below zero", v.Limit)
	}
	st, err := v.Store.look(c)
	if err != nil {
		return err
	}
	defer st.Close()
	found := listing{Instances: []runtime.Info{}}
	more := v.Limit
	if more > 0 {
		more++ // to know whether there are more
	}
	for info, err := range runtime.List(c.ctx, st, string(v.After), more) {
		if err != nil {
			return instanceError(v.Store.file, err)
		}
		if v.Limit > 0 && len(found.Instances) == v.Limit {
			found.Next = found.Instances[v.Limit-1].Instance
			break
		}
		found.Instances = append(found.Instances, info)
	}
	if err := v.print(c, &found); err != nil {
		return err
	}
	if slices.ContainsFunc(found.Instances, func(i runtime.Info) bool { return i.Damage != "" }) {
		return errNo
	}
	return nil
}

func (v *instancesVerb) print(c *console, found *listing) error {
	if v.Format == "json" {
		return c.printJSON(found)
	}
	p := c.outText()
	if len(found.Instances) == 0 {
		p.Line("no instances")
	}
	for _, i := range found.Instances {
		writeInfo(p, &i)
	}
	if found.Next != "" {
		p.Line("%s", p.Dim("there are more: --after "+terminal.Word(found.Next)))
	}
	return nil
}

// writeInfo writes what is known of an instance. Names and labels are each one word.
func writeInfo(p *terminal.Printer, i *runtime.Info) {
	p.Line("%s", terminal.Word(i.Instance))
	if i.Damage != "" {
		p.Wrapped("  ", "  ", p.Red("damaged: ")+i.Damage)
	}
	const names = len("contract")
	field := func(name, text string) {
		if text != "" {
			p.Field("  ", names, name, text)
		}
	}
	field("version", fmt.Sprintf("%d, with %s", i.Version, terminal.Plural(int(i.Seq), "record")))
	field("phase", terminal.Word(i.Phase))
	if !i.Created.IsZero() {
		field("created", i.Created.UTC().Format(time.RFC3339))
	}
	if i.Contract != "" {
		field("contract", short(i.Contract))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Labels)) {
		field("label", terminal.Word(name)+"="+terminal.Word(i.Labels[name]))
	}
}
