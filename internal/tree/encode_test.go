package tree

import (
	"math/rand"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestTheEncodingReadsBackAsItselfAndHasTheRememberedSize(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range rounds(20_000) {
		n := randomNode(r, 4)
		text := AppendJSON(nil, n)
		back := parsed(t, string(text))
		if string(AppendJSON(nil, back)) != string(text) || n.Size() != len(text) || back.Digest() != n.Digest() {
			require.Fail(t, "round trip", "%s", text)
		}
		if back.Weight() != n.Weight() || back.Depth() != n.Depth() {
			require.Fail(t, "summary", "%s", text)
		}
		require.True(t, Equal(n, parsed(t, string(AppendIndent(nil, n)))))
	}
}

func TestMembersAreWrittenInCodePointOrder(t *testing.T) {
	require.Equal(t, `{"":0,"A":1,"a":2,"é":3,"ﬀ":4,"😀":5}`,
		parsed(t, `{"😀":5,"ﬀ":4,"a":2,"é":3,"A":1,"":0}`).String())
}

func TestStringsAreQuotedAsTheCanonicalFormOfRFC8785(t *testing.T) {
	for c := rune(0); c < 0x3000; c++ {
		s := "x" + string(c) + "y"
		want, err := jsontext.AppendQuote(nil, s)
		require.NoError(t, err)
		if got := appendQuoted(nil, s); string(got) != string(want) || quotedLen(s) != len(want) {
			require.Fail(t, "quoting", "%q: %s", s, got)
		}
	}
}

func TestIndentedOutputIsLaidOutTwoSpacesALevel(t *testing.T) {
	n := parsed(t, `{"b":[1,{"c":null}],"a":{},"d":[]}`)
	require.Equal(t, `{
  "a": {},
  "b": [
    1,
    {
      "c": null
    }
  ],
  "d": []
}`, string(AppendIndent(nil, n)))
}

func TestASetIsWrittenSortedAndALogAsItGrew(t *testing.T) {
	n := parsed(t, `["b",2,"a",10,{"x":1}]`)
	require.Equal(t, `["a","b",10,2,{"x":1}]`, n.WithOrder(SetOrder).String())
	require.Equal(t, `["b",2,"a",10,{"x":1}]`, n.WithOrder(LogOrder).String())
	require.Equal(t, `["a","b",10,2,{"x":1}]`, n.WithOrder(SetOrder).WithOrder(ListOrder).String(), "no order tells how a set came to be")
}

func TestNoOrderTellsHowASetGrew(t *testing.T) {
	n := parsed(t, `{"s":[]}`)
	n = n.With("s", n.Get("s").WithOrder(SetOrder))
	for _, e := range []string{`"b"`, `10`, `"a"`, `{"x":1}`, `9`, `"b"`, `[]`} {
		patch, problems := ParsePatch([]byte(`[{"op":"add","path":"/s/-","value":`+e+`}]`), DefaultPatchLimits)
		require.Empty(t, problems)
		next, _, problem := ApplyAll(n, patch)
		require.Nil(t, problem)
		n = next
	}
	var elements []*Node
	for _, e := range n.Get("s").Elements() {
		elements = append(elements, e)
	}
	require.Equal(t, `["a","b",10,9,[],{"x":1}]`, NewArray(elements).String())
}

func TestBytesThatAreNotUTF8NeverReachANode(t *testing.T) {
	n := NewObject(map[string]*Node{"a\xff": NewString("b\xff")}).With("c\xff", NewNull())
	require.Equal(t, "{\"a\uFFFD\":\"b\uFFFD\",\"c\uFFFD\":null}", n.String())
}

func TestNewObjectLeavesOutAbsentMembers(t *testing.T) {
	require.Equal(t, `{"b":true}`, NewObject(map[string]*Node{"a": nil, "b": NewBool(true)}).String())
	require.Equal(t, `absent`, (*Node)(nil).String())
}
