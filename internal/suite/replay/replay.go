// Package replay shows that stages do not commute: it runs the trials of
// internal/witness in the real runtime, in both orders, until one ends
// differently. What it returns has happened, by the gates that will judge real
// proposals.
//
// It is the only part of the compiler, beside contract tests, that links the
// runtime; the compiler is handed New's result as a function.
package replay

import (
	"context"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/witness"
)

// Options tune the search. The zero value is the default.
type Options struct {
	Budget int           // trials run for one conflict; 0 means DefaultBudget
	Limits verify.Limits // of every verification; the zero value means verify.DefaultLimits

	// Fixtures gives state files that are likely to be valid, for contracts whose rules
	// a made-up state does not satisfy. It is called when the first conflict is looked
	// at; what does not fit the contract is left out, and so is all beyond maxFixtures.
	Fixtures func() []string
}

const maxFixtures = 64

// DefaultBudget is how many trials are run for one conflict, MaxTrials how many are
// made for all conflicts of a contract together. A state that is tried in search of one
// that keeps the rules counts as one of those, and a large state as several.
const (
	DefaultBudget = 4000
	MaxTrials     = 1 << 16
)

// New makes a replayer. It remembers the contract it was last asked about, is
// deterministic, and is not safe for concurrent use. Its error is a contract that
// does not load.
func New(o Options) footprint.Replayer {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Limits == (verify.Limits{}) {
		o.Limits = verify.DefaultLimits()
	}
	var s *stand
	return func(c *ir.Contract, p footprint.Pair, conflict footprint.Conflict) (*footprint.Counterexample, error) {
		if s == nil || s.contract != c {
			next, err := newStand(c, o)
			if err != nil {
				return nil, err
			}
			s = next
		}
		return s.part(p, conflict), nil
	}
}

// A stand is a loaded contract with the search for its trials.
type stand struct {
	contract *ir.Contract
	program  *verify.Program
	search   *witness.Search
	budget   int
	total    int // trials that are left for the contract
}

func newStand(c *ir.Contract, o Options) (*stand, error) {
	program, err := verify.Load(c, o.Limits)
	if err != nil {
		return nil, err
	}
	s := &stand{contract: c, program: program, budget: o.Budget, total: MaxTrials}
	if s.search, err = witness.New(c, s.fitting(o.Fixtures)); err != nil {
		return nil, err
	}
	s.search.Broken = s.broken
	return s, nil
}

// fitting keeps the fixtures that are states of the contract.
func (s *stand) fitting(fixtures func() []string) []string {
	if fixtures == nil {
		return nil
	}
	var out []string
	for _, f := range fixtures() {
		if _, err := s.program.Import([]byte(f)); err == nil && len(out) < maxFixtures {
			out = append(out, f)
		}
	}
	return out
}

// A run takes longer the larger its state is. It counts once for each weighed bytes of
// that, and maxWeight times at most: few runs on a large state may tell a lot.
const (
	weighed   = 128
	maxWeight = 16
)

func (s *stand) spend(state string) { s.total -= min(1+len(state)/weighed, maxWeight) }

// broken names the invariants that do not hold in a state file.
func (s *stand) broken(state, phase string) (invariants []string, fits bool) {
	if s.spend(state); s.total < 0 {
		return nil, false
	}
	n, err := s.program.Import([]byte(state))
	if err != nil {
		return nil, false
	}
	for _, v := range s.program.CheckAll(context.Background(), n, phase) {
		for _, inv := range s.contract.Invariants {
			if v.Rule == "invariant "+inv.Name {
				invariants = append(invariants, inv.Name)
			}
		}
	}
	return invariants, true
}

// part runs trials that the pair admits until one parts. That two writes collide is best shown by two
// states: that they are seen as well is what it settles for.
func (s *stand) part(p footprint.Pair, conflict footprint.Conflict) *footprint.Counterexample {
	if s.total <= share { // nor are scenes made for it
		return nil
	}
	r := newRuns(s.program)
	var found *footprint.Counterexample
	left, others := s.budget, s.total-s.total/share
	for t := range s.search.Trials(p, conflict) {
		if s.spend(t.State); s.total < others {
			break
		}
		if !r.admitted(p, t) {
			continue
		}
		example := r.compare(t)
		if example != nil && (conflict.Kind == footprint.ViewConflict || example.Differ != "view") {
			return example
		}
		if found == nil && example != nil {
			found, left = example, min(left, settleAfter)
		}
		if left--; left <= 0 {
			break
		}
	}
	return found
}

// share is the part of the trials left for a contract, one of so many, that is for one
// conflict: one that nothing shows leaves some for those that little would show.
const share = 8

// settleAfter is how many more trials may be run for a better one.
const settleAfter = 200
