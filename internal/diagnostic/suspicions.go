package diagnostic

import (
	"slices"

	"github.com/patchoptic/poptic/lang/source"
)

var suspicions = Chapter{Title: "Suspicions", Lint: true, Kinds: []*Kind{
	DeadStage, DeadPhase, NeverHolds, AlwaysHolds, ImpliedInvariant, EmptyExcept, IdleRight, UntestedStage, UnviolatedInvariant,
	DeepWrite, WildcardWrite, WideGrant, UnreadWrite, SecretShown, SecretFlow, AnyRole, UnusedDelegable, GrantInside,
	ConflictingStages, SeenWhileWritten, PositionalWrite, ShiftingPositions, UnboundedCost,
	UnusedImport, UnusedType, UnusedRegion, UnusedConst, UnusedDefine, UnusedRoles, UnusedMeasure,
	MessageValue, UndocumentedStage, SilentRule, BadIgnore, UnusedIgnore,
}}

// OfLint reports whether a kind is found by a rule alone, after the compiler.
func OfLint(k *Kind) bool { return slices.Contains(suspicions.Kinds, k) }

// Suspicions: what compiles, and is hardly what was meant.
var (
	DeadStage = &Kind{
		Code: "dead_stage", Severity: source.Warning,
		What: "a stage that can never run, because no phase that it runs in is ever entered",
		Why:  "What a stage that never runs would do is never done.",
		Wrong: `contract c
state { n: int where { self >= 0 } }
stage archive { in closed read /n }
stage close { in open read /n require { before.n < 0 } next closed }
phases { open -> closed  closed }
`,
		At: "archive",
		Right: `contract c
state { n: int where { self >= 0 } }
stage archive { in closed read /n }
stage close { in open read /n require { before.n == 0 } next closed }
phases { open -> closed  closed }
`,
	}
	DeadPhase = &Kind{
		Code: "dead_phase", Severity: source.Warning,
		What: "a phase that is never entered, because no guard or stage on any way there can be passed",
		Why:  "The phases show a way, and there is none: an instance is stuck before it.",
		Wrong: `contract c
state { n: int where { self >= 0 } }
phases { open -> closed  closed }
stage close { in open read /n require { before.n < 0 } next closed }
`,
		At: "closed",
		Right: `contract c
state { n: int where { self >= 0 } }
phases { open -> closed  closed }
stage close { in open read /n require { before.n == 0 } next closed }
`,
	}
	NeverHolds = &Kind{
		Code: "never_holds", Severity: source.Warning,
		What: "a rule, guard or condition that no state can meet",
		Why:  "A rule that cannot hold refuses everything; it contradicts itself, the types, or another rule.",
		Wrong: `contract c
state { level: "low" | "high"  n: int }
invariant i { state.n > 9 && state.n < 5 || state.level == "low" && state.level == "high" }
`,
		At: `state.n > 9 && state.n < 5 || state.level == "low" && state.level == "high"`,
		Right: `contract c
state { level: "low" | "high"  n: int }
invariant i { state.n > 9 || state.level == "low" }
`,
	}
	AlwaysHolds = &Kind{
		Code: "always_holds", Severity: source.Warning,
		What: "a rule, guard or condition that holds whatever the state is",
		Why:  "It looks like a rule and refuses nothing: a type says it already, or the comparison is the wrong one.",
		Wrong: `contract c
state { level: "low" | "high" }
invariant i { state.level == "low" || state.level == "high" }
`,
		At: `state.level == "low" || state.level == "high"`,
		Right: `contract c
state { level: "low" | "high"  n: int }
invariant i { state.level == "low" || state.n > 0 }
`,
	}
	ImpliedInvariant = &Kind{
		Code: "implied_invariant", Severity: source.Warning,
		What: "an invariant that another one implies",
		Why:  "It refuses nothing that is not refused already; a reader looks for what it adds.",
		Wrong: `contract c
state { n: int }
invariant small { state.n < 10 }
invariant not_huge { state.n < 100 }
`,
		At: "not_huge",
		Right: `contract c
state { n: int }
invariant small { state.n < 10 }
`,
	}
	EmptyExcept = &Kind{
		Code: "empty_except", Severity: source.Warning,
		What: "an exception that takes nothing away from its grant",
		Why:  "Who reads it believes that something is kept back; most often a path in it is the wrong one. Of `secrets` it is not said, which may stand where there are none yet.",
		Wrong: `contract c
state { a: { x: int }  b: { y: int } }
stage s { read /a except /b/y }
`,
		At: "/b/y",
		Right: `contract c
state { a: { x: int  y: int } }
stage s { read /a except /a/y }
`,
	}
	IdleRight = &Kind{
		Code: "idle_right", Severity: source.Warning,
		What: "a right of a write to what never happens there",
		Why:  "The stage can do less than it says: what a type always has is neither created nor deleted, a list is updated, and what is appended is new.",
		Wrong: `contract c
state { title: string }
stage s { read /title write create /title }
`,
		At: "create",
		Right: `contract c
state { title: string }
stage s { read /title write update /title }
`,
	}
	UntestedStage = &Kind{
		Code: "untested_stage", Severity: source.Info,
		What: "a stage that no test runs, in a contract that has tests",
		Why:  "What no test runs may have stopped working unseen.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a write /a }
stage t { read /b write /b }
`,
		At: "t",
		Right: `contract c
state { a: int }
stage s { read /a write /a }
`,
		Beside: map[string]string{"c_test.poptic": `test "s may write a" {
  state  { "a": 1 }
  stage  s
  patch  [{"op": "replace", "path": "/a", "value": 2}]
  expect commit
}
`},
	}
	UnviolatedInvariant = &Kind{
		Code: "unviolated_invariant", Severity: source.Info,
		What: "an invariant that no test sees refuse something, in a contract that has tests",
		Why:  "A rule that was never seen to refuse may refuse nothing.",
		Wrong: `contract c
state { a: int }
invariant small { state.a < 3 }
stage s { read /a write /a }
`,
		At: "small",
		Right: `contract c
state { a: int }
stage s { read /a write /a }
`,
		Beside: map[string]string{"c_test.poptic": `test "s may write a" {
  state  { "a": 1 }
  stage  s
  patch  [{"op": "replace", "path": "/a", "value": 2}]
  expect commit
}
`},
	}
	DeepWrite = &Kind{
		Code: "deep_write", Severity: source.Warning,
		What: "`**` in a write",
		Why:  "`**` grants at every depth, and whatever is added to the state later is granted with it.",
		Wrong: `contract c
state { a: { x: int  y: { x: int } } }
stage s { read /a write /a/**/x }
`,
		At: "/a/**/x",
		Right: `contract c
state { a: { x: int  y: { x: int } } }
stage s { read /a write /a/x, /a/y/x }
`,
	}
	WildcardWrite = &Kind{
		Code: "wildcard_write", Severity: source.Warning,
		What: "`*` in a write where a parameter of the stage names the entry",
		Why:  "The stage is about one entry and may change all of them; two runs about different entries are in each other's way.",
		Wrong: `contract c
state { tickets: map of { status: string } }
stage close(ticket in /tickets) { read /tickets/{ticket}, /tickets/*/status write /tickets/*/status }
`,
		At: "/tickets/*/status",
		Right: `contract c
state { tickets: map of { status: string } }
stage close(ticket in /tickets) { read /tickets/{ticket} write /tickets/{ticket}/status }
`,
	}
	WideGrant = &Kind{
		Code: "wide_grant", Severity: source.Info,
		What: "a write that no accepted patch in the tests of its stage needs, or needs only a part of",
		Why:  "What nobody was seen to need is authority to be misused; or a test is missing.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a, /b write /a, /b }
`,
		At: "/b",
		Right: `contract c
state { a: int  b: int }
stage s { read /a, /b write /a }
`,
		Beside: map[string]string{"c_test.poptic": `test "s may write a" {
  state  { "a": 1, "b": 1 }
  stage  s
  patch  [{"op": "replace", "path": "/a", "value": 2}]
  expect commit
}
`},
	}
	UnreadWrite = &Kind{
		Code: "unread_write", Severity: source.Info,
		What: "a write of what no stage ever sees and no rule reads (appends to logs, which are for auditors, left aside)",
		Why:  "What is written for nobody is a slip, or for the host: then say so.",
		Wrong: `contract c
state { ratings: map of int }
stage rate { write blind /ratings/* }
`,
		At: "blind /ratings/*",
		Right: `contract c
state { ratings: map of int }
stage rate { write blind /ratings/* }
stage report { read /ratings }
`,
	}
	SecretShown = &Kind{
		Code: "secret_shown", Severity: source.Warning,
		What: "a secret that a stage is shown because it lies below what it reads, and that nothing in the stage names",
		Why:  "A secret that is shown should be shown on purpose: name its path, or keep it back.",
		Wrong: `contract c
state { people: map of { name: string  card: secret string } }
stage greet(who in /people) { read /people/{who} }
`,
		At: "/people/{who}",
		Right: `contract c
state { people: map of { name: string  card: secret string } }
stage greet(who in /people) { read /people/{who} except secrets }
`,
	}
	SecretFlow = &Kind{
		Code: "secret_flow", Severity: source.Warning,
		What: "a stage that sees a secret text and may write text that stages see which do not see the secret",
		Why:  "Its actor may write the secret where others read it; nothing but its good will keeps it from that.",
		Wrong: `contract c
state { card: secret string  note: string }
stage write_note { by clerk read /card, /note write /note }
stage publish { by bot read /note }
`,
		At: "/note",
		Right: `contract c
state { card: secret string  note: string }
stage write_note { by clerk read /note write /note }
stage publish { by bot read /note }
`,
	}
	AnyRole = &Kind{
		Code: "any_role", Severity: source.Warning,
		What: "a stage without `by` in a contract of which at least half the stages have it",
		Why:  "A stage without `by` may be run in every role, which among stages that say theirs is mostly forgotten.",
		Wrong: `contract c
state { a: int  b: int }
stage s { by clerk read /a write /a }
stage t { read /b write /b }
`,
		At: "t",
		Right: `contract c
state { a: int  b: int }
stage s { by clerk read /a write /a }
stage t { by clerk, mailbox read /b write /b }
`,
	}
	UnusedDelegable = &Kind{
		Code: "unused_delegable", Severity: source.Warning,
		What: "a `delegable` of a stage from which nobody delegates",
		Why:  "It hands down authority, to delegates that come later as well.",
		Wrong: `contract c
state { a: int }
stage s { read /a write /a delegable /a }
`,
		At: "delegable /a",
		Right: `contract c
state { a: int }
stage s { read /a write /a delegable /a }
delegate d from s { read /a write /a }
`,
	}
	GrantInside = &Kind{
		Code: "grant_inside", Severity: source.Warning,
		What: "a grant that lies within another one of its clause",
		Why:  "It grants nothing more; taking it away would take nothing away.",
		Wrong: `contract c
state { a: { x: int  y: int } }
stage s { read /a, /a/x }
`,
		At: "/a/x",
		Right: `contract c
state { a: { x: int  y: int } }
stage s { read /a }
`,
	}
	ConflictingStages = &Kind{
		Code: "conflicting_stages", Severity: source.Warning,
		What: "two stages that may both write one place in one phase, of which no claim speaks",
		Why:  "Which of the two comes last decides what stands there, and the other is refused as stale.",
		Wrong: `contract c
state { tickets: map of { status: string  note: string } }
stage label(ticket in /tickets) { read /tickets/{ticket} write /tickets/{ticket} }
stage annotate(ticket in /tickets) { read /tickets/{ticket} write /tickets/{ticket}/note }
`,
		At: "/tickets/{ticket}",
		Right: `contract c
state { tickets: map of { status: string  note: string } }
stage label(ticket in /tickets) { read /tickets/{ticket}/status write /tickets/{ticket}/status }
stage annotate(ticket in /tickets) { read /tickets/{ticket}/note write /tickets/{ticket}/note }
`,
	}
	SeenWhileWritten = &Kind{
		Code: "seen_while_written", Severity: source.Info, Unasked: true,
		What: "a stage that sees, whatever its arguments are, what another one may write in the same phase",
		Why:  "Each commit of the one makes what the other was shown stale.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a write /a }
stage t { read /a, /b write /b }
`,
		At: "t",
		Right: `contract c
state { a: int  b: int }
stage s { read /a write /a }
stage t { read /b write /b }
`,
	}
	PositionalWrite = &Kind{
		Code: "positional_write", Severity: source.Warning,
		What: "a write to elements of a list by their positions",
		Why:  "Each insertion or removal moves the positions behind it, so a patch may meet another element than the one that was seen.",
		Wrong: `contract c
state { items: list of { sku: string  faulty: bool } }
stage inspect { read /items write /items/*/faulty }
`,
		At: "/items/*/faulty",
		Right: `contract c
state { items: list of { sku: string  faulty: bool } by sku }
stage inspect { read /items write /items/*/faulty }
`,
	}
	ShiftingPositions = &Kind{
		Code: "shifting_positions", Severity: source.Warning,
		What: "more than one position of one list in the writes of a stage, or in a patch of a test",
		Why:  "What is added or removed at one position moves the others, within the same patch.",
		Wrong: `contract c
state { steps: list of string }
stage tidy { read /steps write /steps/0, /steps/2 }
`,
		At: "/steps/2",
		Right: `contract c
state { steps: map of string }
stage tidy { read /steps write /steps }
`,
	}
	UnboundedCost = &Kind{
		Code: "unbounded_cost", Severity: source.Warning,
		What: "an expression that goes through a container for each entry of another one, of which no rule bounds the sizes",
		Why:  "Its cost is the product of the sizes; beyond the limit it has no value, and its rule is violated.",
		Wrong: `contract c
state { a: map of int  b: map of int }
invariant i { state.a.all(k, state.b.exists(l, state.b[l] == state.a[k])) }
`,
		At: "state.a.all(k, state.b.exists(l, state.b[l] == state.a[k]))",
		Right: `contract c
state { a: (map of int) where { size(self) <= 100 }  b: (map of int) where { size(self) <= 100 } }
invariant i { state.a.all(k, state.b.exists(l, state.b[l] == state.a[k])) }
`,
	}
	UnusedImport = &Kind{
		Code: "unused_import", Severity: source.Warning,
		What: "an import of which nothing is used",
		Why:  "A reader looks for what it is there for; its rules, if it has any, hold by the import alone, which is no use of its name.",
		Wrong: `contract c
import "std/pii"
state { a: int }
`,
		At: `"std/pii"`,
		Right: `contract c
import "std/pii"
state { a: pii.Email }
`,
	}
	UnusedType = &Kind{
		Code: "unused_type", Severity: source.Warning,
		What: "a type that nothing is of",
		Why:  "Its constraints look as if they held, and hold of nothing.",
		Wrong: `contract c
state { a: int }
type Small = int where { self < 9 }
`,
		At: "Small",
		Right: `contract c
state { a: Small }
type Small = int where { self < 9 }
`,
	}
	UnusedRegion = &Kind{
		Code: "unused_region", Severity: source.Warning,
		What: "a region that no clause and no claim names",
		Why:  "A region grants and protects nothing by itself.",
		Wrong: `contract c
state { a: int }
region r = /a
`,
		At: "r",
		Right: `contract c
state { a: int }
region r = /a
stage s { read r }
`,
	}
	UnusedConst = &Kind{
		Code: "unused_const", Severity: source.Warning,
		What: "a constant that nothing uses",
		Why:  "Who changes it believes that something changes.",
		Wrong: `contract c
const MOST = 9
state { a: int where { self < 9 } }
`,
		At: "MOST",
		Right: `contract c
const MOST = 9
state { a: int where { self < MOST } }
`,
	}
	UnusedDefine = &Kind{
		Code: "unused_define", Severity: source.Warning,
		What: "a definition that no expression uses",
		Why:  "A definition says nothing by itself.",
		Wrong: `contract c
define small(n) = { n < 9 }
state { a: int }
`,
		At: "small",
		Right: `contract c
define small(n) = { n < 9 }
state { a: int where { small(self) } }
`,
	}
	UnusedRoles = &Kind{
		Code: "unused_roles", Severity: source.Warning,
		What: "a group of roles that no stage names",
		Why:  "A group lets nobody do anything by itself.",
		Wrong: `contract c
roles staff = clerk, manager
state { a: int }
stage s { by clerk read /a }
`,
		At: "staff",
		Right: `contract c
roles staff = clerk, manager
state { a: int }
stage s { by staff read /a }
`,
	}
	UnusedMeasure = &Kind{
		Code: "unused_measure", Severity: source.Warning,
		What: "a measure that no expression uses",
		Why:  "A measure bounds nothing by itself, and is kept up to date at every commit.",
		Wrong: `contract c
state { m: map of int }
measure total = sum /m/*
`,
		At: "total",
		Right: `contract c
state { m: map of int }
measure total = sum /m/*
invariant bounded { total <= 100 }
`,
	}
	MessageValue = &Kind{
		Code: "message_value", Severity: source.Warning,
		What: "a message that has a placeholder, or repeats the value of a constant that its condition uses",
		Why:  "A message is told as it stands: nothing is put into it, and it does not change with the constant.",
		Wrong: `contract c
const MOST = 80
state { a: string where "at most 80 characters" { size(self) <= MOST } }
`,
		At: `"at most 80 characters"`,
		Right: `contract c
const MOST = 80
state { a: string where "it fits on a line" { size(self) <= MOST } }
`,
	}
	UndocumentedStage = &Kind{
		Code: "undocumented_stage", Severity: source.Info, Unasked: true,
		What: "a stage without a comment above it",
		Why:  "The comment is the task that its actor is given; without one, it is told only what it may do.",
		Wrong: `contract c
state { a: int }
stage s { read /a write /a }
`,
		At: "s",
		Right: `contract c
state { a: int }
# Count one more.
stage s { read /a write /a }
`,
	}
	SilentRule = &Kind{
		Code: "silent_rule", Severity: source.Info, Unasked: true,
		What: "an invariant, change, require or ensure without a message",
		Why:  "An actor whose patch it refuses is shown CEL, or where it may not see that, nothing.",
		Wrong: `contract c
state { a: int }
invariant small { state.a < 9 }
`,
		At: "small",
		Right: `contract c
state { a: int }
invariant small "a stays small" { state.a < 9 }
`,
	}
	BadIgnore = &Kind{
		Code: "bad_ignore", Severity: source.Warning,
		What: "a `poptic:ignore` without a reason, or of what is no rule",
		Why:  "Who finds it later must know whether it still holds.",
		Wrong: `contract c
state { a: int }
type Small = int # poptic:ignore unused_type
`,
		At: "# poptic:ignore unused_type",
		Right: `contract c
state { a: int }
type Small = int # poptic:ignore unused_type the next version of the state has it
`,
	}
	UnusedIgnore = &Kind{
		Code: "unused_ignore", Severity: source.Warning,
		What: "a `poptic:ignore` of what is not found there",
		Why:  "It would hide the next mistake of its kind.",
		Wrong: `contract c
state { a: int } # poptic:ignore unused_type the next version has it
`,
		At: "# poptic:ignore unused_type the next version has it",
		Right: `contract c
state { a: int }
`,
	}
)
