package main

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/region"
)

// An explanation is a contract in an author's words; "explain --format json"
// prints it as it is.
type explanation struct {
	Contract   string               `json:"contract"`
	Digest     string               `json:"digest"`
	Sealed     bool                 `json:"sealed"`
	About      string               `json:"about,omitempty"`
	Phases     []phaseExplanation   `json:"phases,omitempty"`
	Stages     []stageExplanation   `json:"stages"`
	Rules      []ruleExplanation    `json:"rules,omitempty"`
	Measures   []measureExplanation `json:"measures,omitempty"`
	Authority  []authority          `json:"authority,omitempty"`
	SecretsAre []string             `json:"secrets,omitempty"`
}

type phaseExplanation struct {
	Name   string   `json:"name"`
	Arrows []string `json:"arrows,omitempty"`
}

type stageExplanation struct {
	Name     string              `json:"name"`
	From     string              `json:"delegated_from,omitempty"`
	Task     string              `json:"task,omitempty"`
	In       []string            `json:"in"`
	By       []string            `json:"by,omitempty"`
	Params   []string            `json:"parameters,omitempty"`
	Reads    []grantExplanation  `json:"reads"`
	Writes   []grantExplanation  `json:"writes"`
	Keys     []string            `json:"knows_keys,omitempty"` // key fields of lists, by names of entries and references
	Blind    []grantExplanation  `json:"writes_blind,omitempty"`
	Sources  []grantExplanation  `json:"takes_from"`
	Produces []string            `json:"produces,omitempty"`
	Next     []string            `json:"next,omitempty"`
	Tells    bool                `json:"tells_by_phase,omitempty"` // what it knows, by the phase it moves to
	Gates    []gateExplanation   `json:"gates,omitempty"`
	Rules    []ruleExplanation   `json:"rules,omitempty"`
	Beside   []besideExplanation `json:"beside"`
	Omitted  int                 `json:"beside_omitted,omitempty"` // how many stages it may meet that are not related to it
}

// A besideExplanation says what a stage is to another stage of a phase, or to another
// run of itself.
type besideExplanation struct {
	Stage    string      `json:"stage"`
	Commutes plan.Answer `json:"commutes"`
	Unless   []string    `json:"unless,omitempty"`
	Why      []string    `json:"why,omitempty"`
}

type grantExplanation struct {
	Paths  []string `json:"paths"`
	Except []string `json:"except,omitempty"`
}

type gateExplanation struct {
	Gate       string `json:"gate"`
	Visibility string `json:"visibility"`
	Unseen     string `json:"unseen,omitempty"`
}

type ruleExplanation struct {
	Rule       string            `json:"rule"`
	Message    string            `json:"message,omitempty"`
	Expression string            `json:"expression,omitempty"`
	Reads      []readExplanation `json:"reads"`
	Phase      bool              `json:"reads_phase,omitempty"`

	// GoesThrough are containers that cost what they hold whenever the rule is checked.
	GoesThrough []string `json:"goes_through,omitempty"`
}

type readExplanation struct {
	Path  string `json:"path"`
	Exact bool   `json:"exact"`
}

type measureExplanation struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Over string `json:"over"`
}

// An explainer knows the contract's expressions.
type explainer struct {
	env   *expr.Env
	model *footprint.Model
}

// explain puts a contract into words: all of it, or one stage.
func explain(c *ir.Contract, only string) (explanation, error) {
	env, err := expr.New(c, expr.Default())
	if err != nil {
		return explanation{}, err
	}
	return explainer{env, footprint.Measured(c)}.explain(c, only), nil
}

func (x explainer) explain(c *ir.Contract, only string) explanation {
	e := explanation{Contract: c.Name, Digest: c.Digest(), Sealed: c.Sealed, Stages: []stageExplanation{}}
	model := x.model
	var phases []plan.Phase
	if only == "" {
		phases = plan.Relations(model)
	}
	beside, omitted := besides(phases)
	for i := range c.Stages {
		if only == "" || only == c.Stages[i].Name {
			s := x.stage(&c.Stages[i])
			s.Beside, s.Omitted = append(s.Beside, beside[s.Name]...), omitted[s.Name]
			if only != "" {
				for _, r := range plan.Beside(model, only) {
					s.Beside = append(s.Beside, besideOf(only, r))
				}
			}
			for _, p := range footprint.Includes(model.KeysKnown(&c.Stages[i])) {
				s.Keys = append(s.Keys, p.Source())
			}
			e.Stages = append(e.Stages, s)
		}
	}
	if only != "" {
		e.Rules = x.judges(c, c.Stage(only))
		return e
	}
	e.About = c.Doc
	for _, p := range c.Phases {
		e.Phases = append(e.Phases, phaseExplanation{Name: p.Name, Arrows: arrows(p)})
		e.Rules = append(e.Rules, x.guards(p)...)
	}
	for _, inv := range c.Invariants {
		e.Rules = append(e.Rules, x.invariant(inv))
	}
	for _, m := range c.Measures {
		e.Measures = append(e.Measures, measureExplanation{Name: m.Name, Kind: string(m.Kind), Over: m.Over.Source()})
	}
	for _, g := range grants(c.Secrets) {
		e.SecretsAre = append(e.SecretsAre, g.Paths...)
	}
	e.Authority = authorities(c)
	return e
}

func (x explainer) stage(s *ir.Stage) stageExplanation {
	e := stageExplanation{
		Name: s.Name, From: s.From, Task: s.Doc, In: s.In, By: s.By, Next: s.Next,
		Reads: grants(x.model.Granting(s.Read, region.Plain)), Writes: grants(x.model.Granting(s.Write, region.Interior)),
		Blind: grants(x.model.Granting(s.Blind, region.Interior)), Sources: grants(x.model.Granting(s.Source, region.Interior)),
		Produces: authoredAll(s.Produce), Tells: s.DisclosesPhase, Beside: []besideExplanation{},
	}
	for _, p := range s.Params {
		e.Params = append(e.Params, parameter(p))
	}
	for _, g := range s.Gates {
		e.Gates = append(e.Gates, gateExplanation{Gate: gateName(g), Visibility: string(g.Visibility), Unseen: g.Unseen})
	}
	params := make([]string, len(s.Params))
	for i, p := range s.Params {
		params[i] = p.Name
	}
	for i, rule := range s.Require {
		e.Rules = append(e.Rules, x.rule(fmt.Sprintf("require %d", i+1), "", rule, expr.Scope{Vars: ir.BeforeVars, Params: params}))
	}
	for i, rule := range s.Ensure {
		e.Rules = append(e.Rules, x.rule(fmt.Sprintf("ensure %d", i+1), "", rule, expr.Scope{Vars: ir.AfterVars, Params: params}))
	}
	return e
}

// besides lists what each stage is to the stages it shares a phase with, each once, and
// counts those that it is not related to, since there are too many.
func besides(phases []plan.Phase) (beside map[string][]besideExplanation, omitted map[string]int) {
	beside, omitted = map[string][]besideExplanation{}, map[string]int{}
	known := map[[2]string]bool{}
	for _, ph := range phases {
		for _, r := range ph.Relations {
			if key := [2]string{r.A, r.B}; !known[key] {
				known[key] = true
				beside[r.A] = append(beside[r.A], besideOf(r.A, r))
				if r.A != r.B {
					beside[r.B] = append(beside[r.B], besideOf(r.B, r))
				}
			}
		}
		for _, name := range ph.Stages {
			omitted[name] += len(ph.LeftOut)
		}
		for _, name := range ph.LeftOut {
			omitted[name] += len(ph.Stages) + len(ph.LeftOut)
		}
	}
	return beside, omitted
}

func besideOf(stage string, r plan.Relation) besideExplanation {
	return besideExplanation{Stage: r.Other(stage), Commutes: r.Answer, Unless: r.Unless, Why: r.Why}
}

func parameter(p ir.Param) string {
	switch p.Kind {
	case ir.NewParam:
		return p.Name + " new in " + p.Of.Source()
	case ir.DependentParam:
		return p.Name + " = " + p.Of.Source()
	}
	return p.Name + " in " + p.Of.Source()
}

func grants(r region.Region) []grantExplanation {
	out := []grantExplanation{}
	for _, g := range r {
		out = append(out, grantExplanation{Paths: authoredAll(g.Include), Except: authoredAll(g.Except)})
	}
	return out
}

// gateName names a gate by its kind, and by its name or the place it is about.
func gateName(g ir.Gate) string {
	name := string(g.Kind)
	switch g.Kind {
	case ir.TypeGate:
		name = "type of"
	case ir.RefGate:
		name = "key at"
	}
	if g.At != nil {
		return name + " " + g.At.Source()
	}
	return strings.TrimSpace(name + " " + g.Name)
}

func arrows(p ir.Phase) []string {
	var out []string
	for _, a := range p.Arrows {
		text := a.To
		if a.ByHost {
			text += " by host"
		}
		if a.Guard != nil {
			text += " when guarded"
		}
		out = append(out, text)
	}
	return out
}

func (x explainer) guards(p ir.Phase) []ruleExplanation {
	var out []ruleExplanation
	for _, a := range p.Arrows {
		if a.Guard != nil {
			out = append(out, x.guard(p.Name, a))
		}
	}
	return out
}

// judges explains the rules of the contract that judge a stage's commits.
func (x explainer) judges(c *ir.Contract, s *ir.Stage) []ruleExplanation {
	named := map[ir.GateKind]map[string]bool{ir.InvariantGate: {}, ir.GuardGate: {}}
	for _, g := range s.Gates {
		if names := named[g.Kind]; names != nil {
			names[g.Name] = true
		}
	}
	var out []ruleExplanation
	for _, from := range s.In {
		for _, a := range c.Phase(from).Arrows {
			if a.Guard != nil && named[ir.GuardGate][a.To] {
				out = append(out, x.guard(from, a))
			}
		}
	}
	for _, inv := range c.Invariants {
		if named[ir.InvariantGate][inv.Name] {
			out = append(out, x.invariant(inv))
		}
	}
	return out
}

func (x explainer) guard(from string, a ir.Arrow) ruleExplanation {
	return x.rule("guard "+from+" -> "+a.To, "", *a.Guard, expr.Scope{Vars: ir.StateVars})
}

func (x explainer) invariant(inv ir.Invariant) ruleExplanation {
	name, scope := "invariant "+inv.Name, expr.Scope{Vars: ir.StateVars}
	if inv.Each != nil {
		scope = expr.Scope{Vars: ir.EachVars, Each: inv.Each}
		name += fmt.Sprintf(" each %s in %s", inv.Each.Var, inv.Each.Over.Source())
	}
	if inv.Unique != nil {
		return ruleExplanation{
			Rule: name + " unique", Message: inv.Message,
			Reads: []readExplanation{{Path: inv.Unique.Source(), Exact: true}},
		}
	}
	return x.rule(name, inv.Message, *inv.Expr, scope)
}

func (x explainer) rule(name, message string, rule ir.Expr, s expr.Scope) ruleExplanation {
	r := ruleExplanation{
		Rule: name, Message: message, Expression: strings.TrimSpace(rule.Source),
		Reads: []readExplanation{}, Phase: rule.ReadsPhase,
	}
	for _, p := range x.env.Walks(rule, s) {
		r.GoesThrough = append(r.GoesThrough, p.Source())
	}
	for _, read := range rule.Reads {
		r.Reads = append(r.Reads, readExplanation{Path: read.Pattern.Source(), Exact: !read.Inexact})
	}
	return r
}
