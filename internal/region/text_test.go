package region

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatternTextIsReadAsTheSegmentsItNames(t *testing.T) {
	cases := map[string]Pattern{
		"":                {},
		"!":               {Shallow: true},
		"/":               {Segments: []Segment{{Kind: Literal}}},
		"/!":              {Segments: []Segment{{Kind: Literal}}, Shallow: true},
		"/a/b!":           {Segments: []Segment{{Text: "a"}, {Text: "b"}}, Shallow: true},
		"/*/**/-":         {Segments: []Segment{{Kind: AnySegment}, {Kind: AnyDepth}, {Kind: FreshSegment}}},
		"/:*/[*]/[12]":    {Segments: []Segment{{Kind: AnyKey}, {Kind: AnyIndex}, {Kind: IndexLiteral, Index: 12}}},
		"/:a/0/{t}":       {Segments: []Segment{{Kind: KeyLiteral, Text: "a"}, {Text: "0"}, {Kind: ParamSegment, Text: "t"}}},
		"/a~1b~0c":        {Segments: []Segment{{Text: "a/b~c"}}},
		`/"*"/:"*"/"a/b"`: {Segments: []Segment{{Text: "*"}, {Kind: KeyLiteral, Text: "*"}, {Text: "a/b"}}},
		`/"a\"\u0041"!`:   {Segments: []Segment{{Text: `a"A`}}, Shallow: true},
		"/::x":            {Segments: []Segment{{Kind: KeyLiteral, Text: ":x"}}},
		"/:":              {Segments: []Segment{{Kind: KeyLiteral}}},
		"/***":            {Segments: []Segment{{Text: "***"}}},
	}
	for text, want := range cases {
		got, err := ParsePattern(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestMalformedPatternTextIsRefused(t *testing.T) {
	for _, text := range []string{
		"a", "a/b", "/[", "/[x]", "/[01]", "/[-1]", "/[99999999999999999999]", "/[1", "/{", "/{}", "/{t",
		"/~", "/a~2", "/:~x", "/{~}", `/"`, `/"a`, `/"a"b`, `/"\x"`, `/:"a"!b`, "/\xff", "!!",
	} {
		_, err := ParsePattern(text)
		require.Error(t, err, text)
	}
}

func TestAKeyThatReadsLikeASegmentIsQuoted(t *testing.T) {
	for key, want := range map[string]string{
		"a": "/a", "*": `/"*"`, "**": `/"**"`, "-": `/"-"`, ":a": `/":a"`, "[0]": `/"[0]"`, "{t}": `/"{t}"`,
		`"`: `/"\""`, "a!": `/"a!"`, "a/b": "/a~1b", "": "/", "\n": `/"\n"`, "--": "/--",
	} {
		p := Pattern{Segments: []Segment{{Kind: Literal, Text: key}}}
		require.Equal(t, want, p.String())
		require.Equal(t, p, MustParse(p.String()))
	}
}

func TestPatternsAreStringsInJSON(t *testing.T) {
	g := Grant{Include: []Pattern{MustParse("/a/{t}")}, Except: []Pattern{MustParse(`/a/{t}/"*"!`)}}
	text, err := json.Marshal(g)
	require.NoError(t, err)
	require.JSONEq(t, `{"include":["/a/{t}"],"except":["/a/{t}/\"*\"!"]}`, string(text))
	var back Grant
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, g, back)
	require.Error(t, json.Unmarshal([]byte(`"a"`), &back.Include[0]))
}

func FuzzParsePattern(f *testing.F) {
	for _, seed := range []string{"", "!", "/a/*/**/-/[*]/[1]/:*/:a/{t}!", `/"a\n/"/:"*"`, "/~01", "/a!/b!", `/":"x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		again, err := ParsePattern(p.String())
		require.NoError(t, err, "%q written as %q", text, p.String())
		require.Equal(t, p, again)
		key := Pattern{Segments: []Segment{{Text: text}, {Kind: KeyLiteral, Text: text}}, Shallow: strings.HasPrefix(text, "/")}
		require.Equal(t, key, MustParse(key.String()))
	})
}

func TestCompiledPatternsAreWrittenAsAnAuthorWould(t *testing.T) {
	for compiled, want := range map[string]string{
		"":                       "/**",
		"/:tickets/:*/:status!":  "/tickets/*/status",
		"/:tickets/{ticket}":     "/tickets/{ticket}",
		"/:list/[*]/[3]":         "/list/*/3",
		"/:refunds/{@1}/:amount": "/refunds/*/amount",
		"/:history/-":            "/history/-",
		`/:a~1b/:"*"`:            `/a~1b/"*"`,
		`/:"a,b"/:""/[*]`:        `/"a,b"/""/*`,
	} {
		require.Equal(t, want, MustParse(compiled).Source(), compiled)
	}
}

func TestKeysWithSpaceOrControlCharactersAreQuoted(t *testing.T) {
	for key, want := range map[string]string{"a\x1bb": `"a\u001bb"`, "a\u00a0b": "\"a\u00a0b\"", "a\rb": `"a\rb"`, "日本": "日本"} {
		require.Equal(t, want, Segment{Kind: KeyLiteral, Text: key}.Source())
	}
}
