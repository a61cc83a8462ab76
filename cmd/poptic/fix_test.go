package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// mended fixes a text that is the whole contract.
func mended(t *testing.T, text string) (f *fixer, before, after *judgement) {
	t.Helper()
	f = &fixer{name: "a.poptic", judge: func(text []byte) (*ir.Contract, []source.Diagnostic, error) {
		return judgeText(silent(), "a.poptic", text, "", nil, configurations{})
	}, room: mostJudged}
	before, err := f.look([]byte(text))
	require.NoError(t, err)
	fixed, err := f.fix([]byte(text))
	require.NoError(t, err)
	f.room = mostJudged
	after, err = f.look(fixed)
	require.NoError(t, err)
	return f, before, after
}

func TestNoTextIsWorseAfterItsFixes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	text, err := os.ReadFile("testdata/desk/desk.poptic")
	require.NoError(t, err)
	rounds, better := 60, 0
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		broken := slices.Clone(text)
		for range 1 + random.IntN(4) {
			i := random.IntN(len(broken) - 1)
			switch random.IntN(3) {
			case 0:
				broken = slices.Delete(broken, i, i+1)
			case 1:
				broken[i], broken[i+1] = broken[i+1], broken[i]
			case 2:
				broken[i] = "abc{}()/,:"[random.IntN(10)]
			}
		}
		f, before, after := mended(t, string(broken))
		require.LessOrEqual(t, slices.Compare(after.counts[:], before.counts[:]), 0, string(broken))
		require.Equal(t, len(f.fixed) > 0, string(after.text) != string(broken))
		if after.counts != before.counts {
			better++
		}
	}
	require.Greater(t, better, rounds/5)
}

func TestWhatLetsAStageSeeMoreIsNotFixed(t *testing.T) {
	for _, text := range []string{
		"contract a\nstate { a: int  b: int }\nstage s {\n  read  /a\n  write /b\n}\n",
		"contract a\nstate { a: int  b: int }\nstage s {\n  write /b\n}\n",
		"contract a\nstate { a: int  b: { c: int  d: int } }\nstage s {\n  read  /b except /b/c\n  write /b/c\n}\n",
	} {
		f, _, after := mended(t, text)
		require.Empty(t, f.fixed)
		require.Equal(t, text, string(after.text))
		require.NotEmpty(t, after.found)
	}
}

func TestAChoiceOfFixesIsLeftToTheAuthor(t *testing.T) {
	f := &fixer{}
	file := source.NewFile("a.poptic", "some text")
	at := source.Span{File: file, Start: 0, End: 4}
	now := &judgement{text: []byte(file.Text), found: []source.Diagnostic{
		{Fixes: []source.Fix{{Span: at, Text: "this"}, {Span: at, Text: "that"}}},
		{Fixes: []source.Fix{{Span: at, Text: "some"}}},
		{Fixes: []source.Fix{{Span: source.Span{File: source.NewFile("b.poptic", "other text"), Start: 0, End: 5}, Text: "x"}}},
		{Fixes: []source.Fix{{Span: at, Text: "more", Widens: true}}},
	}}
	require.Empty(t, f.suggestions(now))
	now.found = append(now.found, source.Diagnostic{Fixes: []source.Fix{{Span: at, Text: "any"}}})
	require.Len(t, f.suggestions(now), 1)
}

func TestAStepIsKeptOnlyIfItMakesTheFileBetter(t *testing.T) {
	at := func(counts ...int) *judgement { return &judgement{counts: [4]int(counts)} }
	for _, c := range []struct{ before, after *judgement }{
		{at(2, 0, 2, 2), at(1, 5, 9, 9)},
		{at(1, 2, 3, 3), at(1, 1, 9, 9)},
		{at(0, 0, 2, 2), at(0, 0, 1, 7)},
		{at(0, 0, 0, 2), at(0, 0, 0, 1)},
	} {
		require.True(t, c.after.betterThan(c.before))
		require.False(t, c.before.betterThan(c.after))
		require.False(t, c.after.betterThan(c.after))
	}
}
