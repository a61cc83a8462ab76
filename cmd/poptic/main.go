// Command poptic checks contracts, shows what a stage sees, and verifies and
// applies what an actor proposes. Every verb is one file named after it; what
// verbs share lies in files named after the thing: a contract, a state, a
// proposal, a verdict, the console.
//
// The shapes it prints and its exit codes are fixed in spec/interfaces.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/terminal"
)

// verbs is the command line: kong reads flags, help and completion from it.
type verbs struct {
	Color string `enum:"auto,always,never" default:"auto" help:"Colour in text output: ${enum}. NO_COLOR is respected by auto." placeholder:"WHEN"`

	Demo       demoVerb       `cmd:"" help:"Run an embedded example end to end and tell its story."`
	Init       initVerb       `cmd:"" help:"Begin a contract from a sample of its state, or from a JSON Schema."`
	Check      checkVerb      `cmd:"" help:"Report what is wrong with contracts."`
	Fmt        fmtVerb        `cmd:"" help:"Put source files in canonical form."`
	Test       testVerb       `cmd:"" help:"Run contract tests."`
	Build      buildVerb      `cmd:"" help:"Write the compiled contract that programs embed."`
	Schema     schemaVerb     `cmd:"" help:"Print a JSON Schema of the state, of a view, or of what a stage may propose."`
	Explain    explainVerb    `cmd:"" help:"Say in words what each stage may see, change and take."`
	Prove      proveVerb      `cmd:"" help:"Answer every claim, with certificates that others can check."`
	Plan       planVerb       `cmd:"" help:"Say which stages may run side by side, and in which order."`
	Graph      graphVerb      `cmd:"" help:"Draw phases, stages, conflicts and flows."`
	Diff       diffVerb       `cmd:"" help:"Compare what two contracts allow."`
	Create     createVerb     `cmd:"" help:"Begin an instance in a store, which keeps its log."`
	View       viewVerb       `cmd:"" help:"Show what a stage sees of a state, or of an instance."`
	Verify     verifyVerb     `cmd:"" help:"Judge a proposal; nothing is written."`
	Apply      applyVerb      `cmd:"" help:"Judge a proposal and write the new state if it commits, or have an instance decide it."`
	Migrate    migrateVerb    `cmd:"" help:"Put an instance under another contract."`
	Instances  instancesVerb  `cmd:"" help:"List the instances of a store."`
	Delete     deleteVerb     `cmd:"" help:"Take an instance out of a store, with all that was recorded of it."`
	Audit      auditVerb      `cmd:"" help:"List what was recorded, and check that nothing was changed."`
	Replay     replayVerb     `cmd:"" help:"Make every decision of a log again, or give the state at a version."`
	Backtest   backtestVerb   `cmd:"" help:"Judge by a changed contract what was decided before."`
	Blame      blameVerb      `cmd:"" help:"Tell who wrote what stands at a place of an instance."`
	Lsp        lspVerb        `cmd:"" help:"Serve an editor: diagnostics, completion and the rest, as you type."`
	Version    versionVerb    `cmd:"" help:"Print the version."`
	Completion completionVerb `cmd:"" help:"Print a shell's completion script."`
	Complete   completeVerb   `cmd:"" name:"__complete" hidden:"" passthrough:""`
}

const about = "Contracts for shared JSON state: what each stage of a workflow may see, change and take, checked before it runs and enforced while it does."

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	var v verbs
	parser, err := newParser(&v, terminal.NewPlainWriter(out, false), terminal.NewPlainWriter(errOut, false))
	if err != nil {
		panic("poptic: the command line's own definition is broken: " + err.Error())
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return reportUsage(terminal.NewPlainWriter(errOut, false), err)
	}
	c := newConsole(ctx, v.Color, in, out, errOut)
	err = parsed.Run(c, parser.Model)
	c.out.Flush()
	return c.finish(err)
}

func newParser(v *verbs, out, errOut io.Writer) (*kong.Kong, error) {
	return kong.New(v,
		kong.Name("poptic"),
		kong.Vars{"examples": terminal.Listed(examples.Names(), "or")},
		kong.Description(about),
		kong.Writers(out, errOut),
		kong.KindMapper(reflect.String, kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
			text, err := given(ctx)
			target.SetString(text)
			return err
		})),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
}

// given is the value of a flag or an argument, byte for byte: names of files are bytes.
// (kong's own reading puts U+FFFD for what is no UTF-8, which names another file, and
// makes a text of what is none.)
func given(ctx *kong.DecodeContext) (string, error) {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return "", err
	}
	text, ok := token.Value.(string)
	if !ok {
		return "", fmt.Errorf("expected a text but got %v", token.Value)
	}
	return text, nil
}

// reportUsage prints what is wrong with a command line and where to read more.
func reportUsage(w io.Writer, err error) int {
	verb := "poptic"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if selected := parse.Context.Selected(); selected != nil {
			verb = selected.FullPath()
		}
	}
	fmt.Fprintf(w, "%s: %s\n  help: run %q\n", verb, err, verb+" --help")
	return exitBroken
}

// The exit codes of every verb.
const (
	exitFine   = 0 // the answer is yes
	exitNo     = 1 // the answer is no: findings, a reject, nothing to show
	exitBroken = 2 // there is no answer: usage, unreadable or broken input
)

// errNo ends a verb whose answer is no and has been printed.
var errNo = errors.New("the answer is no")

// A failure says why a verb could not answer: what is wrong, the places where,
// and what to do about it. It never holds a value of a state.
type failure struct {
	What  string
	Where []string
	Help  string
}

func (f *failure) Error() string { return f.What }

func fail(help, format string, args ...any) *failure {
	return &failure{What: fmt.Sprintf(format, args...), Help: help}
}

// finish prints the error a verb ended with, if it is one, and gives the exit code. An
// answer that could not be written is none.
func (c *console) finish(err error) int {
	if c.out.Failed() != nil && (err == nil || errors.Is(err, errNo)) {
		err = fail("the answer is not complete", "cannot write to standard output: %s", causeOf(c.out.Failed()))
	}
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errNo):
		return exitNo
	}
	c.explainFailure(err)
	return exitBroken
}

func (c *console) explainFailure(err error) {
	p := c.errText()
	p.Line("%s %s", p.Red("poptic:"), terminal.Visible(err.Error()))
	var f *failure
	if !errors.As(err, &f) {
		return
	}
	const shown = 20
	for i, w := range f.Where {
		if i == shown {
			p.Line("  ... and %d more", len(f.Where)-shown)
			break
		}
		p.Wrapped("  ", "    ", terminal.Visible(w))
	}
	if f.Help != "" {
		p.Wrapped("  help: ", "        ", terminal.Visible(f.Help))
	}
}

// didYouMean is a help sentence naming the nearest of known, or all of them.
func didYouMean(kind, nearest string, known []string) string {
	switch {
	case nearest != "":
		return fmt.Sprintf("did you mean %q?", nearest)
	case len(known) == 0:
		return fmt.Sprintf("there is no %s to choose", kind)
	}
	return fmt.Sprintf("the %ss are %s", kind, strings.Join(known, ", "))
}
