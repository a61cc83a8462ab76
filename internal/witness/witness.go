// Package witness looks for runs that show why two stages do not commute. It
// knows types, footprints and the values that rules speak of, and writes trials: a
// state file and two proposals. It runs nothing: whether a trial shows anything is
// for internal/suite/replay to find out, which is also asked whether a state
// is valid.
//
// New and Search.Trials are the entry points.
//
// # How a trial is made
//
// By theorems 2 and 3 of spec/semantics.md, without types and gates the spine of
// the conflict's path with 0 at its end, and two operations there, are enough. The
// same is the start here: the parameters are bound so that the conflict's
// equalities hold (binding.go), the smallest value of the state's type is made and
// grown until the path and the keys exist (draft.go, scene.go), and both sides get
// operations at the path (move.go). Where that is not enough, because a rule wants
// certain values, the search varies the state as far as the rules concerned read
// it (point.go). States and operations are tried together, simplest first
// (diagonal.go).
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

// DefaultRound is how many trials are made of one scene before the next is tried.
const DefaultRound = 600

// A Search writes trials for the conflicts of one contract.
type Search struct {
	// Round bounds the trials of one scene; 0 means DefaultRound.
	Round int
	// Broken names the invariants that do not hold in a state file; fits is false if
	// the state does not even fit its type. nil means that every state is valid.
	Broken func(state, phase string) (invariants []string, fits bool)

	maker    *maker
	fixtures []any
}

// New makes the search of a contract. Fixtures are state files that trials may
// start from where synthesis finds nothing; those that are no JSON are left out.
// The error is a broken installation, never the contract's fault.
func New(c *ir.Contract, fixtures []string) (*Search, error) {
	m, err := newMaker(c)
	if err != nil {
		return nil, err
	}
	s := &Search{maker: m}
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
		for _, r := range []round{{}, {whole: true}, {wide: true}, {wide: true, whole: true}} {
			for _, sc := range s.scenes(p, c) {
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

// scenes lists where a conflict may show: a state made for it, then the fixtures.
func (s *Search) scenes(p footprint.Pair, c footprint.Conflict) []*scene {
	model := footprint.New(s.maker.contract)
	m := s.maker.with(hintsFor(model, p, c), nil)
	var out []*scene
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
		exprs = append(append(exprs, s.Require...), s.Ensure...)
	}
	for _, v := range model.Contract.Invariants {
		if v.Expr != nil && (c.Gate == nil || c.Gate.Kind == ir.InvariantGate && c.Gate.Name == v.Name) {
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
