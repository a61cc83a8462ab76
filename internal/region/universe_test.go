package region

import (
	"flag"
	"fmt"
	"math/bits"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The tests compare everything with a model that is as plain as can be: a
// universe of all words up to some length over a few letters, and for every
// pattern that is drawn the set of words it stands for, found by matching each
// word against the pattern by the definitions of spec/semantics.md section 3.

// A universe is the words, what patterns are made of, and the patterns drawn so
// far with their words.
type universe struct {
	letters  []Letter
	words    []Word // by length, so that the first of a set is a shortest one
	parent   []int
	segments *rapid.Generator[string]
	owner    string // of some patterns, if there is one
	models   map[modelKey]modelPattern
}

type modelKey struct {
	text  string
	owned bool
}

type modelPattern struct {
	Pattern
	in    modelSet // the words of the pattern
	deep  modelSet // the words that, with everything below, the pattern covers
	alive modelSet // the words at or below which the pattern has one
}

// newUniverse takes the segments from the simplest on: a failure shrinks to the
// first, which are drawn somewhat more often, as are those that stand there twice.
func newUniverse(letters []Letter, length int, segments ...string) *universe {
	u := &universe{letters: letters, words: []Word{{}}, parent: []int{-1}, models: map[modelKey]modelPattern{}}
	if len(segments) > 0 {
		u.segments = rapid.SampledFrom(segments)
	}
	for i := 0; len(u.words[i]) < length; i++ {
		for _, l := range letters {
			u.words = append(u.words, append(u.words[i][:len(u.words[i]):len(u.words[i])], l))
			u.parent = append(u.parent, i)
		}
	}
	return u
}

// What a region is drawn from besides segments. rapid prefers what comes first.
var (
	upTo   = map[int]*rapid.Generator[int]{2: rapid.SampledFrom([]int{0, 1, 2}), 3: rapid.SampledFrom([]int{0, 1, 2, 3})}
	some   = rapid.SampledFrom([]int{1, 2})
	few    = rapid.SampledFrom([]int{0, 1, 0, 2, 0})
	fourth = rapid.SampledFrom([]bool{false, false, false, true})
	third  = rapid.SampledFrom([]bool{false, false, true})
	sixth  = rapid.SampledFrom([]bool{false, false, false, false, false, true})
	modes  = rapid.SampledFrom([]Mode{Plain, Interior})
)

// pattern draws a pattern of at most so many segments.
func (u *universe) pattern(t *rapid.T, most int) modelPattern {
	text := make([]byte, 0, 16)
	for range upTo[most].Draw(t, "length") {
		text = append(append(text, '/'), u.segments.Draw(t, "segment")...)
	}
	if sixth.Draw(t, "shallow") {
		text = append(text, '!')
	}
	owned := u.owner != "" && third.Draw(t, "owned")
	if m, ok := u.models[modelKey{string(text), owned}]; ok {
		return m
	}
	p := MustParse(string(text))
	if owned {
		p = p.Own(u.owner)
	}
	m := u.model(p)
	u.models[modelKey{string(text), owned}] = m
	return m
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

// GoString is what a failure shows of a region that was drawn.
func (r modelRegion) GoString() string { return fmt.Sprintf("%q", r.Region) }

// regions draws regions whose patterns have at most so many segments.
func (u *universe) regions(most int) *rapid.Generator[modelRegion] {
	draw := func(t *rapid.T, n *rapid.Generator[int]) (out []modelPattern) {
		for range n.Draw(t, "patterns") {
			out = append(out, u.pattern(t, most))
		}
		return out
	}
	return rapid.Custom(func(t *rapid.T) modelRegion {
		r := modelRegion{sets: [2]modelSet{u.empty(), u.empty()}}
		for range some.Draw(t, "grants") {
			include, except := draw(t, some), draw(t, few)
			r.Region = append(r.Region, Grant{Include: patterns(include), Except: patterns(except)})
			for mode, set := range u.grant(include, except) {
				r.sets[mode].or(set)
			}
		}
		return r
	})
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
// letters that no pattern names. Tests share the one of a length, for its models.
func typedUniverse(length int) *universe {
	if typedUniverses[length] == nil {
		letters := []Letter{Key("a"), Key("x"), Key("0"), Index(0), Index(1), Param("t")}
		typedUniverses[length] = newUniverse(letters, length, "a", "*", "0", ":a", ":0", "[0]", ":*", "[*]", "a", "*", "**", "{t}")
	}
	return typedUniverses[length]
}

var typedUniverses = map[int]*universe{}

// logUniverse has the fresh keys of two owners and no typed wildcards.
func logUniverse(length int) *universe {
	u := newUniverse([]Letter{Key("a"), Key("x"), Index(0), Fresh(""), Fresh("other")}, length, "a", "*", "**", "-", "-")
	u.owner = "other"
	return u
}

// check holds a property against a number of drawn cases: fewer with -short or the
// race detector, as many as -rapid.checks says if it is given. They are the same
// cases every time, so that a failure needs no file; -rapid.seed draws others.
func check(t *testing.T, cases int, property func(*rapid.T)) {
	t.Helper()
	if testing.Short() || raceDetector {
		cases /= 50
	}
	if testing.Short() {
		cases *= 5 // of which rapid takes a fifth
	}
	setUnlessGiven(t, "rapid.checks", strconv.Itoa(cases))
	setUnlessGiven(t, "rapid.seed", "1")
	setUnlessGiven(t, "rapid.nofailfile", "true")
	rapid.Check(t, property)
}

// setUnlessGiven sets a flag for the rest of a test.
func setUnlessGiven(t *testing.T, name, value string) {
	f := flag.Lookup(name)
	if given := f.Value.String(); given == f.DefValue {
		require.NoError(t, f.Value.Set(value))
		t.Cleanup(func() { _ = f.Value.Set(given) })
	}
}
