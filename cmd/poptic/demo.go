package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
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
	scenario, err := walk.Read(examples.FS, name)
	if err != nil {
		return err
	}
	instance, err := startExample(c, name)
	if err != nil {
		return err
	}
	story, err := walk.Run(c.ctx, instance, scenario)
	if err != nil {
		return err
	}
	log, err := auditedTrace(c.ctx, instance)
	if err != nil {
		return err
	}
	if surprises := writeStory(c.outText(), name, scenario, story, log); surprises > 0 {
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

// startExample compiles an embedded example and creates an instance of it. Clock
// and key are fixed, so that the demonstration is the same every time.
func startExample(c *console, name string) (*runtime.Instance, error) {
	dir, err := fs.Sub(examples.FS, name)
	if err != nil {
		return nil, err
	}
	out, err := compiler.Compile(c.ctx, compiler.Input{FS: dir, Path: "contract.poptic"})
	if err != nil {
		return nil, err
	}
	contract, err := c.accept(name+"/contract.poptic", out)
	if err != nil {
		return nil, err
	}
	loaded, err := runtime.Load(ir.Encode(contract))
	if err != nil {
		return nil, err
	}
	state, err := fs.ReadFile(dir, "state.json")
	if err != nil {
		return nil, err
	}
	return runtime.Create(c.ctx, loaded, store.NewMemory(), name, state,
		runtime.WithClock(ticking()), runtime.WithRandom(strings.NewReader(strings.Repeat("demonstration key", 64))))
}

// ticking is a clock that goes on by a second whenever it is looked at.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// auditedTrace is the instance's trace, line by line, after its chain was checked.
func auditedTrace(ctx context.Context, in *runtime.Instance) ([][]byte, error) {
	var b bytes.Buffer
	if err := in.Trace(ctx, &b); err != nil {
		return nil, err
	}
	if _, err := runtime.CheckTrace(bytes.NewReader(b.Bytes())); err != nil {
		return nil, err
	}
	return bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n")), nil
}

// writeStory tells what happened in an example, and returns how many steps ended
// otherwise than the example says.
func writeStory(p *printer, name string, s *walk.Scenario, story []walk.Happening, log [][]byte) (surprises int) {
	p.heading(s.Title)
	p.wrapped("", "", s.About)
	for i, h := range story {
		p.line("")
		writeHappening(p, i+1, h)
		if text := h.Surprise(); text != "" {
			surprises++
			p.wrapped("   ", "   ", p.red("unexpected: ")+text)
		}
	}
	writeEnding(p, name, story, log)
	return surprises
}

func writeHappening(p *printer, number int, h walk.Happening) {
	p.wrapped(fmt.Sprintf("%2d ", number), "   ", p.bold(h.Step.Say))
	const names = len("proposes")
	p.field("   ", names, "who", who(h))
	if h.Step.ShowView && h.View != nil {
		p.excerpt("   ", names, "sees", laidOut(h.View.Value, p.width-3-names-2))
	}
	if h.Step.Advance == "" {
		p.excerpt("   ", names, "proposes", operations(h.Step.Patch))
	}
	writeOutcome(p, names, h.Verdict.OperatorVerdict)
}

// who says which actor acts where.
func who(h walk.Happening) string {
	if h.Step.Advance != "" {
		return "the host, " + h.Phase + " -> " + h.Step.Advance
	}
	var args []string
	for name, value := range h.Step.Args {
		args = append(args, name+" "+value)
	}
	slices.Sort(args)
	text := "stage " + h.Step.Stage
	if len(args) > 0 {
		text += " (" + strings.Join(args, ", ") + ")"
	}
	if h.Step.Role != "" {
		text += " as " + h.Step.Role
	}
	return text + " in phase " + h.Phase
}

func writeOutcome(p *printer, names int, v verify.Verdict) {
	switch v.Verdict {
	case verify.Commit:
		p.field("   ", names, "verdict", p.green("commit")+fmt.Sprintf(": version %d", v.VersionAfter)+
			when(v.PhaseBefore != v.PhaseAfter, ", phase "+v.PhaseAfter))
	case verify.Noop:
		p.field("   ", names, "verdict", p.yellow("noop")+": nothing changes")
	default:
		p.field("   ", names, "verdict", p.red("reject")+": nothing changes")
		for _, violation := range v.Violations {
			p.field("   ", names, "why", reason(violation))
		}
	}
}

// reason is a violation as one sentence.
func reason(v verify.Violation) string {
	text := string(v.Gate) + " gate, " + string(v.Code)
	if v.OpIndex != nil {
		text += fmt.Sprintf(", operation %d", *v.OpIndex)
	}
	if v.Path != nil && *v.Path != "" {
		text += ", " + *v.Path
	}
	return text + ": " + v.Message
}

// operations writes a patch with one operation a line; what is no array of them,
// as it is.
func operations(patch []byte) []string {
	var ops []json.RawMessage
	if json.Unmarshal(patch, &ops) != nil {
		return []string{compacted(patch)}
	}
	if len(ops) == 0 {
		return []string{"nothing"}
	}
	var lines []string
	for _, op := range ops {
		lines = append(lines, compacted(op))
	}
	return lines
}

// compacted folds a JSON text into one line; what is no JSON is shown as it is.
func compacted(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return strings.Join(strings.Fields(string(text)), " ")
	}
	return b.String()
}

// laidOut writes a JSON text over as many lines as it needs.
func laidOut(text []byte, width int) []string {
	n, err := tree.Parse(text, tree.DefaultLimits)
	if err != nil {
		return []string{compacted(text)}
	}
	return layout(n, width)
}

// writeEnding sums up and shows the log, each line cut to what fits.
func writeEnding(p *printer, name string, story []walk.Happening, log [][]byte) {
	commits := 0
	for _, h := range story {
		if h.Verdict.Verdict == verify.Commit {
			commits++
		}
	}
	p.line("")
	p.heading(fmt.Sprintf("%s, %s. The log has %s, and its chain holds:",
		plural(len(story), "step"), plural(commits, "commit"), plural(len(log), "line")))
	const shown = 5 // at either end
	for i, l := range log {
		switch {
		case i < shown || i >= len(log)-shown:
			p.line("  %s", logLine(l))
		case i == shown:
			p.line("       ... %s more", plural(len(log)-2*shown, "line"))
		}
	}
	p.line("")
	p.wrapped("", "", "The example is in examples/"+name+"; write your own with a .poptic file and \"poptic check\".")
}

// logLine shows what a line of the log is about, and the ends of the hashes that
// chain it.
func logLine(line []byte) string {
	var l struct {
		Seq        uint64
		Kind       string
		Stage      string
		Phase      string
		Prev, Hash string
		Verdict    *struct{ Verdict string }
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return "a line that cannot be read"
	}
	what := l.Kind
	switch {
	case l.Verdict != nil:
		what += " " + l.Verdict.Verdict
	case l.Stage != "":
		what += " " + l.Stage
	case l.Phase != "":
		what += " " + l.Phase
	}
	return fmt.Sprintf("%3d  %-32s %s <- %s", l.Seq, what, tail(l.Prev), tail(l.Hash))
}

// tail is the end of a digest, enough to tell two apart by eye.
func tail(digest string) string { return digest[max(0, len(digest)-8):] }

// layout writes a JSON value for people: a container stands on one line where it
// fits into width, and is opened up where it does not.
func layout(n *tree.Node, width int) []string {
	l := layouter{width: width}
	l.value("", "", n, "")
	return l.lines
}

type layouter struct {
	width int
	lines []string
}

// value writes n behind indent and a member's name, and before the comma that may
// follow it.
func (l *layouter) value(indent, name string, n *tree.Node, comma string) {
	flat := indent + name + string(spaced(n)) + comma
	if n.Len() == 0 || len(flat) <= l.width {
		l.lines = append(l.lines, flat)
		return
	}
	brackets := map[ir.Kind]string{ir.Object: "{}", ir.Array: "[]"}[n.Kind()]
	l.lines = append(l.lines, indent+name+brackets[:1])
	left := n.Len()
	for key, child := range n.Members() {
		left--
		l.value(indent+"  ", quoted(key)+": ", child, when(left > 0, ","))
	}
	for _, child := range n.Elements() {
		left--
		l.value(indent+"  ", "", child, when(left > 0, ","))
	}
	l.lines = append(l.lines, indent+brackets[1:]+comma)
}

// spaced writes n on one line, with a space behind each colon and comma.
func spaced(n *tree.Node) []byte {
	var out []byte
	separator := ""
	switch n.Kind() {
	case ir.Object:
		for key, child := range n.Members() {
			out = append(append(out, separator+quoted(key)+": "...), spaced(child)...)
			separator = ", "
		}
		return append(append([]byte{'{'}, out...), '}')
	case ir.Array:
		for _, child := range n.Elements() {
			out = append(append(out, separator...), spaced(child)...)
			separator = ", "
		}
		return append(append([]byte{'['}, out...), ']')
	}
	return tree.AppendJSON(nil, n)
}

func quoted(key string) string { return string(tree.AppendJSON(nil, tree.NewString(key))) }
