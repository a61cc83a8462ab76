package main

import (
	"io/fs"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/demo"
	"github.com/patchoptic/poptic/internal/spell"
)

type demoVerb struct {
	Name string `arg:"" optional:"" help:"Which example: ${examples}. The first one if left out."`
}

// Help is printed by --help.
func (demoVerb) Help() string {
	return `Compiles an example that is part of the program, starts an instance of it and walks it from beginning to end: what each actor saw, which proposals committed, which did not and why, and the log that remains.

Examples:

    poptic demo
    poptic demo clinical

Exit codes:

    0  every step ended as the example says it does
    1  a step ended otherwise
    2  no such example`
}

// Run implements the verb.
func (v *demoVerb) Run(c *console) error {
	name, err := exampleNamed(v.Name)
	if err != nil {
		return err
	}
	dir, err := fs.Sub(examples.FS, name)
	if err != nil {
		return err
	}
	out, err := compiler.Compile(c.ctx, compiler.Input{FS: dir, Path: "contract.poptic"})
	if err != nil {
		return err
	}
	if _, err := c.accept(name+"/contract.poptic", out); err != nil {
		return err
	}
	compiled, _ := out.Compiled()
	surprises, err := demo.Tell(c.ctx, c.outText(), name, compiled)
	if err != nil {
		return err
	}
	if surprises > 0 {
		return errNo
	}
	return nil
}

func exampleNamed(name string) (string, error) {
	known := examples.Names()
	if name == "" {
		return known[0], nil
	}
	for _, k := range known {
		if k == name {
			return k, nil
		}
	}
	return "", fail(didYouMean("example", spell.Nearest(name, known), known), "there is no example %q", name)
}
