package main

import (
	"fmt"
	"io"

	"github.com/patchoptic/poptic/internal/diff"
	"github.com/patchoptic/poptic/internal/ir"
)

type diffVerb struct {
	Old    string `arg:"" help:"The contract as it was: a .poptic file or a compiled contract." placeholder:"OLD"`
	New    string `arg:"" help:"The contract as it is." placeholder:"NEW"`
	Root   string `help:"Folder that imports may not leave; by default the current directory, or a contract's folder outside of it." placeholder:"DIR"`
	Format string `enum:"text,json" default:"text" help:"How it is printed: ${enum}."`
}

// Help is printed by --help.
func (diffVerb) Help() string {
	return `Says what a change of a contract allows and forbids: for every stage what it sees, writes and takes from, when and by whom it runs, its rules; for the contract its phases, invariants, types and claims. Paths show what was gained and lost; layout and names of parameters do not count.

"+" is wider, "-" is narrower, "~" cannot be compared and has to be looked at.

Examples:

    poptic diff old.poptic new.poptic
    git show main:contract.poptic > /tmp/old.poptic; poptic diff /tmp/old.poptic contract.poptic --format json

Exit codes:

    0  nothing became wider
    1  something became wider, or cannot be compared
    2  usage, unreadable input, a contract with errors`
}

// Run implements the verb.
func (v *diffVerb) Run(c *console) error {
	var contracts [2]*ir.Contract
	for i, name := range []string{v.Old, v.New} {
		contract, err := contractArg{Contract: name, Root: v.Root}.load(c)
		if err != nil {
			return err
		}
		contracts[i] = contract
	}
	d := diff.Contracts(contracts[0], contracts[1])
	if v.Format == "json" {
		if err := c.printJSON(d); err != nil {
			return err
		}
	} else {
		writeComparison(c.out, d)
	}
	if d.Widened {
		return errNo
	}
	return nil
}

// writeComparison writes for people what became wider ("+"), narrower ("-"), and what has
// to be looked at ("~").
func writeComparison(w io.Writer, c diff.Comparison) {
	marks := map[diff.Effect]string{diff.Widened: "+", diff.Narrowed: "-", diff.Changed: "~"}
	count := map[diff.Effect]int{}
	at := ""
	for _, x := range c.Changes {
		title := "contract " + c.Contract
		if x.Stage != "" {
			title = "stage " + x.Stage
		}
		if title != at {
			fmt.Fprintln(w, title)
			at = title
		}
		fmt.Fprintf(w, "  %s %s\n", marks[x.Effect], x.Detail)
		count[x.Effect]++
	}
	switch {
	case len(c.Changes) == 0 && c.Old == c.New:
		fmt.Fprintln(w, "the contracts are the same")
	case len(c.Changes) == 0:
		fmt.Fprintln(w, "no authority changed")
	default:
		fmt.Fprintf(w, "%d widened, %d narrowed, %d changed\n", count[diff.Widened], count[diff.Narrowed], count[diff.Changed])
	}
}
