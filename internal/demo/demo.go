// Package demo shows an example from beginning to end: what each actor saw, which
// proposals committed, which did not and why, and the log that remains. The command line
// and the program examples/demo are two doors to it; this package links neither a
// database nor what reads a command line.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// Tell starts an instance of the example called name under its compiled contract, walks
// it and tells p what happened. surprises counts the steps that ended otherwise than the
// example says.
func Tell(ctx context.Context, p *terminal.Printer, name string, compiled []byte) (surprises int, err error) {
	scenario, err := walk.Read(examples.FS, name)
	if err != nil {
		return 0, err
	}
	instance, err := start(ctx, name, compiled)
	if err != nil {
		return 0, err
	}
	story, err := walk.Run(ctx, instance, scenario)
	if err != nil {
		return 0, err
	}
	log, err := auditedTrace(ctx, instance)
	if err != nil {
		return 0, err
	}
	return writeStory(p, name, scenario, story, log), nil
}

// start creates an instance of an embedded example. Clock and key are fixed, so that the
// demonstration is the same every time.
func start(ctx context.Context, name string, compiled []byte) (*runtime.Instance, error) {
	loaded, err := runtime.Load(compiled)
	if err != nil {
		return nil, err
	}
	state, err := fs.ReadFile(examples.FS, name+"/state.json")
	if err != nil {
		return nil, err
	}
	return runtime.Create(ctx, loaded, store.NewMemory(), name, state,
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
func writeStory(p *terminal.Printer, name string, s *walk.Scenario, story []walk.Happening, log [][]byte) (surprises int) {
	p.Heading(s.Title)
	p.Wrapped("", "", s.About)
	for i, h := range story {
		p.Line("")
		writeHappening(p, i+1, h)
		if text := h.Surprise(); text != "" {
			surprises++
			p.Wrapped("   ", "   ", p.Red("unexpected: ")+text)
		}
	}
	writeEnding(p, name, story, log)
	return surprises
}

func writeHappening(p *terminal.Printer, number int, h walk.Happening) {
	p.Wrapped(fmt.Sprintf("%2d ", number), "   ", p.Bold(h.Step.Say))
	const names = len("proposes")
	p.Field("   ", names, "who", who(h))
	if h.Step.ShowView && h.View != nil {
		p.Excerpt("   ", names, "sees", laidOut(h.View.Value, p.Width-3-names-2))
	}
	if h.Step.Advance == "" {
		p.Excerpt("   ", names, "proposes", operations(h.Step.Patch))
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

func writeOutcome(p *terminal.Printer, names int, v verify.Verdict) {
	switch v.Verdict {
	case verify.Commit:
		p.Field("   ", names, "verdict", p.Green("commit")+fmt.Sprintf(": version %d", v.VersionAfter)+
			terminal.When(v.PhaseBefore != v.PhaseAfter, ", phase "+v.PhaseAfter))
	case verify.Noop:
		p.Field("   ", names, "verdict", p.Yellow("noop")+": nothing changes")
	default:
		p.Field("   ", names, "verdict", p.Red("reject")+": nothing changes")
		for _, violation := range v.Violations {
			p.Field("   ", names, "why", reason(violation))
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
func writeEnding(p *terminal.Printer, name string, story []walk.Happening, log [][]byte) {
	commits := 0
	for _, h := range story {
		if h.Verdict.Verdict == verify.Commit {
			commits++
		}
	}
	p.Line("")
	p.Heading(fmt.Sprintf("%s, %s. The log has %s, and its chain holds:",
		terminal.Plural(len(story), "step"), terminal.Plural(commits, "commit"), terminal.Plural(len(log), "line")))
	const shown = 5 // at either end
	for i, l := range log {
		switch {
		case i < shown || i >= len(log)-shown:
			p.Line("  %s", logLine(l))
		case i == shown:
			p.Line("       ... %s more", terminal.Plural(len(log)-2*shown, "line"))
		}
	}
	p.Line("")
	p.Wrapped("", "", "The example is in examples/"+name+"; write your own with a .poptic file and \"poptic check\".")
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
		l.value(indent+"  ", quoted(key)+": ", child, terminal.When(left > 0, ","))
	}
	for _, child := range n.Elements() {
		left--
		l.value(indent+"  ", "", child, terminal.When(left > 0, ","))
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
