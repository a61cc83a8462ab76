package tree

import (
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

func TestPointersReadAsTheExamplesOfRFC6901(t *testing.T) {
	doc := parsed(t, `{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`)
	for text, want := range map[string]string{
		"/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/": `0`, "/a~1b": `1`, "/c%d": `2`, "/e^f": `3`, "/g|h": `4`,
		`/i\j`: `5`, `/k"l`: `6`, "/ ": `7`, "/m~0n": `8`, "": doc.String(),
	} {
		p, err := ParsePointer(text)
		require.NoError(t, err)
		got, err := Find(doc, p)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
}

func TestAMalformedPointerIsRefused(t *testing.T) {
	for _, text := range []string{"a", "a/b", "#/a", "~", "/~", "/~2", "/a~", "/a/~x/b", "/\xff"} {
		_, err := ParsePointer(text)
		var bad *PointerError
		require.True(t, errors.As(err, &bad), text)
		require.NotEmpty(t, bad.Message)
	}
}

func TestAPointerWritesBackAsItWasRead(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	const letters = "~/01a é"
	for range rounds(50_000) {
		p := make(Pointer, r.Intn(4))
		for i := range p {
			for range r.Intn(4) {
				p[i] += string([]rune(letters)[r.Intn(len([]rune(letters)))])
			}
		}
		back, err := ParsePointer(p.String())
		if err != nil || strings.Join(back, "|") != strings.Join(p, "|") || len(back) != len(p) {
			require.Fail(t, "round trip", "%q", p)
		}
	}
}

func TestTypedWordsTellKeysFromIndices(t *testing.T) {
	doc := parsed(t, `{"o":{"0":{"1":2}},"l":[[5]],"s":"text"}`)
	doc = doc.With("log", parsed(t, `[1]`).WithOrder(LogOrder))
	k, i := region.Key, region.Index
	for _, c := range []struct {
		path string
		word region.Word
		node string
		code Code
		at   int
	}{
		{"", region.Word{}, doc.String(), "", 0},
		{"/o/0/1", region.Word{k("o"), k("0"), k("1")}, "2", "", 0},
		{"/l/0/0", region.Word{k("l"), i(0), i(0)}, "5", "", 0},
		{"/l/-", region.Word{k("l"), i(1)}, "absent", "", 0},
		{"/l/7", region.Word{k("l"), i(7)}, "absent", "", 0},
		{"/new", region.Word{k("new")}, "absent", "", 0},
		{"/log/-", region.Word{k("log"), region.Fresh("-")}, "absent", "", 0},
		{"/log/0", region.Word{k("log"), k("0")}, "absent", CodeTypeMismatch, 1},
		{"/log/-/x", region.Word{k("log"), k("-"), k("x")}, "absent", CodeTypeMismatch, 1},
		{"/l/01", region.Word{k("l"), k("01")}, "absent", CodePointerSyntax, 1},
		{"/l/0/+1", region.Word{k("l"), i(0), k("+1")}, "absent", CodePointerSyntax, 2},
		{"/l/99999999999999999999", region.Word{k("l"), k("99999999999999999999")}, "absent", CodeOutOfRange, 1},
		{"/l/1/x", region.Word{k("l"), i(1), k("x")}, "absent", CodeOutOfRange, 2},
		{"/l/-/x", region.Word{k("l"), i(1), k("x")}, "absent", CodePathMissing, 2},
		{"/s/x/y", region.Word{k("s"), k("x"), k("y")}, "absent", CodeTypeMismatch, 1},
		{"/no/x/-", region.Word{k("no"), k("x"), region.Fresh("-")}, "absent", CodePathMissing, 1},
	} {
		p, err := ParsePointer(c.path)
		require.NoError(t, err)
		word, node, stop := typedWord(region.Word{}, doc, p)
		require.Equal(t, c.word, word, c.path)
		require.Equal(t, c.node, node.String(), c.path)
		if c.code == "" {
			require.Nil(t, stop, c.path)
			require.Same(t, NodeAt(doc, word), node)
			continue
		}
		require.NotNil(t, stop, c.path)
		require.Equal(t, c.code, stop.Code, c.path)
		require.Equal(t, c.at, stop.Typed, c.path)
		_, err = Find(doc, p)
		require.Error(t, err)
	}
}
