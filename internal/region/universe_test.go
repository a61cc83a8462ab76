package region

import (
	"math/bits"
	"math/rand"
	"testing"
)

// The tests compare everything with a model that is as plain as can be: a
// universe of all words up to some length over a few letters, and for every
// pattern of a random pool the set of words it stands for, found by matching each
// word against the pattern by the definitions of spec/semantics.md section 3.

// A universe is the words and the pool.
type universe struct {
	letters []Letter
	words   []Word // by length, so that the first of a set is a shortest one
	parent  []int
	pool    []modelPattern
}

type modelPattern struct {
	Pattern
	in    modelSet // the words of the pattern
	deep  modelSet // the words that, with everything below, the pattern covers
	alive modelSet // the words at or below which the pattern has one
}

func newUniverse(rnd *rand.Rand, letters []Letter, length int, segments []string, patterns int) *universe {
	u := &universe{letters: letters, words: []Word{{}}, parent: []int{-1}}
	for i := 0; len(u.words[i]) < length; i++ {
		for _, l := range letters {
			u.words = append(u.words, append(u.words[i][:len(u.words[i]):len(u.words[i])], l))
			u.parent = append(u.parent, i)
		}
	}
	for range patterns {
		u.pool = append(u.pool, u.model(randomPattern(rnd, segments)))
	}
	return u
}

func randomPattern(rnd *rand.Rand, segments []string) Pattern {
	text := ""
	for range rnd.Intn(4) {
		text += "/" + segments[rnd.Intn(len(segments))]
	}
	if rnd.Intn(6) == 0 {
		text += "!"
	}
	return MustParse(text)
}

func (u *universe) model(p Pattern) modelPattern {
	m := modelPattern{p, u.empty(), u.empty(), u.empty()}
	for i, w := range u.words {
		covered := coveredAbove(p, w)
		exact := modelMatch(p.Segments, w, false)
		if exact && !covered || covered && !p.Shallow {
			m.in.add(i)
		}
		if !p.Shallow && (exact || covered) {
			m.deep.add(i)
		}
		if covered && !p.Shallow || !covered && modelMatch(p.Segments, w, true) {
			m.alive.add(i)
		}
	}
	return m
}

// coveredAbove reports whether a proper prefix of w matches p.
func coveredAbove(p Pattern, w Word) bool {
	for n := range w {
		if modelMatch(p.Segments, w[:n], false) {
			return true
		}
	}
	return false
}

// modelMatch reports whether w matches all segments, or with some = true whether
// it matches the beginning of them, as some words below then match all.
func modelMatch(segments []Segment, w Word, some bool) bool {
	switch {
	case len(w) == 0 && some:
		return true
	case len(segments) == 0:
		return len(w) == 0
	case segments[0].Kind == AnyDepth:
		return modelMatch(segments[1:], w, some) || len(w) > 0 && modelMatch(segments, w[1:], some)
	}
	return len(w) > 0 && modelLetter(segments[0], w[0]) && modelMatch(segments[1:], w[1:], some)
}

func modelLetter(s Segment, l Letter) bool {
	switch s.Kind {
	case Literal:
		return l.Kind == KeyLetter && l.Name == s.Text || l.Kind == IndexLetter && s.Text == Word{l}.Pointer()[1:]
	case KeyLiteral:
		return l.Kind == KeyLetter && l.Name == s.Text
	case IndexLiteral:
		return l.Kind == IndexLetter && l.Index == s.Index
	case AnyKey:
		return l.Kind != IndexLetter
	case AnyIndex:
		return l.Kind == IndexLetter || l.Kind == FreshLetter
	case ParamSegment:
		return l.Kind == ParamLetter && l.Name == s.Text
	case FreshSegment:
		return l.Kind == FreshLetter && l.Name == s.Text
	}
	return true
}

// A modelSet is a set of word numbers.
type modelSet []uint64

func (u *universe) empty() modelSet     { return make(modelSet, (len(u.words)+63)/64) }
func (m modelSet) add(i int)            { m[i/64] |= 1 << (i % 64) }
func (m modelSet) has(i int) bool       { return m[i/64]&(1<<(i%64)) != 0 }
func (m modelSet) or(o modelSet)        { m.fold(o, func(a, b uint64) uint64 { return a | b }) }
func (m modelSet) and(o modelSet)       { m.fold(o, func(a, b uint64) uint64 { return a & b }) }
func (m modelSet) without(o modelSet)   { m.fold(o, func(a, b uint64) uint64 { return a &^ b }) }
func (m modelSet) differing(o modelSet) { m.fold(o, func(a, b uint64) uint64 { return a ^ b }) }
func (m modelSet) clone() modelSet      { return append(modelSet(nil), m...) }
func (m modelSet) fold(o modelSet, f func(a, b uint64) uint64) {
	for i := range m {
		m[i] = f(m[i], o[i])
	}
}

// first is the number of the first word, -1 if there is none.
func (m modelSet) first() int {
	for i, w := range m {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// A modelRegion is a region with its words.
type modelRegion struct {
	Region
	sets [2]modelSet // by Mode
}

func (u *universe) region(rnd *rand.Rand) modelRegion {
	r := modelRegion{sets: [2]modelSet{u.empty(), u.empty()}}
	for range 1 + rnd.Intn(2) {
		include, except := u.pick(rnd, 1+rnd.Intn(2)), u.pick(rnd, max(0, rnd.Intn(5)-2))
		r.Region = append(r.Region, Grant{Include: patterns(include), Except: patterns(except)})
		for mode, set := range u.grant(include, except) {
			r.sets[mode].or(set)
		}
	}
	return r
}

func (u *universe) grant(include, except []modelPattern) [2]modelSet {
	in, deep := u.empty(), u.empty()
	for _, p := range include {
		in.or(p.in)
		deep.or(p.deep)
	}
	for _, p := range except {
		in.without(p.in)
		deep.without(p.alive)
	}
	return [2]modelSet{Plain: in, Interior: deep}
}

func (u *universe) pick(rnd *rand.Rand, n int) []modelPattern {
	var out []modelPattern
	for range n {
		out = append(out, u.pool[rnd.Intn(len(u.pool))])
	}
	return out
}

func patterns(ms []modelPattern) []Pattern {
	var out []Pattern
	for _, m := range ms {
		out = append(out, m.Pattern)
	}
	return out
}

// atOrBelow holds the words with a word of m at or below them, as far as the
// universe goes.
func (u *universe) atOrBelow(m modelSet) modelSet {
	out := m.clone()
	for i := len(u.words) - 1; i > 0; i-- {
		if out.has(i) {
			out.add(u.parent[i])
		}
	}
	return out
}

// typedUniverse has keys, positions and a parameter; K(x) and I(1) stand for all
// letters that no pattern names.
func typedUniverse(rnd *rand.Rand, length int) *universe {
	letters := []Letter{Key("a"), Key("x"), Key("0"), Index(0), Index(1), Param("t")}
	segments := []string{"a", "a", "0", ":a", ":0", "[0]", "*", "*", ":*", "[*]", "**", "{t}"}
	return newUniverse(rnd, letters, length, segments, 400)
}

// logUniverse has the fresh keys of two owners and no typed wildcards.
func logUniverse(rnd *rand.Rand, length int) *universe {
	letters := []Letter{Key("a"), Key("x"), Index(0), Fresh(""), Fresh("other")}
	u := newUniverse(rnd, letters, length, []string{"a", "*", "**", "-", "-"}, 200)
	for i, p := range u.pool {
		if rnd.Intn(3) == 0 {
			u.pool[i] = u.model(p.Own("other"))
		}
	}
	return u
}

// cases scales a number of cases down for -short and the race detector.
func cases(n int) int {
	if testing.Short() || raceDetector {
		return n / 50
	}
	return n
}
