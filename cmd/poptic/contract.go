package main

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

// contractArg names the contract a verb works from.
type contractArg struct {
	Contract string `arg:"" help:"A .poptic file or a compiled contract; the bytes tell which." placeholder:"CONTRACT"`
	Root     string `help:"Folder that imports may not leave; by default the current directory, or the contract's folder outside of it." placeholder:"DIR"`
}

// load is what every verb but "build" works from: a contract whose claims may be false,
// which is said in one line. Other errors are shown, and fail the verb; other warnings
// are for "check".
func (a contractArg) load(c *console) (*ir.Contract, error) {
	contract, unproved, err := a.read(c)
	if unproved > 0 {
		p := c.errText()
		p.line("%s %s not proved; \"poptic check %s\" says why", p.yellow("warning:"), are(unproved, "claim"), a.Contract)
	}
	return contract, err
}

// read reads and, if it is source text, compiles the contract, and counts the claims
// of a source that are refuted or unknown.
func (a contractArg) read(c *console) (contract *ir.Contract, unproved int, err error) {
	data, err := c.readFile("contract", a.Contract)
	if err != nil {
		return nil, 0, err
	}
	if ir.IsCompiled(data) {
		contract, err := ir.Decode(data)
		if err != nil {
			return nil, 0, broken(a.Contract, err)
		}
		return contract, 0, nil
	}
	out, err := c.compileText(a.Contract, data, a.Root, nil)
	if err != nil {
		return nil, 0, err
	}
	if out.Lowered != nil {
		return out.Lowered, out.Unproved(), nil
	}
	contract, err = c.accept(a.Contract, out)
	return contract, 0, err
}

// accept returns the contract of a compilation without errors.
func (c *console) accept(name string, out compiler.Output) (*ir.Contract, error) {
	if source.HasErrors(out.Diagnostics) {
		p := c.errText()
		report.Text(c.err, errorsOf(out.Diagnostics), report.Options{Paint: p.colour, Width: p.width})
		return nil, fail("mend it first; nothing was done", "the contract %s has errors", name)
	}
	if out.Contract == nil {
		return nil, fail("name a file that starts with \"contract NAME\"", "%s is no contract of its own: it only holds declarations that contracts import", name)
	}
	return out.Contract, nil
}

func errorsOf(ds []source.Diagnostic) []source.Diagnostic {
	var out []source.Diagnostic
	for _, d := range ds {
		if d.Severity == source.Error {
			out = append(out, d)
		}
	}
	return out
}

// compileText runs the compiler on the text of a source file. Runs that refute claims
// may start from the given states.
func (c *console) compileText(file string, text []byte, root string, states []namedState) (compiler.Output, error) {
	at, err := locate(file, root)
	if err != nil {
		return compiler.Output{}, err
	}
	defer at.close()
	return compiler.Compile(c.ctx, compiler.Input{FS: withText{noted{at.fs(), &c.inputs}, at.path, text}, Path: at.path, Show: at.show, Replay: at.replayer(states)})
}

// withText is a file system one file of which was read already: a pipe gives its text
// only once, and a file should not change between two looks.
type withText struct {
	fs.FS
	path string
	text []byte
}

// ReadFile implements fs.ReadFileFS.
func (w withText) ReadFile(path string) ([]byte, error) {
	if path == w.path {
		return bytes.Clone(w.text), nil
	}
	return fs.ReadFile(w.FS, path)
}

// broken explains why bytes are no good compiled contract.
func broken(name string, err error) error {
	var codec *ir.CodecError
	if errors.As(err, &codec) {
		return &failure{What: name + ": " + codec.Message, Where: []string{"code: " + codec.Code}}
	}
	return err
}
