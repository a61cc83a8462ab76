package main

import (
	"cmp"
	"errors"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/schema"
	"github.com/patchoptic/poptic/internal/spell"
)

type schemaVerb struct {
	contractArg
	Stage string   `help:"Stage whose view or proposals are described." placeholder:"NAME"`
	Arg   []string `sep:"none" help:"Argument of the stage, a key as it is; repeat the flag for each. A parameter without one may be any key." placeholder:"NAME=VALUE"`
	Kind  string   `enum:"state,view,proposal," default:"" help:"What is described: state, view or proposal; by default the state, or with --stage its proposals."`
}

// Help is printed by --help.
func (schemaVerb) Help() string {
	return `Prints a JSON Schema (2020-12): of a state document, of what a stage sees, or of the proposals that it may make.

A proposal's schema admits the operations that the stage's write, source and read clauses allow, at their paths and with values of the right type, and nothing else; it can be given to a decoder that is held to a schema. What fits it may still be refused: whether a key exists, and whether rules hold, is for the contract to judge.

Examples:

    poptic schema contract.poptic > state.schema.json
    poptic schema contract.poptic --stage classify --arg ticket=T1
    poptic schema contract.poptic --stage classify --kind view

Exit codes:

    0  printed
    2  usage, or a contract with errors`
}

// Run implements the verb.
func (v *schemaVerb) Run(c *console) error {
	kind := v.Kind
	switch {
	case kind == "" && v.Stage == "":
		kind = "state"
	case kind == "":
		kind = "proposal"
	}
	args, err := arguments(v.Arg)
	if err != nil {
		return err
	}
	contract, err := v.load(c)
	if err != nil {
		return err
	}
	if kind == "state" {
		if v.Stage != "" || len(args) > 0 {
			return fail("leave --stage and --arg out, or ask for --kind view or --kind proposal", "the schema of the state is that of no stage")
		}
		return c.printJSON(schema.State(contract))
	}
	if err := needStage(contract, v.Stage); err != nil {
		return err
	}
	stage := contract.Stage(v.Stage)
	if err := knownParams(stage, args); err != nil {
		return err
	}
	if kind == "view" {
		return c.printJSON(schema.View(contract, stage, args))
	}
	out, err := schema.Proposal(contract, stage, args)
	var large *schema.TooLargeError
	if errors.As(err, &large) {
		return fail("narrow what the stage may write, or give its arguments", "%s", large)
	}
	if err != nil {
		return err
	}
	return c.printJSON(out)
}

// knownParams refuses arguments that the stage has no parameter for.
func knownParams(stage *ir.Stage, args map[string]string) error {
	var known []string
	for _, p := range stage.Params {
		known = append(known, p.Name)
	}
	for _, p := range stage.Values {
		known = append(known, p.Name)
	}
	var unknown []string
	for name := range args {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	name := slices.MinFunc(unknown, cmp.Compare[string])
	return fail(didYouMean("parameter", spell.Nearest(name, known), known), "stage %s has no parameter %q", stage.Name, name)
}
