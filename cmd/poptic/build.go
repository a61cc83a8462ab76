package main

import (
	"github.com/patchoptic/poptic/internal/ir"
)

type buildVerb struct {
	contractArg
	forceFlag
	Output fileName `short:"o" required:"" help:"File for the compiled contract; - is standard output." placeholder:"FILE"`
}

// Help is printed by --help.
func (buildVerb) Help() string {
	return `The compiled contract is all the runtime needs. The same source gives the same bytes. The file appears whole or not at all.

Examples:

    poptic build contract.poptic -o contract.popticc

Exit codes:

    0  written
    2  usage, unreadable input, a contract with errors or with claims that are not proved, or a file that cannot be written or is not to be overwritten`
}

// Run implements the verb.
func (v *buildVerb) Run(c *console) error {
	contract, unproved, err := v.read(c)
	if err != nil {
		return err
	}
	if unproved > 0 {
		return fail("mend or drop them; \"poptic check "+v.Contract+"\" says why; nothing was written", "%s not proved, and what is built is relied upon", are(unproved, "claim"))
	}
	data := ir.Encode(contract)
	if err := c.write(output{name: string(v.Output), kind: compiledKind, force: v.Force}, data); err != nil {
		return err
	}
	if v.Output != "-" {
		c.outText().Line("wrote %s: %s, %d bytes, %s", v.Output, contract.Name, len(data), contract.Digest())
	}
	return nil
}
