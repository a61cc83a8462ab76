package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/footprint/certificate"
	"github.com/patchoptic/poptic/compiler/footprint/replay"
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
