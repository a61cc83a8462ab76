package spec_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/guide"
)

// laboratory is a contract whose names, documentation and conditions are of all kinds.
const laboratory = `
contract laboratory
const HELD = "held"
state {
  samples: map of Sample
  plates:  list of Plate by code
  notes:   log of { at: string  "by whom": string }
  limits:  { low: int  high: int } where "low is below high" { self.low < self.high }
  ledger:  secret int
  people:  map of { name: string }
}
type Sample {
  # Where it stands.
  status:
      # nobody has looked at it yet
      "new"
      # looked at,
      # and good
    | "done"
    | HELD
  # Grams.
  mass?:  number where { self > 0.0 && self <= 5.5 }
  code:   string where { self.matches("^[A-Z]{2}-[0-9]{3}$") }
  owner:  key of /people
  tags:   set of string
  runs:   list of { n: int  ok: bool }
  hidden?: secret string
}
type Plate { code: string  wells: map of int }

invariant quiet "the ledger stays small" { state.ledger < 1000 }
invariant coded each s in /samples/* "a sample that is done has a code" { s.status != "done" || s.code != "" }
invariant masses each s in /samples/* { !has(s.mass) || s.mass < 5.0 }

stage weigh(sample in /samples) {
  read      /samples/{sample} except secrets, /limits/low, /people
  write     /samples/{sample} except secrets, /limits/low, /notes/-
  ensure    "a sample that is done was weighed" { after.samples[sample].status != "done" || has(after.samples[sample].mass) }
  discloses /limits
}
stage sweep {
  read  /samples/*/(status|code), /plates
  write /samples/*/status, /plates except /plates/P0
}
stage pay { read /samples/*/status  write /samples/*/status }
stage spend { read /ledger  write /ledger }
`

const samples = `{
  "samples": {
    "B 1/2": {"status": "new", "code": "AB-001", "owner": "ada", "tags": ["x"], "runs": [{"n": 1, "ok": true}], "hidden": "CANARY"},
    "~": {"status": "held", "mass": 2, "code": "AB-002", "owner": "ada", "tags": [], "runs": []}
  },
  "plates": [{"code": "P0", "wells": {}}, {"code": "P1", "wells": {"A1": 3}}],
  "notes": [], "limits": {"low": 1, "high": 2}, "ledger": 7, "people": {"ada": {"name": "Ada"}}
}`

// laboratoryGuide is the guide of one of its stages.
func laboratoryGuide(t *testing.T, stage string, args map[string]string) told {
	t.Helper()
	source, err := json.Marshal([]string{laboratory})
	require.NoError(t, err)
	g, seen := toldOf(t, verifyCase{Contract: source, State: []byte(samples), Stage: stage, Args: args})
	require.True(t, seen)
	for i := range g.Places {
		p := &g.Places[i]
		require.NotNil(t, p.Example, p.Path)
		for _, op := range p.Ops {
			patch, err := json.Marshal([]map[string]any{{"op": op, "path": guide.ExamplePath(p), "value": p.Example}})
			require.NoError(t, err)
			g.requireFits(t, string(patch))
		}
	}
	return g
}

// at is the place with a path.
func (g *told) at(t *testing.T, path string) *guide.Place {
	t.Helper()
	i := slices.IndexFunc(g.Places, func(p guide.Place) bool { return p.Path == path })
	require.GreaterOrEqual(t, i, 0, "%s in %+v", path, g.Places)
	return &g.Places[i]
}

func TestPathsOfAGuideAreEscapedAndStandBesideWhatIsExcepted(t *testing.T) {
	g := laboratoryGuide(t, "weigh", map[string]string{"sample": "B 1/2"})
	var paths []string
	for _, p := range g.Places {
		paths = append(paths, p.Path)
	}
	require.Equal(t, []string{
		"/samples/B 1~12/status", "/samples/B 1~12/mass", "/samples/B 1~12/code", "/samples/B 1~12/owner",
		"/samples/B 1~12/tags", "/samples/B 1~12/tags/-", "/samples/B 1~12/runs", "/samples/B 1~12/runs/-", "/samples/B 1~12/runs/<index>",
		"/notes/-", "/limits/low",
	}, paths)
	require.Equal(t, []string{"add"}, g.at(t, "/samples/B 1~12/mass").Ops)
	require.Equal(t, []string{"replace"}, g.at(t, "/samples/B 1~12/status").Ops)
}

func TestAGuideKnowsWhatTheContractSaysOfMembersAndLiterals(t *testing.T) {
	g := laboratoryGuide(t, "weigh", map[string]string{"sample": "~"})
	status := g.at(t, "/samples/~0/status")
	require.Equal(t, "Where it stands.", status.Doc)
	docs := map[string]string{}
	for _, a := range status.Shape.Alternatives {
		docs[string(a.Literal)] = a.Doc
	}
	require.Equal(t, map[string]string{`"new"`: "nobody has looked at it yet", `"done"`: "looked at,\nand good", `"held"`: ""}, docs)
	mass := g.at(t, "/samples/~0/mass")
	require.Equal(t, []string{"> 0, <= 5.5"}, mass.Shape.Where)
	require.Equal(t, []string{"replace", "remove"}, mass.Ops)
}

func TestKeysOfAGuideAreThoseOfTheViewAndExceptionsAreNamed(t *testing.T) {
	g := laboratoryGuide(t, "sweep", nil)
	status := g.at(t, "/samples/<key>/status")
	require.Equal(t, []guide.Keys{{Token: "<key>", Of: "/samples", Known: []string{"B 1~12", "~0"}}}, status.Keys)
	plates := g.at(t, "/plates/<key>")
	require.Equal(t, []string{"/plates/P0"}, plates.Except)
	require.True(t, plates.Keys[0].New)
	require.Equal(t, []string{"P1"}, plates.Keys[0].Known)
	require.Contains(t, string(plates.Example), `"code":"P1"`, "an entry of a keyed list holds its key")
}

func TestAGuideTellsTheConditionsThatItsActorMayKnowAndATaskWhereNoneIsWritten(t *testing.T) {
	g := laboratoryGuide(t, "weigh", map[string]string{"sample": "~"})
	require.Equal(t, []string{
		"a sample that is done was weighed", "a sample that is done has a code", "for each s in /samples/*: !has(s.mass) || s.mass < 5.0", "/limits: low is below high",
	}, g.Conditions)
	require.Contains(t, g.Task, `Do the step "weigh": change /samples/~0/status, `)
	require.Equal(t, []guide.Argument{{Name: "sample", Value: []byte(`"~"`)}}, g.Arguments)
	spends := laboratoryGuide(t, "spend", nil)
	require.Equal(t, []string{"the ledger stays small: state.ledger < 1000"}, spends.Conditions)
	require.Empty(t, laboratoryGuide(t, "pay", nil).Conditions, "a rule that is hidden is not told")
}
