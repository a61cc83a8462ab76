package replay_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

// A room is one stage of a contract, whose actor asks.
type room struct {
	t     testing.TB
	p     *verify.Program
	stage string
	args  map[string]string
}

func enter(t testing.TB, text, stage string) room {
	t.Helper()
	p, err := verify.Load(compile(t, text, nil).Lowered, verify.DefaultLimits())
	require.NoError(t, err)
	return room{t, p, stage, nil}
}

// told is the view of a state and the reply to a patch on it, as they are sent.
func (r room) told(state, patch string) (view, reply string) {
	r.t.Helper()
	n, err := r.p.Import([]byte(state))
	require.NoError(r.t, err)
	phase := r.p.Contract().Phases[0].Name
	require.Empty(r.t, r.p.CheckAll(context.Background(), n, phase), "the state is not valid")
	s := verify.Snapshot{State: n, Phase: phase, Version: 1}
	v, refused, err := r.p.View(context.Background(), s, verify.ViewRequest{Stage: r.stage, Args: r.args})
	require.NoError(r.t, err)
	require.Nil(r.t, refused)
	out, err := r.p.Verify(context.Background(), s, verify.Proposal{Stage: r.stage, Args: r.args, Patch: []byte(patch)})
	require.NoError(r.t, err)
	return string(encode(r.t, v)), string(encode(r.t, out.Actor()))
}

func encode(t testing.TB, v any) []byte {
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return out
}

// requireOneReply demands that states that look alike give one reply, a refusal.
func (r room) requireOneReply(patch string, states ...string) {
	r.t.Helper()
	view, reply := r.told(states[0], patch)
	require.Contains(r.t, reply, `"reject"`)
	for _, other := range states[1:] {
		v, told := r.told(other, patch)
		require.Equal(r.t, view, v, "the states do not look alike")
		require.Equal(r.t, reply, told)
	}
}

func TestADisclosedGateTellsNeitherHowManyNorWhichEntriesFail(t *testing.T) {
	r := enter(t, `contract c
state { limit: int  h: map of int  seen: map of int }
invariant within each e in /h/* { e <= state.limit }
stage t { read /limit, /seen write /limit discloses within }
`, "t")
	r.requireOneReply(`[{"op":"replace","path":"/limit","value":1}]`,
		`{"limit":9,"seen":{},"h":{"a":2}}`, `{"limit":9,"seen":{},"h":{"a":2,"b":3}}`, `{"limit":9,"seen":{},"h":{"a":1,"b":3,"c":9}}`)
}

func TestADisclosedRuleDoesNotTellWhetherItIsFalseOrHasNoValue(t *testing.T) {
	r := enter(t, `contract c
state { limit: int  h: map of int }
invariant within each e in /h/* { state.limit == 9 || 6 / e > state.limit }
stage t { read /limit write /limit discloses within }
`, "t")
	r.requireOneReply(`[{"op":"replace","path":"/limit","value":3}]`,
		`{"limit":9,"h":{"a":6}}`, `{"limit":9,"h":{"a":0}}`, `{"limit":9,"h":{"a":0,"b":6}}`)
}

func TestADisclosedReferenceDoesNotTellWhatRefers(t *testing.T) {
	const gone = `[{"op":"remove","path":"/x/k"},{"op":"remove","path":"/x/l"}]`
	r := enter(t, `contract c
state { x: map of int  u: log of (key of /x)  m: map of (list of key of /x) }
stage s { read /x write /x discloses /u/*, /m/*/* }
`, "s")
	r.requireOneReply(gone,
		`{"x":{"k":1,"l":1},"u":["k"],"m":{}}`, `{"x":{"k":1,"l":1},"u":["l","k"],"m":{}}`)
	r.requireOneReply(gone,
		`{"x":{"k":1,"l":1},"u":[],"m":{"a":["k"]}}`, `{"x":{"k":1,"l":1},"u":[],"m":{"a":["k","l"],"b":["l"]}}`)
}

// hung is a contract in which what a gate reads hangs on what conditions of the stage say,
// and conditions say more than the stage sees.
func hung(rule, stage string) string {
	return `contract c
state { hidden: int  seen: string  key: string  ref?: key of /m  m: map of int  log: log of (key of /m) }
` + rule + `
stage s(p in /m) {
  ` + stage + `
}
`
}

func TestAGateIsNotNamedWhereAConditionThatItHangsOnDoesNotHold(t *testing.T) {
	const low = `invariant low { state.seen != "x" || !(state.key in state.m) || state.m[state.key] < 5 }`
	const patch = `[{"op":"replace","path":"/seen","value":"x"}]`
	one, other := `{"hidden":1,"seen":"a","key":"k","m":{"k":1,"p":1},"log":[]}`, `{"hidden":1,"seen":"a","key":"k","m":{"k":9,"p":1},"log":[]}`
	for _, conditions := range []string{
		`require { before.key == p && before.hidden == 1 }`,
		`require { before.key == p } require { before.hidden == 1 }`,
		`require { before.hidden == 1 && p == before.key }`,
		`ensure { before.key == p && before.hidden == 1 }`,
		`ensure { before.hidden == 1 && after.key == p }`,
		`require { before.key == p }`,
		`ensure { after.key == p }`,
	} {
		r := enter(t, hung(low, "read /seen, /key, /m/{p}  write /seen  "+conditions), "s")
		r.args = map[string]string{"p": "p"}
		r.requireOneReply(patch, one, other)
	}
}

func TestAGateThatATextExcusesIsNotNamedWhereTheTextIsNotThere(t *testing.T) {
	const low = `invariant low { state.key == "off" || state.seen != "x" || state.hidden < 5 }`
	const patch = `[{"op":"replace","path":"/seen","value":"x"}]`
	one, other := `{"hidden":1,"seen":"a","key":"on","m":{"p":1},"log":[]}`, `{"hidden":9,"seen":"a","key":"on","m":{"p":1},"log":[]}`
	for _, conditions := range []string{
		`require { before.key == "off" && before.m.all(k, before.m[k] < 5) }`,
		`require { before.key in ["off"] } require { size(before.m) > 0 }`,
		`ensure { before.key == "off" && size(before.log) == 0 }`,
		`ensure { after.key == "off" && size(after.log) == 0 }`,
		`ensure { "off" == after.key }`,
	} {
		r := enter(t, hung(low, "read /seen, /key  write /seen  "+conditions), "s")
		r.args = map[string]string{"p": "p"}
		r.requireOneReply(patch, one, other)
	}
}

func TestAHiddenConditionIsNotToldByWhetherAGateIsNamed(t *testing.T) {
	const low = `invariant low { state.seen != "x" || !(state.key in state.m) || state.m[state.key] < 5 }`
	const patch = `[{"op":"replace","path":"/seen","value":"x"}]`
	one, other := `{"hidden":1,"seen":"a","key":"p","m":{"p":9},"log":[]}`, `{"hidden":2,"seen":"a","key":"p","m":{"p":9},"log":[]}`
	for _, conditions := range []string{
		`ensure { after.key == p && after.hidden == 1 }`,
		`ensure { after.key == p } ensure { before.hidden == 1 }`,
		`ensure { before.key == p } require { before.hidden == 1 }`,
		`require { before.key == p && before.hidden == 1 }`,
		`require { before.key == p } ensure { after.hidden == 1 }`,
	} {
		r := enter(t, hung(low, "read /seen, /key, /m/{p}  write /seen  "+conditions), "s")
		r.args = map[string]string{"p": "p"}
		r.requireOneReply(patch, one, other)
		_, reply := r.told(one, patch)
		require.Contains(t, reply, `"rule":"invariant low"`)
	}
}

func TestAReferenceIsNotNamedWhereAConditionThatItHangsOnDoesNotHold(t *testing.T) {
	for _, conditions := range []string{
		`ensure { has(after.ref) && after.ref == p && before.hidden == 1 }`,
		`ensure { !has(after.ref) || after.ref == p } ensure { size(after.m) > 9 }`,
		`ensure { after.?ref.orValue("") == p }`,
	} {
		r := enter(t, hung("", "read /ref, /m/{p}  write /ref  "+conditions), "s")
		r.args = map[string]string{"p": "p"}
		r.requireOneReply(`[{"op":"add","path":"/ref","value":"k"}]`,
			`{"hidden":1,"seen":"a","key":"k","m":{"k":1,"p":1},"log":[]}`, `{"hidden":1,"seen":"a","key":"k","m":{"p":1},"log":[]}`)
	}
}

func TestDisclosedRequirementsAreOneGate(t *testing.T) {
	r := enter(t, `contract c
state { a: int  b: int  n: int }
stage s {
  read /n  write /n
  require { before.a > 0 }  require { before.b > 0 }
  ensure { after.a + after.n > 1 }  ensure { after.b + after.n > 1 }
  discloses require, ensure
}
`, "s")
	r.requireOneReply(`[]`, `{"a":0,"b":1,"n":1}`, `{"a":1,"b":0,"n":1}`, `{"a":0,"b":0,"n":1}`)
	r.requireOneReply(`[{"op":"replace","path":"/n","value":0}]`, `{"a":1,"b":2,"n":1}`, `{"a":2,"b":1,"n":1}`, `{"a":1,"b":1,"n":1}`)
}

func TestAConstraintThatAHiddenAlternativeDecidesIsNotToldByItself(t *testing.T) {
	r := enter(t, `contract c
state { v: { k: "x"  a: int where { self < 5 } } | { k: "y"  a: int where { self < 7 } } | { k: "z"  a: 1 | 2 } }
stage s { read /v/a  write /v/a }
`, "s")
	r.requireOneReply(`[{"op":"replace","path":"/v/a","value":9}]`,
		`{"v":{"k":"x","a":1}}`, `{"v":{"k":"y","a":1}}`, `{"v":{"k":"z","a":1}}`)
}

func TestWhatAHiddenAlternativeMakesOfAnArrayIsToldAsTheUnion(t *testing.T) {
	for _, c := range []struct{ types, patch string }{
		{`{ k: "x"  b: set of int } | { k: "y"  c: int }`, `[{"op":"add","path":"/f/b","value":[1]},{"op":"replace","path":"/f/b/0","value":1}]`},
		{`{ k: "x"  b: log of int } | { k: "y"  b: list of int }`, `[{"op":"replace","path":"/f/b","value":[1]},{"op":"replace","path":"/f/b/0","value":2}]`},
		{`{ k: "x"  b: set of int } | { k: "y"  b: list of int }`, `[{"op":"replace","path":"/f/b","value":[1]},{"op":"test","path":"/f/b/0","value":1}]`},
		{`{ k: "x"  b: set of int } | { k: "y"  b: list of int }`, `[{"op":"replace","path":"/f/b","value":[1]},{"op":"copy","from":"/f/b/0","path":"/n"}]`},
		{`{ k: "x"  b: { sub: log of int } } | { k: "y"  b: { sub: list of int } }`, `[{"op":"replace","path":"/f/b","value":{"sub":[1]}},{"op":"remove","path":"/f/b/sub/0"}]`},
	} {
		r := enter(t, "contract c sealed\nstate { n: int  f: "+c.types+" }\nstage s { read /n, /f/b  write /n, /f/b  source /f/b  discloses /f }\n", "s")
		b := "[]"
		if strings.Contains(c.types, "sub:") {
			b = `{"sub":[]}`
		}
		_, told := r.told(`{"n":1,"f":{"k":"x","b":`+b+`}}`, c.patch)
		require.Contains(t, told, `"rule":"type of /f"`, c.types)
	}
}

func TestAMemberThatNoTypeHasDoesNotTellThatItsParentIsThere(t *testing.T) {
	for _, c := range []struct{ state, stage, there, away, patch string }{
		{`a: { x: { q: int }  h?: { s: int } }`, "read /a/x/q  write /a/*/q",
			`{"a":{"x":{"q":1},"h":{"s":1}}}`, `{"a":{"x":{"q":1}}}`,
			`[{"op":"add","path":"/a/h/q","value":1},{"op":"remove","path":"/a/h/q"}]`},
		{`a: map of { x?: { q: int }  h?: { s: int } }  b: { q: int }`, "read /a/*/x/q, /b/q  write /a/*/*/q, /b/q  source /a/*/x/q",
			`{"a":{"e":{"h":{"s":1}}},"b":{"q":1}}`, `{"a":{"e":{}},"b":{"q":1}}`,
			`[{"op":"add","path":"/a/e/h/q","value":1},{"op":"remove","path":"/a/e/h/q"},{"op":"replace","path":"/b/q","value":2}]`},
	} {
		r := enter(t, "contract c\nstate { "+c.state+" }\nstage s { "+c.stage+" }\n", "s")
		r.requireOneReply(c.patch, c.there, c.away)
	}
}

func TestAReferenceThatAHiddenAlternativeMakesOneIsNotToldByItself(t *testing.T) {
	r := enter(t, `contract c
state { n: map of int  m: map of ({ k: "x"  c: key of /n } | { k: "y"  c: string }) }
stage s { read /n, /m/*/c  write /n  discloses /m/* }
`, "s")
	r.requireOneReply(`[{"op":"remove","path":"/n/a"}]`,
		`{"n":{"a":1},"m":{"p":{"k":"x","c":"a"},"q":{"k":"y","c":"a"}}}`,
		`{"n":{"a":1},"m":{"p":{"k":"y","c":"a"},"q":{"k":"x","c":"a"}}}`,
		`{"n":{"a":1},"m":{"p":{"k":"x","c":"a"},"q":{"k":"x","c":"a"}}}`)
}
