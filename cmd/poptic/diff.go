package main

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
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
	d := plan.Diff(contracts[0], contracts[1])
	if v.Format == "json" {
		if err := c.printJSON(d); err != nil {
			return err
		}
	} else {
		d.Text(c.out)
	}
	if d.Widened {
		return errNo
	}
	return nil
}
