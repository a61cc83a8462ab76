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

func TestAGuideOffersNothingBelowAnEntryThatTheViewShowsIsNotThere(t *testing.T) {
	const state = `customers: map of { prefs: map of string }  carts: map of { note?: string  gifts: map of { n: int }  log: log of string }
		o: map of map of string  l: list of { id: string  x?: int } by id  one?: { a?: int  l: log of int }`
	const empty = `{"customers": {"ann": {"prefs": {}}}, "carts": {}, "o": {}, "l": []}`
	for _, test := range []struct {
		stage, state string
		want, takes  []string
	}{
		{"read /carts  write /carts/{c}/note", empty, nil, nil},
		{"read /carts/{c}/note  write /carts/{c}/note", empty, nil, nil},
		{"read /carts  write /carts/{c}/log/-", empty, nil, nil},
		{"read /carts  write /carts/{c}/gifts/*", empty, nil, nil},
		{"read /o  write /o/{c}/*", empty, nil, nil},
		{"read /o/*/x  write /o/{c}/x", empty, nil, nil},
		{"read /l  write /l/{c}/x", empty, nil, nil},
		{"read /one  write /one/l/-", empty, nil, nil},
		{"read /carts, /one, /o  write /o/{c}/*  source /carts/{c}/note, /one", `{"customers": {"ann": {"prefs": {}}}, "carts": {}, "o": {"ann": {}}, "l": []}`, []string{"/o/ann/<key>"}, nil},

		// Whether it is there, the view does not say.
		{"write blind /customers/{c}/prefs/*", empty, []string{"/customers/ann/prefs/<key>"}, nil},
		// It is there, if only as what has nothing that is seen.
		{"read /carts/*/note  write /carts/{c}/note", `{"customers": {"ann": {"prefs": {}}}, "carts": {"ann": {"gifts": {}, "log": []}}, "o": {}, "l": []}`, []string{"/carts/ann/note"}, nil},
		{"read /one  write /one/a  source /one", `{"customers": {"ann": {"prefs": {}}}, "carts": {}, "o": {}, "l": [], "one": {"l": []}}`, []string{"/one/a"}, []string{"/one"}},
	} {
		source, err := json.Marshal([]string{"contract c\nstate { " + state + " }\nstage s(c in /customers) { " + test.stage + " }"})
		require.NoError(t, err)
		g, seen := toldOf(t, verifyCase{Contract: source, State: []byte(test.state), Stage: "s", Args: map[string]string{"c": "ann"}})
		require.True(t, seen, test.stage)
		var paths []string
		for _, p := range g.Places {
			paths = append(paths, p.Path)
		}
		require.Equal(t, test.want, paths, test.stage)
		require.Equal(t, test.takes, g.Takes, test.stage)
		if test.want == nil {
			require.JSONEq(t, "[]", string(g.Example), test.stage)
			require.False(t, g.Guesses, test.stage)
		}
	}
}
