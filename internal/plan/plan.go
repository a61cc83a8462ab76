package plan

import (
	"slices"

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
