package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/internal/verify"
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
		p.Line("%s %s not proved; \"poptic check %s\" says why", p.Yellow("warning:"), are(unproved, "claim"), a.Contract)
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
		report.Text(c.err, errorsOf(out.Diagnostics), report.Options{Paint: p.Paint, Width: p.Width})
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

// A location is a source file inside the folder that its imports may not leave.
type location struct {
	root *os.Root
	dir  string // the folder, as messages show it
	path string // the file, slash-separated and relative to the folder
}

// locate finds the folder for a file: root if it is given, the current directory
// for a file below it, the file's own folder otherwise, as below a folder whose name is
// not UTF-8, which no import can name. The caller closes it.
func locate(file, root string) (*location, error) {
	dir := root
	if dir == "" {
		dir = defaultRoot(file)
	}
	rel, err := relativeTo(dir, file)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable("root folder", dir, err)
	}
	return &location{root: opened, dir: dir, path: filepath.ToSlash(rel)}, nil
}

func defaultRoot(file string) string {
	rel, err := relativeTo(".", file)
	if err == nil && filepath.IsLocal(rel) && utf8.ValidString(filepath.Dir(rel)) {
		return "."
	}
	return filepath.Dir(file)
}

// relativeTo is the path of file inside dir.
func relativeTo(dir, file string) (string, error) {
	absoluteDir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	absoluteFile, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(absoluteDir, absoluteFile)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fail("give a --root that contains it", "%s is outside of the root folder %s", file, dir)
	}
	return rel, nil
}

func (l *location) fs() fs.FS { return l.root.FS() }

func (l *location) close() { l.root.Close() }

// show writes a path inside the folder as the user may type it.
func (l *location) show(path string) string {
	return filepath.Join(l.dir, filepath.FromSlash(path))
}

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
	return replayerIn(l.fs(), l.path, named)
}

func replayerIn(files fs.FS, contract string, named []namedState) footprint.Replayer {
	return replay.New(replay.Options{Fixtures: func() []string {
		var texts []string
		for _, s := range named {
			texts = append(texts, s.text)
		}
		return append(texts, testStates(files, contract)...)
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
	syntax.Walk(file, func(n any) bool {
		r, ok := n.(*syntax.StateRef)
		switch {
		case !ok || r.Data == nil || len(out) == maxStates:
		case r.Data.File == nil:
			out = append(out, r.Data.JSON)
		default:
			if state, err := fs.ReadFile(from, path.Join(path.Dir(tests), r.Data.File.Value)); err == nil {
				out = append(out, string(state))
			}
		}
		return true
	})
	return out
}
