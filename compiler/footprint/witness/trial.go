package witness

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

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
		out = append(append(out, g.Family()...), g.Removals...)
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
