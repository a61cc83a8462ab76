package suite_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/suite"
)

// desk is the contract of these tests.
const desk = `contract desk
type Ticket { subject: string  status: "open" | "solved"  labels: set of string  items: list of Item by sku  note?: secret string }
type Item { sku: string  n: int }
state { tickets: map of Ticket  limit: int  log: log of string  rest: list of int }
measure open = count /tickets/* where { self.status == "open" }
phases { day -> night when { open == 0 }  night }
invariant few "there are few tickets" { open <= state.limit }
change once each t in /tickets/* { before.status != "solved" || after.status == "solved" }
stage work(ticket in /tickets, said: int) {
  in day  by bot, clerk
  read /tickets/{ticket} except secrets, /limit, /rest  write /tickets/{ticket} except secrets, /log/-, /rest
  require positive { said > 0 }
  ensure named "who works is named" { actor != "" }
  discloses few
}
stage close { in day  read /tickets/*/status  next night }
stage late { in day  read /limit  write /limit  require { now > timestamp("2026-01-01T00:00:00Z") } }
`

const ready = `given ready = { "limit": 3, "log": [], "rest": [1, 2], "tickets": {
  "T1": {"subject": "a", "status": "open", "labels": ["x", "y"], "items": [{"sku": "k", "n": 1}], "note": "hidden"} } }
`

// run loads and runs a text as the tests of desk.
func run(t *testing.T, tests string) suite.Result {
	t.Helper()
	s, found := load(t, ready+tests)
	require.Empty(t, errorsOf(found), tests)
	require.NotNil(t, s)
	out, err := s.Run(t.Context(), suite.Options{})
	require.NoError(t, err)
	return out
}

func load(t *testing.T, tests string) (*suite.Suite, []source.Diagnostic) {
	t.Helper()
	files := fstest.MapFS{"desk.poptic": {Data: []byte(desk)}, "desk_test.poptic": {Data: []byte(tests)}, "one.json": {Data: []byte(`[{"op": "add", "path": "/log/-", "value": "$x"}]`)}}
	s, found, err := suite.Load(t.Context(), suite.Input{FS: files, Path: "desk_test.poptic"})
	require.NoError(t, err)
	return s, found
}

func errorsOf(ds []source.Diagnostic) (out []string) {
	for _, d := range ds {
		if d.Severity == source.Error {
			out = append(out, d.Code+": "+d.Message)
		}
	}
	return out
}

func TestWhatIsExpectedHoldsOrTheTestFails(t *testing.T) {
	step := "test \"t\" {\n  state ready\n  actor \"ada\"\n  stage work(ticket: \"T1\", said: 2)\n"
	change := `  patch [{"op": "replace", "path": "/tickets/T1/subject", "value": "b"}]` + "\n  expect commit\n"
	for _, c := range []struct{ clauses, failure string }{
		{change, ""},
		{change + `expect /tickets/{ticket}/subject = "b"`, ""},
		{change + `expect /tickets/T1/subject = "c"`, "/tickets/T1/subject is not what is expected"},
		{change + `expect /tickets/T1/labels = ["y", "x"]`, ""},
		{change + `expect /tickets/T1/labels = ["y", "y"]`, "/tickets/T1/labels is not what is expected"},
		{change + `expect /tickets/T1/items = {"k": {"sku": "k", "n": 1.0}}`, ""},
		{change + `expect /rest = [2, 1]`, "/rest is not what is expected"},
		{change + `expect /tickets/T2/subject = "b"`, "there is nothing at /tickets/T2/subject"},
		{change + `expect no /tickets/T2`, ""},
		{change + `expect no /tickets/*`, "expected nothing at /tickets/T1"},
		{change + `expect { after.tickets[ticket].subject == "b" && before.tickets[ticket].subject == "a" && said == 2 && open == 1 && actor == "ada" }`, ""},
		{change + `expect { after.tickets[ticket].subject != "b" }`, "this does not hold"},
		{change + `expect phase day`, ""},
		{change + `expect phase night`, "expected phase night behind the step, and it is day"},
		{change + `expect state = { "limit": 3, "log": [], "rest": [1, 2], "tickets": { "T1": {"subject": "b", "status": "open", "labels": ["y", "x"], "items": [{"n": 1, "sku": "k"}], "note": "hidden"} } }`, ""},
		{change + `expect state = { "limit": 3, "log": [], "rest": [1, 2], "tickets": {} }`, "the state is not the one that is expected"},
		{change + `expect state = { "limit": "3", "log": [], "rest": [1, 2], "tickets": {} }`, "what is expected is no state of the contract"},
		{change + `expect view { view.limit == 3 && size(view.tickets) == 1 }`, ""},
		{change + `expect view { view.limit == 4 }`, "this does not hold"},
		{change + `expect view = {"limit": 3, "rest": [1, 2], "tickets": {"T1": {"subject": "a", "status": "open", "labels": ["y", "x"], "items": {"k": {"sku": "k", "n": 1}}}}}`, ""},
		{change + `expect view = {"limit": 3}`, "the view is not the one that is expected"},
		{change + `expect shown /tickets/*/subject, /limit`, ""},
		{change + `expect shown /tickets/*/note`, "expected /tickets/T1/note to be shown, and it is not"},
		{change + `expect hidden /tickets/*/note`, ""},
		{change + `expect hidden /tickets/*/subject`, "expected /tickets/T1/subject to be hidden, and it is shown"},
		{change + `expect hidden /log/*`, "there is nothing at /log/* in the state, so that nothing is hidden"},
		{`expect noop`, ""},
		{`expect commit`, "expected commit, and the proposal was a noop"},
		{`expect reject scope`, "expected reject scope, and the proposal was a noop"},
		{`patch [{"op": "replace", "path": "/limit", "value": 9}]  expect reject scope`, ""},
		{`patch [{"op": "replace", "path": "/limit", "value": 9}]  expect reject patch_write_scope_violation at /limit`, ""},
		{`patch [{"op": "replace", "path": "/limit", "value": 9}]  expect reject scope at /limits`, "expected reject scope at /limits, and it was refused for another reason"},
		{`patch [{"op": "replace", "path": "/limit", "value": 9}]  expect reject schema`, "expected reject schema, and it was refused for another reason"},
		{`patch [{"op": "replace", "path": "/limit", "value": 9}]  expect commit`, "expected commit, and the proposal was refused"},
		{`patch {"no": 1}  expect reject format`, ""},
		{`patch {"no": 1}  expect reject patch_syntax`, ""},
		{`actor ""  patch [{"op": "add", "path": "/log/-", "value": "b"}]  expect reject ensure named "who works is named"`, ""},
		{`actor ""  patch [{"op": "add", "path": "/log/-", "value": "b"}]  expect reject "who works is named"`, ""},
		{`actor ""  patch [{"op": "add", "path": "/log/-", "value": "b"}]  expect reject "who works is unnamed"`, "for another reason"},
		{`actor ""  patch [{"op": "add", "path": "/log/-", "value": "b"}]  expect reject require`, "for another reason"},
		{`role guest  expect reject unauthorised`, ""},
		{`role guest  expect reject phase_violation`, "for another reason"},
		{`role guest  expect shown /limit`, "the stage was shown nothing: its view was refused"},
		{`stage work(ticket: "T9", said: 1)  expect reject argument_violation`, ""},
		{`stage work(ticket: "T1", said: 0)  expect reject require positive`, ""},
		{`stage work(ticket: "T1", said: "0")  expect reject argument_violation`, ""},
		{`patch "one.json"  expect commit { after.log.exists(l, l == "$x") }`, ""},
		{`stage close  expect reject next night`, ""},
		{`stage close  next day  expect reject transition_violation`, ""},
		{`stage close  expect reply next night`, ""},
		{`stage late  now "2025-01-01T00:00:00Z"  patch [{"op": "replace", "path": "/limit", "value": 9}]  expect reject require`, ""},
		{`stage late  now "2026-02-01T00:00:00Z"  patch [{"op": "replace", "path": "/limit", "value": 9}]  expect commit`, ""},
	} {
		if strings.HasPrefix(c.clauses, "stage") {
			c.clauses = "expect noop " + c.clauses
		}
		out := run(t, step+c.clauses+"\n}\n")
		require.Len(t, out.Tests, 1)
		if c.failure == "" {
			require.True(t, out.Tests[0].Passed, "%s: %+v", c.clauses, out.Tests[0].Failures)
			continue
		}
		require.False(t, out.Tests[0].Passed, c.clauses)
		require.Contains(t, out.Tests[0].Failures[0].Message, c.failure, c.clauses)
	}
}

func TestAStepStartsFromWhatTheOneBeforeLeft(t *testing.T) {
	out := run(t, `test "t" {
  state ready
  actor "ada"
  stage work(ticket: "T1", said: 1)
  patch [{"op": "replace", "path": "/tickets/T1/status", "value": "solved"}]
  expect commit
  expect { open == 0 }
  stage work(ticket: "T1", said: 1)
  patch [{"op": "replace", "path": "/tickets/T1/status", "value": "open"}]
  expect reject change once
  stage close
  expect commit
  expect phase night
  stage work(ticket: "T1", said: 1)
  expect reject phase_violation
}
test "after the first step that fails there is no other" {
  state ready
  stage work(ticket: "T1", said: 1)
  expect commit
  stage close
  expect noop
}
`)
	require.True(t, out.Tests[0].Passed, "%+v", out.Tests[0].Failures)
	require.Len(t, out.Tests[1].Failures, 1)
	require.Equal(t, 1, out.Tests[1].Failures[0].Step)
}

func TestATestThatCannotBeginFailsAndSaysWhy(t *testing.T) {
	for state, why := range map[string]string{
		`{}`:            "/limit: record needs this member",
		`{ "limit": 3 `: "",
		`ready with [{"op": "replace", "path": "/limit", "value": "x"}]`: "int",
		`ready with [{"op": "remove", "path": "/nothing"}]`:              "cannot be done",
		`ready with [{"op": "replace", "path": "/limit", "value": 0}]`:   "there are few tickets",
	} {
		s, found := load(t, ready+"test \"t\" {\n  state "+state+"\n  stage work(ticket: \"T1\", said: 1)\n  expect noop\n}\n")
		if s == nil {
			require.NotEmpty(t, errorsOf(found))
			continue
		}
		out, err := s.Run(t.Context(), suite.Options{})
		require.NoError(t, err)
		require.False(t, out.Tests[0].Passed)
		f := out.Tests[0].Failures[0]
		require.Zero(t, f.Step)
		require.Contains(t, f.Message+" "+strings.Join(f.Reasons, " "), why)
	}
}

func TestCasesGoOnWhereTheirTestEndsWithTheirValues(t *testing.T) {
	out := run(t, `test "t" {
  state ready
  actor "ada"
  stage work(ticket: "$ticket", said: "$said")
  patch [{"op": "add", "path": "/log/-", "value": "costs $$5, not $said"}]
  case "one" (ticket: "T1", said: 1) { expect commit { after.log.exists(l, l == "costs $5, not 1") } }
  case "none" (ticket: "T1", said: 0) { expect reject require positive }
  case "another patch" (ticket: "T1", said: 3) {
    patch [{"op": "add", "path": "/log/-", "value": "$said"}]
    expect reject schema
  }
  case "a step more" (ticket: "T1", said: 3) {
    expect commit
    stage close
    expect reject next night
  }
  case "another state" (ticket: "T2", said: 3) {
    state ready with [{"op": "move", "from": "/tickets/T1", "path": "/tickets/T2"}]
    expect commit
  }
}
`)
	var names []string
	for _, test := range out.Tests {
		require.True(t, test.Passed, "%s: %+v", test.Name, test.Failures)
		names = append(names, test.Name)
	}
	require.Equal(t, []string{"t/one", "t/none", "t/another patch", "t/a step more", "t/another state"}, names)
}

func TestTestsAreChosenByNameAndRunTogether(t *testing.T) {
	var text strings.Builder
	for _, n := range []string{"a", "b", "c"} {
		text.WriteString("test \"" + n + "\" {\n  state ready\n  actor \"ada\"\n  stage work(ticket: \"T1\", said: 1)\n  expect noop\n  case \"one\"\n  case \"two\"\n}\n")
	}
	s, found := load(t, ready+text.String())
	require.Empty(t, errorsOf(found))
	require.Equal(t, []string{"a/one", "a/two", "b/one", "b/two", "c/one", "c/two"}, s.Names())
	out, err := s.Run(t.Context(), suite.Options{Only: regexp.MustCompile("^[ab]/t"), Parallel: 8})
	require.NoError(t, err)
	require.Len(t, out.Tests, 2)
	require.Zero(t, out.Failed())

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Run(ended, suite.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestMistakesInTestsAreDiagnosticsWithTheirFixes(t *testing.T) {
	step := "test \"t\" {\n  state ready\n  stage work(ticket: \"T1\", said: 1)\n  expect noop\n}\n"
	for text, want := range map[string]string{
		"test \"t\" { state redy  stage close  expect noop }":                                        "unknown_given: no state redy is given",
		"test \"t\" { state ready  phase nite  stage close  expect noop }":                           "unknown_phase: there is no phase called nite",
		"test \"t\" { state ready  stage closed  expect noop }":                                      "unknown_stage: there is no stage called closed",
		"test \"t\" { state ready  advance nite  expect commit }":                                    "unknown_phase: there is no phase called nite",
		"test \"t\" { state ready  stage work(tickt: \"T1\")  expect noop }":                         "unknown_parameter: there is no parameter called tickt",
		"test \"t\" { state ready  stage work(ticket: 1)  expect noop }":                             "parameter_type: ticket is a key, which is a text",
		"test \"t\" { state ready  stage close  expect reject few }":                                 "unknown_gate: there is no gate few",
		"test \"t\" { state ready  stage close  expect reject invariant }":                           "missing: expected a name after `invariant`: any other rule that refuses would do",
		"test \"t\" { state ready  stage close  expect reject change few }":                          "unknown_gate: there is no change called few",
		"test \"t\" { state ready  stage close  expect reject ensure named }":                        "unknown_gate: there is no ensure called named",
		"test \"t\" { state ready  stage close  expect reject scope few }":                           "unexpected: scope is all there is to be said; it has no rules with names",
		"test \"t\" { state ready  stage close  expect noop  expect /limitt = 1 }":                   "unknown_member: the state has no member limitt, so this path matches nothing",
		"test \"t\" { state ready  stage close  expect noop  expect /tickets/* = 1 }":                "not_one_place",
		"test \"t\" { state ready  stage close  expect noop  expect { after.limitt == 1 } }":         "unknown_member",
		"test \"t\" { state ready  advance night  expect commit  expect shown /limit }":              "misplaced_word: the host is shown no view: `shown` is expected of a stage",
		"test \"t\" { stage close  expect noop }":                                                    "missing: expected a `state` that the test starts from",
		"test \"t\" { state ready  stage close }":                                                    "no_outcome: nothing is expected of this step",
		"test \"t\" { state ready }":                                                                 "no_outcome: nothing happens in this test: it has no `stage`",
		"test \"t\" { state ready  stage close  expect phase day }":                                  "no_outcome: this step does not say what comes of it",
		"test \"t\" { state ready  stage close  expect noop  expect reject scope }":                  "outcome_twice: this step is expected to end as noop already",
		"test \"t\" { state ready  stage late  expect noop }":                                        "no_clock: this step is judged by the clock, and the test does not say what time it is",
		"test \"t\" { state ready  now \"noon\"  stage late  expect noop }":                          "bad_time: this is no RFC 3339 date and time",
		"test \"t\" { state \"ones.json\"  stage close  expect noop }":                               "unreadable: ones.json cannot be read: file does not exist",
		"test \"t\" { state \"../x.json\"  stage close  expect noop }":                               "unreadable: ../x.json cannot be read: it lies outside the root directory",
		"test \"t\" { state ready  stage close  expect noop  case \"a\" (x: 1)  case \"a\" (x: 1) }": "declared_twice: there is a case \"a\" already",
		step + step:                 "declared_twice: there is a test \"t\" already",
		"given ready = {}\n" + step: "declared_twice",
		"given a = b\ngiven b = a\ntest \"t\" { state a  stage close  expect noop }": "recursive_definition: a is given by itself, in the end",
		"import \"./desk.poptic\" as a\nimport \"./desk.poptic\" as b\n" + step:      "no_contract: the tests of a file are about one contract, and this is a second one",
	} {
		s, found := load(t, ready+text)
		require.Nil(t, s, text)
		require.True(t, slices.ContainsFunc(errorsOf(found), func(e string) bool { return strings.HasPrefix(e, want) }), "%s\n%v", text, errorsOf(found))
	}
	_, found := load(t, ready+"given other = ready\n"+step)
	require.Len(t, found, 1)
	require.Equal(t, "unused", found[0].Code)
}

func TestTheCodesThatATestMayNameAreThoseOfVerdicts(t *testing.T) {
	var want []string
	for _, c := range verify.Codes() {
		if c.Gate != verify.GateStale {
			want = append(want, string(c.Code))
		}
	}
	require.ElementsMatch(t, want, check.Codes)
}

func TestARuleThatHasNoValueIsNotOneThatIsViolated(t *testing.T) {
	out := func(reason string) suite.Test {
		s := whole(t, "contract c\nstate { a: int }\ninvariant tenth { 10 / state.a >= 0 }\nstage s { read /a  write /a }\n"+
			"test \"t\" {\n  state { \"a\": 1 }\n  stage s\n  patch [{\"op\": \"replace\", \"path\": \"/a\", \"value\": 0}]\n  expect reject "+reason+"\n}\n")
		out, err := s.Run(t.Context(), suite.Options{})
		require.NoError(t, err)
		return out.Tests[0]
	}
	require.True(t, out("evaluation_error").Passed)
	require.False(t, out("invariant tenth").Passed)
}

func TestAnotherRuleThatRefusesIsNotTheOneThatIsExpected(t *testing.T) {
	for reason, passes := range map[string]bool{
		"invariant one": true, "invariant two": false, "ensure first": true, "ensure second": false, "ensure": true, "change up": true, "change down": false, "require": false,
	} {
		s := whole(t, "contract c\nstate { a: int }\ninvariant one { state.a < 5 }\ninvariant two { state.a < 50 }\n"+
			"change up { after.a < 5 }\nchange down { after.a < 50 }\nstage s { read /a  write /a  ensure first { after.a < 5 }  ensure second { after.a < 50 } }\n"+
			"test \"t\" {\n  state { \"a\": 1 }\n  stage s\n  patch [{\"op\": \"replace\", \"path\": \"/a\", \"value\": 9}]\n  expect reject "+reason+"\n}\n")
		out, err := s.Run(t.Context(), suite.Options{})
		require.NoError(t, err)
		require.Equal(t, passes, out.Tests[0].Passed, reason)
	}
}

func TestAPlaceThatIsExpectedToBeShownIsThereInTheState(t *testing.T) {
	for _, kind := range []string{"shown", "hidden"} {
		out := run(t, "test \"t\" {\n  state ready\n  stage work(ticket: \"T1\", said: 1)\n  expect "+kind+" /tickets/T2\n}\n")
		require.False(t, out.Tests[0].Passed, kind)
	}
}
