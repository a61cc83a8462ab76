package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/region"
)

// A Plan says, phase by phase, what may run side by side, and in how few rounds every
// stage can have run.
type Plan struct {
	Contract string      `json:"contract"`
	Phases   []PhasePlan `json:"phases"`
}

// A PhasePlan is the plan of one phase. Alone lists the stages that move the phase:
// nothing runs beside them. LeftOut are stages that the plan does not consider.
type PhasePlan struct {
	Phase    string   `json:"phase"`
	Many     []Many   `json:"many"`
	Groups   []Group  `json:"groups"`
	Cut      bool     `json:"groups_cut,omitempty"` // there may be more groups
	Alone    []string `json:"alone,omitempty"`
	LeftOut  []string `json:"left_out,omitempty"`
	Schedule Schedule `json:"schedule"`
}

// Many says how many runs of one stage may be under way: any number, any number
// while the conditions do not hold, or one.
type Many struct {
	Stage  string   `json:"stage"`
	Answer Answer   `json:"answer"`
	Unless []string `json:"unless,omitempty"`
	Why    []string `json:"why,omitempty"`
}

// A Group is stages that may run side by side, pair by pair, where none of the
// conditions holds; no further stage of the phase may join it.
type Group struct {
	Stages     []string    `json:"stages"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// A Condition keeps two stages of a group from running side by side.
type Condition struct {
	A      string   `json:"a"`
	B      string   `json:"b"`
	Unless []string `json:"unless"`
}

// maxGroups bounds the groups that are listed for one phase: there can be
// exponentially many.
const maxGroups = 64

// Of plans every phase of a contract that has stages, within footprint.MaxSteps steps of
// search for groups and rounds: then groups are cut, and schedules need not be shortest.
func Of(m *footprint.Model) Plan {
	out := Plan{Contract: m.Contract.Name, Phases: []PhasePlan{}}
	meter := region.NewMeter(footprint.MaxSteps)
	for _, p := range Relations(m) {
		if len(p.Stages)+len(p.Movers)+len(p.LeftOut) > 0 {
			out.Phases = append(out.Phases, planPhase(m, p, meter))
		}
	}
	return out
}

func planPhase(m *footprint.Model, p Phase, meter *region.Meter) PhasePlan {
	out := PhasePlan{Phase: p.Name, Many: []Many{}, Groups: []Group{}, Alone: p.Movers, LeftOut: p.LeftOut}
	for i, name := range p.Stages {
		r := p.relation(i, i)
		out.Many = append(out.Many, Many{Stage: name, Answer: r.Answer, Unless: r.Unless, Why: r.Why})
	}
	besides := newBesides(p)
	cliques := besides.cliques(maxGroups+1, meter)
	out.Cut = len(cliques) > maxGroups || meter.IsSpent()
	cliques = cliques[:min(len(cliques), maxGroups)]
	for _, clique := range cliques {
		out.Groups = append(out.Groups, p.group(clique))
	}
	out.Schedule = newScheduler(m, p, besides, meter).schedule()
	return out
}

// group is some stages of a phase, by number, with the conditions between them.
func (p Phase) group(numbers []int) Group {
	var g Group
	for i, n := range numbers {
		g.Stages = append(g.Stages, p.Stages[n])
		for _, k := range numbers[i+1:] {
			if r := p.relation(n, k); r.Answer == Unless {
				g.Conditions = append(g.Conditions, Condition{A: r.A, B: r.B, Unless: r.Unless})
			}
		}
	}
	return g
}

// besides says which stages of a phase may run side by side, by number.
type besides [][]bool

func newBesides(p Phase) besides {
	out := make(besides, len(p.Stages))
	for i := range out {
		for j := range p.Stages {
			out[i] = append(out[i], p.relation(i, j).Answer != No)
		}
	}
	return out
}

// cliques lists the largest groups in which every two stages may run side by side
// (the algorithm of Bron and Kerbosch with pivots), biggest first; at most limit, and
// fewer where the meter is spent.
func (b besides) cliques(limit int, meter *region.Meter) [][]int {
	var out [][]int
	var grow func(group, open, closed []int)
	grow = func(group, open, closed []int) {
		if len(out) == limit || meter.IsSpent() {
			return
		}
		meter.Spend(1 + len(open)*(len(open)+len(closed)))
		if len(open)+len(closed) == 0 {
			out = append(out, slices.Sorted(slices.Values(group)))
			return
		}
		pivot := b.pivot(open, closed)
		for _, v := range slices.Clone(open) {
			if v != pivot && b[pivot][v] {
				continue
			}
			grow(append(slices.Clone(group), v), b.beside(open, v), b.beside(closed, v))
			open = slices.DeleteFunc(slices.Clone(open), func(u int) bool { return u == v })
			closed = append(closed, v)
		}
	}
	all := make([]int, len(b))
	for i := range all {
		all[i] = i
	}
	if len(all) > 0 {
		grow(nil, all, nil)
	}
	slices.SortStableFunc(out, func(x, y []int) int {
		if len(x) != len(y) {
			return len(y) - len(x)
		}
		return slices.Compare(x, y)
	})
	return out
}

// pivot is the stage that may run beside most of the open ones.
func (b besides) pivot(open, closed []int) int {
	best, most := -1, -1
	for _, v := range slices.Concat(open, closed) {
		if n := len(b.beside(open, v)); n > most {
			best, most = v, n
		}
	}
	return best
}

// beside keeps the stages that may run beside v.
func (b besides) beside(stages []int, v int) []int {
	var out []int
	for _, u := range stages {
		if u != v && b[u][v] {
			out = append(out, u)
		}
	}
	return out
}

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
