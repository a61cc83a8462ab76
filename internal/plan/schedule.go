package plan

import (
	"math"
	"math/bits"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/region"
)

// A schedule lets every stage of a phase run once, in as few rounds as possible: the
// stages of a round may run side by side, and a stage comes in a later round than
// those it names with "after". That is graph colouring with precedences, so it is
// solved exactly up to maxExact stages, by going through the sets of stages that can
// have run, breadth first; beyond that the first round that fits is taken, and the
// schedule says so. The stages that move the phase follow at the end, one of them.

// A Schedule is rounds of stages. Shortest is false if there may be fewer rounds.
// Stuck lists stages that are in no round, since they wait for each other.
type Schedule struct {
	Rounds   []Group    `json:"rounds"`
	Shortest bool       `json:"shortest"`
	Order    []Sequence `json:"order,omitempty"` // the "after" clauses it respects
	Stuck    []string   `json:"stuck,omitempty"`
}

// A Sequence is one stage that runs after another.
type Sequence struct {
	First string `json:"first"`
	Then  string `json:"then"`
}

// maxExact is up to how many stages of a phase the schedule is certainly shortest.
const maxExact = 14

type scheduler struct {
	phase   Phase
	besides besides
	after   [][]int // by stage: the stages before it
	order   []Sequence
	meter   *region.Meter
}

func newScheduler(m *footprint.Model, p Phase, b besides, meter *region.Meter) *scheduler {
	s := &scheduler{phase: p, besides: b, after: make([][]int, len(p.Stages)), meter: meter}
	at := map[string]int{}
	for i, name := range p.Stages {
		at[name] = i
	}
	for i, name := range p.Stages {
		for _, first := range m.Contract.Stages[p.numbers[i]].After {
			if j, here := at[first]; here {
				s.after[i] = append(s.after[i], j)
				s.order = append(s.order, Sequence{First: first, Then: name})
			}
		}
	}
	return s
}

func (s *scheduler) schedule() Schedule {
	out := Schedule{Rounds: []Group{}, Shortest: len(s.phase.Stages) <= maxExact, Order: s.order}
	runnable := s.runnable()
	for i, name := range s.phase.Stages {
		if !runnable[i] {
			out.Stuck = append(out.Stuck, name)
		}
	}
	var found [][]int
	if out.Shortest {
		found = s.exact(runnable)
		out.Shortest = !s.meter.IsSpent()
	}
	if !out.Shortest {
		found = s.greedy()
	}
	for _, r := range found {
		out.Rounds = append(out.Rounds, s.phase.group(r))
	}
	return out
}

// runnable marks the stages that do not, in the end, wait for themselves.
func (s *scheduler) runnable() []bool {
	done := make([]bool, len(s.after))
	for {
		ready := s.ready(func(i int) bool { return done[i] })
		if len(ready) == 0 {
			return done
		}
		for _, i := range ready {
			done[i] = true
		}
	}
}

// exact finds a shortest schedule of the runnable stages, unless the meter is spent.
// Among the rounds that may come next the one with most stages is tried first.
func (s *scheduler) exact(runnable []bool) [][]int {
	full := 0
	for i, can := range runnable {
		if can {
			full |= 1 << i
		}
	}
	last := map[int]int{0: 0} // sets that can have run -> the round that came last
	for frontier := []int{0}; last[full] == 0 && len(frontier) > 0 && !s.meter.IsSpent(); {
		var next []int
		for _, done := range frontier {
			for _, round := range s.rounds(done) {
				if _, known := last[done|round]; !known {
					last[done|round] = round
					next = append(next, done|round)
				}
			}
		}
		frontier = next
	}
	var out [][]int
	for done := full; done != 0 && last[done] != 0; done &^= last[done] {
		out = append([][]int{members(last[done])}, out...)
	}
	return out
}

// rounds lists what may run next, as sets: every group that no further stage may
// join.
func (s *scheduler) rounds(done int) []int {
	ready := s.ready(func(i int) bool { return done&(1<<i) != 0 })
	var out []int
	for _, clique := range s.besides.within(ready).cliques(math.MaxInt, s.meter) {
		set := 0
		for _, i := range clique {
			set |= 1 << ready[i]
		}
		out = append(out, set)
	}
	return out
}

// ready lists the stages that have not run and may.
func (s *scheduler) ready(done func(int) bool) []int {
	var out []int
	for i := range s.after {
		if !done(i) && !slices.ContainsFunc(s.after[i], func(j int) bool { return !done(j) }) {
			out = append(out, i)
		}
	}
	return out
}

// within is the relation between some of the stages.
func (b besides) within(stages []int) besides {
	out := make(besides, len(stages))
	for i, u := range stages {
		for _, v := range stages {
			out[i] = append(out[i], b[u][v])
		}
	}
	return out
}

// greedy takes the first stages that fit, round by round.
func (s *scheduler) greedy() [][]int {
	done := make([]bool, len(s.after))
	var out [][]int
	for {
		var round []int
		for _, i := range s.ready(func(i int) bool { return done[i] }) {
			if !slices.ContainsFunc(round, func(j int) bool { return !s.besides[i][j] }) {
				round = append(round, i)
			}
		}
		if len(round) == 0 {
			return out
		}
		for _, i := range round {
			done[i] = true
		}
		out = append(out, round)
	}
}

func members(set int) []int {
	var out []int
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros(uint(set)))
	}
	return out
}
