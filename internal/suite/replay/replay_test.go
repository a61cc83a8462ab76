package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

// Every kind of conflict is shown by a run: by the difference, in words.
func TestConflictsAreShownByARun(t *testing.T) {
	const open = `state { ts: map of T  cs: map of C } type T { status: "open" | "solved"  owner: key of /cs  reply?: string } type C { name: string }
`
	for _, c := range []struct{ name, contract, differ, detail string }{
		{"two writes of one place", `state { a: int }
stage x { read /a write /a }
prove x commutes with x`, "state", "both orders are accepted and end in different states at /a"},

		{"two writes of one entry", open + `stage x(t in /ts) { read /ts/{t}/status write /ts/{t}/status }
prove x commutes with x`, "state", "both orders are accepted and end in different states at /ts/t1/status"},

		{"a value of a form", `state { at: string where { self.matches("^[A-Z]{2}-[0-9]+$") } }
stage x { read /at write /at }
prove x commutes with x`, "state", "both orders are accepted and end in different states at /at"},

		{"values of the standard library", `import "std/pii" as pii
import "std/time" as time
state { who: Who } type Who { mail: pii.Email  card: pii.CardNumber  phone: pii.Phone  span: time.Interval }
stage x { read /who write /who }
prove x commutes with x`, "state", "both orders are accepted and end in different states at /who/span/ends"},

		{"a list by key", `state { items: list of I by sku } type I { sku: string where { size(self) >= 3 } n: int where { self > 100 } }
stage x(i in /items) { read /items/{i}/n write /items/{i}/n }
prove x commutes with x`, "state", "both orders are accepted and end in different states at /items/aaa/n"},

		{"a log and the whole of it", `state { h: log of string }
stage x { write /h/- }
stage y { read /h write /h }
prove x commutes with y`, "verdict", "(schema, schema_violation)"},

		{"a removed entry", open + `stage x(c in /cs) { read /cs/{c} write /cs/{c} }
stage y(c in /cs) { read /cs/{c}/name write /cs/{c}/name }
prove x commutes with y`, "state", "both orders are accepted and end in different states at /cs/c1/name"},

		{"a test", `state { a: int  b: int }
stage x { read /a, /b write /b }
stage y { read /a write /a }
prove x commutes with y`, "verdict", "x is accepted first and refused after y (scope, test_failed)"},

		{"a view", `state { o?: { a: int } }
stage x { read /o except /o/a }
stage y { read /o write /o }
prove x commutes with y`, "view", "the view of x changes at /o when y runs first"},

		{"a view that spells a number otherwise", `state { v: { kind: "a"  x: 1 } | { kind: "b"  x: 1.0 } }
stage x { read /v/x }
stage y { read /v/kind  write /v/kind  discloses /v }
prove x commutes with y`, "view", "the view of x changes at /v/x when y runs first"},

		{"a view that spells a member otherwise", `state { v: { kind: "a"  x: { y: 1 } } | { kind: "b"  x: { y: 1.0 } } }
stage x { read /v/x }
stage y { read /v/kind  write /v/kind  discloses /v }
prove x commutes with y`, "view", "the view of x changes at /v/x/y when y runs first"},

		{"a view that spells a member of a member otherwise", `state { v: { kind: "a"  x: { y: { z: 20 } } } | { kind: "b"  x: { y: { z: 2e1 } } } }
stage x { read /v/x }
stage y { read /v/kind  write /v/kind  discloses /v }
prove x commutes with y`, "view", "the view of x changes at /v/x/y/z when y runs first"},

		{"a requirement", open + `stage x(t in /ts) { read /ts/{t}/reply write /ts/{t}/reply require { before.ts[t].status == "open" } discloses require }
stage y(t in /ts) { read /ts/{t}/status write /ts/{t}/status }
prove x commutes with y`, "verdict", "(stage x, require)"},

		{"a key that must exist", open + `stage x(c in /cs) { read /cs/{c}/name }
stage y(c in /cs) { read /cs/{c} write /cs/{c} }
prove x commutes with y`, "verdict", "x is accepted first and refused after y (scope, test_failed)"},

		{"a key that must be new", open + `stage x(c new in /cs) { read /cs/{c} write /cs/{c} }
stage y(d in /cs) { read /cs/{d} write /cs/{d} }
prove x commutes with y`, "verdict", "(phase, argument_violation)"},

		{"a parameter from the state", open + `stage x(t in /ts, c = /ts/{t}/owner) { read /cs/{c}/name write /cs/{c}/name }
stage y(t in /ts) { read /ts/{t}/owner write /ts/{t}/owner discloses /ts/*/owner }
prove x commutes with y`, "verdict", "x is accepted first and refused after y (scope, test_failed)"},

		{"jointly invalid", `state { a: int  b: int }
invariant cap { state.a + state.b <= 10 }
stage x { read /a write /a discloses cap }
stage y { read /b write /b discloses cap }
prove x commutes with y`, "verdict", "(invariant cap)"},

		{"enabling", `state { a: int  b: int }
invariant order { state.a < state.b }
stage x { read /a write /a discloses order }
stage y { read /b write /b discloses order }
prove x commutes with y`, "verdict", "(invariant order)"},

		{"a number of keys", open + `invariant few { size(state.cs) <= 3 }
stage x(c new in /cs) { read /cs/{c} write /cs/{c} discloses few }
prove x commutes with x when c differs`, "verdict", "(invariant few)"},

		{"unique values", open + `invariant names unique /cs/*/name
stage x(c in /cs) { read /cs/{c}/name write /cs/{c}/name discloses names }
prove x commutes with x when c differs`, "verdict", "(invariant names)"},

		{"a reference", open + `stage x(t in /ts) { read /ts/{t}/owner write /ts/{t}/owner discloses /ts/*/owner }
stage y(c in /cs) { read /cs/{c} write /cs/{c} discloses /ts/*/owner }
prove x commutes with y`, "verdict", "(schema, schema_violation)"},

		{"a reference to what the other adds", `state { as: map of int  ref: key of /as }
stage x(a new in /as) { write /as/{a} }
stage y { read /ref write /ref discloses /ref }
prove x commutes with y`, "verdict", "(schema, schema_violation)"},

		{"an entry of a log that refers to what the other adds", `state { as: map of int  ref: key of /as  log: log of { a: key of /as } }
stage x(a new in /as) { write /as/{a} }
stage y { write /log/- discloses /log/* , /log/*/a }
prove x commutes with y`, "verdict", "(schema, schema_violation)"},

		{"something beside an entry that a condition asks for", `state { cs: map of { name: string }  log: log of int }
invariant few { size(state.log) < 2 }
stage x(c new in /cs) { write /cs/{c}, /log/-  ensure { after.cs[c].name != "" } discloses few }
prove x commutes with x`, "verdict", "(invariant few)"},

		{"a list that must not be empty", `state { n: int  li: list of int  m: map of string }
stage x { read /n write /n require { size(before.li) > 0 } discloses require }
prove x commutes with x`, "state", "both orders are accepted and end in different states at /n"},

		{"a sum", `state { ps: map of P  budget: number where { self >= 0.0 } } type P { amount: number where { self > 0.0 } }
measure paid = sum /ps/*/amount
invariant within { paid <= state.budget }
stage x(p new in /ps) { read /ps/{p} write /ps/{p} discloses within }
prove x commutes with x when p differs`, "verdict", "(invariant within)"},

		{"a rule about one entry", open + `invariant done each t in /ts/* { t.status != "solved" || has(t.reply) }
stage x(t in /ts) { read /ts/{t}/status write /ts/{t}/status discloses done }
stage y(t in /ts) { read /ts/{t}/reply write /ts/{t}/reply discloses done }
prove x commutes with y`, "verdict", "(invariant done)"},

		{"a constraint of two members", `state { s: S } type S = { lo: int  hi: int } where { self.lo <= self.hi }
stage x { read /s/lo write /s/lo discloses /s }
stage y { read /s/hi write /s/hi discloses /s }
prove x commutes with y`, "verdict", "(schema, schema_violation)"},

		{"a total size", `state { a: string  b: string }
invariant quota { size(state.a) + size(state.b) <= 10 }
stage x { read /a write /a discloses quota }
stage y { read /b write /b discloses quota }
prove x commutes with y`, "verdict", "(invariant quota)"},

		{"a stage that moves the phase", `state { a: int }
phases { one -> two two }
stage x { in one next two }
stage y { in one read /a write /a }
prove x commutes with y`, "verdict", "y is accepted first and refused after x (phase, phase_violation)"},

		{"a role", `state { a: int }
stage x { by bot read /a write /a }
stage y { by ann, bob read /a write /a }
prove x commutes with y`, "state", "both orders are accepted and end in different states at /a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := compile(t, "contract c\n"+c.contract, replay.New(replay.Options{}))
			refuted, ok := out.Results[0].(footprint.Refuted)
			require.True(t, ok, "%+v", out.Results[0])
			require.Equal(t, c.differ, refuted.Counterexample.Differ, refuted.Counterexample.Detail)
			require.Contains(t, footprint.New(out.Lowered).Shown(*refuted.Pair, *refuted.Counterexample).Detail, c.detail)
		})
	}
}

// A rule that no small value satisfies.
const hard = `contract c
state { a: int where { self * 7919 == 7919000004051 * 3 } }
stage x { read /a write /a }
prove x commutes with x
`

func TestWithoutAValidExampleTheAnswerIsUnknown(t *testing.T) {
	out := compile(t, hard, replay.New(replay.Options{}))
	unknown, ok := out.Results[0].(footprint.Unknown)
	require.True(t, ok, "%+v", out.Results[0])
	require.Equal(t, "overlap at /a, no valid example found", unknown.Why)
	require.Equal(t, "claim_unknown", out.Diagnostics[0].Code)
	require.Equal(t, "unknown: overlap at /a, no valid example found", out.Diagnostics[0].Message)
}

func TestFixturesAreTriedWhereSynthesisFindsNothing(t *testing.T) {
	const secret = `contract c
state { a: int  key: string where { size(self) == 12 && self.indexOf("xyzzy") == 3 } }
stage x { read /a write /a }
prove x commutes with x
`
	require.IsType(t, footprint.Unknown{}, compile(t, secret, replay.New(replay.Options{})).Results[0])
	fixtures := func() []string { return []string{"no JSON", `{"a": "no state"}`, `{"a": 41, "key": "abcxyzzyefgh"}`} }
	refuted, ok := compile(t, secret, replay.New(replay.Options{Fixtures: fixtures})).Results[0].(footprint.Refuted)
	require.True(t, ok)
	require.JSONEq(t, `{"a": 41, "key": "abcxyzzyefgh"}`, refuted.Counterexample.State)
}

func TestTheBudgetBoundsTheSearch(t *testing.T) {
	const text = `contract c
state { a: int  b: int }
invariant order { state.a < state.b }
stage x { read /a write /a discloses order }
stage y { read /b write /b discloses order }
prove x commutes with y
`
	require.IsType(t, footprint.Unknown{}, compile(t, text, replay.New(replay.Options{Budget: 1})).Results[0])
	require.IsType(t, footprint.Refuted{}, compile(t, text, replay.New(replay.Options{})).Results[0])
}

func TestReplaysAreTheSameEveryTime(t *testing.T) {
	c := desk(t)
	model := footprint.New(c)
	for _, names := range [][2]string{{"answer", "close"}, {"refund", "budget"}, {"drop", "assign"}, {"item", "price"}} {
		a, b := c.Stage(names[0]), c.Stage(names[1])
		pair := footprint.Pair{A: a, B: b, Conflicts: model.Commutation(a, b)}
		require.NotEmpty(t, pair.Conflicts)
		first, err := replay.New(replay.Options{})(c, pair, pair.Conflicts[0])
		require.NoError(t, err)
		require.NotNil(t, first, names)
		for range 3 {
			again, err := replay.New(replay.Options{})(c, pair, pair.Conflicts[0])
			require.NoError(t, err)
			require.Equal(t, first, again)
		}
	}
}

// The key of a member that a fixture has is told, at whatever place the run parts, only
// where it is not secret.
func TestTheWordingOfARunHidesWhatTheRunHides(t *testing.T) {
	// hard is what only a fixture has, so that no state is made up.
	const hard = `f: string where { size(self) == 12 && self.indexOf("xyzzy") == 3 }  `
	for name, c := range map[string]struct{ state, fixture, container, place string }{
		"a secret map":          {`m: secret (map of { n: int })`, `{"k4711": {"n": 1}}`, "/m", "/m/(secret)"},
		"a map of secrets":      {`m: map of secret { n: int }`, `{"k4711": {"n": 1}}`, "/m", "/m/k4711"},
		"a secret member":       {`m: { x: { a: int  b: secret (map of { n: int }) } }`, `{"x": {"a": 1, "b": {"k4711": {"n": 2}}}}`, "/m/x/b", "/m/x/b/(secret)"},
		"a secret keyed list":   {`m: secret (list of { id: string  n: int } by id)`, `[{"id": "k4711", "n": 1}]`, "/m", "/m/(secret)"},
		"a secret further down": {`m: map of { n: secret int }`, `{"k4711": {"n": 1}}`, "/m", "/m/k4711/n"},
		"a secret in a union":   {`m: { x: null | { s: secret (map of { n: int }) } }`, `{"x": {"s": {"k4711": {"n": 1}}}}`, "/m/x/s", "/m/x/s/(secret)"},
		"no secret":             {`m: map of { n: int }`, `{"k4711": {"n": 1}}`, "/m", "/m/k4711/n"},
	} {
		t.Run(name, func(t *testing.T) {
			one := c.container + "/{p}/n"
			text := "contract c\nstate { " + hard + c.state + " }\nstage s(p in " + c.container + ") { read " + one + "  write " + one + " }\nprove s commutes with s\n"
			fixtures := func() []string { return []string{`{"f": "abcxyzzyefgh", "m": ` + c.fixture + `}`} }
			out := compile(t, text, replay.New(replay.Options{Fixtures: fixtures}))
			require.Equal(t, "claim_refuted", out.Diagnostics[len(out.Diagnostics)-1].Code, "%v", out.Diagnostics)
			answers, err := json.Marshal(explain.Answers(out.Lowered, out.Results))
			require.NoError(t, err)
			for _, told := range []string{out.Diagnostics[len(out.Diagnostics)-1].Message, string(answers)} {
				require.Contains(t, told, " at "+c.place)
				require.Equal(t, strings.Contains(c.place, "k4711"), strings.Contains(told, "k4711"), told)
			}
		})
	}
}
