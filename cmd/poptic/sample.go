package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
)

// sampleFlags name a sample of the state, and say how the stages are run on it.
type sampleFlags struct {
	State fileName `help:"Sample of the state: show what each stage sees of it, and count tokens; - is standard input." placeholder:"FILE"`
	Arg   []string `sep:"none" help:"Argument of the stages that have such a parameter, a key as it is or a value as JSON; by default the first key that binds." placeholder:"NAME=VALUE"`
	Phase string   `help:"Phase the sample is in; by default, for each stage, the first that it runs in." placeholder:"NAME"`
	Role  string   `help:"Role that runs the stages; by default, for each stage, the first that may." placeholder:"NAME"`
}

// given reports whether there is a sample. Flags that are about one need it.
func (f *sampleFlags) given() (bool, error) {
	if f.State == "" && (len(f.Arg) > 0 || f.Phase != "" || f.Role != "") {
		return false, fail("add --state FILE, or leave them out", "--arg, --phase and --role say how a stage runs on a sample of the state, and there is none")
	}
	return f.State != "", nil
}

// A sampledExplanation is an explanation with what the stages see of a sample.
type sampledExplanation struct {
	explain.Explanation
	Stages      []sampledStage `json:"stages"`
	Tokenizer   string         `json:"tokenizer"`
	StateTokens int            `json:"state_tokens"`
}

type sampledStage struct {
	explain.Stage
	Sample sample `json:"sample"`
}

// A sample is what a stage sees of a state, or why it sees nothing.
type sample struct {
	Args   map[string]string `json:"arguments"`
	Chosen []string          `json:"chosen,omitempty"` // names of those that were not given
	Phase  string            `json:"phase"`
	Role   string            `json:"role,omitempty"`

	View    json.RawMessage `json:"view,omitempty"`
	Tokens  *tokenCounts    `json:"tokens,omitempty"`
	Refused []string        `json:"refused,omitempty"`
}

// tokenCounts are how many tokens a model reads, and what percentage of the state's
// the view leaves out.
type tokenCounts struct {
	View   int `json:"view"`
	Prompt int `json:"prompt"`
	Saved  int `json:"saved_percent"`
}

// A sampler shows a sample of the state to stages.
type sampler struct {
	flags   *sampleFlags
	args    map[string]string
	opened  *opened
	loaded  *runtime.Contract
	tokens  *codec.Codec
	ofState int // tokens
	now     time.Time
}

// open reads the sample, and checks the flags against the contract: against one stage of it
// if that is named. The vocabulary of the tokenizer is laid out here and not before: no other
// verb waits for it.
func (f *sampleFlags) open(c *console, file string, contract *ir.Contract, stage string) (*sampler, error) {
	flags := stageFlags{contractArg: contractArg{Contract: file}, Arg: f.Arg, Phase: f.Phase, Role: f.Role}
	args, err := flags.given()
	if err != nil {
		return nil, err
	}
	if err := knownToSome(contract, stage, args); err != nil {
		return nil, err
	}
	if _, err := phaseOf(contract, f.Phase); err != nil {
		return nil, err
	}
	program, err := verify.Load(contract, verify.DefaultLimits())
	if err != nil {
		return nil, broken(file, err)
	}
	snapshot, err := openState(c, program, string(f.State), "")
	if err != nil {
		return nil, err
	}
	loaded, err := runtime.Load(ir.Encode(contract))
	if err != nil {
		return nil, broken(file, err)
	}
	s := &sampler{
		flags: f, args: args, loaded: loaded, tokens: codec.NewO200kBase(), now: time.Now().UTC(),
		opened: &opened{name: string(f.State), program: program, contract: contract, snapshot: snapshot},
	}
	s.ofState, err = s.count(laidOut(tree.AppendJSON(nil, snapshot.State)))
	return s, err
}

// knownToSome refuses arguments that neither the stage nor, if none is named, any stage has a
// parameter for.
func knownToSome(contract *ir.Contract, stage string, args map[string]string) error {
	if stage != "" {
		return knownParams(contract.Stage(stage), args)
	}
	var known []string
	for i := range contract.Stages {
		known = append(known, contract.Stages[i].ParamNames()...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, name) {
			return fail(didYouMean("parameter", spell.Nearest(name, known), known), "no stage of %s has a parameter %q", contract.Name, name)
		}
	}
	return nil
}

// all shows the sample to every stage of an explanation.
func (s *sampler) all(c *console, e explain.Explanation) (sampledExplanation, error) {
	out := sampledExplanation{Explanation: e, Tokenizer: s.tokens.GetName(), StateTokens: s.ofState}
	for _, stage := range e.Stages {
		shown, err := s.show(c, s.opened.contract.Stage(stage.Name))
		if err != nil {
			return out, err
		}
		out.Stages = append(out.Stages, sampledStage{stage, shown})
	}
	return out, nil
}

// show shows the sample to one stage.
func (s *sampler) show(c *console, stage *ir.Stage) (sample, error) {
	at := s.opened.snapshot
	at.Phase = cmp.Or(s.flags.Phase, stage.In[0])
	r := verify.ViewRequest{Stage: stage.Name, Args: map[string]string{}, Role: s.flags.Role, Now: s.now}
	if r.Role == "" && len(stage.By) > 0 {
		r.Role = stage.By[0]
	}
	for _, name := range stage.ParamNames() {
		if value, given := s.args[name]; given {
			r.Args[name] = value
		}
	}
	completed, ok, err := s.opened.program.Complete(c.ctx, at, r)
	if err != nil {
		return sample{}, misnamed(s.opened.contract, err)
	}
	out := sample{Args: completed.Args, Phase: at.Phase, Role: r.Role}
	for _, name := range slices.Sorted(maps.Keys(completed.Args)) {
		if _, given := r.Args[name]; !given {
			out.Chosen = append(out.Chosen, name)
		}
	}
	if lack := lacking(stage, completed.Args); !ok && lack != "" {
		out.Refused = []string{lack}
		return out, nil
	}
	view, refused, err := s.opened.program.View(c.ctx, at, completed)
	switch {
	case err != nil:
		return sample{}, err
	case refused != nil:
		out.Refused = oneLineEach(refused.Violations)
		return out, nil
	}
	shown := shownView(view)
	out.View = shown.Value
	out.Tokens, err = s.counts(runtime.Request{Stage: stage.Name, Args: completed.Args, Role: r.Role}, shown)
	return out, err
}

// lacking says which arguments a stage lacks that no keys were found for, "" if none.
func lacking(stage *ir.Stage, args map[string]string) string {
	for _, p := range stage.Values {
		if _, given := args[p.Name]; !given {
			return "values are not chosen: give --arg " + p.Name + "=VALUE"
		}
	}
	for _, p := range stage.Params {
		if _, given := args[p.Name]; !given && p.Kind != ir.DependentParam {
			return "no keys of this state bind all parameters of the stage"
		}
	}
	return ""
}

// counts counts what a model reads of a view.
func (s *sampler) counts(r runtime.Request, view runtime.View) (*tokenCounts, error) {
	data, err := prompt.Of(s.loaded, r, view)
	if err != nil {
		return nil, err
	}
	n := &tokenCounts{}
	if n.View, err = s.count(laidOut(view.Value)); err != nil {
		return nil, err
	}
	if n.Prompt, err = s.count(data.Text()); err != nil {
		return nil, err
	}
	n.Saved = max(0, 100-(100*n.View+s.ofState-1)/s.ofState)
	return n, nil
}

func (s *sampler) count(text string) (int, error) {
	n, err := s.tokens.Count(text)
	if err != nil {
		return 0, fail("", "tokens cannot be counted: %s", err)
	}
	return n, nil
}

// laidOut is a JSON text as a prompt has it.
func laidOut(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// mostLines is how many lines of a view are printed for people.
const mostLines = 40

// writeSample writes what a stage sees of a sample.
func writeSample(p *terminal.Printer, s sample, tokenizer string, ofState int) {
	const names = len("takes from")
	p.Field("  ", names, "sample", s.with())
	if s.Tokens == nil {
		p.Field("  ", names, "no view", strings.Join(s.Refused, "\n"))
		return
	}
	lines := strings.Split(laidOut(s.View), "\n")
	if left := len(lines) - mostLines; left > 1 {
		lines = append(lines[:mostLines], "... and "+terminal.Grouped(left)+" lines more, which \"poptic view\" prints")
	}
	p.Excerpt("  ", names, "view", lines)
	p.Field("  ", names, "tokens", terminal.Grouped(s.Tokens.View)+" of the "+terminal.Grouped(ofState)+" that the whole state has: projection saves "+
		terminal.Grouped(s.Tokens.Saved)+"%\n"+terminal.Grouped(s.Tokens.Prompt)+" in the prompt, by the tokenizer "+tokenizer)
}

// with says how the stage ran.
func (s *sample) with() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		text := name + "=" + terminal.Word(s.Args[name])
		if slices.Contains(s.Chosen, name) {
			text += " (chosen)"
		}
		parts = append(parts, text)
	}
	parts = append(parts, "in "+s.Phase)
	if s.Role != "" {
		parts = append(parts, "by "+terminal.Word(s.Role))
	}
	return strings.Join(parts, ", ")
}
