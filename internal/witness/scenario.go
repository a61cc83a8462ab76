package witness

import (
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// How a scenario comes about. Keys are chosen for the parameters, the least state of the
// type is grown until the places of both sides' parameters, of the conflict and of what
// references name are there, and what may be absent is noted as a variation. A fixture
// is a state that is there already, to which the parameters are fitted.

// A scenario is a state in which a conflict can show: parameters are bound to keys
// that it has, and the place of the conflict exists.
type scenario struct {
	*generator
	pair     footprint.Pair
	conflict footprint.Conflict
	phase    string
	keys     map[string]string // by owned parameter and family key
	state    any
	presence []variation
	supplied map[string]bool // containers that references point to
}

// synthesise makes the smallest scenarios; none if the equalities contradict each other or
// the hypothesis of the pair. In a second one parameters over one container are equal, of
// which rules may let there be few entries. In a third one the state refers to other entries
// than the two sides have, which can then be taken away.
func (g *generator) synthesise(p footprint.Pair, c footprint.Conflict, phase string) []*scenario {
	keys, ok := newBinder(g, c).all(sidesOf(p))
	var out []*scenario
	if ok && admitted(p, keys) {
		out = append(out, g.smallest(p, c, phase, keys))
	}
	for _, same := range []func(p *ir.Param) string{
		func(p *ir.Param) string { return p.Of.String() },
		func(p *ir.Param) string { return p.Of.String() + " " + p.Name },
	} {
		b := newBinder(g, c)
		if !b.joinAll(sidesOf(p), c, same) {
			continue
		}
		if keys, ok := b.all(sidesOf(p)); ok && admitted(p, keys) {
			out = append(out, g.smallest(p, c, phase, keys))
		}
	}
	if len(out) == 0 {
		return nil
	}
	if others := g.bystanders(p, keys); len(others) > 0 {
		out = append(out, g.with(g.hints, others).smallest(p, c, phase, keys))
	}
	return out
}

// bystanders are, for every container that references point to and a side has an entry
// of, a key that neither side has.
func (g *generator) bystanders(p footprint.Pair, keys map[string]string) map[string][]string {
	out := map[string][]string{}
	for _, d := range sidesOf(p) {
		for i := range d.stage.Params {
			q := &d.stage.Params[i]
			if of := g.word(q.Of, nil); q.Kind == ir.ExistingParam && len(q.Of.Params()) == 0 && g.isReferred(of) {
				out[of.Pointer()] = []string{g.newKey(of, slices.Concat(slices.Collect(maps.Values(keys)), q.Reserved))}
			}
		}
	}
	return out
}

// smallest is the least state of the type, grown until it has what the keys and the
// conflict need.
func (g *generator) smallest(p footprint.Pair, c footprint.Conflict, phase string, keys map[string]string) *scenario {
	s := &scenario{generator: g, pair: p, conflict: c, phase: phase, keys: keys, state: g.least(g.contract.State), supplied: map[string]bool{}}
	for _, d := range sidesOf(p) {
		s.bindParams(d)
	}
	for _, d := range sidesOf(p) {
		s.fulfil(d)
	}
	s.growPlaces()
	s.state = s.makeConsistent(s.state)
	s.leaveRoom()
	return s
}

// onFixture makes the scenarios that a given state can be.
func (g *generator) onFixture(p footprint.Pair, c footprint.Conflict, phase string, state any) []*scenario {
	var out []*scenario
	for _, keys := range newBinder(g, c).found(sidesOf(p), state, func(keys map[string]string) bool { return admitted(p, keys) }) {
		s := &scenario{generator: g, pair: p, conflict: c, phase: phase, keys: keys, state: copyOf(state), supplied: map[string]bool{}}
		s.growPlaces()
		s.state = s.makeConsistent(s.state)
		s.leaveRoom()
		out = append(out, s)
	}
	return out
}

func (s *scenario) demand(w region.Word) { s.state = s.grow(s.state, true, s.contract.State, w) }

// bindParams makes the keys of a side's parameters exist.
func (s *scenario) bindParams(d side) {
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
			s.state = s.makeConsistent(s.state)
		case ir.ElementParam:
			at, _ := get(s.state, of)
			if list, ok := at.([]any); ok && !slices.Contains(textsOf(list), key) {
				s.state = s.makeConsistent(set(s.state, of, append(slices.Clone(list), key)))
			}
		}
	}
}

// fulfil puts into the state what the conditions on a side's parameters say that places hold.
func (s *scenario) fulfil(d side) {
	for _, x := range d.stage.Bindings() {
		for _, pin := range x.Pins {
			at := s.place(d.owned(pin.At))
			text := s.keys[footprint.OwnedParam(d.owner, pin.Param)]
			if pin.Texts != nil {
				text = pin.Texts[0]
			}
			s.demand(at)
			s.state = s.makeConsistent(set(s.state, at, text))
		}
	}
}

// growPlaces makes the places of the conflict exist, and what the stages must
// produce, unless they lie below a key that is yet to be created.
func (s *scenario) growPlaces() {
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
func (s *scenario) supply(d side, w region.Word) {
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
			s.presence = append(s.presence, variation{same, func(state any) any { return s.add(state, target, 1, 0) }})
		}
	}
}

// growBelow demands w, or as much of it as can be there before a commit.
func (s *scenario) growBelow(w region.Word) {
	for n := len(w); n >= 0; n-- {
		if s.isOld(w[:n]) {
			s.demand(w[:n])
			return
		}
	}
}

// isOld reports whether w can be in a state: it passes through no key that a
// parameter creates, and through no entry that a patch appends.
func (s *scenario) isOld(w region.Word) bool {
	if slices.ContainsFunc(w, func(l region.Letter) bool { return l.Kind == region.FreshLetter }) {
		return false
	}
	return !slices.ContainsFunc(s.created(), func(c region.Word) bool {
		_, there := get(s.state, c)
		return !there && w.HasPrefix(c)
	})
}

// created lists what "new in" parameters stand for.
func (s *scenario) created() []region.Word {
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
func (s *scenario) createdBy(d side, p *ir.Param) region.Word {
	return longer(s.place(d.owned(p.Of)), region.Key(s.keys[footprint.OwnedParam(d.owner, p.Name)]))
}

// leaveRoom lets keys that a parameter creates be absent where the other side
// needs them.
func (s *scenario) leaveRoom() {
	for _, w := range s.created() {
		if _, there := get(s.state, w); there {
			s.presence = append(s.presence, presence(w))
		}
	}
	s.generator = s.with(s.hints.and(hints{texts: s.keysRead()}), s.knownKeys())
}

// keysRead lists the keys by which what the gate reads may be looked up: a text elsewhere
// may have to be one of them.
func (s *scenario) keysRead() []string {
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
func (s *scenario) knownKeys() map[string][]string {
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

// taken lists the keys that mean something in the scenario.
func (s *scenario) taken() []string {
	var out []string
	for _, key := range s.keys {
		out = append(out, key)
	}
	for _, side := range sidesOf(s.pair) {
		for i := range side.stage.Params {
			out = append(out, side.stage.Params[i].Reserved...)
		}
	}
	return out
}

// owned is a pattern of a side, with its parameters and fresh keys marked so.
func (d side) owned(p region.Pattern) region.Pattern {
	return p.Own(d.owner).Rename(func(name string) string { return footprint.OwnedParam(d.owner, name) })
}

// place is where a pattern leads, wildcards taken as the first there is.
func (s *scenario) place(p region.Pattern) region.Word {
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
func (s *scenario) concrete(w region.Word) region.Word {
	out := region.Word{}
	for _, l := range w {
		if l.Kind == region.ParamLetter {
			l = s.bound(out, l.Name)
		}
		out = append(out, l)
	}
	return out
}

// letter is the step that a segment without wildcard takes below w.
func (s *scenario) letter(w region.Word, seg region.Segment) region.Letter {
	switch seg.Kind {
	case region.IndexLiteral:
		return region.Index(seg.Index)
	case region.FreshSegment:
		return region.Fresh(seg.Text)
	case region.ParamSegment:
		return s.bound(w, seg.Text)
	}
	return region.Key(seg.Text)
}

// bound is the step that a parameter or a family key stands for. A family key
// that nothing fixes is the first there is.
func (s *scenario) bound(w region.Word, name string) region.Letter {
	if key, ok := s.keys[name]; ok {
		return region.Key(key)
	}
	return s.first(w)
}

// first is the first step below w, or else one that can be made.
func (s *scenario) first(w region.Word) region.Letter {
	at, _ := get(s.state, w)
	if ls := lettersOf(at); len(ls) > 0 {
		return ls[0]
	}
	if object, array := s.shape.Kinds(s.at(w)); array && !object {
		return region.Index(0)
	}
	return region.Key(s.newKey(w, s.taken()))
}

// visit finds the places of a pattern in the scenario's state: leaf is called for
// what the whole pattern matches, many for containers that a wildcard ranges over.
func (s *scenario) visit(w region.Word, rest []region.Segment, leaf, many func(region.Word)) {
	if len(rest) == 0 {
		leaf(w)
		return
	}
	seg, rest := rest[0], rest[1:]
	switch seg.Kind {
	case region.AnyDepth:
		s.visit(w, rest, leaf, many)
	case region.AnyKey, region.AnyIndex, region.AnySegment:
		many(w)
		at, _ := get(s.state, w)
		for i, l := range lettersOf(at) {
			if i == maxMatches {
				break
			}
			s.visit(longer(w, l), rest, leaf, many)
		}
	default:
		s.visit(longer(w, s.letter(w, seg)), rest, leaf, many)
	}
}

// lettersOf lists the steps below a value.
func lettersOf(v any) []region.Letter {
	var out []region.Letter
	for _, key := range keysOf(v) {
		out = append(out, region.Key(key))
	}
	if a, ok := v.([]any); ok {
		for i := range a {
			out = append(out, region.Index(i))
		}
	}
	return out
}
