package witness

import (
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What a search varies, and in which order. The rules concerned read some places of the
// state: at each of them there may be another value, nothing, or, below a wildcard or
// where a length is read, more entries. One option is taken of every variation; choices
// that differ from the first option in few places, and by little, come first.

// A variation lists what the state may be made to be at one place. The first option
// changes nothing.
type variation []func(state any) any

func same(state any) any { return state }

// presence lets the node at w be there or not.
func presence(w region.Word) variation {
	return variation{same, func(state any) any { return unset(state, w) }}
}

// varied is the scenario's state with an option of every variation taken.
func (s *scenario) varied(variations []variation, at []int) any {
	state := copyOf(s.state)
	for i, p := range variations {
		state = p[at[i]](state)
	}
	return s.makeConsistent(state)
}

// variations lists where a state may be varied as far as some patterns read it.
func (s *scenario) variations(reads []region.Pattern) []variation {
	var out []variation
	seen := map[string]bool{}
	for _, p := range reads {
		s.visit(nil, p.Segments, func(w region.Word) {
			if key := w.Pointer(); !seen[key] {
				seen[key] = true
				if pt := s.varyValue(w, p.Shallow); len(pt) > 1 {
					out = append(out, pt)
				}
				if _, array := s.shape.Kinds(s.at(w)); p.Shallow && array {
					out = append(out, s.varySize(w)) // its length is read
				}
			}
		}, func(w region.Word) {
			if key := w.Pointer() + "/*"; !seen[key] {
				seen[key] = true
				out = append(out, s.varySize(w))
			}
		})
	}
	return out[:min(len(out), maxVariations)]
}

// maxVariations bounds the places that are varied together, maxMatches the nodes that
// one wildcard stands for.
const (
	maxVariations = 14
	maxMatches    = 3
)

// varyValue varies the value at w, and whether it is there.
func (s *scenario) varyValue(w region.Word, shallow bool) variation {
	out := variation{same}
	now, there := get(s.state, w)
	object, array := s.shape.Kinds(s.at(w))
	if !shallow || !object && !array {
		for _, v := range s.valuesAt(w) {
			if !there || !equal(v, now) {
				out = append(out, func(state any) any { return s.put(state, w, v) })
			}
		}
	}
	if there && s.mayLack(w) {
		out = append(out, func(state any) any { return unset(state, w) })
	}
	return out
}

// varySize varies how many entries a container has: up to three more, or so many
// that a number of the rules is reached, if that is at most maxAdded; or one more, of one
// value or another.
func (s *scenario) varySize(w region.Word) variation {
	out := variation{same}
	for _, n := range slices.Concat([]int{1, 2, 3}, s.hints.sizes(maxAdded)) {
		out = append(out, func(state any) any { return s.add(state, w, n, 0) })
	}
	for i := range s.entriesOf(w) {
		if i > 0 {
			out = append(out, func(state any) any { return s.add(state, w, 1, i) })
		}
	}
	return out
}

const maxAdded = 64

// entriesOf lists values for the entries of the container at w.
func (s *scenario) entriesOf(w region.Word) []any {
	var elements []any
	for _, id := range s.at(w) {
		switch t := s.contract.Type(id); {
		case t.Elem != ir.NoType:
			elements = append(elements, s.values(t.Elem)...)
		case t.Kind == ir.AnyType:
			elements = append(elements, s.values(id)...)
		}
	}
	return elements
}

// add adds n entries to the container at w, which differ where they can; first is the value
// that the first one has.
func (s *scenario) add(state any, w region.Word, n, first int) any {
	at, _ := get(state, w)
	elements := s.entriesOf(w)
	if len(elements) == 0 {
		return state
	}
	switch at := at.(type) {
	case object:
		taken := slices.Concat(keysOf(at), s.taken())
		for i := range n {
			key := s.newKey(w, taken)
			taken = append(taken, key)
			at[key] = s.named(longer(w, region.Key(key)), copyOf(elements[(first+i)%len(elements)]))
		}
	case []any:
		for i := range n {
			at = append(at, copyOf(elements[(len(at)+first+i)%len(elements)]))
		}
		return set(state, w, at)
	}
	return state
}

// put writes a value at w if its parent is there.
func (s *scenario) put(state any, w region.Word, v any) any {
	if len(w) > 0 {
		if _, there := get(state, w[:len(w)-1]); !there {
			return state
		}
	}
	return set(state, w, s.named(w, copyOf(v)))
}

// named makes an entry of a keyed list carry the key it stands under.
func (s *scenario) named(w region.Word, v any) any {
	if n := len(w); n > 0 && w[n-1].Kind == region.KeyLetter {
		for _, id := range s.at(w[:n-1]) {
			v = s.keyed(s.contract.Type(id), v, w[n-1].Name)
		}
	}
	return v
}

// mayLack reports whether states without the node at w can fit the type.
func (s *scenario) mayLack(w region.Word) bool {
	if len(w) == 0 || w[len(w)-1].Kind != region.KeyLetter {
		return false
	}
	return slices.ContainsFunc(s.at(w[:len(w)-1]), func(id ir.TypeID) bool {
		t := s.contract.Type(id)
		member, declared := t.Member(w[len(w)-1].Name)
		return t.Kind != ir.RecordType || !declared || member.Optional
	})
}

// reads lists what the rules of a conflict read; in a wide round, what any rule of
// the two stages reads.
func (s *scenario) reads(wide bool) []region.Pattern {
	model := footprint.Measured(s.contract)
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
			if g.Kind == ir.InvariantGate || g.Kind == ir.ChangeGate {
				out = append(out, widened(g.Reads)...)
			}
		}
	}
	return out
}

// readsOf lists what the named invariants read, family keys as wildcards.
func (s *scenario) readsOf(invariants []string) []region.Pattern {
	var out []region.Pattern
	for _, v := range s.contract.Invariants {
		switch {
		case !slices.Contains(invariants, v.Name):
		case v.Unique != nil:
			out = append(out, v.UniquePlaces()...)
		default:
			out = append(out, widened(footprint.ReadPatterns(*v.Expr))...)
		}
	}
	return out
}

// widened has wildcards in place of parameters.
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

// dimensions are how many options each variation has.
func dimensions(variations []variation) []int {
	var dims []int
	for _, p := range variations {
		dims = append(dims, len(p))
	}
	return dims
}

// graded enumerates the index vectors below dims in graded lexicographic order: smallest
// sum first, and of one sum those with larger last components first. The vector is only
// lent.
func graded(dims []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		most := 0
		for _, d := range dims {
			if d == 0 {
				return
			}
			most += d - 1
		}
		at := make([]int, len(dims))
		for sum := 0; sum <= most; sum++ {
			if !spread(dims, at, 0, sum, yield) {
				return
			}
		}
	}
}

// scattered enumerates index vectors below dims at random, the same ones every time, without
// end: every other index is that of the first option.
func scattered(dims []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if slices.Contains(dims, 0) {
			return
		}
		draw := rand.New(rand.NewPCG(1, 2))
		at := make([]int, len(dims))
		for {
			for i, d := range dims {
				if at[i] = draw.IntN(d); draw.IntN(2) == 0 {
					at[i] = 0
				}
			}
			if !yield(at) {
				return
			}
		}
	}
}

// spread distributes sum over the components from i on.
func spread(dims, at []int, i, sum int, yield func([]int) bool) bool {
	if i == len(dims) {
		return sum > 0 || yield(at)
	}
	rest := 0
	for _, d := range dims[i+1:] {
		rest += d - 1
	}
	for n := max(0, sum-rest); n < dims[i] && n <= sum; n++ {
		at[i] = n
		if !spread(dims, at, i+1, sum-n, yield) {
			return false
		}
	}
	return true
}
