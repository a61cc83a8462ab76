package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// holders are types with a reference somewhere inside, spelt with X for what holds it.
var holders = map[string]string{
	"map": "map of X", "log": "log of X", "set": "set of X", "list": "list of X", "record": "{ a: X }",
	"optional member": "{ a?: X }", "further members": "{ n: int *: X }", "keyed list": "list of { id: string y: X } by id",
	"union": "X | null", "tagged": `{ k: "a" y: X } | { k: "b" }`,
}

func holding(outer, inner string) string {
	return strings.Replace(outer, "X", "("+inner+")", 1)
}

func TestARemovalTellsOfReferencesWhereverTheyAreHeld(t *testing.T) {
	const contract = `contract c sealed
state { x: map of int  u: %s }
stage s { read %s write /x }
`
	for outer, above := range holders {
		for inner, below := range holders {
			u := holding(above, holding(below, "key of /x"))
			hidden := compile(fmt.Sprintf(contract, u, "/x"))
			require.NotEmpty(t, hidden.Diagnostics, "%s of %s", outer, inner)
			for _, d := range hidden.Diagnostics {
				require.Equal(t, "undisclosed_gate", d.Code, "%s of %s: %s", outer, inner, d.Message)
			}
			requireFindings(t, fmt.Sprintf(contract, u, "/x, /u"), nil)
		}
	}
}

// No log is among them, and a key stands on the way at each level.
func TestARemovalTellsOfReferencesInListsByKeyAtAnyDepth(t *testing.T) {
	const contract = `contract c sealed
state { p: map of string  z: %s }
stage s { read %s  write /p }
`
	for _, z := range []string{
		"list of { id: string  x: map of (list of { id: string  y: key of /p } by id) } by id",
		"list of { id: string  x: list of { id: string  y: list of { id: string  w: key of /p } by id } by id } by id",
		"map of (list of { id: string  y?: map of (map of key of /p) } by id)",
		"list of { id: string  x: null | { y: list of { id: string  w: set of key of /p } by id } } by id",
	} {
		hidden := compile(fmt.Sprintf(contract, z, "/p"))
		require.NotEmpty(t, hidden.Diagnostics, z)
		for _, d := range hidden.Diagnostics {
			require.Equal(t, "undisclosed_gate", d.Code, "%s: %s", z, d.Message)
		}
		requireFindings(t, fmt.Sprintf(contract, z, "/p, /z"), nil)
	}
}

func TestARemovalTellsOfReferencesBesideThoseThatTheStageWrites(t *testing.T) {
	const contract = `contract c sealed
state { x: map of int  z: map of key of /x }
stage s(p in /z) { read /x, %s  write /x, /z/{p} }
`
	requireFindings(t, fmt.Sprintf(contract, "/z/{p}"), []finding{{"undisclosed_gate", "s", "does not see /z/*"}})
	requireFindings(t, fmt.Sprintf(contract, "/z"), nil)
}

func TestAnEntryThatAnExceptionNamesIsNotSeenWithTheOthers(t *testing.T) {
	const contract = `contract c sealed
state { limit: int  h: map of int  m: map of map of int }
invariant within each e in %s { e <= state.limit }
stage s { read /limit, %s  write /limit }
`
	for _, c := range []struct{ over, read, hidden string }{
		{"/h/*", "/h/* except /h/a", "/h/a"},
		{"/h/*", "/h except /**/a", "/h/a"},
		{"/m/*/*", "/m except /m/*/b", "/m/*/b"},
		{"/m/*/*", "/m except /m/a/b", "/m/a/b"},
	} {
		requireFindings(t, fmt.Sprintf(contract, c.over, c.read), []finding{{"undisclosed_gate", "s", "does not see " + c.hidden}})
		whole, _, _ := strings.Cut(c.read, " ")
		requireFindings(t, fmt.Sprintf(contract, c.over, whole), nil)
	}
}

func TestAnEntryThatTheStageCannotTriggerNeedNotBeSeen(t *testing.T) {
	requireFindings(t, `contract c sealed
state { h: map of { a: int b: int } }
invariant small each e in /h/* { e.a + e.b <= 9 }
stage s { read /h except /h/x  write /h/*/a except /h/x }
`, nil)
}

func TestAnAppendTellsNothingOfTheEntriesBefore(t *testing.T) {
	requireFindings(t, `contract c sealed
state { x: map of int  u: log of { of: key of /x  n: int where { self > 0 } } }
stage s { read /x  write /u/- }
`, nil)
}

func TestTheLengthOfAListThatIsNotSeenIsHidden(t *testing.T) {
	const contract = `contract c sealed
state { n: int  g: %s  box: { h: list of int } }
invariant few { %s }
stage s { read /n%s  write /n }
`
	for _, c := range []struct{ typ, rule, read, hidden string }{
		{"list of int", "size(state.g) <= state.n", "/g", "/g"},
		{"list of { a: int b: int }", "size(state.g) <= state.n", "/g/*/a", "/g"},
		{"log of int", "size(state.g) <= state.n", "/g", "/g"},
		{"set of int", "size(state.g) <= state.n", "/g", "/g"},
		{"int", "state.g > 0 || size(state.box.h) <= state.n", "/box/h, /g", ""},
		{"map of list of int", "!('a' in state.g) || size(state.g['a']) <= state.n", "/g", "/g"},
	} {
		requireFindings(t, fmt.Sprintf(contract, c.typ, c.rule, ""), []finding{{"undisclosed_gate", "s", "does not see " + c.hidden}})
		requireFindings(t, fmt.Sprintf(contract, c.typ, c.rule, ", "+c.read), nil)
	}
}

func TestWhatAnArrayIsTellsOfTheAlternativeThatDecidesIt(t *testing.T) {
	const contract = `contract c sealed
state {
  v: { kind: "list"  x: list of string  y: int } | { kind: "set"  x: set of string  y: string }
  m: map of ({ kind: "list"  x: list of string } | { kind: "any"  x: any } | { kind: "log"  b: { x: log of int } })
  l: list of ({ k: 1  q: { x: log of int } } | { k: 2  q: { x: any } })
  out: string
}
stage s(k in /m) { read /out, %s  write /out }
`
	for read, hidden := range map[string]string{
		"/v/x": "/v", "/v/x/*": "/v", "/v except /v/kind": "/v", "/l/*/q": "/l/*", "/l/*/q/x": "/l/*", "/**/x": "/v",
		"/v": "", "/v/y": "", "/v/kind": "", "/m": "", "/m/{k}/x": "", "/m/{k}/kind": "", "/l": "", "/l/*/k": "",
	} {
		out := compile(fmt.Sprintf(contract, read))
		if hidden == "" {
			require.Empty(t, out.Diagnostics, read)
			continue
		}
		said := ""
		for _, d := range out.Diagnostics {
			require.Equal(t, "undisclosed_gate", d.Code, read)
			said += d.Message + "\n"
		}
		require.Contains(t, said, "does not see "+hidden+",", read)
	}
}

func TestOnlyWhatLiesBelowANewKeyOfItsOwnMapIsWrittenUnread(t *testing.T) {
	const contract = "contract keys\nstate { m: map of int  n: map of int }\nstage s(%s) { write %s }\n"
	requireFindings(t, fmt.Sprintf(contract, "p new in /m", "/m/{p}"), nil)
	for _, c := range [][2]string{{"p new in /m", "/n/{p}"}, {"p in /m", "/m/{p}"}} {
		requireFindings(t, fmt.Sprintf(contract, c[0], c[1]), []finding{{"not_read", c[1], "may write " + c[1] + " but does not read it"}})
	}
}

func TestWhatEnsureLetsStandSettlesARuleWhereverItStands(t *testing.T) {
	const contract = `contract x sealed
state { h: int  st: "a" | "b"  box: { st: "a" | "b" | "c" }  m: map of { h: int  st: "a" | "b" } }
invariant rule %s
stage s(k in /m) { read %s  write %s  ensure { %s } }
`
	for _, c := range []struct{ rule, place, ensure, hidden string }{
		{`{ state.st == "a" || state.h > 0 }`, "/st", `after.st == "a"`, ""},
		{`{ state.st == "a" || state.h > 0 }`, "/st", `after.st == "b"`, "/h"},
		{`{ state.st == "a" || state.h > 0 }`, "/st", `after.box.st == "a"`, "/h"},
		{`{ state.box.st != "c" || state.h > 0 }`, "/box", `after.box.st in ["a", "b"]`, ""},
		{`{ state.box.st != "c" || state.h > 0 }`, "/box/st", `after.box.st == "a" || after.box.st == "b"`, ""},
		{`{ state.box.st != "c" || state.h > 0 }`, "/box/st", `after.box.st in ["a", "c"]`, "/h"},
		{`each e in /m/* { state.st == "a" || e.h > 0 }`, "/st", `after.st == "a"`, ""},
		{`each e in /m/* { state.st == "a" || e.h > 0 }`, "/st", `after.m[k].st == "a"`, "/m/*/h"},
		{`each e in /m/* { e.st == "a" || e.h > 0 }`, "/m/x/st", `after.m["x"].st == "a"`, ""},
		{`each e in /m/* { e.st == "a" || e.h > 0 }`, "/m/x/st", `after.m["y"].st == "a"`, "/m/x/h"},
		{`each e in /m/* { e.st == "a" || e.h > 0 }`, "/m/{k}/st", `after.m[k].st == "a"`, ""},
		{`each e in /m/* { e.st == "a" || e.h > 0 }`, "/m/*/st", `after.m[k].st == "a"`, "/m/*/h"},
		{`{ state.m.exists(i, state.m[i].st == "b") || state.h > 0 }`, "/m/{k}/st", `after.m[k].st == "b"`, "/h"},
	} {
		source := fmt.Sprintf(contract, c.rule, c.place+", /m/*/st, /st, /box", c.place, c.ensure)
		var want []finding
		if strings.Contains(c.rule, "exists") {
			want = append(want, finding{"whole_state_rule", strings.TrimSuffix(strings.TrimPrefix(c.rule, "{"), "}"), ""})
		}
		if c.hidden != "" {
			want = append(want, finding{"undisclosed_gate", "s", "does not see " + c.hidden})
		}
		t.Run(c.rule+" "+c.ensure, func(t *testing.T) { requireFindings(t, source, want) })
	}
}

func TestHelpOfAClaimNamesPlacesAsClausesDo(t *testing.T) {
	const contract = `contract x
state { b: map of { v: int }  l: list of int  n: int }
stage b { read /b  write /b/* }
stage v { read /b/*/v  write /b/*/v }
stage d { read /b }
stage x { read /b/x  write /b/x }
stage l { read /l  write /l }
prove %s commutes with %s
`
	for _, c := range []struct{ a, b, says, never string }{
		{"b", "b", "take /b/* out of the `write`", "first b or"},
		{"v", "v", "take /b/*/v out of the `write`", "/b/x"},
		{"d", "v", "take /b/*/v out of the `read` of d or the `write` of v", "/b/x"},
		{"x", "v", "take /b/x/v out of one `write`", "/b/*"},
		{"x", "x", "take /b/x out of the `read` or the `write` of x", "/b/*"},
	} {
		out := compile(fmt.Sprintf(contract, c.a, c.b))
		require.Len(t, out.Diagnostics, 1)
		require.Contains(t, out.Diagnostics[0].Help, c.says)
		require.NotContains(t, out.Diagnostics[0].Help, c.never)
	}
}

func TestARuleOfSeveralPartsTellsWhatEachOfThemReads(t *testing.T) {
	const contract = `contract x sealed
state { seen: int  a: int  b: int  m: map of int }
invariant parts { %s }
stage s { read /seen%s  write /seen }
`
	for _, c := range []struct{ rule, read, hidden string }{
		{"state.seen < 9 && state.seen + state.b < 9", "", "/b"},
		{"state.seen + state.a < 9 && state.seen + state.b < 9", ", /a", "/b"},
		{"state.seen + state.a < 9 && state.seen + state.b < 9", ", /b", "/a"},
		{"state.m.all(k, state.m[k] < state.seen) && state.seen + state.b < 9", ", /m", "/b"},
		{"state.seen + state.b < 9 && state.m.all(k, state.m[k] < state.seen)", ", /b", "/m"},
		{"state.seen + state.a < 9 && state.seen + state.b < 9", ", /a, /b", ""},
	} {
		var want []finding
		if c.hidden != "" {
			want = []finding{{"undisclosed_gate", "s", "does not see " + c.hidden}}
		}
		requireFindings(t, fmt.Sprintf(contract, c.rule, c.read), want)
	}
}

// What a stage does not read cannot be taken out of its read.
func TestHelpOfAClaimSaysOfAUnionThatAllOfItCounts(t *testing.T) {
	const contract = `contract x
state {
  m: { n: int  x: set of int } | { n: int  x: list of int }
  k: map of { o: { n: int  x: log of int } | { n: int  x: any } }
  l: list of ({ n: int  x: set of int } | { n: int  x: list of int })
  z: int
}
stage of_m { read /m/n  write /m/n  discloses /m }
stage of_k(p in /k) { read /k/{p}/o/n  write /k/{p}/o/n  discloses /k/*/o }
stage of_l { read /l/*/n  write /l/*/n  discloses /l/* }
stage see_m { read /m/x, /z  write /z  discloses /m }
stage see_k { read /k/*/o/x, /z  write /z  discloses /k/*/o }
stage see_l { read /l/*/x, /z  write /z  discloses /l/* }
stage all_m { read /m, /z  write /z }
prove see_%s commutes with of_%s
prove all_m commutes with of_m
`
	for _, name := range []string{"m", "k", "l"} {
		out := compile(fmt.Sprintf(contract, name, name))
		require.Len(t, out.Diagnostics, 2, name)
		help := out.Diagnostics[0].Help
		require.Contains(t, help, "see_"+name+" reads in a union whose alternatives disagree on what stands at one place")
		require.NotContains(t, help, "with `except`")
		require.NotContains(t, help, "by FIELD")
		require.Contains(t, out.Diagnostics[1].Help, "take /m/n out of the `read` of all_m")
	}
}

// Whoever does what the help of a claim says gets another answer.
func TestHelpOfAClaimAboutSetsAndLogsCanBeFollowed(t *testing.T) {
	const contract = `contract x
state { l: log of int  s: set of int  t: set of { a: int }  g: { l: log of int  n: int }  z: int }
stage a { %s }
stage b { %s }
prove a commutes with b
`
	for _, c := range []struct{ a, b, says, followed string }{
		{"write /l/-", "read /l, /z  write /l/-", "keep /l as a whole out of the `read` of b, or out of the `write` of a", "read /z  write /l/-"},
		{"write /l/-", "read /l except /l/*, /z  write /l/-", "keep /l as a whole out of the `read` of b", "read /z  write /l/-"},
		{"read /s  write /s/-", "read /s, /z except /s/*", "keep /s as a whole out of the `read` of b", "read /z"},
		{"read /t  write /t/-", "read /t, /z except /t/*/a", "keep /t as a whole out of the `read` of b", "read /z"},
		{"read /t  write /t/-", "read /z, /t", "keep /t as a whole out of the `read` of b", "read /z"},
		{"write /g/l/-", "read /g", "keep /g/l as a whole out of the `read` of b", "read /g except /g/l"},
		{"write /g/l/-", "read /g except /g/l/*", "keep /g/l as a whole out of the `read` of b", "read /g except /g/l"},
	} {
		out := compile(fmt.Sprintf(contract, c.a, c.b))
		require.Len(t, out.Diagnostics, 1, c.b)
		help := out.Diagnostics[0].Help
		require.Contains(t, help, "a view has a place for every entry", c.b)
		require.Contains(t, help, c.says, c.b)
		require.NotContains(t, help, "with `except`", c.b)
		require.NotContains(t, help, "in a union", c.b)
		require.Empty(t, compile(fmt.Sprintf(contract, c.a, c.followed)).Diagnostics, c.followed)
	}
}

// Nothing is left of a clause out of which all that it names is taken.
func TestHelpOfAClaimTakesByExceptWhatAClauseHasBesideOthers(t *testing.T) {
	const contract = `contract x
state { b: map of { v: int }  z: int }
stage a { %s }
stage b { %s }
prove a commutes with b
`
	for _, c := range []struct{ a, b, says string }{
		{"read /b  write /b", "read /b  write /b", "take /b out of one `write`, or"},
		{"read /**  write /**", "read /**  write /**", "take the whole state out of one `write`, or"},
		{"read /b  write /b/*/v", "read /b  write /b/*/v", "out of one `write`, or"},
		{"read /b  write /b", "read /z, /b/*/v", "take /b/*/v out of the `read` of b or the `write` of a (with `except` where the clause has more)"},
		{"read /z  write /z", "read /z", "take /z out of the `read` of b or the `write` of a"},
		{"read /b  write /b", "read /**", "take /b out of the `read` of b or the `write` of a (with `except` where the clause has more)"},
	} {
		help := compile(fmt.Sprintf(contract, c.a, c.b)).Diagnostics[0].Help
		require.Contains(t, help, c.says)
	}
	require.NotContains(t, compile(fmt.Sprintf(contract, "read /z  write /z", "read /z")).Diagnostics[0].Help, "except")
}
