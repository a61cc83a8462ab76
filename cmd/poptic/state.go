package main

import (
	"errors"

	"github.com/patchoptic/poptic/internal/verify"
)

// openState reads a state document and fits it to the contract's type.
func openState(c *console, program *verify.Program, name, phase string) (verify.Snapshot, error) {
	data, err := c.read("state", name)
	if err != nil {
		return verify.Snapshot{}, err
	}
	root, err := program.Import(data)
	if err != nil {
		return verify.Snapshot{}, unfit(name, err)
	}
	return verify.Snapshot{State: root, Phase: phase}, nil
}

// requireValid checks every rule of the contract once, so that a verdict about a
// proposal is about the proposal (spec/semantics.md section 6.1).
func (o *opened) requireValid(c *console) error {
	broken, err := o.program.CheckWithin(c.ctx, o.snapshot.State, o.snapshot.Phase)
	if err != nil {
		return err
	}
	if len(broken) == 0 {
		return nil
	}
	return brokenRules(o.name, broken, "a proposal can only be judged on a state in which every rule holds")
}

// brokenRules says which rules a state breaks.
func brokenRules(name string, broken []verify.Violation, help string) error {
	return &failure{What: "the state " + display(name) + " breaks the contract's own rules", Where: oneLineEach(broken), Help: help}
}

// unfit explains why a document is no state of the contract.
func unfit(name string, err error) error {
	var state *verify.StateError
	if !errors.As(err, &state) {
		return fail("", "the state %s cannot be read: %s", display(name), err)
	}
	f := &failure{What: "the state " + display(name) + " does not fit the contract"}
	for _, p := range state.Problems {
		f.Where = append(f.Where, place(p.Path)+": "+p.Message)
	}
	if state.More > 0 {
		f.Where = append(f.Where, "and "+grouped(state.More)+" more")
	}
	return f
}

func oneLineEach(violations []verify.Violation) []string {
	var lines []string
	for _, v := range violations {
		line := v.Message
		if v.Rule != "" {
			line = v.Rule + ": " + line
		}
		if v.Path != nil {
			line = place(*v.Path) + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// place writes a pointer so that the root can be seen.
func place(pointer string) string {
	if pointer == "" {
		return "(root)"
	}
	return pointer
}

func display(name string) string {
	if name == "-" {
		return "on standard input"
	}
	return name
}
