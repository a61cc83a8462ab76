package witness

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A round is one way to go through the trials of a scene. A wide one varies more, and
// in a whole one patches make the entries that their stages are to create.
type round struct{ wide, whole bool }

// round yields the trials of a scene.
func (s *Search) round(sc *scene, r round, yield func(Trial) bool) bool {
	points := append(slices.Clone(sc.presence), sc.points(sc.reads(r.wide))...)
	a, b := sc.moves(r)
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
func (s *scene) moves(r round) (a, b []move) {
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
	if r.wide || s.conflict.Kind == footprint.LocalConflict {
		mx = append(mx, s.anywhere(x)...)
	}
	if r.wide {
		my = append(my, s.anywhere(y)...)
	}
	if r.whole {
		mx, my = s.completed(x, mx), s.completed(y, my)
	}
	if s.conflict.A == footprint.OwnerB {
		mx, my = my, mx
	}
	return mx, my
}

// maxCreated is how many values are tried for an entry that is made beside something
// else.
const maxCreated = 4

// mayComplete reports whether a side is to create an entry that its conditions may ask
// for, whatever else it does.
func (s *scene) mayComplete() bool {
	return slices.ContainsFunc(sidesOf(s.pair), func(d side) bool { return len(s.toCreate(d)) > 0 })
}

// toCreate lists the entries that a side with conditions may create.
func (s *scene) toCreate(d side) []region.Word {
	var out []region.Word
	for i := range d.stage.Params {
		if p := &d.stage.Params[i]; p.Kind == ir.NewParam && len(d.stage.Ensure)+len(d.stage.Produce) > 0 {
			if entry := s.createdBy(d, p); s.mayWrite(d).Walk(entry).Interior() {
				out = append(out, entry)
			}
		}
	}
	return out
}

// completed lets everything that a side does create its entries first.
func (s *scene) completed(d side, moves []move) []move {
	for _, entry := range s.toCreate(d) {
		values := s.eachNamed(entry, s.valuesAt(entry))
		var out []move
		for at := range diagonal([]int{len(moves), min(len(values), maxCreated)}) {
			m, v := moves[at[0]], values[at[1]]
			out = append(out, func(state any) (string, bool) {
				patch, ok := m(state)
				if strings.Contains(patch, encode(entry.Pointer())) {
					return patch, ok
				}
				return joinPatches(operation("add", entry.Pointer(), v), patch), ok
			})
		}
		moves = out
	}
	return moves
}

// joinPatches is one patch after another.
func joinPatches(a, b string) string {
	if b == "[]" {
		return a
	}
	return strings.TrimSuffix(a, "]") + "," + strings.TrimPrefix(b, "[")
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
