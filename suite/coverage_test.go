package suite_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/suite"
)

// measured is a contract with its tests in one file, of which every part is exercised.
const measured = `contract measured
phases { day -> night when { state.a == 2 }  night }
state { a: int where { self < 5 }  b?: int  m: map of { x: int  y: secret int } }
invariant small { state.a < 4 }
invariant apart unique /m/*/x
change grows { after.a >= before.a }
stage s(k in /m where { state.m[k].x < 9 }) {
  in day  by ada
  read /a, /b, /m/{k} except secrets
  write /a, /b, /m/{k}/x
  source /a
  require odd { before.a == 1 }
  ensure even { after.a != 3 }
  produce /b
}
delegate d from s { read /a, /b  write /a  source /a }
stage t { in day  read /a  write /a  next night }
`

const exercising = `
given one = { "a": 1, "b": 0, "m": { "p": {"x": 1, "y": 9}, "q": {"x": 2, "y": 9} } }
test "s" {
  state one
  stage s(k: "p")
  expect shown /a, /b, /m/p/x
  expect hidden /m/{k}/y
  patch [{"op": "replace", "path": "/a", "value": 2}, {"op": "copy", "from": "/a", "path": "/b"}, {"op": "replace", "path": "/m/p/x", "value": 7}]
  expect commit
}
test "s is refused" {
  state one
  stage s(k: "p")
  patch [{"op": "replace", "path": "/a", "value": "$a"}]
  case "where" (a: 5)     { expect reject schema }
  case "invariant" (a: 4) { expect reject invariant small }
  case "change" (a: 0)    { expect reject change grows }
  case "ensure" (a: 3)    { expect reject ensure even }
  case "by" (a: 2)        { role eve  expect reject unauthorised }
  case "require" (a: 2)   { state one with [{"op": "replace", "path": "/a", "value": 0}]  expect reject require odd }
  case "unique" (a: 2)    { patch [{"op": "replace", "path": "/m/p/x", "value": 2}]  expect reject invariant apart }
  case "bind" (a: 2)      { state one with [{"op": "replace", "path": "/m/p/x", "value": 9}]  expect reject argument_violation }
  case "produce" (a: 2)   { patch [{"op": "remove", "path": "/b"}]  expect reject produce }
}
test "d" {
  state one
  stage d(k: "p")
  patch [{"op": "replace", "path": "/a", "value": 2}, {"op": "test", "path": "/a", "value": 2}]
  expect view = { "a": 1, "b": 0 }
  expect commit
}
test "t" {
  state one
  stage t
  expect shown /a
  case "too early" { expect reject next night }
  case "in time"   { patch [{"op": "replace", "path": "/a", "value": 2}]  expect commit }
}
`

func whole(t *testing.T, text string) *suite.Suite {
	t.Helper()
	files := fstest.MapFS{"c_test.poptic": {Data: []byte(text)}}
	s, found, err := suite.Load(t.Context(), suite.Input{FS: files, Path: "c_test.poptic"})
	require.NoError(t, err)
	require.Empty(t, errorsOf(found))
	return s
}

func covered(t *testing.T, text string) (*suite.ContractCoverage, suite.Result) {
	t.Helper()
	var c suite.Coverage
	out, err := whole(t, text).Run(t.Context(), suite.Options{Cover: &c})
	require.NoError(t, err)
	require.Len(t, c.Contracts, 1)
	return c.Contracts[0], out
}

func TestEverySideOfEveryPartIsSeenToBeExercised(t *testing.T) {
	c, out := covered(t, measured+exercising)
	for _, test := range out.Tests {
		require.True(t, test.Passed, "%s: %+v", test.Name, test.Failures)
	}
	for _, p := range c.Points {
		require.Empty(t, p.Missing(), "%s, line %d", p.Name, p.Line)
		require.True(t, p.Covered)
	}
	require.Equal(t, c.Total, c.Covered)
	require.Equal(t, 100, c.Percent())
}

// Without one of the tests, or cases, what it exercises is missing, and nothing else of the kind.
func TestWhatNoTestExercisesIsMissing(t *testing.T) {
	for without, missing := range map[string][]string{
		`  case "bind" (a: 2)      { state one with [{"op": "replace", "path": "/m/p/x", "value": 9}]  expect reject argument_violation }`: {"stage s, parameter k where: never violated"},
		`  case "where" (a: 5)     { expect reject schema }`:                                                                               {"where: never violated"},
		`  case "ensure" (a: 3)    { expect reject ensure even }`:                                                                          {"stage s, ensure even: never violated"},
		`  case "require" (a: 2)   { state one with [{"op": "replace", "path": "/a", "value": 0}]  expect reject require odd }`:            {"stage s, require odd: never violated"},
		`  case "change" (a: 0)    { expect reject change grows }`:                                                                         {"change grows: never violated"},
		`  case "unique" (a: 2)    { patch [{"op": "replace", "path": "/m/p/x", "value": 2}]  expect reject invariant apart }`:             {"invariant apart: never violated"},
		`  case "produce" (a: 2)   { patch [{"op": "remove", "path": "/b"}]  expect reject produce }`:                                      {"stage s, produce: never violated"},
		`  case "by" (a: 2)        { role eve  expect reject unauthorised }`:                                                               {"stage s, by: refused to no other role"},
		`  expect hidden /m/{k}/y`:                        {"stage s, read, except secrets: never kept anything away"},
		`, {"op": "copy", "from": "/a", "path": "/b"}`:    {"stage s, write /b: never used", "stage s, source /a: never used"},
		`  case "too early" { expect reject next night }`: {"phase day -> night, when: never violated"},
	} {
		require.Contains(t, exercising, without)
		c, _ := covered(t, measured+strings.Replace(exercising, without, "", 1))
		var got []string
		for _, p := range c.Points {
			if what := p.Missing(); what != "" {
				got = append(got, strings.TrimPrefix(p.Name, "type state, ")+": "+what)
			}
		}
		require.Equal(t, missing, got, without)
		require.Less(t, c.Percent(), 100)
	}
}

func TestCoverageIsTheSameHoweverTheTestsRun(t *testing.T) {
	var first []byte
	for _, parallel := range []int{1, 8} {
		var c suite.Coverage
		_, err := whole(t, measured+exercising).Run(t.Context(), suite.Options{Cover: &c, Parallel: parallel})
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, c.JSON(&text))
		if first == nil {
			first = text.Bytes()
		}
		require.Equal(t, string(first), text.String())
	}
}

func TestAMutantIsKilledByTheTestThatNeedsItsClause(t *testing.T) {
	s := whole(t, measured+exercising)
	m, err := suite.Mutate(t.Context(), []*suite.Suite{s}, 0, nil)
	require.NoError(t, err)
	status := map[string]string{}
	for _, x := range m.Contracts[0].Mutants {
		status[x.Name+": "+x.Change] = x.Status + " " + x.By
	}
	for name, want := range map[string]string{
		"invariant small: always holds":            "killed s is refused/invariant",
		"invariant apart: always holds":            "killed s is refused/unique",
		"change grows: always holds":               "killed s is refused/change",
		"stage s, require odd: always holds":       "killed s is refused/require",
		"stage s, ensure even: always holds":       "killed s is refused/ensure",
		"stage s, parameter k where: always holds": "killed s is refused/bind",
		"stage s, produce: dropped":                "killed s is refused/produce",
		"stage s, by: dropped":                     "killed s is refused/by",
		"phase day -> night, when: always holds":   "killed t/too early",
		"stage s, read, except secrets: dropped":   "killed s",
		"delegate d, read /a: * for a":             "refused delegate_exceeds",
		"stage s, write /m/{k}/x: * for {k}":       "refused not_read",
	} {
		require.Equal(t, want, status[name], "%s\n%v", name, status)
	}
	require.Equal(t, len(m.Contracts[0].Mutants), m.Contracts[0].Killed+m.Contracts[0].Refused+m.Contracts[0].Survived)
}

func TestAConstraintIsNamedByWhatItIsWrittenIn(t *testing.T) {
	m, err := suite.Mutate(t.Context(), []*suite.Suite{whole(t, `contract c
state { m: map of int where { self != 7 }  t: T }
type T = int where { self > 1 }
stage s(k in /m, n: int where { self > 0 }, o: string where { self != "" }) { read /m/{k}  write /m/{k} }
test "t" {
  state { "m": { "a": 1 }, "t": 2 }
  stage s(k: "a", n: 1, o: "x")
  expect noop
}
`)}, 1, nil)
	require.NoError(t, err)
	var names []string
	for _, x := range m.Contracts[0].Mutants {
		if strings.HasSuffix(x.Name, "where") {
			names = append(names, x.Name)
		}
	}
	require.ElementsMatch(t, []string{"where", "type T, where", "stage s, parameter n where", "stage s, parameter o where"}, names)
}

func TestAMutantThatNoTestNoticesSurvivesUnlessAClaimRefusesIt(t *testing.T) {
	const contract = `contract c
state { a: int  b: int  c: secret int }
stage s { read /a, /b  write /a }
stage look { read /** except secrets }
`
	const tests = "test \"t\" {\n  state { \"a\": 1, \"b\": 1, \"c\": 1 }\n  stage s\n  expect noop\n}\n"
	survivors := func(text string) (out []string) {
		m, err := suite.Mutate(t.Context(), []*suite.Suite{whole(t, text)}, 1, nil)
		require.NoError(t, err)
		for _, x := range m.Contracts[0].Mutants {
			if x.Status == suite.Survived {
				out = append(out, x.Name)
			}
		}
		return out
	}
	require.True(t, slices.Contains(survivors(contract+tests), "stage look, read, except secrets"))
	require.False(t, slices.Contains(survivors(contract+"prove no stage reads secrets\n"+tests), "stage look, read, except secrets"))
}

func TestThePageShowsEveryLineAndNeedsNothingElse(t *testing.T) {
	var c suite.Coverage
	_, err := whole(t, measured+strings.Replace(exercising, `  case "ensure" (a: 3)    { expect reject ensure even }`, "", 1)).Run(t.Context(), suite.Options{Cover: &c})
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, c.HTML(&text))
	for _, want := range []string{
		`<tr id="c_test.poptic-13" class="part" title="stage s, ensure even: held `, "violated never", `class="full"`, "prefers-color-scheme: dark", "after.a &gt;= before.a",
	} {
		require.Contains(t, text.String(), want)
	}
	require.NotContains(t, text.String(), "src=")
}

func TestARuleOfARefusedProposalIsNotSeenToHold(t *testing.T) {
	c, _ := covered(t, `contract c
state { a: int  b: int }
stage s { read /a, /b  write /a, /b  ensure one { after.a != 1 }  ensure two { after.b != 1 } }
test "t" {
  state { "a": 0, "b": 0 }
  stage s
  patch [{"op": "replace", "path": "/a", "value": 1}]
  expect reject ensure one
}
`)
	var missing []string
	for _, p := range c.Points {
		if p.Kind == "ensure" {
			missing = append(missing, p.Missing())
		}
	}
	require.Equal(t, []string{"never held for an accepted proposal", "never held for an accepted proposal, never violated"}, missing)
}
