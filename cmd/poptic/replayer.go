package main

import (
	"io/fs"
	"path"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/footprint/replay"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/syntax"
)

// maxStates bounds the states that runs may start from.
const maxStates = 64

// statesArg names states for runs that refute a claim.
type statesArg struct {
	State []string `help:"A state from which runs that refute a claim may start, beside those that the contract's tests name and made-up ones; may be given several times." placeholder:"FILE"`
}

// states gives the texts of the named states.
func (a statesArg) states(c *console) ([]string, error) {
	if len(a.State) > maxStates {
		return nil, fail("name fewer", "more than %d states are named", maxStates)
	}
	var out []string
	for _, name := range a.State {
		data, err := c.read("state", name)
		if err != nil {
			return nil, err
		}
		out = append(out, string(data))
	}
	return out, nil
}

// replayer shows that stages do not commute, from made-up states, from those that are
// named and from those of the contract's tests. It reads nothing else.
func (l *location) replayer(named []string) footprint.Replayer {
	return replay.New(replay.Options{Fixtures: func() []string { return append(testStates(l.fs(), l.path), named...) }})
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
