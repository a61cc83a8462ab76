// Package prompts_test holds the prompts of every stage of the examples, as a model reads
// them, and what must be true of them.
package prompts_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
)

var update = flag.Bool("update", false, "write the prompts anew")

// A case is a stage of an example, on a state that it can run on.
type stageCase struct {
	name, stage string
	program     *verify.Program
	before      verify.Snapshot
	args        map[string]string
	role        string
	data        prompt.Data
}

// cases are all stages of the examples, with arguments that there are.
func cases(t *testing.T) []stageCase {
	t.Helper()
	var out []stageCase
	for _, name := range examples.Names() {
		compiled, err := compiler.Compile(t.Context(), compiler.Input{FS: examples.FS, Path: name + "/contract.poptic"})
		require.NoError(t, err)
		program, err := verify.Load(compiled.Contract, verify.DefaultLimits())
		require.NoError(t, err)
		contract, err := runtime.Load(ir.Encode(compiled.Contract))
		require.NoError(t, err)
		file, err := fs.ReadFile(examples.FS, name+"/state.json")
		require.NoError(t, err)
		for _, s := range compiled.Contract.Stages {
			c := stageCase{name: name, stage: s.Name, program: program, args: map[string]string{}}
			state, err := program.Import(withEntries(t, name, file))
			require.NoError(t, err)
			c.before = verify.Snapshot{State: state, Phase: s.In[0]}
			for _, p := range s.Params {
				switch p.Kind {
				case ir.NewParam:
					c.args[p.Name] = "N1"
				case ir.ExistingParam:
					at, err := tree.ParsePointer(strings.ReplaceAll(p.Of.Bind(c.args).Source(), `"`, ""))
					require.NoError(t, err)
					n, err := tree.Find(state, at)
					require.NoError(t, err)
					for key := range n.Members() {
						c.args[p.Name] = key
						break
					}
				}
			}
			for _, v := range s.Values {
				c.args[v.Name] = `"as they said"`
			}
			if len(s.By) > 0 {
				c.role = s.By[0]
			}
			view, refused, err := program.View(t.Context(), c.before, verify.ViewRequest{Stage: s.Name, Args: c.args, Role: c.role})
			require.NoError(t, err)
			require.Nil(t, refused, "%s %s %v", name, s.Name, c.args)
			c.data, err = prompt.Of(contract, runtime.Request{Stage: s.Name, Args: c.args, Role: c.role}, runtime.View{
				Stage: s.Name, Phase: view.Phase, Value: tree.AppendJSON(nil, view.Value), Placeholders: view.Placeholders,
			})
			require.NoError(t, err)
			out = append(out, c)
		}
	}
	return out
}

// withEntries adds what a stage is about where the first state has none yet.
func withEntries(t *testing.T, name string, file []byte) []byte {
	t.Helper()
	added := map[string]map[string]string{
		"clinical": {"orders": `{"O1": {"drug": "DRUG", "dose": "10 mg", "indication": "pain", "status": "proposed"}}`},
	}
	var state map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(file, &state))
	for member, text := range added[name] {
		var drugs map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(state["formulary"], &drugs))
		names := make([]string, 0, len(drugs))
		for drug := range drugs {
			names = append(names, drug)
		}
		state[member] = json.RawMessage(strings.ReplaceAll(text, "DRUG", slices.Min(names)))
	}
	out, err := json.Marshal(state)
	require.NoError(t, err)
	return out
}

func TestPromptsReadAsTheyDid(t *testing.T) {
	for _, c := range cases(t) {
		file := filepath.Join("testdata", c.name, c.stage+".md")
		text := c.data.Text()
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), text, file)
	}
}

// most is how many tokens a prompt may have beside its view.
const most = 400

func TestAPromptHasFewTokensBesideItsView(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(t, err)
	sum, largest, all := 0, 0, cases(t)
	for _, c := range all {
		text := c.data.Text()
		c.data.View = nil
		tokens, _, err := codec.Encode(c.data.Text())
		require.NoError(t, err)
		require.Less(t, len(tokens), most, "%s, %s:\n%s", c.name, c.stage, text)
		sum, largest = sum+len(tokens), max(largest, len(tokens))
	}
	t.Logf("%d prompts: %d tokens on average, at most %d", len(all), sum/len(all), largest)
}

// passes reports whether a patch passes format, scope and schema: what comes after them may
// refuse it.
func passes(t *testing.T, c *stageCase, patch []byte) (bool, string) {
	t.Helper()
	next := ""
	if len(c.data.Next) > 1 {
		next = c.data.Next[0]
	}
	out, err := c.program.Verify(context.Background(), c.before, verify.Proposal{Stage: c.stage, Args: c.args, Role: c.role, Patch: patch, Next: next})
	require.NoError(t, err)
	for _, v := range out.Verdict.Violations {
		switch v.Gate {
		case verify.GateFormat, verify.GateScope, verify.GateSchema, verify.GateLimit:
			return false, fmt.Sprintf("%s: %s %+v", patch, v.Message, v)
		}
	}
	return true, ""
}

func TestTheExampleOfAPromptPassesFormatScopeAndSchema(t *testing.T) {
	for _, c := range cases(t) {
		require.False(t, c.data.Guesses, "%s, %s", c.name, c.stage)
		ok, why := passes(t, &c, c.data.Example)
		require.True(t, ok, "%s, %s: %s", c.name, c.stage, why)
	}
}

func TestEveryPlaceOfAPromptCanBeWrittenByWhatItSaysOfIt(t *testing.T) {
	written := 0
	for _, c := range cases(t) {
		for _, p := range c.data.Places {
			for _, op := range p.Ops {
				require.NotNil(t, p.Example, "%s, %s: no example at %s", c.name, c.stage, p.Path)
				value := string(p.Example)
				if strings.Contains(value, "<key of /customers>") { // what its host would have told the actor
					value = strings.ReplaceAll(value, "<key of /customers>", "C1")
				}
				patch := fmt.Sprintf(`{"op": %q, "path": %q, "value": %s}`, op, runtime.ExamplePath(&p), value)
				if op == "remove" {
					patch = fmt.Sprintf(`{"op": %q, "path": %q}`, op, runtime.ExamplePath(&p))
				}
				patch = "[" + patch + produced(&c, p.Path) + "]"
				ok, why := passes(t, &c, []byte(patch))
				require.True(t, ok, "%s, %s: %s", c.name, c.stage, why)
				written++
			}
		}
	}
	t.Logf("%d operations", written)
}

// produced is the operations for what must be brought beside a place, as the example has them.
func produced(c *stageCase, but string) string {
	var ops []json.RawMessage
	if len(c.data.Produce) == 0 || json.Unmarshal(c.data.Example, &ops) != nil {
		return ""
	}
	out := ""
	for _, op := range ops {
		if !strings.Contains(string(op), fmt.Sprintf(`"path":%q`, but)) {
			out += ", " + string(op)
		}
	}
	return out
}

func TestTheExampleOfAPromptCommitsWhereTheViewTellsHow(t *testing.T) {
	untold := []string{
		"support file",   // what it files names a customer, and it sees none
		"support enrol",  // the card may be another customer's
		"clinical order", // what the patient is allergic to is not shown
		"release ship",   // which waits for others
	}
	for _, c := range cases(t) {
		next := ""
		if len(c.data.Next) > 1 {
			next = c.data.Next[0]
		}
		out, err := c.program.Verify(t.Context(), c.before, verify.Proposal{Stage: c.stage, Args: c.args, Role: c.role, Patch: c.data.Example, Next: next})
		require.NoError(t, err)
		if !slices.Contains(untold, c.name+" "+c.stage) {
			require.NotEqual(t, verify.Reject, out.Verdict.Verdict, "%s, %s: %s %v", c.name, c.stage, c.data.Example, out.Verdict.Violations)
		}
	}
}
