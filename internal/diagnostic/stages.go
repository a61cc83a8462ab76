package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var stages = Chapter{Title: "Phases and stages", Kinds: []*Kind{
	NoPhases, UnreachablePhase, EndlessPhase, UnwalkedArrow, NoSuchArrow, MissingIn, ClauseNeedsPhases,
	ClauseTwice, ListedTwice, NoEffect, Unused, BadAttempts, UnknownParameter, ParameterType, RequireNoGuard, ChosenView,
	DelegateParams, DelegateExceeds,
}}

// Phases and stages.
var (
	NoPhases = &Kind{
		Code: "no_phases", Severity: source.Error,
		What: "an empty `phases`",
		Why:  "An instance is always in a phase; in an empty list there is none to start in.",
		Wrong: `contract c
state { a: int }
phases { }
`,
		At: "phases { }",
		Right: `contract c
state { a: int }
phases { open }
`,
	}
	UnreachablePhase = &Kind{
		Code: "unreachable_phase", Severity: source.Error,
		What: "a phase that no way leads to",
		Why:  "What stages do in a phase that is never entered is never done.",
		Wrong: `contract c
state { a: int }
phases { open  closed }
`,
		At: "closed",
		Right: `contract c
state { a: int }
phases { open -> closed by host  closed }
`,
	}
	EndlessPhase = &Kind{
		Code: "endless_phase", Severity: source.Error,
		What: "a phase from which no terminal phase is reached",
		Why:  "An instance that enters the phase could never come to an end.",
		Wrong: `contract c
state { a: int }
phases { open -> open by host }
`,
		At: "open",
		Right: `contract c
state { a: int }
phases { open -> closed by host  closed }
`,
	}
	UnwalkedArrow = &Kind{
		Code: "unwalked_arrow", Severity: source.Error,
		What: "an edge that neither a stage nor the host may walk",
		Why:  "An arrow along which nobody moves looks like a way that is there.",
		Wrong: `contract c
state { a: int }
phases { open -> closed  closed }
`,
		At: "closed",
		Right: `contract c
state { a: int }
phases { open -> closed  closed }
stage close { in open next closed }
`,
	}
	NoSuchArrow = &Kind{
		Code: "no_such_arrow", Severity: source.Error,
		What: "a `next` along an edge that does not exist",
		Why:  "The phases say all moves that there are; a stage can only choose among them.",
		Wrong: `contract c
state { a: int }
phases { open -> closed by host  closed }
stage reopen { in closed next open }
`,
		At: "next open",
		Right: `contract c
state { a: int }
phases { open -> closed  closed }
stage close { in open next closed }
`,
	}
	MissingIn = &Kind{
		Code: "missing_in", Severity: source.Error,
		What: "a stage without `in` where there are phases",
		Why:  "A stage that runs in all phases by default would run in a phase that is added later.",
		Wrong: `contract c
state { a: int }
phases { open }
stage s { read /a }
`,
		At: "s",
		Right: `contract c
state { a: int }
phases { open }
stage s { in open read /a }
`,
	}
	ClauseNeedsPhases = &Kind{
		Code: "clause_needs_phases", Severity: source.Error,
		What: "`in` or `next` without phases",
		Why:  "Without phases there is nothing to be in or to move to.",
		Wrong: `contract c
state { a: int }
stage s { in open read /a }
`,
		At: "in open",
		Right: `contract c
state { a: int }
stage s { read /a }
`,
	}
	ClauseTwice = &Kind{
		Code: "clause_twice", Severity: source.Error,
		What: "a clause given twice",
		Why:  "Of two clauses one could be overlooked; what a stage may do stands in one place.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a read /b }
`,
		At: "read",
		Right: `contract c
state { a: int  b: int }
stage s { read /a, /b }
`,
	}
	NoEffect = &Kind{
		Code: "no_effect", Severity: source.Warning,
		What: "a stage that shows and changes nothing, a new key whose entry may not be added, or a `change` rule that reads nothing",
		Why:  "What can never do what it is for was meant otherwise.",
		Wrong: `contract c
state { notes: map of { title: string } }
stage file(note new in /notes) { write /notes/{note}/title }
`,
		At: "note",
		Right: `contract c
state { notes: map of { title: string } }
stage file(note new in /notes) { write /notes/{note} }
`,
	}
	Unused = &Kind{
		Code: "unused", Severity: source.Warning,
		What: "a parameter that nothing in its stage uses, or a given state that no test starts from",
		Why:  "The host is asked for an argument that changes nothing; mostly a path was to have it.",
		Wrong: `contract c
state { notes: map of { title: string } }
stage look(note in /notes) { read /notes }
`,
		At: "note",
		Right: `contract c
state { notes: map of { title: string } }
stage look(note in /notes) { read /notes/{note} }
`,
	}
	ListedTwice = &Kind{
		Code: "listed_twice", Severity: source.Error,
		What: "a name or path given twice in a list, or a claim made twice",
		Why:  "A name that stands twice was most often meant to be another one.",
		Wrong: `contract c
state { a: int }
phases { open -> closed by host  closed }
stage s { in open, open read /a }
`,
		At: "open",
		Right: `contract c
state { a: int }
phases { open -> closed by host  closed }
stage s { in open, closed read /a }
`,
	}
	BadAttempts = &Kind{
		Code: "bad_attempts", Severity: source.Error,
		What: "`attempts` below 1",
		Why:  "A stage that may try less than once can never run.",
		Wrong: `contract c
state { a: int }
stage s { read /a attempts 0 }
`,
		At: "0",
		Right: `contract c
state { a: int }
stage s { read /a attempts 1 }
`,
	}
	UnknownParameter = &Kind{
		Code: "unknown_parameter", Severity: source.Error,
		What: "a parameter that is not declared",
		Why:  "A parameter in a path stands for the key that the call names; without its declaration nobody names one.",
		Wrong: `contract c
state { m: map of int }
stage s { read /m/{k} }
`,
		At: "{k}",
		Right: `contract c
state { m: map of int }
stage s(k in /m) { read /m/{k} }
`,
	}
	ParameterType = &Kind{
		Code: "parameter_type", Severity: source.Error,
		What: "a parameter taken from something that is no string, or a value with a reference or log in it",
		Why:  "A parameter is a key, and keys are strings.",
		Wrong: `contract c
state { n: int  m: map of int }
stage s(k = /n) { read /m }
`,
		At: "/n",
		Right: `contract c
state { n: key of /m  m: map of int }
stage s(k = /n) { read /m/{k} }
`,
	}
	RequireNoGuard = &Kind{
		Code: "require_no_guard", Severity: source.Warning,
		What: "a `require` that compares an argument with the state, in a stage that shows what the argument picks",
		Why:  "A `require` refuses proposals. The view is made before there is one, and shows what the argument picks all the same.",
		Wrong: `contract c
state { users: map of string  orders: map of { user: string  text: string } }
stage s(u in /users, o in /orders) { read /orders/{o} require { before.orders[o].user == u } }
`,
		At: "require { before.orders[o].user == u }",
		Right: `contract c
state { users: map of string  orders: map of { user: string  text: string } }
stage s(u in /users, o in /orders where { state.orders[o].user == u }) { read /orders/{o} }
`,
	}
	ChosenView = &Kind{
		Code: "chosen_view", Severity: source.Warning,
		What: "in a sealed contract, a stage that may write where one of its own parameters is taken from, and is shown what that picks",
		Why:  "Such a stage turns its view to whatever entry it names, and so sees them all, one after another.",
		Wrong: `contract c sealed
state { current: string  m: map of int }
stage s(k = /current) { read /current, /m/{k} write /current }
`,
		At: "write /current",
		Right: `contract c sealed
state { current: string  m: map of int }
stage s(k = /current) { read /current, /m/{k} }
stage turn { read /current write /current }
`,
	}
	DelegateParams = &Kind{
		Code: "delegate_params", Severity: source.Error,
		What: "parameters on a delegate",
		Why:  "A delegate works on what its stage was called for, so it has the same parameters.",
		Wrong: `contract c
state { m: map of int }
stage s(k in /m) { read /m/{k} }
delegate d from s(k in /m) { read /m/{k} }
`,
		At: "k in /m",
		Right: `contract c
state { m: map of int }
stage s(k in /m) { read /m/{k} }
delegate d from s { read /m/{k} }
`,
	}
	DelegateExceeds = &Kind{
		Code: "delegate_exceeds", Severity: source.Error,
		What: "a delegate with more authority than its parent hands down",
		Why:  "Whoever hands work on cannot hand on more than he may do himself.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a, /b write /a }
delegate d from s { write /b }
`,
		At: "write /b",
		Right: `contract c
state { a: int  b: int }
stage s { read /a, /b write /a, /b }
delegate d from s { write /b }
`,
	}
)
