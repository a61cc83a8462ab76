package prompts_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
)

// steps are stages whose gates an example must be chosen for.
const steps = `contract steps
state {
  pieces:  map of Piece
  todo:    list of { id: string  text: string  why?: string  state: "open" | "dropped" } by id
  parts:   list of { kind: Kind  n: int } by kind
  stock:   map of { left: int  version: int }
  log:     log of Moment
}
type Kind   = "bolt" | "nut"
type Moment = { at: string  by: string } | { alert: string }
type Piece {
  state:    "draft" | "ready" | "done"
  variants: map of { text: string }
  score?:   { points: int  of: int }
  owner:    string
  moments:  list of Moment
}
invariant scored each p in /pieces/* "who is done is scored" { p.state != "done" || has(p.score) }
measure taken = sum /stock/*/left
invariant enough "stock is kept" { taken >= 2 }
invariant once unique /pieces/*/owner, /pieces/*/state
change versions each s in /stock/* "the version counts what is taken" { before.left == after.left || after.version == before.version + 1 }
change kept each p in /pieces/* "the owner stays" { before.owner == after.owner }

stage begin(piece new in /pieces, owner: string) {
  read    /pieces
  write   create /pieces/{piece}
  produce /pieces/{piece}/variants/A, /pieces/{piece}/variants/B
  ensure  "it is ready" { after.pieces[piece].state == "ready" }
  ensure  "it is the owner's" { after.pieces[piece].owner == owner }
}
stage score(piece in /pieces) {
  read    /pieces/{piece}
  write   /pieces/{piece}/score, /pieces/{piece}/state
  produce /pieces/{piece}/score/points
}
stage finish(piece in /pieces) {
  read   /pieces/{piece}
  write  /pieces/{piece}/(state|score)
  ensure { after.pieces[piece].state == "done" }
}
stage take(thing in /stock) {
  read   /stock/{thing}
  write  /stock/{thing}/(left|version), /log/-
  ensure "one is taken" { after.stock[thing].left == before.stock[thing].left - 1 }
}
stage count { read /stock  write /stock/*/left }
stage plan(item new in /todo) { read /todo  write /todo/{item} }
stage list_parts { read /parts  write create /parts/* }
stage note(piece in /pieces) { read /pieces/{piece}/moments  write /pieces/{piece}/moments }
`

// stepPrompt is the prompt of a stage, and whether its example commits.
func stepPrompt(t *testing.T, stage string, args map[string]string) (prompt.Data, verify.Outcome) {
	t.Helper()
	compiled, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"steps.poptic": {Data: []byte(steps)}}, Path: "steps.poptic"})
	require.NoError(t, err)
	require.NotNil(t, compiled.Contract, "%v", compiled)
	program, err := verify.Load(compiled.Contract, verify.DefaultLimits())
	require.NoError(t, err)
	contract, err := runtime.Load(ir.Encode(compiled.Contract))
	require.NoError(t, err)
	state, err := program.Import([]byte(`{
		"pieces": {"p": {"state": "draft", "variants": {}, "owner": "ada", "moments": []}},
		"todo": [], "parts": [], "stock": {"bolts": {"left": 7, "version": 3}}, "log": []
	}`))
	require.NoError(t, err)
	before := verify.Snapshot{State: state, Phase: "main"}
	view, refused, err := program.View(t.Context(), before, verify.ViewRequest{Stage: stage, Args: args})
	require.NoError(t, err)
	require.Nil(t, refused)
	data, err := prompt.Of(contract, runtime.Request{Stage: stage, Args: args}, runtime.View{Stage: stage, Phase: "main", Value: tree.AppendJSON(nil, view.Value)})
	require.NoError(t, err)
	out, err := program.Verify(t.Context(), before, verify.Proposal{Stage: stage, Args: args, Patch: data.Example})
	require.NoError(t, err)
	return data, out
}

func TestAnExampleIsOneThatTheGatesOfItsViewLetPass(t *testing.T) {
	for name, c := range map[string]struct {
		stage string
		args  map[string]string
	}{
		"what is to be produced lies in what is to be added": {"begin", map[string]string{"piece": "q", "owner": `"bob"`}},
		"what is to be produced lies in an optional member":  {"score", map[string]string{"piece": "p"}},
		"one member asks for another":                        {"finish", map[string]string{"piece": "p"}},
		"a number follows from the one that is there":        {"take", map[string]string{"thing": "bolts"}},
		"an entry has its key":                               {"plan", map[string]string{"item": "t1"}},
		"a new key is one of some":                           {"list_parts", nil},
	} {
		t.Run(name, func(t *testing.T) {
			data, out := stepPrompt(t, c.stage, c.args)
			require.Equal(t, verify.Commit, out.Verdict.Verdict, "%s %v", data.Example, out.Verdict.Violations)
		})
	}
}

func TestAPromptSaysWhatTheKeyFieldOfAnEntryIs(t *testing.T) {
	data, _ := stepPrompt(t, "plan", map[string]string{"item": "t1"})
	require.Contains(t, data.Text(), `{id: "t1", text: string`)
	data, _ = stepPrompt(t, "list_parts", nil)
	require.Contains(t, data.Text(), `{kind: ("bolt" | "nut") (the same as in the path), n: int}`)
}

func TestAPromptParenthesisesAlternativesThatAListIsOf(t *testing.T) {
	data, _ := stepPrompt(t, "note", map[string]string{"piece": "p"})
	require.Contains(t, data.Text(), `/pieces/p/moments`+"` (replace): Moment[]")
	data, _ = stepPrompt(t, "begin", map[string]string{"piece": "q", "owner": `"bob"`})
	require.Contains(t, data.Text(), `moments: ({at: string, by: string} | {alert: string})[]`)
}

func TestAPromptSaysThatValuesAreUniqueTogether(t *testing.T) {
	data, _ := stepPrompt(t, "begin", map[string]string{"piece": "q", "owner": `"bob"`})
	require.Contains(t, data.Conditions, "no two of /pieces/* have the same owner and state")
}

func TestAPromptTellsNoChangeRuleOfEntriesThatAreOnlyAdded(t *testing.T) {
	data, _ := stepPrompt(t, "begin", map[string]string{"piece": "q", "owner": `"bob"`})
	require.NotContains(t, data.Conditions, "the owner stays")
	data, _ = stepPrompt(t, "take", map[string]string{"thing": "bolts"})
	require.Contains(t, data.Text(), "the version counts what is taken")
}

func TestAPromptHasAConditionBesideAMessageThatLeavesItOpen(t *testing.T) {
	data, _ := stepPrompt(t, "count", nil)
	require.Contains(t, data.Conditions, "stock is kept: taken >= 2, where taken is the sum of /stock/*/left")
	data, _ = stepPrompt(t, "take", map[string]string{"thing": "bolts"})
	require.Contains(t, data.Conditions, "one is taken: after.stock[thing].left == before.stock[thing].left - 1")
	require.NotContains(t, data.Text(), "taken >= 2") // it looks at what the stage does not see
	data, _ = stepPrompt(t, "finish", map[string]string{"piece": "p"})
	require.Contains(t, data.Conditions, "who is done is scored")
	data, _ = stepPrompt(t, "begin", map[string]string{"piece": "q", "owner": `"bob"`})
	require.Contains(t, data.Conditions, "it is ready")
}
