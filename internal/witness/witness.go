// Package witness looks for runs that show why two stages do not commute. It
// knows types, footprints and the values that rules speak of, and writes trials: a
// state file and two proposals. It runs nothing: whether a trial shows anything is
// for internal/suite/replay to find out, which is also asked whether a state
// is valid.
//
// New and Search.Trials are the entry points.
//
// The words:
//
//   - Trial: one candidate counterexample, ready to run.
//   - scenario: a state in which a conflict can show, with keys for all parameters.
//   - variation: one place at which the state of a scenario may differ, as a list of
//     options, the first of which changes nothing.
//   - patcher: what one side does, as a function from a state to its patch.
//   - generator: makes small values of a type that keep its constraints.
//   - hints: the literals that rules compare with, and texts of their regular expressions.
//   - graded order: index vectors by their sum, so that trials that vary little come
//     before those that vary much.
//
// # How a trial is made
//
// By theorems 2 and 3 of spec/semantics.md, without types and gates the spine of
// the conflict's path with 0 at its end, and two operations there, are enough. The
// same is the start here: the parameters are bound so that the conflict's
// equalities hold (binding.go), the smallest value of the state's type is made
// (generator.go) and grown until the path and the keys exist (scenario.go, state.go), and
// both sides get operations at the path (proposal.go). Where that is not enough, because
// a rule wants certain values, the state is varied as far as the rules concerned read it
// (variation.go). States and operations are tried together, in graded order.
package witness

import (
	"iter"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// A Trial is a candidate for a run in which the order of two proposals matters.
type Trial struct {
	State string // JSON, as a file
	Phase string
	A, B  footprint.Proposal
}

// DefaultRound is how many trials are made of one scenario before the next is tried.
const DefaultRound = 300

// A Search writes trials for the conflicts of one contract.
type Search struct {
	// Round bounds the trials of one scenario; 0 means DefaultRound.
	Round int
	// Broken names the invariants that do not hold in a state file; fits is false if
	// the state does not even fit its type. nil means that every state is valid.
	Broken func(state, phase string) (invariants []string, fits bool)

	generator *generator
	fixtures  []any
}

// New makes the search of a contract. Fixtures are state files that trials may
// start from where synthesis finds nothing; those that are no JSON are left out.
// The error is a broken installation, never the contract's fault.
func New(c *ir.Contract, fixtures []string) (*Search, error) {
	m, err := newGenerator(c)
	if err != nil {
		return nil, err
	}
	s := &Search{generator: m}
	for _, text := range fixtures {
		if state, ok := m.fromFile(text); ok {
			s.fixtures = append(s.fixtures, state)
		}
	}
	return s, nil
}

// Trials writes candidates for a conflict of a pair, simplest first. There are
// finitely many, and they are the same every time.
func (s *Search) Trials(p footprint.Pair, c footprint.Conflict) iter.Seq[Trial] {
	return func(yield func(Trial) bool) {
		for _, r := range []round{
			{}, {whole: true}, {scattered: true}, {scattered: true, whole: true},
			{wide: true}, {wide: true, whole: true}, {scattered: true, wide: true}, {scattered: true, wide: true, whole: true},
		} {
			for _, sc := range s.scenarios(p, c) {
				if r.whole && !sc.mayComplete() {
					continue
				}
				if !s.round(sc, r, yield) {
					return
				}
			}
		}
	}
}

// scenarios lists where a conflict may show: a state made for it, then the fixtures.
func (s *Search) scenarios(p footprint.Pair, c footprint.Conflict) []*scenario {
	model := footprint.Measured(s.generator.contract)
	m := s.generator.with(hintsFor(model, p, c), nil)
	var out []*scenario
	for _, phase := range p.A.In {
		if !slices.Contains(p.B.In, phase) {
			continue
		}
		for _, sc := range m.synthesise(p, c, phase) {
			s.repair(sc)
			out = append(out, sc)
		}
		for _, f := range s.fixtures {
			out = append(out, m.onFixture(p, c, phase, f)...)
		}
	}
	return out
}

// hintsFor collects what the rules concerned speak of.
func hintsFor(model *footprint.Model, p footprint.Pair, c footprint.Conflict) hints {
	var exprs []ir.Expr
	for _, s := range []*ir.Stage{p.A, p.B} {
		exprs = slices.Concat(exprs, s.Bindings(), s.Require, s.Ensure)
	}
	for _, v := range model.Contract.Invariants {
		if v.Expr != nil && (c.Gate == nil || c.Gate.Kind == v.Gate() && c.Gate.Name == v.Name) {
			exprs = append(exprs, *v.Expr)
		}
	}
	for i := range model.Contract.Types {
		if c.Gate != nil && c.Gate.Kind == ir.TypeGate {
			exprs = append(exprs, model.Contract.Types[i].Where...)
		}
	}
	return hintsOf(exprs)
}

// A round is one way to go through the trials of a scenario. A wide one varies more, in a
// whole one patches make the entries that their stages are to create, and a scattered one
// takes trials here and there instead of those first that vary little.
type round struct{ wide, whole, scattered bool }

// vectors enumerates the trials of a round by what is chosen of each of its dimensions.
func (r round) vectors(dims []int) iter.Seq[[]int] {
	if r.scattered {
		return scattered(dims)
	}
	return graded(dims)
}

// idleFactor bounds the combinations that make no trial.
const idleFactor = 8

// round yields the trials of a scenario.
func (s *Search) round(sc *scenario, r round, yield func(Trial) bool) bool {
	variations := append(slices.Clone(sc.presence), sc.variations(sc.reads(r.wide))...)
	a, b := sc.patchers(r)
	sides := sidesOf(sc.pair)
	withA, withB := sc.settings(sides[0]), sc.settings(sides[1])
	dims := append(dimensions(variations), len(a), len(b), len(withA), len(withB))
	most := s.Round
	if most == 0 {
		most = DefaultRound
	}
	var state any
	var file string
	last := []int(nil)
	steps, yielded := 0, 0
	for at := range r.vectors(dims) {
		if steps++; steps > idleFactor*most {
			break
		}
		if chosen := at[:len(variations)]; last == nil || !slices.Equal(last, chosen) {
			last = slices.Clone(chosen)
			state = sc.varied(variations, chosen)
			file = sc.toFile(copyOf(state))
		}
		does := at[len(variations):]
		pa, okA := a[does[0]](state)
		pb, okB := b[does[1]](state)
		if !okA || !okB {
			continue
		}
		t := Trial{State: file, Phase: sc.phase, A: sc.proposal(0, pa), B: sc.proposal(1, pb)}
		withA[does[2]](&t.A)
		withB[does[3]](&t.B)
		if !yield(t) {
			return false
		}
		if yielded++; yielded == most {
			break
		}
	}
	return true
}

// maxRepairs bounds the states that are tried to make one valid.
const maxRepairs = 400

// repair varies a scenario's state until its invariants hold, if it can.
func (s *Search) repair(sc *scenario) {
	if s.Broken == nil {
		return
	}
	broken, fits := s.Broken(sc.toFile(copyOf(sc.state)), sc.phase)
	if !fits || len(broken) == 0 {
		return
	}
	variations := sc.variations(sc.readsOf(broken))
	tried := 0
	for at := range graded(dimensions(variations)) {
		state := sc.varied(variations, at)
		if broken, fits := s.Broken(sc.toFile(copyOf(state)), sc.phase); fits && len(broken) == 0 {
			sc.state = state
			return
		}
		if tried++; tried == maxRepairs {
			return
		}
	}
}
