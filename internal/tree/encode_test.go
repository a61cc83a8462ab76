package tree

import (
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestALongTextIsCutAtACharacter(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a", 100), strings.Repeat("é", 100), strings.Repeat("€", 100), strings.Repeat("😀", 100),
		strings.Repeat("/~0~1", 100), "short", "",
	} {
		for most := 3; most < 60; most++ {
			got := Shorten(text, most)
			require.LessOrEqual(t, len(got), most)
			require.True(t, utf8.ValidString(got), "%q", got)
			if len(text) <= most {
				require.Equal(t, text, got)
				continue
			}
			begin, cut := strings.CutSuffix(got, "…")
			require.True(t, cut && strings.HasPrefix(text, begin), "%q", got)
			require.GreaterOrEqual(t, len(begin), most-len("…")-4, "no more than a character is lost")
			require.False(t, strings.HasSuffix(begin, "~"), "an escape is not cut in two: %q", got)
		}
	}
}

func TestAPointerIsRefusedByItsLimitsBeforeItIsRead(t *testing.T) {
	limits := DefaultPatchLimits
	limits.MaxTokens, limits.MaxPointerBytes = 3, 12
	for pointer, fits := range map[string]bool{
		"/a/b/c": true, "": true, "///": true, "/abcdefghijk": true,
		"/a/b/c/d": false, "////": false, "/0/0/0/0": false, "/abcdefghijkl": false, "/ééééééé": false,
	} {
		for _, op := range []string{`{"op":"add","path":"` + pointer + `","value":1}`, `{"op":"copy","path":"","from":"` + pointer + `"}`} {
			_, problems := ParsePatch([]byte("["+op+"]"), limits)
			_, again := PatchOf(parsed(t, "["+op+"]"), limits)
			require.Equal(t, problems, again)
			require.Equal(t, fits, len(problems) == 0, "%s", op)
			if !fits {
				require.Equal(t, CodeLimitExceeded, problems[0].Code)
			}
		}
	}
}

func TestThePointersOfAPatchAreBoundedTogether(t *testing.T) {
	limits := DefaultPatchLimits
	limits.MaxPatchTokens = 6
	for patch, fits := range map[string]bool{
		`[{"op":"remove","path":"/a/b/c"},{"op":"test","path":"/a/b/c","value":1}]`:                                     true,
		`[{"op":"move","from":"/a/b/c","path":"/a/b/d"},{"op":"add","path":"","value":1}]`:                              true,
		`[{"op":"remove","path":"/a/b/c"},{"op":"test","path":"/a/b/c/d","value":1}]`:                                   false,
		`[{"op":"copy","from":"/a/b/c","path":"/a/b/c/d"}]`:                                                             false,
		`[{"op":"remove","path":"///"},{"op":"remove","path":"///"},{"op":"remove","path":"/"},{"op":"nop","path":""}]`: false,
	} {
		_, problems := ParsePatch([]byte(patch), limits)
		_, again := PatchOf(parsed(t, patch), limits)
		require.Equal(t, problems, again)
		if fits {
			require.Empty(t, problems, patch)
			continue
		}
		require.Equal(t, CodeLimitExceeded, problems[0].Code)
		require.Equal(t, WholePatch, problems[0].Index)
		require.Contains(t, problems[0].Message, "more than 6 tokens together")
		limits.MaxPatchTokens = 0
		_, problems = ParsePatch([]byte(patch), limits)
		require.LessOrEqual(t, len(problems), 1)
		limits.MaxPatchTokens = 6
	}
}

func TestWithoutALimitAPointerStillHasAnEnd(t *testing.T) {
	_, problems := ParsePatch([]byte(`[{"op":"remove","path":"`+strings.Repeat("/a", 4_000_000)+`"}]`), PatchLimits{})
	require.Len(t, problems, 1)
	require.Equal(t, CodeLimitExceeded, problems[0].Code)
	_, problems = ParsePatch([]byte(`[{"op":"remove","path":"/a/b"}]`), PatchLimits{})
	require.Empty(t, problems)
}

// The way to a wide value is made anew for each view; what is below it is encoded once.
func TestTheEncodingIsRememberedByWhatHoldsMuch(t *testing.T) {
	members := map[string]*Node{}
	for i := range 300 {
		members["k"+strconv.Itoa(i)] = NewObjectOf("v", NewInt(int64(i)))
	}
	wide := NewObject(members)
	for range 3 {
		root := NewObjectOf("wide", wide)
		require.Equal(t, root.String(), string(AppendRemembered(nil, root)))
		require.Nil(t, root.root.memos.head.Load())
	}
	leaf := wide.root
	for leaf.height > 0 {
		leaf = leaf.kids[0]
	}
	require.NotNil(t, leaf.memos.head.Load())
	for _, n := range []*Node{wide.With("k7", NewString("x\ny")), wide.With("new", wide)} {
		require.Equal(t, n.String(), string(AppendRemembered(nil, n)))
	}
}
