package lint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/verify"
)

// What the rules about conditions say is so of every state: of drawn conditions over a small
// state, in which every bound is met, the states that are drawn never show otherwise.

const world = `contract c
state {
  n:     int where { self >= 0 && self <= 4 }
  m:     int
  x:     number where { self > 0.5 }
  kind:  "a" | "b" | "c"
  level: 1 | 2 | 3
  flag:  bool
  o?:    int where { self < 3 }
  free:  any
  tags:  (set of string) where { size(self) <= 2 }
  items: map of Item
}
type Item { q: int where { self > 0 }  s: "u" | "v"  r?: string }
phases { p -> q by host  q }
measure many = count /items/*
`

// condition draws one over state, or over an entry t of /items.
func condition(t *rapid.T, depth int, entry bool) string {
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "deeper") > 0 {
		a, b := condition(t, depth-1, entry), condition(t, depth-1, entry)
		switch rapid.IntRange(0, 4).Draw(t, "joined") {
		case 0, 1:
			return "(" + a + " && " + b + ")"
		case 2, 3:
			return "(" + a + " || " + b + ")"
		}
		return "!(" + a + ")"
	}
	how := rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(t, "how")
	same := rapid.SampledFrom([]string{"==", "!="}).Draw(t, "same")
	n := rapid.IntRange(-1, 5).Draw(t, "n")
	if entry {
		return rapid.SampledFrom([]string{
			fmt.Sprintf("t.q %s %d", how, n), fmt.Sprintf("t.s %s \"u\"", same), "has(t.r)", "(!has(t.r) || t.r == \"\")", fmt.Sprintf("t.q %s state.m", how), "t.s in [\"u\", \"v\"]",
		}).Draw(t, "fact")
	}
	return rapid.SampledFrom([]string{
		fmt.Sprintf("state.n %s %d", how, n), fmt.Sprintf("%d %s state.m", n, how), fmt.Sprintf("state.n %s state.m", how), fmt.Sprintf("state.m %s state.n", how),
		fmt.Sprintf("state.x %s %d.5", how, max(n, 0)), fmt.Sprintf("state.kind %s \"%c\"", same, 'a'+max(n, 0)%3), "state.kind in [\"a\", \"c\"]", fmt.Sprintf("state.level %s %d", how, n),
		"state.flag", "!state.flag", "has(state.o)", fmt.Sprintf("(!has(state.o) || state.o %s %d)", how, n), fmt.Sprintf("(has(state.o) && state.o %s %d)", how, n),
		fmt.Sprintf("size(state.tags) %s %d", how, n), fmt.Sprintf("state.items.size() %s %d", how, n), fmt.Sprintf("many %s %d", how, n), "phase == \"p\"", "phase != \"q\"",
		fmt.Sprintf("(state.flag ? state.n %s %d : state.m %s %d)", how, n, how, n), "state.items.exists(k, state.items[k].q > 1)", fmt.Sprintf("state.free %s %d", same, n), "\"x\" in state.tags",
		fmt.Sprintf("state.n in [%d, %d]", n, n+2),
	}).Draw(t, "fact")
}

func drawnState(t *rapid.T) string {
	n := func() int { return rapid.IntRange(-1, 5).Draw(t, "value") }
	s := map[string]any{
		"n": rapid.IntRange(0, 4).Draw(t, "n"), "m": n(), "x": rapid.SampledFrom([]float64{0.6, 1, 1.5, 2, 3.5, 4.5, 9}).Draw(t, "x"),
		"kind": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "kind"), "level": rapid.IntRange(1, 3).Draw(t, "level"), "flag": rapid.Bool().Draw(t, "flag"),
		"free": rapid.SampledFrom([]any{1, 2, "a", nil, true}).Draw(t, "free"), "tags": rapid.SampledFrom([][]string{{}, {"x"}, {"x", "y"}}).Draw(t, "tags"),
	}
	if rapid.Bool().Draw(t, "has o") {
		s["o"] = rapid.IntRange(-1, 2).Draw(t, "o")
	}
	items := map[string]any{}
	for i := range rapid.IntRange(0, 3).Draw(t, "items") {
		item := map[string]any{"q": rapid.IntRange(1, 5).Draw(t, "q"), "s": rapid.SampledFrom([]string{"u", "v"}).Draw(t, "s")}
		if rapid.Bool().Draw(t, "has r") {
			item["r"] = rapid.SampledFrom([]string{"", "z"}).Draw(t, "r")
		}
		items[fmt.Sprint("k", i)] = item
	}
	s["items"] = items
	text, _ := json.Marshal(s)
	return string(text)
}

func TestWhatIsSaidOfConditionsIsSoOfEveryState(t *testing.T) {
	said := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		text := world
		for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
			if rapid.IntRange(0, 3).Draw(t, "each") == 0 {
				text += fmt.Sprintf("invariant i%d each t in /items/* { %s }\n", i, condition(t, 2, true))
			} else {
				text += fmt.Sprintf("invariant i%d { %s }\n", i, condition(t, 3, false))
			}
		}
		files := fstest.MapFS{"c.poptic": {Data: []byte(text)}}
		out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "c.poptic"})
		require.NoError(t, err)
		if out.Contract == nil {
			t.Skip("it does not compile")
		}
		found, err := lint.Findings(context.Background(), lint.Input{Output: out, FS: files, Path: "c.poptic"})
		require.NoError(t, err)
		program, err := verify.Load(out.Contract, verify.DefaultLimits())
		require.NoError(t, err)
		nameOf := func(offset int) string {
			line := text[strings.LastIndexByte(text[:offset], '\n')+1:]
			return strings.Fields(line)[1]
		}
		for range 25 {
			state := drawnState(t)
			node, err := program.Import([]byte(state))
			require.NoError(t, err)
			for _, phase := range []string{"p", "q"} {
				violated := map[string]bool{}
				for _, v := range program.CheckAll(context.Background(), node, phase) {
					violated[strings.TrimPrefix(v.Rule, "invariant ")] = true
				}
				for _, d := range found {
					rule := nameOf(d.Span.Start)
					switch d.Code {
					case "never_holds":
						alone := strings.Contains(d.Message, "no state keeps it")
						over := strings.Contains(text, "invariant "+rule+" each")
						require.False(t, alone && !over && !violated[rule] || !alone && len(violated) == 0, "%s\n%s in %s\n%+v", text, state, phase, d)
						require.False(t, over && !violated[rule] && node.Member("items").Len() > 0, "%s\n%s in %s\n%+v", text, state, phase, d)
					case "always_holds":
						require.False(t, violated[rule], "%s\n%s in %s\n%+v", text, state, phase, d)
					case "implied_invariant":
						by := nameOf(d.Related[0].Span.Start)
						require.False(t, violated[rule] && !violated[by], "%s\n%s in %s\n%+v", text, state, phase, d)
					}
				}
			}
		}
		for _, d := range found {
			said[d.Code]++
		}
	})
	if testing.Short() {
		return // few are drawn
	}
	for _, code := range []string{"never_holds", "always_holds", "implied_invariant"} {
		require.Positive(t, said[code], "no %s was drawn: %v", code, said)
	}
}
