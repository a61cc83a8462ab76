package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// macros are those of the tests, each "name(params) = body" or "name = body".
func macros(t *testing.T, lines ...string) Macros {
	all := map[string]*Macro{}
	find := func(name string) *Macro { return all[name] }
	for _, line := range lines {
		head, body, ok := strings.Cut(line, " = ")
		require.True(t, ok)
		m := &Macro{Body: body, In: find}
		m.Name, head, m.Call = strings.Cut(head, "(")
		for p := range strings.SplitSeq(strings.TrimSuffix(head, ")"), ", ") {
			if p != "" {
				m.Params = append(m.Params, p)
			}
		}
		all[m.Name] = m
	}
	return find
}

func macroEnv(t *testing.T) *Env {
	t.Helper()
	c := &ir.Contract{Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1}
	e, err := New(c, Default())
	require.NoError(t, err)
	return e
}

var someMacros = []string{
	"LIMIT = 10", "LOW = -1", "lib.MAX = 7", "TEXT = \"a // b\"",
	"open(t) = t.status == \"open\" // that is all", "never() = false",
	"has_one(l, v) = l.exists(x, x.n == v)", "nested(v) = state.l.all(x, has_one(state.m, x.n + v))",
	"bound(v) = cel.bind(x, v.n, x > 1)", "twice(v) = v + v", "lib.small(n) = n < LIMIT",
	"neither(b) = !b", "one(n) = n ? 1 : 2", "rest(b) = 10 - one(b)",
	"measured(n) = n < paid", "pairs(m, v) = m.all(k, e, e == v)",
}

func TestDefinitionsAreWrittenOut(t *testing.T) {
	e, all := macroEnv(t), macros(t, someMacros...)
	for src, want := range map[string]string{
		"state.n < LIMIT":                                                "state.n < 10",
		"state.n - LOW > 0":                                              "state.n - (-1) > 0",
		"state.n < lib.MAX && lib.MAX.x":                                 "state.n < 7 && 7.x",
		"open(state.t) || never()":                                       `(state.t.status == "open") || false`,
		"open(state.m[state.k])":                                         `(state.m[state.k].status == "open")`,
		"twice(state.a + 1) == 2":                                        "((state.a + 1) + (state.a + 1)) == 2",
		"twice(twice(LIMIT)) == 2":                                       "((10 + 10) + (10 + 10)) == 2",
		"state.l.all(x, has_one(state.m, x.n))":                          "state.l.all(x, state.m.exists(x_, x_.n == x.n))",
		"state.l.all(x_, has_one(x_, x_.n))":                             "state.l.all(x_, x_.exists(x, x.n == x_.n))",
		"nested(state.l.size())":                                         "state.l.all(x, state.m.exists(x_, x_.n == (x.n + state.l.size())))",
		"state.l.all(x, bound(x))":                                       "state.l.all(x, cel.bind(x_, x.n, x_ > 1))",
		"state.l.all(k, pairs(state.m, k))":                              "state.l.all(k, state.m.all(k_, e, e == k))",
		"lib.small(LOW)":                                                 "((-1) < 10)",
		"neither(state.b ? state.x : state.y)":                           "(!(state.b ? state.x : state.y))",
		"rest(state.b) == 9":                                             "(10 - (state.b ? 1 : 2)) == 9",
		"state.l.all(LIMIT, LIMIT > 1)":                                  "state.l.all(LIMIT, LIMIT > 1)",
		"state.LIMIT == lib.other && x.open == 1":                        "state.LIMIT == lib.other && x.open == 1",
		"state.t == TEXT":                                                `state.t == "a // b"`,
		"twice(state.?a.optMap(z, z - 1).orValue(1))":                    "(state.?a.optMap(z, z - 1).orValue(1) + state.?a.optMap(z, z - 1).orValue(1))",
		`twice(state.m[?"k"].a.optFlatMap(z, z.?b).orValue(1))`:          `(state.m[?"k"].a.optFlatMap(z, z.?b).orValue(1) + state.m[?"k"].a.optFlatMap(z, z.?b).orValue(1))`,
		"twice((state.b ? state.?x : state.?y).optMap(z, z).orValue(1))": "((state.b ? state.?x : state.?y).optMap(z, z).orValue(1) + (state.b ? state.?x : state.?y).optMap(z, z).orValue(1))",
		"twice(optional.of(LIMIT).optMap(z, z).value())":                 "(optional.of(10).optMap(z, z).value() + optional.of(10).optMap(z, z).value())",
		"twice(state.b ? [1].optMap(z, z).value() : 2)":                  "((state.b ? [1].optMap(z, z).value() : 2) + (state.b ? [1].optMap(z, z).value() : 2))",
		"state.é == LIMIT":                                               "state.é == LIMIT", // it does not parse
	} {
		x, issues := e.Expand(src, all)
		require.Empty(t, issues, src)
		require.Equal(t, want, x.Text, src)
	}
	x, _ := e.Expand("LIMIT > 1", all, "LIMIT")
	require.Equal(t, "LIMIT > 1", x.Text, "a variable of the scope")
}

func TestAWrongUseOfADefinitionIsSaidWhereItStands(t *testing.T) {
	e, all := macroEnv(t), macros(t, append(someMacros, "circle(n) = other(n)", "other(n) = n > 0 && circle(n - 1)", "broken(n) = n >")...)
	for marked, want := range map[string]string{
		"«open» == 1":                           "is a definition that takes 1 argument",
		"«LIMIT»(2) == 1":                       "`LIMIT` is a constant, not a function",
		"true && «open()»":                      "`open` takes 1 argument, not 0",
		"«has_one(state.l)»":                    "`has_one` takes 2 arguments, not 1",
		"state.l.all(paid, «measured»(1))":      "uses `paid`, which means something else here",
		"state.l.all(state, «nested»(state.n))": "uses `state`, which means something else here",
	} {
		src := strings.NewReplacer("«", "", "»", "").Replace(marked)
		x, issues := e.Expand(src, all)
		require.Len(t, issues, 1, src)
		require.Contains(t, issues[0].Message, want)
		require.Equal(t, marked, src[:issues[0].Start]+"«"+src[issues[0].Start:issues[0].End]+"»"+src[issues[0].End:])
		require.Equal(t, src, x.Text)
	}
	_, issues := e.Body(all("circle"))
	require.Len(t, issues, 1, "the circle leads through another one")
	_, issues = e.Body(all("other"))
	require.Empty(t, issues, "that is said of one of them")
	_, issues = e.Expand("circle(state.n) && broken(1)", all)
	require.Empty(t, issues)
}

func TestADefinitionThatNamesItselfIsRecursive(t *testing.T) {
	e := macroEnv(t)
	for _, body := range []string{"n > 0 && f(n - 1)", "state.l.all(x, f(x))", "[f(1)][0]"} {
		all := macros(t, "f(n) = "+body)
		_, issues := e.Body(all("f"))
		require.Len(t, issues, 1, body)
		require.Equal(t, RecursiveDefinition, issues[0].Code)
		require.Equal(t, "f", body[issues[0].Start:issues[0].End])
	}
}

func TestDefinitionsThatGrowTooLargeAreRefused(t *testing.T) {
	e := macroEnv(t)
	lines := []string{"d0(n) = n + n + n + n"}
	for i := range 12 {
		a, b := string(rune('0'+i)), string(rune('0'+i+1))
		lines = append(lines, "d"+b+"(n) = d"+a+"(n) + d"+a+"(n)")
	}
	_, issues := e.Expand("d<(state.n) == 1", macros(t, lines...))
	require.Empty(t, issues, "no name")
	_, issues = e.Expand("d9(d9(d9(state.n))) == 1", macros(t, lines...))
	require.NotEmpty(t, issues)
	require.Equal(t, TooLarge, issues[0].Code)

	lines = []string{"d0(n) = n + n", "c0(n) = n"}
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("d%d(n) = d%d(d%d(n))", i+1, i, i), fmt.Sprintf("c%d(n) = c%d(n)", i+1, i))
	}
	for _, src := range []string{"d5(state.n) > 0", "d400(state.n) > 0", "c200(state.n) > 0"} {
		_, issues = e.Expand(src, macros(t, lines...))
		require.Len(t, issues, 1, src)
		require.Equal(t, TooLarge, issues[0].Code, src)
	}
	_, issues = e.Expand("c63(state.n) > 0", macros(t, lines...))
	require.Empty(t, issues)
}

// What is found is placed where it was written, also in arguments of arguments.
func TestPlacesInAnExpansionAreThoseOfTheTextsTheyWereWrittenIn(t *testing.T) {
	e, all := macroEnv(t), macros(t, someMacros...)
	src := "open(state.t) && has_one(state.l, LIMIT + state.n)"
	x, _ := e.Expand(src, all)
	at := func(part string) (string, string, int) {
		i := strings.Index(x.Text, part)
		require.GreaterOrEqual(t, i, 0, "%s in %s", part, x.Text)
		p, uses := x.Place(i, i+len(part))
		if p.Of == nil {
			return "", src[p.Start:p.End], len(uses)
		}
		return p.Of.Name, p.Of.Body[p.Start:p.End], len(uses)
	}
	for part, want := range map[string][2]string{
		"state.t": {"", "state.t"}, "state.n": {"", "state.n"}, "&&": {"", "&&"},
		`"open"`: {"open", `"open"`}, "state.t.status": {"open", "t.status"}, ".n ==": {"has_one", ".n =="},
		"10": {"LIMIT", "10"}, "10 + state": {"", "LIMIT + state"},
	} {
		of, text, uses := at(part)
		require.Equal(t, want, [2]string{of, text}, part)
		require.Equal(t, of != "", uses > 0, part)
	}
}
