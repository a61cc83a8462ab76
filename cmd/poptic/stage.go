package main

import (
	"errors"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

// stateFlag names a state.
type stateFlag struct {
	State string `required:"" help:"State document; - is standard input." placeholder:"FILE"`
}

// stageFlags say which stage runs, as the host knows it.
type stageFlags struct {
	contractArg
	Stage string   `help:"Stage that runs." placeholder:"NAME"`
	Arg   []string `sep:"none" help:"Argument of the stage, a key as it is or a value as JSON; repeat the flag for each." placeholder:"NAME=VALUE"`
	Phase string   `help:"Phase the state is in; by default the initial one." placeholder:"NAME"`
	Role  string   `help:"Role that runs the stage." placeholder:"NAME"`
}

// An opened state is a state in a phase, with the contract it is under.
type opened struct {
	name     string // of the state document
	program  *verify.Program
	contract *ir.Contract
	snapshot verify.Snapshot
	args     map[string]string
}

// given reads the arguments and checks every text that the flags give.
func (s *stageFlags) given() (map[string]string, error) {
	args, err := arguments(s.Arg)
	if err != nil {
		return nil, err
	}
	return args, checkGiven(s.Role, s.Phase, args)
}

// open loads the contract and the state called name, and checks every name the flags give.
func (s *stageFlags) open(c *console, name string) (*opened, error) {
	args, err := s.given()
	if err != nil {
		return nil, err
	}
	contract, err := s.load(c)
	if err != nil {
		return nil, err
	}
	phase, err := phaseOf(contract, s.Phase)
	if err != nil {
		return nil, err
	}
	program, err := verify.Load(contract, verify.DefaultLimits())
	if err != nil {
		return nil, broken(s.Contract, err)
	}
	snapshot, err := openState(c, program, name, phase)
	if err != nil {
		return nil, err
	}
	return &opened{name: name, program: program, contract: contract, snapshot: snapshot, args: args}, nil
}

// checkGiven refuses what could not be recorded: every text that flags give stands for
// one that a host would give, and keeps to the same limits.
func checkGiven(role, phase string, args map[string]string) error {
	if err := runtime.CheckGiven(role, phase, "", args); err != nil {
		return fail("nothing was decided", "%s", err)
	}
	return nil
}

// arguments reads the stage's arguments.
func arguments(given []string) (map[string]string, error) {
	return pairs(given, "argument", "write --arg NAME=VALUE, for example --arg ticket=T1")
}

// pairs reads NAME=VALUE pairs; a value may hold anything, "=" included.
func pairs(given []string, what, help string) (map[string]string, error) {
	all := map[string]string{}
	for _, pair := range given {
		name, value, found := strings.Cut(pair, "=")
		switch _, twice := all[name]; {
		case !found || name == "":
			return nil, fail(help, "%q is no %s", pair, what)
		case twice:
			return nil, fail("give it once", "the %s %s is given twice", what, name)
		}
		all[name] = value
	}
	return all, nil
}

// phaseOf is the phase called name, the initial one if name is empty.
func phaseOf(contract *ir.Contract, name string) (string, error) {
	if name == "" {
		return contract.Phases[0].Name, nil
	}
	if contract.Phase(name) != nil {
		return name, nil
	}
	known := phaseNames(contract)
	return "", fail(didYouMean("phase", spell.Nearest(name, known), known), "%s has no phase %q", contract.Name, name)
}

// needStage checks that a stage is named and exists.
func needStage(contract *ir.Contract, name string) error {
	known := stageNames(contract)
	if name == "" {
		return fail(didYouMean("stage", "", known), "which stage? --stage is missing")
	}
	if contract.Stage(name) != nil {
		return nil
	}
	return fail(didYouMean("stage", spell.Nearest(name, known), known), "%s has no stage %q", contract.Name, name)
}

func phaseNames(contract *ir.Contract) []string {
	var names []string
	for _, p := range contract.Phases {
		names = append(names, p.Name)
	}
	return names
}

func stageNames(contract *ir.Contract) []string {
	var names []string
	for _, s := range contract.Stages {
		names = append(names, s.Name)
	}
	return names
}

// misnamed turns the runtime's error about a name the host gave into a failure;
// other errors, and none, stay.
func misnamed(contract *ir.Contract, err error) error {
	var unknown *verify.UnknownArgumentError
	if !errors.As(err, &unknown) {
		return err
	}
	known := contract.Stage(unknown.Stage).ParamNames()
	return fail(didYouMean("parameter", unknown.Nearest, known), "stage %s has no parameter %q", unknown.Stage, unknown.Name)
}

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
		f.Where = append(f.Where, "and "+terminal.Grouped(state.More)+" more")
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
