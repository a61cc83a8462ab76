package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATextThatIsNotStrictJSONIsRefusedWithItsCodeAndPlace(t *testing.T) {
	cases := []struct {
		text   string
		code   DecodeCode
		offset int
		path   string
	}{
		{"", InvalidJSON, 0, ""},
		{" \n", InvalidJSON, 0, ""},
		{"\xEF\xBB\xBF{}", InvalidJSON, 0, ""},
		{"\xFF\xFE{\x00}\x00", InvalidUTF8, 0, ""},
		{"{} {}", InvalidJSON, 2, ""},
		{"{} x", InvalidJSON, 2, ""},
		{"nul", InvalidJSON, -1, ""},
		{`{"a":[1,]}`, InvalidJSON, -1, "/a"},
		{`{"a":01}`, InvalidJSON, -1, ""},
		{`{"a":NaN}`, InvalidJSON, -1, "/a"},
		{`{'a':1}`, InvalidJSON, -1, ""},
		{`{"a":"x`, InvalidJSON, -1, "/a"},
		{`[`, InvalidJSON, -1, ""},
		{"[\"a\nb\"]", InvalidJSON, -1, "/0"},
		{`{"a":1,"b":2,"a":3}`, DuplicateName, -1, "/a"},
		{`{"x":{"role":1,"r\u006fle":2}}`, DuplicateName, -1, "/x/role"},
		{"{\"a\":\"\xff\"}", InvalidUTF8, 6, "/a"},
		{"{\"\xc3\":1}", InvalidUTF8, 2, ""},
		{`{"a":"\ud800X"}`, InvalidUnicode, 6, "/a"},
		{`{"a":"\udc00"}`, InvalidUnicode, 6, "/a"},
		{`{"\ud800":1}`, InvalidUnicode, 2, ""},
		{`{"a":1e99999}`, LimitNumber, -1, "/a"},
		{`{"a":1e-99999}`, LimitNumber, -1, "/a"},
		{`[0, -2.5E-1025]`, LimitNumber, -1, "/1"},
		{`[1e-99999999999999999999]`, LimitNumber, -1, "/0"},
		{`{"a":` + strings.Repeat("9", 1025) + `}`, LimitNumber, -1, "/a"},
		{strings.Repeat("[", 513) + strings.Repeat("]", 513), LimitDepth, -1, strings.Repeat("/0", 512)},
	}
	for _, c := range cases {
		n, err := Parse([]byte(c.text), DefaultLimits)
		require.Nil(t, n, c.text)
		var bad *DecodeError
		require.True(t, errors.As(err, &bad), c.text)
		require.Equal(t, c.code, bad.Code, "%q: %v", c.text, err)
		if c.offset >= 0 {
			require.Equal(t, c.offset, bad.Offset, "%q: %v", c.text, err)
		}
		if c.code != LimitDepth {
			require.Equal(t, c.path, bad.Path, c.text)
		}
	}
}

func TestEveryLimitOfParseHolds(t *testing.T) {
	text := []byte(`[[1,2],[3,[4]]]`)
	exact := Limits{MaxBytes: len(text), MaxDepth: 3, MaxNodes: 8, MaxNumberLength: 1, MaxExponent: 1}
	n, err := Parse(text, exact)
	require.NoError(t, err)
	require.Equal(t, []int{len(text), 3, 8}, []int{n.Size(), n.Depth(), n.Weight()})
	for code, change := range map[DecodeCode]func(*Limits){
		LimitSize:  func(l *Limits) { l.MaxBytes-- },
		LimitDepth: func(l *Limits) { l.MaxDepth-- },
		LimitNodes: func(l *Limits) { l.MaxNodes-- },
	} {
		tighter := exact
		change(&tighter)
		_, err := Parse(text, tighter)
		var bad *DecodeError
		require.True(t, errors.As(err, &bad))
		require.Equal(t, code, bad.Code)
		require.Equal(t, CodeLimitExceeded, bad.Reply())
		require.Equal(t, code, tighter.Check(n).Code)
	}
	require.Nil(t, exact.Check(n))
	_, err = Parse([]byte(`10`), exact)
	require.ErrorContains(t, err, "a number longer than 1")
	_, err = Parse([]byte(strings.Repeat("[", 20_000)), Limits{})
	require.ErrorContains(t, err, "nested deeper")
}

func TestNoDecodeErrorShowsAValue(t *testing.T) {
	const canary = "kanarienvogel"
	for _, text := range []string{
		`{"a":"kanarienvogel`, `{"a":"kanarienvogel\q"}`, `{"a":kanarienvogel}`, `["kanarienvogel" 1]`,
		`{"a":"\ud800kanarienvogel"}`, "{\"a\":\"\xffkanarienvogel\"}", `["kanarienvogel"] kanarienvogel`,
		`{"a":"kanarienvogel","a":"kanarienvogel"}`, `[nkanarienvogel]`, `[1kanarienvogel]`,
	} {
		_, err := Parse([]byte(text), DefaultLimits)
		require.Error(t, err)
		require.NotContains(t, err.Error(), canary)
	}
}

func TestAcceptedTextsMeanWhatTheStandardLibraryReads(t *testing.T) {
	for _, text := range []string{
		` [ 1 , "a" ] `, `{"b":{"z":null,"a":[true,false]},"a":"\u00e9\n\/\\\""}`, `"\ud83d\udca9"`, `-1.5e3`, `[[],{}]`,
		`{"a":[{"":1}],"` + strings.Repeat("long", 20) + `":"` + strings.Repeat("text", 20) + `"}`,
	} {
		n := parsed(t, text)
		require.JSONEq(t, text, n.String())
		var v any
		require.NoError(t, json.Unmarshal(AppendIndent(nil, n), &v))
	}
}

func TestParseKeepsNothingOfItsInput(t *testing.T) {
	data := []byte(`{"name":"value with some length to it, so that it is not shared","n":123}`)
	n, err := Parse(data, DefaultLimits)
	require.NoError(t, err)
	before := n.String()
	for i := range data {
		data[i] = 'x'
	}
	require.Equal(t, before, n.String())
}

// A bracket or a name that is missing makes a value stand where a name would.
func TestAnErrorShowsNoNameThatNoColonFollows(t *testing.T) {
	const secret = "Zq9secret"
	for text, path := range map[string]string{
		`{"people":{"tags":1,"Zq9secret"],"n":1}}`: "/people",
		`{"people":{"Zq9secret","n":1}}`:           "/people",
		`{"people":{"Zq9secret"}}`:                 "/people",
		`{"a":[{"b":1,"Zq9secret" , "c":2}]}`:      "/a/0",
		`{"Zq9secret"`:                             "",
		`{"a":1,"Zq9secret"`:                       "",
		`{"a":1,"Zq9secret/x~"]`:                   "",
		`{"people":{"tags":1,"Zq9secret" "n"]}`:    "/people",
		"{\"a\":{\"Zq9secret\" \n\t}}":             "/a",
		`{"a":{"Zq9secret\u0041"=1}}`:              "/a",
		`{"a":{"Zq9secret` + "\xff" + `"],"b":1}`:  "/a",
		`{"a":{"Zq9secret\ud800"],"b":1}`:          "/a",
	} {
		for _, limits := range []Limits{DefaultLimits, {MaxNodes: strings.Count(text[:strings.Index(text, secret)], ":") + 1}} {
			_, err := Parse([]byte(text), limits)
			var bad *DecodeError
			require.ErrorAs(t, err, &bad, text)
			require.NotContains(t, err.Error(), secret[:3], text)
			if limits == DefaultLimits {
				require.Equal(t, path, bad.Path, text)
			}
		}
	}
	for text, path := range map[string]string{`{"a":{"b" : }}`: "/a/b", `{"a":{"b":`: "/a/b", `{"a" : nul}`: "/a"} {
		_, err := Parse([]byte(text), DefaultLimits)
		var bad *DecodeError
		require.ErrorAs(t, err, &bad, text)
		require.Equal(t, path, bad.Path, text)
	}
}

// Equal names are kept once, in whatever order a text has them, and sorted.
func TestObjectsOfOneShapeShareTheirNames(t *testing.T) {
	n, err := Parse([]byte(`[{"b":1,"a":2},{"a":3},{"b":4,"a":5},{"\u0061":6},{"a":7,"b":8},{"b":9,"a":{"b":10,"a":11}}]`), DefaultLimits)
	require.NoError(t, err)
	require.Equal(t, `[{"a":2,"b":1},{"a":3},{"a":5,"b":4},{"a":6},{"a":7,"b":8},{"a":{"a":11,"b":10},"b":9}]`, n.String())
	names := func(i int) *string { return &n.At(i).root.names[0] }
	require.Same(t, names(0), names(2))
	require.Same(t, names(0), names(5))
	require.Same(t, names(1), names(3))
	same := n.At(0).MapMembers(func(string, *Node) *Node { return NewInt(7) })
	require.Same(t, names(0), &same.root.names[0])
	less := n.At(0).MapMembers(func(name string, child *Node) *Node {
		if name == "a" {
			return nil
		}
		return child
	})
	require.Equal(t, `{"b":1}`, less.String())
}

// Values that occur again and again are kept once: a text is no number, though it looks like it.
func TestShortValuesOfALargeTextAreKeptOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString(`[`)
	for i := range 500 {
		fmt.Fprintf(&text, `["open","7",7,7.0,-0,"\u006fpen","%d",%d],`, i, i)
	}
	text.WriteString(`null]`)
	n, err := Parse([]byte(text.String()), DefaultLimits)
	require.NoError(t, err)
	for i := range 500 {
		want := fmt.Sprintf(`["open","7",7,7.0,0,"open","%d",%d]`, i, i)
		require.Equal(t, want, n.At(i).String())
	}
	distinct := map[*Node]bool{}
	for i := range 500 {
		distinct[n.At(i).At(0)] = true
	}
	require.Less(t, len(distinct), 100)
}
