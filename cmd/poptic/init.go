package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing/fstest"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/guide"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/starter"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

type initVerb struct {
	State  fileName `help:"A state as it may be; the types are drafted from it." xor:"from" placeholder:"FILE"`
	Schema fileName `help:"A JSON Schema of the state, as pydantic and zod write it; the types are drafted from it." xor:"from" placeholder:"FILE"`
	Name   string   `help:"Name of the contract; by default made of the folder's." placeholder:"NAME"`
	Dir    string   `arg:"" optional:"" default:"." help:"Folder that the files are written to; by default the current one." placeholder:"DIR"`
}

// Help is printed by --help.
func (initVerb) Help() string {
	return `Begins a project: a contract, a test of it, a state for the test, and a workflow that checks and tests it. The contract has a type for everything and grants nothing; a stage stands in it as a comment, to begin from.

A sample shows what is there, not what may be: look the types over. What a JSON Schema says and the contract cannot stands in it as a comment. No file is written over.

Examples:

    poptic init
    poptic init --state today.json desk
    poptic init --schema desk.schema.json --name support.desk desk

Exit codes:

    0  written
    2  usage, a sample or schema that cannot be read, or a file that is there already`
}

// sampleOfNothing is drafted from where nothing is given.
const sampleOfNothing = `{
  "notes": {
    "n1": {"title": "first", "text": "What is written down.", "done": false},
    "n2": {"title": "second", "text": "What else is.", "done": true, "owner": "ada"}
  }
}
`

// A startingPoint is a draft and the state that it is tested with.
type startingPoint struct {
	contract []byte
	state    []byte
}

// Run implements the verb.
func (v *initVerb) Run(c *console) error {
	name := v.Name
	if name == "" {
		dir, err := filepath.Abs(v.Dir)
		if err != nil {
			return fail("", "the folder %s has no name: %s", v.Dir, err)
		}
		name = starter.ContractName(filepath.Base(dir))
	}
	begin, err := v.start(c, name)
	if err != nil {
		return err
	}
	test, err := starter.Test("state.json")
	if err != nil {
		return fail("please report it", "%s", err)
	}
	type file struct {
		name string
		data []byte
	}
	files := []file{{"contract.poptic", begin.contract}, {"contracts-ci.yml", []byte(starter.Workflow)}}
	if begin.state != nil {
		files = append(files, file{"state.json", begin.state}, file{"contract_test.poptic", test})
	}
	if v.State != "" && v.State != "-" && sameFile(string(v.State), filepath.Join(v.Dir, "state.json")) {
		files = slices.DeleteFunc(files, func(f file) bool { return f.name == "state.json" }) // it stays as it is
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(v.Dir, f.name)); !errors.Is(err, fs.ErrNotExist) {
			return fail("name another folder, or move it away", "there is a %s already; nothing was written", filepath.Join(v.Dir, f.name))
		}
	}
	if err := os.MkdirAll(v.Dir, 0o777); err != nil {
		return unwritable(v.Dir, err)
	}
	perm := c.inputs.perm("state")
	for _, f := range files {
		at := filepath.Join(v.Dir, f.name)
		mode := fs.FileMode(0)
		if f.name == "state.json" {
			mode = perm
		}
		if err := writeFile(at, f.data, mode); err != nil {
			return unwritable(at, err)
		}
		c.outText().Line("%s", at)
	}
	if begin.state == nil {
		c.errText().Line("no state could be made up that fits: write one, and a test of it")
	}
	return nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// start drafts from what is given.
func (v *initVerb) start(c *console, name string) (startingPoint, error) {
	switch {
	case v.Schema != "":
		text, err := c.read("schema", string(v.Schema))
		if err != nil {
			return startingPoint{}, err
		}
		draft, err := starter.FromSchema(text)
		if err != nil {
			return startingPoint{}, fail("it must be JSON", "cannot read the schema %s: %s", v.Schema, err)
		}
		begin, contract, err := drafted(c.ctx, draft, name, string(v.Schema))
		if err != nil {
			return startingPoint{}, err
		}
		program, err := verify.Load(contract, verify.DefaultLimits())
		if err != nil {
			return startingPoint{}, broken(string(v.Schema), err)
		}
		if made := guide.Sample(program); made != nil {
			begin.state = append(program.Export(made, true), '\n')
		}
		return begin, nil
	case v.State != "":
		text, err := c.read("state", string(v.State))
		if err != nil {
			return startingPoint{}, err
		}
		return v.fromSample(c, text, name, string(v.State))
	}
	return v.fromSample(c, []byte(sampleOfNothing), name, "an example")
}

// fromSample drafts from a state, without guesses where those turn out wrong.
func (v *initVerb) fromSample(c *console, text []byte, name, from string) (begin startingPoint, err error) {
	for _, careful := range []bool{false, true} {
		draft, wrong := starter.FromSample(text, careful)
		if wrong != nil {
			return begin, fail("it must be a state: JSON", "cannot read the state %s: %s", from, wrong)
		}
		var contract *ir.Contract
		if begin, contract, err = drafted(c.ctx, draft, name, from); err != nil {
			continue
		}
		var program *verify.Program
		if program, err = verify.Load(contract, verify.DefaultLimits()); err != nil {
			continue
		}
		if _, err = program.Import(text); err == nil {
			begin.state = text
			return begin, nil
		}
		err = fail("please report it, with the sample if it may be shown", "the types that were drafted from %s do not fit it", from)
	}
	return begin, err
}

// drafted is a contract that compiles.
func drafted(ctx context.Context, draft *starter.Draft, name, from string) (startingPoint, *ir.Contract, error) {
	text, err := draft.Contract(name, filepath.Base(from))
	if err != nil {
		return startingPoint{}, nil, fail("give the contract another --name, or please report it", "the draft is no contract: %s", err)
	}
	files := fstest.MapFS{"contract.poptic": {Data: text}}
	out, err := compiler.Compile(ctx, compiler.Input{FS: files, Path: "contract.poptic"})
	if err != nil {
		return startingPoint{}, nil, err
	}
	if out.Contract == nil {
		where := []string{}
		for _, d := range out.Diagnostics {
			if d.Severity == source.Error {
				at := d.Span.File.Position(d.Span.Start)
				where = append(where, d.Message+": "+d.Span.File.Line(at.Line))
			}
		}
		return startingPoint{}, nil, &failure{What: "the draft has errors", Where: where, Help: "please report it, with what it was made from"}
	}
	return startingPoint{contract: text}, out.Contract, nil
}
