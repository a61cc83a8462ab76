package main

import (
	"io/fs"
	"path"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

// maxStates bounds the states that runs may start from.
const maxStates = 64

// statesArg names states for runs that refute a claim.
type statesArg struct {
	State []string `help:"A state from which runs that refute a claim may start, beside those that the contract's tests name and made-up ones; may be given several times." placeholder:"FILE"`
}

// A namedState is a state's document, and what the user calls it.
type namedState struct{ name, text string }

// states reads the named states.
func (a statesArg) states(c *console) ([]namedState, error) {
	if len(a.State) > maxStates {
		return nil, fail("name fewer", "more than %d states are named", maxStates)
	}
	var out []namedState
	for _, name := range a.State {
		data, err := c.read("state", name)
		if err != nil {
			return nil, err
		}
		out = append(out, namedState{name, string(data)})
	}
	return out, nil
}

// requireFitting refuses a named state that is one of none of the contracts: it was
// meant to matter. Where the contracts have errors there is nothing to compare it with.
func requireFitting(states []namedState, contracts []*ir.Contract) error {
	if len(states) == 0 || len(contracts) == 0 {
		return nil
	}
	var programs []*verify.Program
	for _, contract := range contracts {
		program, err := verify.Load(contract, verify.DefaultLimits())
		if err != nil {
			return err
		}
		programs = append(programs, program)
	}
	for _, s := range states {
		if err := fitsOne(s, programs); err != nil {
			return err
		}
	}
	return nil
}

// fitsOne is nil if a state is one of a contract's; otherwise it says why it is none of
// the first.
func fitsOne(s namedState, programs []*verify.Program) error {
	var first error
	for _, program := range programs {
		_, err := program.Import([]byte(s.text))
		if err == nil {
			return nil
		}
		if first == nil {
			first = unfit(s.name, err)
		}
	}
	return first
}

// replayer shows that stages do not commute, from made-up states, from those that are
// named and from those of the contract's tests. It reads nothing else.
func (l *location) replayer(named []namedState) footprint.Replayer {
	return replay.New(replay.Options{Fixtures: func() []string {
		var texts []string
		for _, s := range named {
			texts = append(texts, s.text)
		}
		return append(texts, testStates(l.fs(), l.path)...)
	}})
}

// testStates lists the states that the tests beside a contract name or hold; what
// cannot be read is for whoever runs the tests to find.
func testStates(from fs.FS, contract string) []string {
	tests := strings.TrimSuffix(contract, path.Ext(contract)) + compiler.TestSuffix
	data, err := fs.ReadFile(from, tests)
	if err != nil || tests == contract {
		return nil
	}
	file, _ := syntax.Parse(source.NewFile(tests, string(data)))
	var out []string
	for _, d := range file.Decls {
		test, ok := d.(*syntax.TestDecl)
		switch {
		case !ok || test.State == nil || len(out) == maxStates:
		case test.State.File == nil:
			out = append(out, test.State.JSON)
		default:
			if state, err := fs.ReadFile(from, path.Join(path.Dir(tests), test.State.File.Value)); err == nil {
				out = append(out, string(state))
			}
		}
	}
	return out
}
