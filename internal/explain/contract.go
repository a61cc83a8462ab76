// Package explain says in words what a contract allows and what is proved of it, as data
// that a command line, an editor or a service prints: JSON as it stands, or text of their own.
//
//   - Contract and Stage: what stages see, change and take, what judges them, what each
//     expression reads, which stages may run side by side (contract.go).
//   - Answers: the answer to each claim, with the words of what refutes it; Claim and Related
//     give the same as a diagnostic (claim.go, conflict.go).
//   - Prove: the answers with the delegates and what commutes; Check: what a certificate
//     shows (proof.go).
//   - Prose: all of a contract as a document for a reviewer, which Markdown writes (prose.go).
//
// Nothing here links the parser or the checker, so that a compiled contract is explained
// without them. No text holds a value of a state but for the runs that refute a claim, whose
// secrets are masked.
package explain

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/region"
)

// Contract explains all of a contract. The error says which of its expressions does not
// compile, which none is that the compiler wrote. It costs what relating all pairs of stages costs, up to
// the limit of pairs.
func Contract(c *ir.Contract) (Explanation, error) { return explained(c, "") }

// OneStage explains one stage, and the rules of the contract that judge it. There must be
// one of that name.
func OneStage(c *ir.Contract, name string) (Explanation, error) { return explained(c, name) }

func explained(c *ir.Contract, only string) (Explanation, error) {
	env, err := expr.New(c, expr.Default())
	if err != nil {
		return Explanation{}, err
	}
	return explainer{env, footprint.Measured(c)}.contract(c, only), nil
}

// An Explanation is a contract in an author's words, or one stage of it: then Phases,
// Measures and Authority are empty. Its JSON is what "poptic explain --format json" prints.
type Explanation struct {
	Contract   string      `json:"contract"`
	Digest     string      `json:"digest"`
	Sealed     bool        `json:"sealed"`
	About      string      `json:"about,omitempty"`
	Phases     []Phase     `json:"phases,omitempty"`
	Stages     []Stage     `json:"stages"`
	Rules      []Rule      `json:"rules,omitempty"`
	Measures   []Measure   `json:"measures,omitempty"`
	Authority  []Authority `json:"authority,omitempty"`
	SecretsAre []string    `json:"secrets,omitempty"`
}

// A Phase is a phase with where it leads.
type Phase struct {
	Name   string   `json:"name"`
	Arrows []string `json:"arrows,omitempty"`
}

// A Stage is what a stage may do, and what it is judged by.
type Stage struct {
	Name     string   `json:"name"`
	From     string   `json:"delegated_from,omitempty"`
	Task     string   `json:"task,omitempty"`
	In       []string `json:"in"`
	By       []string `json:"by,omitempty"`
	Params   []string `json:"parameters,omitempty"`
	Reads    []Grant  `json:"reads"`
	Writes   []Grant  `json:"writes"`
	Keys     []string `json:"knows_keys,omitempty"` // key fields of lists, by names of entries and references
	Blind    []Grant  `json:"writes_blind,omitempty"`
	Sources  []Grant  `json:"takes_from"`
	HandsOn  *HandsOn `json:"hands_on,omitempty"` // what its delegates may be given, if not all that it has
	Produces []string `json:"produces,omitempty"`
	Next     []string `json:"next,omitempty"`
	Tells    bool     `json:"tells_by_phase,omitempty"` // what it knows, by the phase it moves to
	Gates    []Gate   `json:"gates,omitempty"`
	Rules    []Rule   `json:"rules,omitempty"`
	Beside   []Beside `json:"beside"`
	Omitted  int      `json:"beside_omitted,omitempty"` // how many stages it may meet that are not related to it
}

// HandsOn is what delegates of a stage may be given: a part of what it has, or what it need not
// have itself, kind by kind. Kinds that are not named are handed on as it has them.
type HandsOn struct {
	Part    []Grant `json:"part,omitempty"`
	Reads   []Grant `json:"reads,omitempty"`
	Writes  []Grant `json:"writes,omitempty"`
	Blind   []Grant `json:"writes_blind,omitempty"`
	Sources []Grant `json:"takes_from,omitempty"`
}

// A Beside says what a stage is to another stage of a phase, or to another
// run of itself.
type Beside struct {
	Stage    string      `json:"stage"`
	Commutes plan.Answer `json:"commutes"`
	Unless   []string    `json:"unless,omitempty"`
	Why      []string    `json:"why,omitempty"`
}

// A Grant is paths but for exceptions, in the language's words.
type Grant struct {
	Paths  []string `json:"paths"`
	Except []string `json:"except,omitempty"`
	Rights []string `json:"rights,omitempty"` // of writing: what may happen there, if not all
}

// A Gate judges a stage's commits. Visibility says what an actor learns of it, Unseen what it
// reads that the stage does not see.
type Gate struct {
	Gate       string `json:"gate"`
	Visibility string `json:"visibility"`
	Unseen     string `json:"unseen,omitempty"`
}

// A Rule is an expression of the contract, and what it reads.
type Rule struct {
	Rule       string `json:"rule"`
	Message    string `json:"message,omitempty"`
	Expression string `json:"expression,omitempty"`
	Reads      []Read `json:"reads"`
	Phase      bool   `json:"reads_phase,omitempty"`

	// Asks are the inputs that it reads: role, actor, now.
	Asks []string `json:"asks,omitempty"`

	// GoesThrough are containers that cost what they hold whenever the rule is checked.
	GoesThrough []string `json:"goes_through,omitempty"`
}

// A Read is a path that an expression reads: exactly that, or at most.
type Read struct {
	Path  string `json:"path"`
	Exact bool   `json:"exact"`
}

// A Measure is a fold over a region.
type Measure struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Over string `json:"over"`

	Where string `json:"where,omitempty"` // the condition on the entries that count
}

// An explainer knows the contract's expressions.
type explainer struct {
	env   *expr.Env
	model *footprint.Model
}

func (x explainer) contract(c *ir.Contract, only string) Explanation {
	e := Explanation{Contract: c.Name, Digest: c.Digest(), Sealed: c.Sealed, Stages: []Stage{}}
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
		e.Phases = append(e.Phases, Phase{Name: p.Name, Arrows: arrows(p)})
		e.Rules = append(e.Rules, x.guards(p)...)
	}
	for _, inv := range c.Invariants {
		e.Rules = append(e.Rules, x.invariant(inv))
	}
	for _, m := range c.Measures {
		shown := Measure{Name: m.Name, Kind: string(m.Kind), Over: m.Over.Source()}
		if m.Where != nil {
			shown.Where = strings.TrimSpace(m.Where.Source)
		}
		e.Measures = append(e.Measures, shown)
	}
	for _, g := range grants(c.Secrets) {
		e.SecretsAre = append(e.SecretsAre, g.Paths...)
	}
	e.Authority = authorities(c)
	return e
}

func (x explainer) stage(s *ir.Stage) Stage {
	e := Stage{
		Name: s.Name, From: s.From, Task: s.Doc, In: s.In, By: s.By, Next: s.Next,
		Reads: grants(x.model.Granting(s.Read, region.Plain)), Writes: x.writes(s),
		Blind: grants(x.model.Granting(s.Blind, region.Interior)), Sources: grants(x.model.Granting(s.Source, region.Interior)),
		HandsOn:  x.handsOn(s),
		Produces: authoredAll(s.Produce), Tells: s.DisclosesPhase, Beside: []Beside{},
	}
	for _, p := range s.Params {
		e.Params = append(e.Params, parameter(p))
	}
	for _, v := range s.Values {
		e.Params = append(e.Params, v.Name+": "+x.model.Contract.TypeText(v.Type))
	}
	for _, g := range s.Gates {
		e.Gates = append(e.Gates, Gate{Gate: gateName(g), Visibility: string(g.Visibility), Unseen: g.Unseen})
	}
	params := make([]string, len(s.Params))
	for i, p := range s.Params {
		params[i] = p.Name
	}
	for i, p := range s.Params {
		if p.Where != nil {
			e.Rules = append(e.Rules, x.rule("where "+p.Name, p.Where.Message, *p.Where, expr.Scope{Vars: ir.BindVars, Params: params[:i+1], Values: s.Values}))
		}
	}
	for i, rule := range s.Require {
		e.Rules = append(e.Rules, x.rule("require "+clauseName(rule, i), rule.Message, rule, expr.Scope{Vars: ir.BeforeVars, Params: params, Values: s.Values}))
	}
	for i, rule := range s.Ensure {
		e.Rules = append(e.Rules, x.rule("ensure "+clauseName(rule, i), rule.Message, rule, expr.Scope{Vars: ir.AfterVars, Params: params, Values: s.Values}))
	}
	return e
}

func (x explainer) handsOn(s *ir.Stage) *HandsOn {
	if !s.HasDelegable && s.Handed == nil {
		return nil
	}
	h, out := s.HandsOn(), &HandsOn{}
	if s.HasDelegable {
		out.Part = grants(x.model.Granting(s.Delegable, region.Plain))
	}
	if s.Handed.Has(ir.HandsRead) {
		out.Reads = grants(x.model.Granting(h.Read, region.Plain))
	}
	if s.Handed.Has(ir.HandsWrite) {
		out.Writes, out.Blind = x.writes(h), grants(x.model.Granting(h.Blind, region.Interior))
	}
	if s.Handed.Has(ir.HandsSource) {
		out.Sources = grants(x.model.Granting(h.Source, region.Interior))
	}
	return out
}

// clauseName is the name of the i-th require or ensure of a stage, or else its number.
func clauseName(x ir.Expr, i int) string { return cmp.Or(x.Name, strconv.Itoa(i+1)) }

// besides lists what each stage is to the stages it shares a phase with, each once, and
// counts those that it is not related to, since there are too many.
func besides(phases []plan.Phase) (beside map[string][]Beside, omitted map[string]int) {
	beside, omitted = map[string][]Beside{}, map[string]int{}
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

func besideOf(stage string, r plan.Relation) Beside {
	return Beside{Stage: r.Other(stage), Commutes: r.Answer, Unless: r.Unless, Why: r.Why}
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

func grants(r region.Region) []Grant {
	out := []Grant{}
	for _, g := range r {
		out = append(out, Grant{Paths: authoredAll(g.Include), Except: authoredAll(g.Except)})
	}
	return out
}

// writes are the grants by which a stage may change something, the blind ones aside.
func (x explainer) writes(s *ir.Stage) []Grant {
	out := []Grant{}
	for i, g := range s.Write {
		for _, grant := range grants(x.model.Granting(region.Region{g}, region.Interior)) {
			if rights := s.RightsOf(i); rights != ir.AllRights {
				grant.Rights = rights.Words()
			}
			out = append(out, grant)
		}
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
	return strings.TrimSpace(name + " " + cmp.Or(g.Clause, g.Name))
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

func (x explainer) guards(p ir.Phase) []Rule {
	var out []Rule
	for _, a := range p.Arrows {
		if a.Guard != nil {
			out = append(out, x.guard(p.Name, a))
		}
	}
	return out
}

// judges explains the rules of the contract that judge a stage's commits.
func (x explainer) judges(c *ir.Contract, s *ir.Stage) []Rule {
	named := map[ir.GateKind]map[string]bool{ir.InvariantGate: {}, ir.ChangeGate: {}, ir.GuardGate: {}}
	for _, g := range s.Gates {
		if names := named[g.Kind]; names != nil {
			names[g.Name] = true
		}
	}
	var out []Rule
	for _, from := range s.In {
		for _, a := range c.Phase(from).Arrows {
			if a.Guard != nil && named[ir.GuardGate][a.To] {
				out = append(out, x.guard(from, a))
			}
		}
	}
	for _, inv := range c.Invariants {
		if named[inv.Gate()][inv.Name] {
			out = append(out, x.invariant(inv))
		}
	}
	return out
}

func (x explainer) guard(from string, a ir.Arrow) Rule {
	return x.rule("guard "+from+" -> "+a.To, "", *a.Guard, expr.Scope{Vars: ir.GuardVars})
}

func (x explainer) invariant(inv ir.Invariant) Rule {
	name, scope := inv.Title(), expr.RuleScope(&inv)
	if inv.Each != nil {
		name += " " + inv.Each.Source()
	}
	if inv.Unique != nil {
		r := Rule{Rule: name + " unique", Message: inv.Message}
		for _, p := range inv.UniquePlaces() {
			r.Reads = append(r.Reads, Read{Path: p.Source(), Exact: true})
		}
		return r
	}
	return x.rule(name, inv.Message, *inv.Expr, scope)
}

func (x explainer) rule(name, message string, rule ir.Expr, s expr.Scope) Rule {
	r := Rule{
		Rule: name, Message: message, Expression: strings.TrimSpace(rule.Source),
		Reads: []Read{}, Phase: rule.ReadsPhase, Asks: rule.Inputs,
	}
	for _, p := range x.env.Walks(rule, s) {
		r.GoesThrough = append(r.GoesThrough, p.Source())
	}
	for _, read := range rule.Reads {
		r.Reads = append(r.Reads, Read{Path: read.Pattern.Source(), Exact: !read.Inexact})
	}
	return r
}

// An authority says who may touch one member of the state, or something below it.
type Authority struct {
	Path    string   `json:"path"`
	Read    []string `json:"read,omitempty"`
	Written []string `json:"written,omitempty"`
	Taken   []string `json:"taken_from,omitempty"`
}

// authorities lists, for every declared member of the state, the stages that may
// read it, write it and take from it, wholly or in part.
func authorities(c *ir.Contract) []Authority {
	var out []Authority
	for _, m := range c.Type(c.State).Members {
		p := region.Pattern{Segments: []region.Segment{{Kind: region.KeyLiteral, Text: m.Name}}}
		part := region.Compile(region.Region{{Include: []region.Pattern{p}}})
		a := Authority{Path: p.Source()}
		for _, s := range c.Stages {
			a.Read = appendIf(a.Read, s.Name, meets(s.Read, part, region.Plain))
			a.Written = appendIf(a.Written, s.Name, meets(s.Write, part, region.Interior) || meets(s.Blind, part, region.Interior))
			a.Taken = appendIf(a.Taken, s.Name, meets(s.Source, part, region.Interior))
		}
		out = append(out, a)
	}
	return out
}

// meets reports whether r, in a mode, holds a word of part; a search that was cut off counts,
// so that authority is never understated.
func meets(r region.Region, part *region.Set, mode region.Mode) bool {
	return region.Overlap(region.Compile(r), part, mode, region.Plain, region.Options{VerdictOnly: true}).Verdict != region.No
}

func appendIf(names []string, name string, wanted bool) []string {
	if wanted {
		return append(names, name)
	}
	return names
}

// authoredAll writes patterns, joining those that differ in a last name only, as in
// /tickets/{ticket}/(status|labels).
func authoredAll(patterns []region.Pattern) []string {
	var out []string
	at := map[string]int{} // parent -> place in out
	for _, p := range patterns {
		parent, name, named := splitName(p)
		i, joined := at[parent]
		switch {
		case !named:
			out = append(out, p.Source())
		case joined:
			out[i] += "|" + name
		default:
			at[parent] = len(out)
			out = append(out, name)
		}
	}
	for parent, i := range at {
		if strings.Contains(out[i], "|") {
			out[i] = "(" + out[i] + ")"
		}
		out[i] = parent + "/" + out[i]
	}
	return out
}

// splitName divides a pattern that ends in a name before that name.
func splitName(p region.Pattern) (parent, name string, named bool) {
	last := len(p.Segments) - 1
	if last < 0 {
		return "", "", false
	}
	segment := p.Segments[last]
	if segment.Kind != region.Literal && segment.Kind != region.KeyLiteral {
		return "", "", false
	}
	if last > 0 {
		parent = region.Pattern{Segments: p.Segments[:last]}.Source()
	}
	return parent, segment.Source(), true
}
