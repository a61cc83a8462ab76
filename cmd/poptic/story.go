package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// story tells what happened in an example, and returns how many steps ended
// otherwise than the example says.
func (p *printer) story(name string, s *walk.Scenario, story []walk.Happening, log [][]byte) (surprises int) {
	p.heading(s.Title)
	p.wrapped("", "", s.About)
	for i, h := range story {
		p.line("")
		p.happening(i+1, h)
		if text := h.Surprise(); text != "" {
			surprises++
			p.wrapped("   ", "   ", p.red("unexpected: ")+text)
		}
	}
	p.ending(name, story, log)
	return surprises
}

func (p *printer) happening(number int, h walk.Happening) {
	p.wrapped(fmt.Sprintf("%2d ", number), "   ", p.bold(h.Step.Say))
	const names = len("proposes")
	p.field("   ", names, "who", who(h))
	if h.Step.ShowView && h.View != nil {
		p.excerpt("   ", names, "sees", laidOut(h.View.Value, p.width-3-names-2))
	}
	if h.Step.Advance == "" {
		p.excerpt("   ", names, "proposes", operations(h.Step.Patch))
	}
	p.outcome(names, h.Verdict.OperatorVerdict)
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

func (p *printer) outcome(names int, v verify.Verdict) {
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

// ending sums up and shows the log, each line cut to what fits.
func (p *printer) ending(name string, story []walk.Happening, log [][]byte) {
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
