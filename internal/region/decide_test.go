package region

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMembershipAndInteriorAgreeWithTheDefinitionOnEveryWord(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, u := range []*universe{typedUniverse(rnd, 3), logUniverse(rnd, 3)} {
		for range cases(2000) {
			r := u.region(rnd)
			set := Compile(r.Region)
			for i, w := range u.words {
				if set.Contains(w) != r.sets[Plain].has(i) || set.Interior(w) != r.sets[Interior].has(i) {
					t.Fatalf("%v at %s: in %v, interior %v", r.Region, w.Pointer(), set.Contains(w), set.Interior(w))
				}
			}
		}
	}
}

func TestSegmentsMatchTheLettersOfTheDefinition(t *testing.T) {
	letters := []Letter{Key("a"), Key("x"), Key("0"), Index(0), Index(1), Param("t"), Param("u"), Fresh(""), Fresh("o")}
	for _, text := range []string{"a", "0", "01", ":0", ":a", "[0]", "*", ":*", "[*]", "**", "{t}", "-"} {
		s := MustParse("/" + text).Segments[0]
		for _, l := range letters {
			require.Equal(t, modelLetter(s, l), s.Matches(l), "%s against %v", text, l)
		}
	}
}

// check compares an answer with the model: found says which word numbers are
// witnesses, wanted is the verdict if there is one.
func (u *universe) check(t *testing.T, what string, a, b modelRegion, got Answer, wanted Verdict, witnesses modelSet, isWitness func(Word) bool) {
	first := witnesses.first()
	switch {
	case got.Verdict == Unknown:
		t.Fatalf("%s of %v and %v is unknown", what, a.Region, b.Region)
	case got.Verdict != wanted && first >= 0:
		t.Fatalf("%s of %v and %v: %v, but %s", what, a.Region, b.Region, got.Verdict, u.words[first].Pointer())
	case got.Verdict != wanted:
		return
	case !isWitness(got.Witness):
		t.Fatalf("%s of %v and %v: %s is no witness", what, a.Region, b.Region, got.Witness.Pointer())
	case first >= 0 && len(u.words[first]) < len(got.Witness):
		t.Fatalf("%s of %v and %v: %s is longer than %s", what, a.Region, b.Region, got.Witness.Pointer(), u.words[first].Pointer())
	case first < 0 && len(got.Witness) <= len(u.words[len(u.words)-1]):
		t.Fatalf("%s of %v and %v: %s is not in the model", what, a.Region, b.Region, got.Witness.Pointer())
	}
}

// has decides membership of one word, which may be longer than the universe, by
// the definition.
func (r modelRegion) has(w Word, mode Mode) bool {
	u := &universe{words: []Word{w}}
	for _, g := range r.Region {
		var include, except []modelPattern
		for _, p := range g.Include {
			include = append(include, u.model(p))
		}
		for _, p := range g.Except {
			except = append(except, u.model(p))
		}
		if u.grant(include, except)[mode].has(0) {
			return true
		}
	}
	return false
}

func TestDecisionsAgreeWithEnumerationAndTheirWitnessesAreShortest(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	for _, u := range []*universe{typedUniverse(rnd, 4), logUniverse(rnd, 4)} {
		for range cases(30_000) {
			a, b := u.region(rnd), u.region(rnd)
			u.checkDecisions(t, a, b, Mode(rnd.Intn(2)), Mode(rnd.Intn(2)))
		}
	}
}

func (u *universe) checkDecisions(t *testing.T, a, b modelRegion, modeA, modeB Mode) {
	setA, setB := Compile(a.Region), Compile(b.Region)

	both := a.sets[modeA].clone()
	both.and(b.sets[modeB])
	got := Overlap(setA, setB, modeA, modeB, Options{})
	u.check(t, "overlap", a, b, got, Yes, both, func(w Word) bool { return a.has(w, modeA) && b.has(w, modeB) })
	require.Equal(t, got.Verdict, Overlap(setA, setB, modeA, modeB, Options{VerdictOnly: true}).Verdict)

	outside := a.sets[modeA].clone()
	outside.without(b.sets[modeB])
	u.check(t, "containment", a, b, Within(setA, setB, modeA, modeB, Options{}), No, outside,
		func(w Word) bool { return a.has(w, modeA) && !b.has(w, modeB) })

	differ := a.sets[modeA].clone()
	differ.differing(b.sets[modeA])
	u.check(t, "equality", a, b, Equal(setA, setB, modeA, Options{}), No, differ,
		func(w Word) bool { return a.has(w, modeA) != b.has(w, modeA) })

	u.check(t, "emptiness", a, modelRegion{}, Empty(setA, modeA, Options{}), No, a.sets[modeA],
		func(w Word) bool { return a.has(w, modeA) })
}
