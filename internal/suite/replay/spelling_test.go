package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

const spelled = `contract spelled
state {
  t: map of { n: int  status: string  r?: string  sub: map of { v: int } }
  k: list of { id: string  v: int } by id
  a: int  b: int  limit: int  tags: set of string  log: log of string
}
measure open = count /t/*/status
stage n(x in /t)    { read /t/{x}/n  write /t/{x}/n }
stage r(x in /t)    { read /t/{x}/(r|status)  write /t/{x}/r }
stage v(x in /t, y in /t/{x}/sub) { read /t/{x}/sub/{y}/v  write /t/{x}/sub/{y}/v }
stage drop(x in /t) { read /t/{x}  write /t/{x} }
stage put(x new in /t) { read /t/{x}  write /t/{x} }
stage a             { read /a  write /a }
stage b             { read /b  write /b }
stage tag           { read /tags  write /tags/- }
stage say           { write /log/- }
`

func TestRulesByEntryAndSeveralRulesInOneAreProvedHoweverTheyAreSpelled(t *testing.T) {
	entries := "prove n commutes with n when x differs"
	for rule, claim := range map[string]string{
		`state.t.all(k, state.t[k].n >= 0)`:                                 entries,
		`state.t.all(k, e, e.n >= 0)`:                                       entries,
		`!state.t.exists(k, e, e.n < 0)`:                                    entries,
		`!state.t.exists(k, state.t[k].n < 0 || state.t[k].n > 9)`:          entries,
		`state.limit > 3 || state.t.all(k, state.t[k].n >= 0)`:              entries,
		`state.t.all(k, e, e.n >= 0) || phase == "main" && state.limit > 3`: entries,
		`!(state.limit > 3) || state.t.all(k, e, e.n >= 0 && e.n < 9)`:      entries,
		`state.limit > 3 ? state.t.all(k, e, e.n > 0) : state.a > 0`:        entries,
		`state.a >= 0 && state.t.all(k, e, k != "" && e.n >= 0)`:            entries,
		`state.t.all(k, e, e.sub.all(j, s, s.v >= 0))`:                      "prove v commutes with v when x differs",
		`state.t.all(k, state.t[k].sub.all(j, state.t[k].sub[j].v >= 0))`:   "prove v commutes with v when y differs",
		`!state.t.exists(k, e, !e.sub.all(j, s, s.v >= 0))`:                 "prove v commutes with v when y differs",
		`state.a >= 0 && state.b >= 0`:                                      "prove a commutes with b",
		`!(state.a < 0 || state.b < 0)`:                                     "prove a commutes with b",
		`state.limit > 3 ? state.a >= 0 && state.b >= 0 : true`:             "prove a commutes with b",
		`state.t.all(k, e, e.n > 0 && has(e.r) && e.r != "")`:               "prove n commutes with r",
		`open <= 9`:                        "prove n commutes with r",
		`open <= state.limit && open >= 1`: "prove n commutes with put when x differs",
		`size(state.t) <= 9`:               "prove drop commutes with drop when x differs",
		`state.limit + state.b > size(state.t) || state.b == 7`: "prove drop commutes with drop when x differs",
		`open < 9`:                        "prove drop commutes with drop when x differs",
		`!(open >= 9)`:                    "prove drop commutes with drop when x differs",
		`size(state.t) >= 1 && 1 <= open`: "prove put commutes with put when x differs",
		`size(state.log) >= 1`:            "prove say commutes with say",
	} {
		t.Run(rule, func(t *testing.T) {
			out := compile(t, spelled+"invariant rule { "+rule+" }\n"+claim+"\n", replay.New(replay.Options{}))
			for _, d := range out.Diagnostics {
				require.NotContains(t, d.Code, "claim_", "%s", d.Message)
			}
			require.NotNil(t, out.Contract, "%+v", out.Diagnostics)
			cert := footprint.New(out.Contract).Certificate()
			require.Empty(t, certificate.Check(cert, out.Contract))
			require.NotContains(t, string(cert), "uncertified")
		})
	}
}

const pointing = `contract pointing
state { m: map of int  n: map of int  u: U  box: map of { v: U }  log: log of U  a: int }
type U = { kind: "none"  i: int } | { kind: "one"  at: key of /m } | { kind: "other"  to: key of /n }
stage put(x new in /m)  { write /m/{x} }
stage also(x new in /n) { write /n/{x} }
stage drop(x in /m)     { read /m/{x}  write /m/{x} }
stage turn              { read /u  write /u }
stage pack(x in /box)   { read /box/{x}  write /box/{x}/v }
stage say(x new in /m)  { write /m/{x}, /log/- }
`

func TestKeysThatComeSpoilNoUnionThatRefersToKeys(t *testing.T) {
	for claim, refuted := range map[string]bool{
		"prove put commutes with put when x differs":   false,
		"prove also commutes with also when x differs": false,
		"prove put commutes with also":                 false,
		"prove put commutes with turn":                 true,
		"prove put commutes with pack":                 true,
		"prove also commutes with turn":                true,
		"prove drop commutes with turn":                true,
		"prove drop commutes with pack":                true,
		"prove say commutes with put when x differs":   true,
		"prove say commutes with also":                 true,
	} {
		t.Run(claim, func(t *testing.T) {
			out := compile(t, pointing+claim+"\n", replay.New(replay.Options{}))
			require.Equal(t, refuted, strings.Contains(codesOf(out), "claim_refuted"), codesOf(out))
			if !refuted {
				require.NotContains(t, codesOf(out), "claim_")
				cert := footprint.New(out.Contract).Certificate()
				require.Empty(t, certificate.Check(cert, out.Contract))
				require.NotContains(t, string(cert), "uncertified")
			}
		})
	}
}

const looked = `contract looked
state {
  n: map of int  b: map of { t?: string  i: int }  a: map of { i: int  to?: key of /a }
  first: key of /a  second: key of /a  log: log of key of /a
}
invariant known each e in /b/* { !has(e.t) || e.t in state.n }
invariant kept  each e in /b/* { !has(e.t) || e.i < 3 || state.n[e.t] < 3 }
stage empty            { read /n  write /n }
stage lose(p in /n)    { read /n/{p}  write /n/{p} }
stage name(p in /b)    { read /b/{p}  write /b/{p}/t }
stage make(p new in /b) { write /b/{p}  ensure { after.b[p].i < 3 } }
stage drop(p in /a)    { read /a/{p}  write /a/{p} }
stage point            { read /second  write /second }
stage tell(p new in /a) { write /a/{p}, /log/-  ensure { after.a[p].i == 1 } }
stage come(p new in /a) { write /a/{p} }
`

// What a text or a reference has to be, for the order to matter, is a key of the scene.
func TestRunsAreFoundWhereATextIsAKey(t *testing.T) {
	for _, claim := range []string{
		"empty commutes with name", "lose commutes with name", "empty commutes with make", "lose commutes with make",
		"drop commutes with point", "tell commutes with come when p differs",
	} {
		t.Run(claim, func(t *testing.T) {
			out := compile(t, looked+"prove "+claim+"\n", replay.New(replay.Options{}))
			require.Contains(t, codesOf(out), "claim_refuted")
		})
	}
}

func TestRulesThatLookLikeItAreRefuted(t *testing.T) {
	for rule, claim := range map[string]string{
		`size(state.t) <= 2`:                            "prove put commutes with put when x differs",
		`size(state.t) >= 1`:                            "prove drop commutes with drop when x differs",
		`size(state.t) == 2 || size(state.t) == 1`:      "prove drop commutes with drop when x differs",
		`size(state.tags) <= 2`:                         "prove tag commutes with tag",
		`size(state.t) <= state.a`:                      "prove drop commutes with a",
		`state.a >= 0 || state.b >= 0`:                  "prove a commutes with b",
		`state.t.exists(k, e, e.n > 0)`:                 "prove n commutes with n when x differs",
		`state.t.all(k, e, e.n > 0) == (state.b > 100)`: "prove n commutes with n when x differs",
		`size(state.t) <= 2 && open >= 2`:               "prove put commutes with drop when x differs",
	} {
		t.Run(rule, func(t *testing.T) {
			out := compile(t, spelled+"invariant rule { "+rule+" }\n"+claim+"\n", replay.New(replay.Options{}))
			require.True(t, strings.Contains(codesOf(out), "claim_"), "%s", codesOf(out))
		})
	}
}

func codesOf(out compiler.Output) string {
	var codes []string
	for _, d := range out.Diagnostics {
		codes = append(codes, d.Code)
	}
	return strings.Join(codes, " ")
}
