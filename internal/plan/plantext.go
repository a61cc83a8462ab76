package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Text writes a plan for people.
func (p Plan) Text(w io.Writer) {
	for i, ph := range p.Phases {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "phase %s\n", ph.Phase)
		ph.text(w)
	}
}

func (p PhasePlan) text(w io.Writer) {
	if len(p.Groups) > 0 {
		fmt.Fprintln(w, "  side by side")
	}
	for _, g := range p.Groups {
		g.text(w, "    ")
	}
	if p.Cut {
		fmt.Fprintf(w, "    ... and more; %d are shown\n", len(p.Groups))
	}
	if len(p.Many) > 0 {
		fmt.Fprintln(w, "  runs of one stage")
	}
	width := 0
	for _, m := range p.Many {
		width = max(width, len(m.Stage))
	}
	for _, m := range p.Many {
		fmt.Fprintf(w, "    %-*s  %s\n", width, m.Stage, m.words())
	}
	p.scheduleText(w)
	if len(p.Alone) > 0 {
		fmt.Fprintf(w, "  alone, to move on\n    %s\n", strings.Join(p.Alone, ", "))
	}
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(w, "  left out\n    %s\n", Omitted(len(p.LeftOut)))
	}
}

func (g Group) text(w io.Writer, indent string) {
	fmt.Fprintf(w, "%s%s\n", indent, strings.Join(g.Stages, " | "))
	for _, when := range g.conditions() {
		fmt.Fprintf(w, "%s  not when %s: %s\n", indent, when.text, strings.Join(when.pairs, ", "))
	}
}

// A when is a condition and the pairs of a group that it keeps apart.
type when struct {
	text  string
	pairs []string
}

func (g Group) conditions() []when {
	var out []when
	for _, c := range g.Conditions {
		text := strings.Join(c.Unless, ", or ")
		i := slices.IndexFunc(out, func(w when) bool { return w.text == text })
		if i < 0 {
			i, out = len(out), append(out, when{text: text})
		}
		out[i].pairs = append(out[i].pairs, c.A+" and "+c.B)
	}
	return out
}

// words says how many runs of the stage may be under way.
func (m Many) words() string {
	switch m.Answer {
	case Yes:
		return "any number"
	case Unless:
		return "any number, but not two when " + strings.Join(m.Unless, ", or ")
	}
	return "one at a time: " + m.Why[0]
}

func (p PhasePlan) scheduleText(w io.Writer) {
	if len(p.Schedule.Stuck) > 0 {
		fmt.Fprintf(w, "  in no schedule, since they wait for each other\n    %s\n", strings.Join(p.Schedule.Stuck, ", "))
	}
	if len(p.Schedule.Rounds) == 0 {
		return
	}
	shortest := "shortest schedule"
	if !p.Schedule.Shortest {
		shortest = "schedule"
	}
	fmt.Fprintf(w, "  %s, every stage once: %s\n", shortest, rounds(len(p.Schedule.Rounds)))
	for i, r := range p.Schedule.Rounds {
		fmt.Fprintf(w, "    %d. %s\n", i+1, strings.Join(r.Stages, " | "))
	}
	for _, o := range p.Schedule.Order {
		fmt.Fprintf(w, "    (%s after %s)\n", o.Then, o.First)
	}
}

// Omitted says that some stages of a phase are not related, and how to relate them.
func Omitted(n int) string {
	if n == 1 {
		return fmt.Sprintf("1 more stage, beyond the limit of %d pairs of stages; `explain --stage NAME` says what may run beside it", MaxPairs)
	}
	return fmt.Sprintf("%d more stages, beyond the limit of %d pairs of stages; `explain --stage NAME` says what may run beside one", n, MaxPairs)
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// Mermaid writes a plan as a flowchart: phases hold rounds, rounds hold stages.
func (p Plan) Mermaid(w io.Writer) {
	fmt.Fprintln(w, "flowchart LR")
	for i, ph := range p.Phases {
		id := fmt.Sprintf("p%d", i)
		fmt.Fprintf(w, "  subgraph %s[%s]\n    direction LR\n", id, mermaidText("phase "+ph.Phase))
		last := ""
		for j, r := range ph.Schedule.Rounds {
			last = r.mermaid(w, fmt.Sprintf("%sr%d", id, j), fmt.Sprintf("round %d", j+1), last)
		}
		if len(ph.Alone) > 0 {
			Group{Stages: ph.Alone}.mermaid(w, id+"m", "one of", last)
		}
		fmt.Fprintln(w, "  end")
	}
}

// mermaid writes a group as a box behind another, and returns its name.
func (g Group) mermaid(w io.Writer, id, title, behind string) string {
	fmt.Fprintf(w, "    subgraph %s[%s]\n", id, mermaidText(title))
	for i, s := range g.Stages {
		fmt.Fprintf(w, "      %ss%d[%s]\n", id, i, mermaidText(s))
	}
	fmt.Fprintln(w, "    end")
	if behind != "" {
		fmt.Fprintf(w, "    %s --> %s\n", behind, id)
	}
	return id
}

// mermaidText quotes a label.
func mermaidText(s string) string {
	return `"` + strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(s) + `"`
}
