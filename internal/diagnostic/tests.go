package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var tests = Chapter{Title: "Contract tests", Kinds: []*Kind{
	NoContract, NoTests, MisplacedTest, NoOutcome, OutcomeTwice, UnknownGiven, UnknownValue, BadTime, NoClock,
}}

// tested is a contract as the examples of this chapter have it beside their tests.
const tested = `contract c
state { a: int }
stage s { read /a write /a }
`

// Contract tests.
var (
	NoContract = &Kind{
		Code: "no_contract", Severity: source.Error,
		What: "a test file that neither lies beside its contract nor imports it, nor is one",
		Why:  "A test is about one contract; without it nothing can be run.",
		File: "c_test.poptic", Beside: map[string]string{"other.poptic": tested},
		Wrong: `test "nothing changes" {
  state { "a": 1 }
  stage s
  expect noop
}
`,
		Right: `import "./other.poptic"

test "nothing changes" {
  state { "a": 1 }
  stage s
  expect noop
}
`,
	}
	NoTests = &Kind{
		Code: "no_tests", Severity: source.Error,
		What: "a test file without a test",
		Why:  "A file that tests nothing would pass for ever.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": tested},
		Wrong: `given one = { "a": 1 }
`,
		Right: `given one = { "a": 1 }

test "nothing changes" {
  state one
  stage s
  expect noop
}
`,
	}
	MisplacedTest = &Kind{
		Code: "misplaced_test", Severity: source.Error,
		What: "a test, or a given state, in a file that is no test file",
		Why:  "Tests are run from files whose names say that they hold them; this one would never be.",
		Wrong: `contract c
state { a: int }
test "nothing changes" {
  state { "a": 1 }
  stage s
  expect noop
}
stage s { read /a write /a }
`,
		Right: `contract c
state { a: int }
stage s { read /a write /a }
`,
	}
	NoOutcome = &Kind{
		Code: "no_outcome", Severity: source.Error,
		What: "a test without a step, or a step that does not say what comes of it",
		Why:  "A proposal that is accepted, or refused, by mistake would be noticed by nobody.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": tested},
		Wrong: `test "a grows" {
  state { "a": 1 }
  stage s
  patch [{"op": "replace", "path": "/a", "value": 2}]
  expect /a = 2
}
`,
		At: "stage",
		Right: `test "a grows" {
  state { "a": 1 }
  stage s
  patch [{"op": "replace", "path": "/a", "value": 2}]
  expect commit
  expect /a = 2
}
`,
	}
	OutcomeTwice = &Kind{
		Code: "outcome_twice", Severity: source.Error,
		What: "a step that expects two outcomes",
		Why:  "A proposal is committed, changes nothing, or is refused: one of them.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": tested},
		Wrong: `test "nothing changes" {
  state { "a": 1 }
  stage s
  expect commit
  expect noop
}
`,
		At: "noop",
		Right: `test "nothing changes" {
  state { "a": 1 }
  stage s
  expect noop
}
`,
	}
	UnknownGiven = &Kind{
		Code: "unknown_given", Severity: source.Error,
		What: "a state that no `given` names",
		Why:  "A test starts from a state; of one that is not given nothing is known.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": tested},
		Wrong: `given one = { "a": 1 }

test "nothing changes" {
  state ome
  stage s
  expect noop
}
`,
		At: "ome",
		Right: `given one = { "a": 1 }

test "nothing changes" {
  state one
  stage s
  expect noop
}
`,
	}
	UnknownValue = &Kind{
		Code: "unknown_value", Severity: source.Error,
		What: "a `$NAME` in a test for which one of its cases gives no value",
		Why:  "What stands in its place would be the name itself.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": tested},
		Wrong: `test "a changes" {
  state { "a": 1 }
  stage s
  patch [{"op": "replace", "path": "/a", "value": "$b"}]
  expect commit
  case "to two" (to: 2)
}
`,
		At: `"$b"`,
		Right: `test "a changes" {
  state { "a": 1 }
  stage s
  patch [{"op": "replace", "path": "/a", "value": "$to"}]
  expect commit
  case "to two" (to: 2)
}
`,
	}
	BadTime = &Kind{
		Code: "bad_time", Severity: source.Error,
		What: "a `now` that is no RFC 3339 date and time",
		Why:  "The clock that a step is decided by is one instant.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": tested},
		Wrong: `test "nothing changes" {
  state { "a": 1 }
  now   "2026-01-31"
  stage s
  expect noop
}
`,
		At: `"2026-01-31"`,
		Right: `test "nothing changes" {
  state { "a": 1 }
  now   "2026-01-31T09:00:00Z"
  stage s
  expect noop
}
`,
	}
	NoClock = &Kind{
		Code: "no_clock", Severity: source.Error,
		What: "a step whose contract asks the clock, in a test that does not say `now`",
		Why:  "A test that is decided by the real clock passes today and fails tomorrow.",
		File: "c_test.poptic", Beside: map[string]string{"c.poptic": `contract c
state { a: int }
stage s { read /a write /a require { now < timestamp("2030-01-01T00:00:00Z") } }
`},
		Wrong: `test "nothing changes" {
  state { "a": 1 }
  stage s
  expect noop
}
`,
		At: "stage",
		Right: `test "nothing changes" {
  state { "a": 1 }
  now   "2026-01-31T09:00:00Z"
  stage s
  expect noop
}
`,
	}
)
