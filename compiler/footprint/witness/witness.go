// Package witness looks for runs that show why two stages do not commute. It
// knows types, footprints and the values that rules speak of, and writes trials: a
// state file and two proposals. It runs nothing: whether a trial shows anything is
// for compiler/footprint/replay to find out, which is also asked whether a state
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

	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// A Trial is a candidate for a run in which the order of two proposals matters.
type Trial struct {
	State string // JSON, as a file
	Phase string
	A, B  footprint.Proposal
}

// DefaultRound is how many trials are made of one scene before the next is tried.
const DefaultRound = 600

// maxRepairs bounds the states that are tried to make one valid.
const maxRepairs = 400

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
		for _, wide := range []bool{false, true} {
			for _, sc := range s.scenes(p, c) {
				if !s.round(sc, wide, yield) {
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
		if sc := m.synthesise(p, c, phase); sc != nil {
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

// repair varies a scene's state until its invariants hold, if it can.
func (s *Search) repair(sc *scene) {
	if s.Broken == nil {
		return
	}
	broken, fits := s.Broken(sc.toFile(copyOf(sc.state)), sc.phase)
	if !fits || len(broken) == 0 {
		return
	}
	points := sc.points(sc.readsOf(broken))
	tried := 0
	for at := range diagonal(dimensions(points)) {
		state := sc.varied(points, at)
		if broken, fits := s.Broken(sc.toFile(copyOf(state)), sc.phase); fits && len(broken) == 0 {
			sc.state = state
			return
		}
		if tried++; tried == maxRepairs {
			return
		}
	}
}

// readsOf lists what the named invariants read, family keys as wildcards.
func (s *scene) readsOf(invariants []string) []region.Pattern {
	var out []region.Pattern
	for _, v := range s.contract.Invariants {
		switch {
		case !slices.Contains(invariants, v.Name):
		case v.Unique != nil:
			out = append(out, *v.Unique)
		default:
			out = append(out, widened(footprint.ReadPatterns(*v.Expr))...)
		}
	}
	return out
}

func widened(patterns []region.Pattern) []region.Pattern {
	var out []region.Pattern
	for _, p := range patterns {
		q := region.Pattern{Segments: slices.Clone(p.Segments), Shallow: p.Shallow}
		for i, s := range q.Segments {
			if s.Kind == region.ParamSegment {
				q.Segments[i] = region.Segment{Kind: region.AnySegment}
			}
		}
		out = append(out, q)
	}
	return out
}

func dimensions(points []point) []int {
	var dims []int
	for _, p := range points {
		dims = append(dims, len(p))
	}
	return dims
}

// varied is the scene's state with an option of every point taken.
func (s *scene) varied(points []point, at []int) any {
	state := copyOf(s.state)
	for i, p := range points {
		state = p[at[i]](state)
	}
	return s.settle(state)
}

// round yields the trials of a scene.
func (s *Search) round(sc *scene, wide bool, yield func(Trial) bool) bool {
	points := append(slices.Clone(sc.presence), sc.points(sc.reads(wide))...)
	a, b := sc.moves(wide)
	dims := append(dimensions(points), len(a), len(b))
	most := s.Round
	if most == 0 {
		most = DefaultRound
	}
	var state any
	var file string
	last := []int(nil)
	steps, yielded := 0, 0
	for at := range diagonal(dims) {
		if steps++; steps > idleFactor*most {
			break
		}
		if chosen := at[:len(points)]; last == nil || !slices.Equal(last, chosen) {
			last = slices.Clone(chosen)
			state = sc.varied(points, chosen)
			file = sc.toFile(copyOf(state))
		}
		pa, okA := a[at[len(points)]](state)
		pb, okB := b[at[len(points)+1]](state)
		if !okA || !okB {
			continue
		}
		t := Trial{State: file, Phase: sc.phase}
		t.A, t.B = sc.proposal(0, pa), sc.proposal(1, pb)
		if !yield(t) {
			return false
		}
		if yielded++; yielded == most {
			break
		}
	}
	return true
}

// idleFactor bounds the combinations that make no trial.
const idleFactor = 8

// reads lists what the rules of a conflict read; in a wide round, what any rule of
// the two stages reads.
func (s *scene) reads(wide bool) []region.Pattern {
	model := footprint.New(s.contract)
	var out []region.Pattern
	if g := s.conflict.Gate; g != nil {
		out = append(out, g.Family()...)
		if g.Kind == ir.RefGate {
			out = append(out, g.Removal)
		}
	}
	local := s.conflict.Kind == footprint.LocalConflict || s.conflict.Kind == footprint.PhaseConflict
	for _, d := range sidesOf(s.pair) {
		if !wide && !(local && d.owner == s.conflict.A) {
			continue
		}
		for _, g := range model.StageGates(d.stage) {
			for _, p := range g.Reads {
				out = append(out, d.owned(p))
			}
		}
	}
	if wide {
		for _, g := range model.StateGates() {
			if g.Kind == ir.InvariantGate {
				out = append(out, widened(g.Reads)...)
			}
		}
	}
	return out
}

// moves lists what the two sides do.
func (s *scene) moves(wide bool) (a, b []move) {
	sides := sidesOf(s.pair)
	x, y := sides[0], sides[1]
	if s.conflict.A == footprint.OwnerB {
		x, y = y, x
	}
	w := s.concrete(s.conflict.Path)
	var mx, my []move
	switch s.conflict.Kind {
	case footprint.WriteConflict:
		mx, my = s.writes(x, w), s.writes(y, w)
	case footprint.SourceConflict:
		mx, my = s.tests(x, w), s.writes(y, w)
	case footprint.GateConflict:
		mx, my = s.writes(x, w), s.writes(y, s.concrete(s.conflict.Other))
	case footprint.PhaseConflict:
		mx, my = []move{nothing}, []move{nothing}
	default:
		mx, my = []move{nothing}, s.writes(y, w)
	}
	if wide || s.conflict.Kind == footprint.LocalConflict {
		mx = append(mx, s.anywhere(x)...)
	}
	if wide {
		my = append(my, s.anywhere(y)...)
	}
	if s.conflict.A == footprint.OwnerB {
		mx, my = my, mx
	}
	return mx, my
}

// anywhere lists operations at the places that a side's patterns lead to.
func (s *scene) anywhere(d side) []move {
	var out []move
	for _, p := range footprint.Includes(region.Union(d.stage.Write, d.stage.Blind)) {
		out = append(out, s.writes(d, s.place(d.owned(p)))...)
	}
	return out
}

// proposal is a side's, with a patch.
func (s *scene) proposal(i int, patch string) footprint.Proposal {
	d := sidesOf(s.pair)[i]
	out := footprint.Proposal{Stage: d.stage.Name, Patch: patch}
	for _, p := range d.stage.Params {
		if p.Kind == ir.DependentParam {
			continue
		}
		if out.Args == nil {
			out.Args = map[string]string{}
		}
		out.Args[p.Name] = s.keys[footprint.OwnedParam(d.owner, p.Name)]
	}
	if len(d.stage.By) > 0 {
		out.Role = d.stage.By[0]
	}
	if len(d.stage.Next) > 0 {
		out.Next = d.stage.Next[0]
	}
	return out
}
