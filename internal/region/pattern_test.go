package region

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// allSegments has every kind of segment, some that share a letter and some not.
func allSegments() []Segment {
	return []Segment{
		{Kind: Literal, Text: "a"}, {Kind: Literal, Text: "0"}, {Kind: Literal, Text: "01"},
		{Kind: KeyLiteral, Text: "a"}, {Kind: KeyLiteral, Text: "0"}, {Kind: IndexLiteral}, {Kind: IndexLiteral, Index: 1},
		{Kind: AnySegment}, {Kind: AnyKey}, {Kind: AnyIndex},
		{Kind: ParamSegment, Text: "p"}, {Kind: ParamSegment, Text: "q"}, {Kind: FreshSegment, Text: "A"}, {Kind: FreshSegment, Text: "B"},
	}
}

func TestSegmentsMayMeetIffTheyDoForSomeValuesOfTheirParameters(t *testing.T) {
	for _, s := range allSegments() {
		for _, u := range allSegments() {
			c := conditionOf(Region{{Include: []Pattern{{Segments: []Segment{s}}}}}, Region{{Include: []Pattern{{Segments: []Segment{u}}}}})
			require.Equal(t, !c.Never(), s.MayMeet(u), "%v and %v", s, u)
		}
	}
}

func TestLiteralsAreAlikeIffTheyShareALetter(t *testing.T) {
	literals := slices.DeleteFunc(allSegments(), func(s Segment) bool { return !s.IsLiteral() })
	require.Len(t, literals, 7)
	for _, s := range literals {
		alike := s.AppendAlike(nil)
		require.Equal(t, s, alike[0])
		for _, u := range literals {
			require.Equal(t, s.MayMeet(u), slices.Contains(alike, u), "%v and %v", s, u)
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
