package region

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func conditionOf(a, b Region) Condition {
	return Conditions(a, b, Interior, Interior, ConditionOptions{})
}

func TestConditionsArePrintedAsTheEqualitiesTheyNeed(t *testing.T) {
	cases := []struct {
		a, b Region
		want string
	}{
		{Of("/t/{ticket}"), Of("/t/{other}"), "ticket = other"},
		{Of("/t/{ticket}/a"), Of("/t/{other}/b"), "never"},
		{Of("/t/{ticket}"), Of("/t/*"), "always"},
		{Of("/t/{ticket}"), Of("/t/{ticket}/x"), "always"},
		{Of("/t/{ticket}"), Of("/t/_index"), "never"},
		{Of("/t/{ticket}"), Of("/t/[*]"), "never"},
		{Of("/{a}/{b}"), Of("/{c}/{d}"), "a = c and b = d"},
		{Of("/t/{a}", "/u/{b}"), Of("/t/{c}", "/u/{d}"), "a = c or b = d"},
		{Of("/t/{a}", "/**/{b}"), Of("/t/{c}"), "always"},
		{Of("/t/*", "!/t/{a}"), Of("/t/{b}"), "a != b"},
		{Of("/t/{a}", "!/t/{b}"), Of("/t/{c}"), "a = c and a != b"},
		{Of("/t/{a}", "!/u/{b}"), Of("/t/{c}"), "a = c"},
		{Of("/{a}/{b}"), Of("/{c}/{c}"), "a = c and b = c"},
		{Of("/{a}/{a}"), Of("/{c}/{c}"), "a = c"},
		{Of("/{a}!"), Of("/{b}/x"), "never"},
		{Of("/{a}/**/x"), Of("/{b}"), "a = b"},
		{nil, Of("/a"), "never"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, conditionOf(c.a, c.b).String(), "%v against %v", c.a, c.b)
	}
}

func TestALiteralIsReservedUnlessParametersMayTakeIt(t *testing.T) {
	open := ConditionOptions{OpenLiterals: true}
	got := Conditions(Of("/t/{k}"), Of("/t/_index/n"), Interior, Interior, open)
	require.Equal(t, "k = :_index", got.String())
	require.True(t, got.Holds(Binding{"k": "_index"}))
	require.False(t, got.Holds(Binding{"k": "T1"}))
	require.Equal(t, Word{Key("t"), Key("_index"), Key("n")}, got.Any[0].Witness)
	require.True(t, Conditions(Of("/{k}/{k}"), Of("/a/b"), Plain, Plain, open).Never())
}

func TestAShallowPatternMeetsOnlyPatternsThatEndAtItOrAbove(t *testing.T) {
	plain := func(a, b string) string {
		return Conditions(Of(a), Of(b), Plain, Plain, ConditionOptions{}).String()
	}
	require.Equal(t, "a = b", plain("/{a}!", "/{b}"))
	require.Equal(t, "a = b", plain("/{a}!", "/{b}!"))
	require.Equal(t, "always", plain("/{a}!", ""))
	require.Equal(t, "never", plain("/{a}!", "/{b}/x"))
	require.Equal(t, "never", plain("/{a}/x", "/{b}!"))
	require.Equal(t, "never", plain("/{a}!", "/**/x/{a}"))
	require.Equal(t, "a != b", plain("/**/{b}!", "/{a}/{b}"), "the first match of /**/{b} must be the second letter")
}

func TestExceptionsAreWeighedAgainstLiteralsThatParametersMayTake(t *testing.T) {
	c := Conditions(Of("/t/*", "!/t/a"), Of("/t/{k}"), Interior, Interior, ConditionOptions{OpenLiterals: true})
	require.Equal(t, "k != :a", c.String())
	require.False(t, c.Holds(Binding{"k": "a"}))
	c = Conditions(Of("/t/*", "!/t/a"), Of("/t/{k}"), Interior, Interior, ConditionOptions{})
	require.Equal(t, "always", c.String(), "a is reserved")
}

func TestAConditionCarriesAWordInWhichTheRegionsMeet(t *testing.T) {
	c := conditionOf(Of("/t/{a}/x", "!/t/{a}/x/y"), Of("/t/{b}"))
	require.Equal(t, "a = b", c.String())
	w := c.Any[0].Witness
	require.Len(t, w, 4, "below the exception")
	require.Equal(t, Param("b"), w[1])
	require.Nil(t, Conditions(Of("/a"), Of("/a"), Plain, Plain, ConditionOptions{Options: Options{VerdictOnly: true}}).Any[0].Witness)
}

func TestManyParametersWithExceptionsGiveACautiousCondition(t *testing.T) {
	a, b := Of("/{a}/{b}/{c}", "!/{a}/{b}/{c}/{d}"), Of("/{e}/{f}/{g}/{d}")
	c := conditionOf(a, b)
	require.True(t, c.Inexact)
	require.Equal(t, "a = e and b = f and c = g", c.String())
	require.False(t, conditionOf(Of("/{a}/{b}/{c}"), Of("/{e}/{f}/{g}/{d}")).Inexact)
}

// conditionRegions draws regions without a model; the judge is Overlap on the
// regions with their parameters bound.
func conditionRegions(params ...string) *rapid.Generator[modelRegion] {
	segments := []string{"a", "*", "b", ":*", "[*]", "**", "*"}
	for _, p := range params {
		segments = append(segments, "{"+p+"}", "{"+p+"}")
	}
	return newUniverse(nil, 0, segments...).regions(3)
}

func TestConditionsAgreeWithOverlapAtEveryBinding(t *testing.T) {
	left, right := conditionRegions("t", "u"), conditionRegions("v", "u")
	for _, test := range []struct {
		name   string
		open   bool
		values []string
	}{
		{"reserved literals", false, []string{"x", "y", "z"}},
		{"open literals", true, []string{"x", "a", "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, 2000, func(t *rapid.T) {
				a, b := left.Draw(t, "a").Region, right.Draw(t, "b").Region
				mode := [2]Mode{modes.Draw(t, "mode of a"), modes.Draw(t, "mode of b")}
				c := Conditions(a, b, mode[0], mode[1], ConditionOptions{OpenLiterals: test.open})
				require.False(t, c.Inexact)
				checkBindings(t, c, a, b, mode, test.values)
			})
		})
	}
}

// checkBindings knows that a has the parameters t and u, and b has u and v.
func checkBindings(t *rapid.T, c Condition, a, b Region, mode [2]Mode, values []string) {
	for _, y := range values {
		var setsB []*Set
		for _, z := range values {
			setsB = append(setsB, Compile(b.Bind(Binding{"u": y, "v": z})))
		}
		for _, x := range values {
			setA := Compile(a.Bind(Binding{"t": x, "u": y}))
			for i, z := range values {
				args := Binding{"t": x, "u": y, "v": z}
				answer := Overlap(setA, setsB[i], mode[0], mode[1], Options{VerdictOnly: true})
				if c.Holds(args) != (answer.Verdict == Yes) {
					t.Fatalf("%v and %v with %v: %s, but overlap is %s", a, b, args, c, answer.Verdict)
				}
			}
		}
	}
}

func TestOneSearchWhereEqualitiesHoldSaysWhatOneForEachPartitionSays(t *testing.T) {
	places := []*rapid.Generator[string]{
		rapid.SampledFrom([]string{"tickets", "*", "**", "{p}", "{q}", "tickets", "tickets"}),
		rapid.SampledFrom([]string{"{p}", "{q}", "{r}", "*", "a", "**"}),
		rapid.SampledFrom([]string{"status", "labels", "labels", "{p}", "{s}", "*", "**"}),
		rapid.SampledFrom([]string{"[*]", "0", "{r}", "-"}),
	}
	patterns := rapid.Custom(func(t *rapid.T) Pattern {
		text := ""
		for _, segments := range places[:1+upTo[3].Draw(t, "length")] {
			text += "/" + segments.Draw(t, "segment")
		}
		p := MustParse(text)
		p.Shallow = fourth.Draw(t, "shallow")
		return p
	})
	met, apart := 0, 0
	check(t, 5000, func(t *rapid.T) {
		a, b := patterns.Draw(t, "a"), patterns.Draw(t, "b")
		for _, mode := range [][2]Mode{{Plain, Interior}, {Shown, Interior}, {Plain, Plain}, {Interior, Interior}} {
			quick := Conditions(Region{{Include: []Pattern{a}}}, Region{{Include: []Pattern{b}}}, mode[0], mode[1], ConditionOptions{Options: Options{Shape: tickets}})
			full := conditionBuilder{modeA: mode[0], modeB: mode[1], options: ConditionOptions{Options: Options{Shape: tickets}}}
			full.searchEach(side{include: a}, side{include: b}, nil)
			if mode[0] == Interior && a.Shallow || mode[1] == Interior && b.Shallow {
				full.terms = nil
			}
			want := full.condition()
			require.Equal(t, want.String(), quick.String(), "%s and %s, in modes %v", a, b, mode)
			require.Equal(t, want.Inexact, quick.Inexact)
			for i, term := range want.Any {
				require.Equal(t, term.Witness, quick.Any[i].Witness, "%s and %s, in modes %v", a, b, mode)
			}
			if quick.Never() {
				apart++
			} else {
				met++
			}
		}
	})
	require.Positive(t, met)
	require.Positive(t, apart)
}
