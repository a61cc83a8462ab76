package witness

import (
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A scene is a state in which a conflict can show: parameters are bound to keys
// that it has, and the place of the conflict exists.
type scene struct {
	*maker
	pair     footprint.Pair
	conflict footprint.Conflict
	phase    string
	keys     map[string]string // by owned parameter and family key
	state    any
	presence []point
	supplied map[string]bool // containers that references point to
}

// synthesise makes the smallest scenes; none if the equalities contradict each other or
// the hypothesis of the pair. In a second one the state refers to other entries than the
// two sides have, which can then be taken away.
func (m *maker) synthesise(p footprint.Pair, c footprint.Conflict, phase string) []*scene {
	keys, ok := newBinder(m, c).all(sidesOf(p))
	if !ok || !admitted(p, keys) {
		return nil
	}
	out := []*scene{m.smallest(p, c, phase, keys)}
	if others := m.bystanders(p, keys); len(others) > 0 {
		out = append(out, m.with(m.hints, others).smallest(p, c, phase, keys))
	}
	return out
}

// bystanders are, for every container that references point to and a side has an entry
// of, a key that neither side has.
func (m *maker) bystanders(p footprint.Pair, keys map[string]string) map[string][]string {
	out := map[string][]string{}
	for _, d := range sidesOf(p) {
		for i := range d.stage.Params {
			q := &d.stage.Params[i]
			if of := m.word(q.Of, nil); q.Kind == ir.ExistingParam && len(q.Of.Params()) == 0 && m.isReferred(of) {
				out[of.Pointer()] = []string{m.newKey(of, slices.Concat(slices.Collect(maps.Values(keys)), q.Reserved))}
			}
		}
	}
	return out
}

// smallest is the least state of the type, grown until it has what the keys and the
// conflict need.
func (m *maker) smallest(p footprint.Pair, c footprint.Conflict, phase string, keys map[string]string) *scene {
	s := &scene{maker: m, pair: p, conflict: c, phase: phase, keys: keys, state: m.least(m.contract.State), supplied: map[string]bool{}}
	for _, d := range sidesOf(p) {
		s.bindParams(d)
	}
	s.growPlaces()
	s.state = s.settle(s.state)
	s.leaveRoom()
	return s
}

// onFixture makes the scenes that a given state can be.
func (m *maker) onFixture(p footprint.Pair, c footprint.Conflict, phase string, state any) []*scene {
	var out []*scene
	for _, keys := range newBinder(m, c).found(sidesOf(p), state, func(keys map[string]string) bool { return admitted(p, keys) }) {
		s := &scene{maker: m, pair: p, conflict: c, phase: phase, keys: keys, state: copyOf(state), supplied: map[string]bool{}}
		s.growPlaces()
		s.state = s.settle(s.state)
		s.leaveRoom()
		out = append(out, s)
	}
	return out
}

func (s *scene) demand(w region.Word) { s.state = s.grow(s.state, true, s.contract.State, w) }

// bindParams makes the keys of a side's parameters exist.
func (s *scene) bindParams(d side) {
	for i := range d.stage.Params {
		p := &d.stage.Params[i]
		of := s.place(d.owned(p.Of))
		key := s.keys[footprint.OwnedParam(d.owner, p.Name)]
		s.demand(of)
		switch p.Kind {
		case ir.ExistingParam:
			s.demand(longer(of, region.Key(key)))
		case ir.DependentParam:
			s.state = set(s.state, of, key)
			s.state = s.settle(s.state)
		}
	}
}

// growPlaces makes the places of the conflict exist, and what the stages must
// produce, unless they lie below a key that is yet to be created.
func (s *scene) growPlaces() {
	for _, w := range []region.Word{s.concrete(s.conflict.Path), s.concrete(s.conflict.Other)} {
		s.growBelow(w)
		if len(w) > 0 && s.isOld(w) && s.mayLack(w) {
			s.presence = append(s.presence, presence(w))
		}
	}
	for _, d := range sidesOf(s.pair) {
		s.supply(d, s.concrete(s.conflict.Path))
		s.supply(d, s.concrete(s.conflict.Other))
		for _, p := range d.stage.Produce {
			s.growBelow(s.place(d.owned(p)))
		}
	}
}

// supply makes the containers hold something that references in values for w, or
// for what a side may write around it, point to; and lets there be one more, since
// a reference may have to change.
func (s *scene) supply(d side, w region.Word) {
	if !s.refers {
		return
	}
	may := s.mayWrite(d)
	for n := range len(w) + 1 {
		if !may.Walk(s.asPath(d, w[:n])).Interior() {
			continue
		}
		for _, id := range s.shape.Below(s.at(w[:n])) {
			t := s.contract.Type(id)
			if t.Kind != ir.RefType {
				continue
			}
			target := s.word(*t.Target, nil)
			if s.supplied[target.Pointer()] {
				continue
			}
			s.supplied[target.Pointer()] = true
			if at, _ := get(s.state, target); len(keysOf(at)) == 0 {
				s.demand(longer(target, region.Key(s.newKey(target, s.taken()))))
			}
			s.presence = append(s.presence, point{same, func(state any) any { return s.add(state, target, 1) }})
		}
	}
}

// growBelow demands w, or as much of it as can be there before a commit.
func (s *scene) growBelow(w region.Word) {
	for n := len(w); n >= 0; n-- {
		if s.isOld(w[:n]) {
			s.demand(w[:n])
			return
		}
	}
}

// isOld reports whether w can be in a state: it passes through no key that a
// parameter creates, and through no entry that a patch appends.
func (s *scene) isOld(w region.Word) bool {
	if slices.ContainsFunc(w, func(l region.Letter) bool { return l.Kind == region.FreshLetter }) {
		return false
	}
	return !slices.ContainsFunc(s.created(), func(c region.Word) bool {
		_, there := get(s.state, c)
		return !there && w.HasPrefix(c)
	})
}

// created lists what "new in" parameters stand for.
func (s *scene) created() []region.Word {
	var out []region.Word
	for _, d := range sidesOf(s.pair) {
		for i := range d.stage.Params {
			if p := &d.stage.Params[i]; p.Kind == ir.NewParam {
				out = append(out, s.createdBy(d, p))
			}
		}
	}
	return out
}

// createdBy is the entry that a parameter of a side stands for.
func (s *scene) createdBy(d side, p *ir.Param) region.Word {
	return longer(s.place(d.owned(p.Of)), region.Key(s.keys[footprint.OwnedParam(d.owner, p.Name)]))
}

// leaveRoom lets keys that a parameter creates be absent where the other side
// needs them.
func (s *scene) leaveRoom() {
	for _, w := range s.created() {
		if _, there := get(s.state, w); there {
			s.presence = append(s.presence, presence(w))
		}
	}
	s.maker = s.with(s.hints.and(hints{texts: s.keysRead()}), s.knownKeys())
}

// keysRead lists the keys by which what the gate reads may be looked up: a text elsewhere
// may have to be one of them.
func (s *scene) keysRead() []string {
	if s.conflict.Gate == nil || s.conflict.Gate.Kind != ir.InvariantGate {
		return nil
	}
	var out []string
	note := func(key string) {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for _, p := range s.conflict.Gate.Family() {
		segments := slices.DeleteFunc(slices.Clone(p.Segments), func(q region.Segment) bool { return q.Kind == region.AnyDepth })
		for i, l := range s.place(p) {
			if l.Kind == region.KeyLetter && !footprint.IsLiteral(segments[i]) {
				note(l.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.keys)) {
		note(s.keys[name])
	}
	return out
}

// knownKeys lists, for every container that references point to, its keys, and those
// that the sides create there: one may refer to what the other adds.
func (s *scene) knownKeys() map[string][]string {
	out := map[string][]string{}
	for i := range s.contract.Types {
		if t := &s.contract.Types[i]; t.Kind == ir.RefType {
			w := s.word(*t.Target, nil)
			at, _ := get(s.state, w)
			keys := keysOf(at)
			for _, c := range s.created() {
				if n := len(c) - 1; c[:n].Pointer() == w.Pointer() && !slices.Contains(keys, c[n].Name) {
					keys = append(keys, c[n].Name)
				}
			}
			if i := slices.Index(keys, s.keys[ir.FamilyParam(0)]); i > 0 { // what the conflict is about
				keys = slices.Insert(slices.Delete(keys, i, i+1), 0, s.keys[ir.FamilyParam(0)])
			}
			out[w.Pointer()] = keys
		}
	}
	return out
}

// place is where a pattern leads, wildcards taken as the first there is.
func (s *scene) place(p region.Pattern) region.Word {
	out := region.Word{}
	for _, seg := range p.Segments {
		switch seg.Kind {
		case region.AnyDepth:
		case region.AnyKey, region.AnyIndex, region.AnySegment:
			out = append(out, s.first(out))
		default:
			out = append(out, s.letter(out, seg))
		}
	}
	return out
}

// concrete is a witness word with its symbols replaced by keys.
func (s *scene) concrete(w region.Word) region.Word {
	out := region.Word{}
	for _, l := range w {
		if l.Kind == region.ParamLetter {
			l = s.bound(out, l.Name)
		}
		out = append(out, l)
	}
	return out
}
