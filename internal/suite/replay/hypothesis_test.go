package replay_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

// cases has a stage with a rule of its own beside a rule of the state that it does not
// see, stages with two parameters, with dependent ones and with new ones.
const cases = `contract c
state { cases: map of Case  plans: map of { case: key of /cases }  boxes: map of { n: int }  notes: map of string  todo: map of bool  old: map of string }
type Case { status: "open" | "checked" | "decided"  owner: string  box: key of /boxes }
invariant planned each p in /plans/* { state.cases[p.case].status != "decided" || state.cases[p.case].owner != "" }
stage check_it(id in /cases) {
  read /cases/{id}/status  write /cases/{id}/status
  require { before.cases[id].status == "open" }  discloses planned
}
stage fill(id in /cases, box = /cases/{id}/box) {
  read /cases/{id}/(status|box), /boxes/{box}  write /cases/{id}/status, /boxes/{box}/n
  require { before.cases[id].status == "open" }  discloses planned
}
stage hold(id in /cases, box = /cases/{id}/box) {
  read /cases/{id}/(status|box), /boxes/{box}  write /boxes/{box}/n
  require { before.cases[id].status == "open" }
}
stage both(id in /cases, box in /boxes) {
  read /cases/{id}/owner, /boxes/{box}  write /cases/{id}/owner, /boxes/{box}/n  discloses planned
}
stage count(b in /boxes) { read /boxes/{b}  write /boxes/{b}/n }
stage note(task in /todo, note new in /notes) { read /todo/{task}  write /todo/{task}, /notes/{note} }
stage either(from in /old, to in /old) { read /old/{from}, /old/{to}  write /old/{to} }
stage jot(note new in /notes) { write /notes/{note} }
stage mend(n in /notes) { read /notes/{n}  write /notes/{n} }
stage name(case in /cases, todo in /todo) { read /cases/{case}/owner, /todo/{todo}  write /todo/{todo} }
`

// crowded is a state in which many bindings are possible, one key twice among them.
const crowded = `{"cases":{"k1":{"status":"open","owner":"x","box":"k1"},"k2":{"status":"open","owner":"","box":"k1"}},
"plans":{"p":{"case":"k1"}},"boxes":{"k1":{"n":1},"k2":{"n":2}},"notes":{"k1":"a","k2":"b"},"todo":{"k1":true,"k2":false},"old":{"k1":"a","k2":"b"}}`

// decide answers one claim about the cases.
func decide(t *testing.T, claim string) (compiler.Output, footprint.Result) {
	t.Helper()
	run := replay.New(replay.Options{Budget: 300, Fixtures: func() []string { return []string{crowded} }})
	out := compile(t, cases+claim+"\n", run)
	require.Len(t, out.Results, 1, "%+v", out.Diagnostics)
	return out, out.Results[0]
}

func TestNoRunIsShownThatAClaimExcludes(t *testing.T) {
	differ := map[string]func(a, b map[string]string) bool{
		"id differs":                 func(a, b map[string]string) bool { return a["id"] != b["id"] },
		"box differs":                func(a, b map[string]string) bool { return boxOf(a) != boxOf(b) },
		"id differs and box differs": func(a, b map[string]string) bool { return a["id"] != b["id"] && boxOf(a) != boxOf(b) },
		"id differs or box differs":  func(a, b map[string]string) bool { return a["id"] != b["id"] || boxOf(a) != boxOf(b) },
		"from differs":               func(a, b map[string]string) bool { return a["from"] != b["from"] },
		"from differs from to and to differs from from": func(a, b map[string]string) bool { return a["from"] != b["to"] && a["to"] != b["from"] },
		"b differs":              func(a, b map[string]string) bool { return a["b"] != b["b"] },
		"box differs from b":     func(a, b map[string]string) bool { return boxOf(a) != b["b"] },
		"note differs from n":    func(a, b map[string]string) bool { return a["note"] != b["n"] },
		"case differs":           func(a, b map[string]string) bool { return a["case"] != b["case"] },
		"task differs from todo": func(a, b map[string]string) bool { return a["task"] != b["todo"] },
		"task differs":           func(a, b map[string]string) bool { return a["task"] != b["task"] && a["note"] != b["note"] },
	}
	refuted := 0
	for _, pair := range []string{
		"check_it commutes with check_it when id differs",
		"fill commutes with fill when id differs", "fill commutes with fill when box differs",
		"hold commutes with fill when box differs", "hold commutes with fill when id differs or box differs",
		"both commutes with both when id differs", "both commutes with both when box differs",
		"both commutes with both when id differs or box differs", "both commutes with both when id differs and box differs",
		"either commutes with either when from differs",
		"either commutes with either when from differs from to and to differs from from",
		"count commutes with count when b differs", "both commutes with count when box differs from b",
		"hold commutes with count when box differs from b",
		"jot commutes with mend when note differs from n", "note commutes with mend when note differs from n",
		"name commutes with name when case differs", "note commutes with name when task differs from todo",
		"note commutes with note when task differs",
	} {
		_, result := decide(t, "prove "+pair)
		if r, ok := result.(footprint.Refuted); ok {
			refuted++
			_, when, _ := strings.Cut(pair, " when ")
			a, b := r.Counterexample.A.Args, r.Counterexample.B.Args
			require.True(t, differ[when](bound(r.Counterexample.A, r.Counterexample.State), bound(r.Counterexample.B, r.Counterexample.State)), "%s: %v, %v on %s", pair, a, b, r.Counterexample.State)
		}
	}
	require.Greater(t, refuted, 5)
}

func boxOf(args map[string]string) string { return args["box"] }

var caseBox = regexp.MustCompile(`"(\w+)":\{"box":"(\w+)"`)

// bound is the arguments of a run with the box that its case names.
func bound(p footprint.Proposal, state string) map[string]string {
	out := map[string]string{}
	for name, key := range p.Args {
		out[name] = key
	}
	if _, given := out["box"]; !given {
		for _, m := range caseBox.FindAllStringSubmatch(state, -1) {
			if m[1] == out["id"] {
				out["box"] = m[2]
			}
		}
	}
	return out
}

// quotedClaim is the hypothesis that a finding tells to write, or the whole claim.
var quotedClaim = regexp.MustCompile("claim it `(when [^`]+)`|such as `(prove [^`]+)`")

func TestTheHypothesisThatAFindingSuggestsMakesTheClaimTrue(t *testing.T) {
	for claim, want := range map[string]string{
		"prove fill commutes with hold":                                         "when box differs",
		"prove hold commutes with hold":                                         "when box differs",
		"prove hold commutes with hold when id differs":                         "when box differs",
		"prove hold commutes with count":                                        "when box differs from b",
		"prove count commutes with hold":                                        "when b differs from box",
		"prove note commutes with note":                                         "when task differs",
		"prove either commutes with either":                                     "when to differs and from differs from to and to differs from from",
		"prove either commutes with either when to differs":                     "when to differs and from differs from to and to differs from from",
		"prove jot commutes with mend":                                          "when note differs from n",
		"prove name commutes with name when case differs":                       "when todo differs",
		"prove note commutes with name":                                         "when task differs from todo",
		"prove note commutes with name when task differs from case":             "when task differs from todo",
		"parallel two = hold | count":                                           "when box differs from b",
		"parallel two = count | count":                                          "when b differs",
		"parallel two = count | hold | both":                                    "prove count commutes with hold when b differs from box",
		"prove both commutes with count":                                        "when box differs from b",
		"prove hold commutes with both when (id differs) or (box differs)":      "when box differs",
		"prove hold commutes with hold when (id differs or box differs)":        "when box differs",
		"prove hold commutes with hold when id differs and id differs from box": "when box differs",
	} {
		out, result := decide(t, claim)
		_, proved := result.(footprint.Proved)
		require.False(t, proved, claim)
		help := out.Diagnostics[len(out.Diagnostics)-1].Help
		m := quotedClaim.FindStringSubmatch(help)
		require.NotNil(t, m, "%s: %s", claim, help)
		require.Equal(t, want, m[1]+m[2], claim)
		fixed := m[2]
		if fixed == "" {
			head, _, _ := strings.Cut(claim, " when ")
			fixed = head + " " + m[1]
		}
		mended, result := decide(t, fixed)
		require.IsType(t, footprint.Proved{}, result, fixed)
		requireCertified(t, mended.Lowered)
	}
}

func requireCertified(t *testing.T, c *ir.Contract) *certificate.Certificate {
	t.Helper()
	data := footprint.New(c).Certificate()
	require.Empty(t, certificate.Check(data, c))
	cert, err := certificate.Decode(data)
	require.NoError(t, err)
	return cert
}

func TestWhatKeepsTwoRunsApartWhateverTheirArgumentsHasNoHypothesis(t *testing.T) {
	const text = `contract c
state { ps: map of { n: int } }
measure whole = sum /ps/*/n
invariant most { whole <= 5 }
stage x(p in /ps) { read /ps/{p} write /ps/{p}/n discloses most }
prove x commutes with x when p differs
`
	out := compile(t, text, replay.New(replay.Options{}))
	require.IsType(t, footprint.Refuted{}, out.Results[0])
	require.NotRegexp(t, quotedClaim, out.Diagnostics[len(out.Diagnostics)-1].Help)
}

func TestAClaimThatRestsOnNewKeysSaysSo(t *testing.T) {
	for claim, assumes := range map[string][]string{
		"prove jot commutes with jot":                                      {"/notes"},
		"prove jot commutes with jot when note differs":                    nil,
		"prove note commutes with jot":                                     {"/notes"},
		"prove note commutes with note when task differs":                  {"/notes"},
		"prove note commutes with note when task differs and note differs": nil,
		"prove count commutes with count when b differs":                   nil,
	} {
		out, result := decide(t, claim)
		require.IsType(t, footprint.Proved{}, result, claim)
		containers := func(list []string) (out []string) {
			for _, x := range list {
				out = append(out, regexp.MustCompile(`/\w+`).FindString(x))
			}
			return out
		}
		require.Equal(t, assumes, containers(explain.Answers(out.Lowered, out.Results)[0].Assumes), claim)
		require.Equal(t, assumes, containers(requireCertified(t, out.Lowered).Claims[0].Known.Assumes), claim)
	}
}

func TestACertificateHoldsOnlyForTheHypothesisAndTheAssumptionsOfItsClaim(t *testing.T) {
	out, _ := decide(t, "prove note commutes with note when task differs and note differs")
	c := out.Lowered
	reseal := func(change func(*ir.Claim, *certificate.Claim)) []certificate.Problem {
		mutant, err := ir.Decode(ir.Encode(c))
		require.NoError(t, err)
		cert, err := certificate.Decode(footprint.New(c).Certificate())
		require.NoError(t, err)
		change(&mutant.Claims[0], &cert.Claims[0])
		cert.Claims[0].Claim, cert.Contract = mutant.Claims[0], mutant.Digest()
		return certificate.Check(certificate.Seal(*cert), mutant)
	}
	differ := func(a, b string) ir.Hypothesis { return ir.Hypothesis{Differ: &ir.Difference{First: a, Second: b}} }
	require.Empty(t, reseal(func(*ir.Claim, *certificate.Claim) {}))
	for name, change := range map[string]func(*ir.Claim, *certificate.Claim){
		"none":              func(c *ir.Claim, _ *certificate.Claim) { c.When = nil },
		"one of two":        func(c *ir.Claim, _ *certificate.Claim) { h := differ("task", "task"); c.When = &h },
		"or":                func(c *ir.Claim, _ *certificate.Claim) { c.When = &ir.Hypothesis{Any: c.When.All} },
		"other parameters":  func(c *ir.Claim, _ *certificate.Claim) { h := differ("task", "note"); c.When = &h },
		"none of that name": func(c *ir.Claim, _ *certificate.Claim) { h := differ("x", "x"); c.When = &h },
		"an assumption":     func(_ *ir.Claim, c *certificate.Claim) { c.Known.Assumes = []string{"/notes"} },
	} {
		require.NotEmpty(t, reseal(change), name)
	}
}
