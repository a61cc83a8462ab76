package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/tree"
)

// A Program is a contract made ready to run. It is immutable and safe for
// concurrent use.
type Program struct {
	types

	digest     string
	limits     Limits
	env        *expr.Env
	unions     *ir.Unions // while loading: it is not safe for concurrent use
	references []reference
	measures   []measure
	indexes    []*index
	invariants []invariant
	changes    []change
	stages     map[string]*stage
	guards     map[move]*rule
}

// Load compiles the regions and expressions of a contract, which must come from
// ir.Decode or be as well formed, and must not change afterwards. The error says
// which part does not compile.
func Load(c *ir.Contract, limits Limits) (*Program, error) {
	env, err := expr.New(c, limits.Expr)
	if err != nil {
		return nil, err
	}
	unions := ir.NewUnions(c)
	p := &Program{
		types: newTypes(c, unions), digest: c.Digest(), limits: limits, env: env, unions: unions,
		stages: map[string]*stage{}, guards: map[move]*rule{},
	}
	for _, load := range []func() error{p.loadTypes, p.loadMeasures, p.loadInvariants, p.loadStages, p.loadGuards} {
		if err := load(); err != nil {
			return nil, err
		}
	}
	p.references = findReferences(p)
	p.unions = nil
	return p, nil
}

// Limits bound what one verification may cost. What is beyond a limit is refused
// with limit_exceeded.
type Limits struct {
	Patch tree.PatchLimits // what the actor sends
	State tree.Limits      // what a state file holds, and what a patch may make of a state
	Expr  expr.Limits      // one evaluation of one expression
	Cost  CostLimits       // all evaluations for one proposal
	Reply int              // bytes of a verdict as JSON; 0 is MaxReply, and less than MinReply is as much
}

// DefaultLimits is a fresh copy of the defaults.
func DefaultLimits() Limits {
	return Limits{Patch: tree.DefaultPatchLimits, State: tree.DefaultLimits, Expr: expr.Default(), Cost: DefaultCostLimits}
}

// Contract is the contract of p. It must not be changed.
func (p *Program) Contract() *ir.Contract { return p.contract }

// Digest identifies the contract: ir.Contract.Digest, computed once.
func (p *Program) Digest() string { return p.digest }

func (p *Program) loadTypes() error {
	for i := range p.contract.Types {
		id, t := ir.TypeID(i), &p.contract.Types[i]
		if t.Kind == ir.LiteralType {
			n, err := tree.Parse([]byte(t.Literal), tree.DefaultLimits)
			if err != nil {
				return fmt.Errorf("type %s: its literal is no JSON value", p.info[id].text)
			}
			p.literals[id] = n
			if n.Kind() == ir.String {
				p.words[n.Text()] = n
			}
		}
		for j := range t.Where {
			r, err := p.newRule(&t.Where[j], expr.Scope{Vars: ir.SelfVars, Self: id})
			if err != nil {
				return fmt.Errorf("type %s, where: %w", p.info[id].text, err)
			}
			p.wheres[id] = append(p.wheres[id], r)
		}
	}
	return nil
}

func (p *Program) loadMeasures() error {
	for i := range p.contract.Measures {
		m, err := p.newMeasure(&p.contract.Measures[i])
		if err != nil {
			return err
		}
		p.measures = append(p.measures, m)
	}
	return nil
}

func (p *Program) loadInvariants() error {
	for i := range p.contract.Invariants {
		inv := &p.contract.Invariants[i]
		if inv.Change {
			change, err := p.newChange(inv)
			if err != nil {
				return fmt.Errorf("%s: %w", inv.Title(), err)
			}
			p.changes = append(p.changes, change)
			continue
		}
		compiled, err := p.newInvariant(inv)
		if err != nil {
			return fmt.Errorf("%s: %w", inv.Title(), err)
		}
		p.invariants = append(p.invariants, compiled)
	}
	return nil
}

func (p *Program) loadStages() error {
	for i := range p.contract.Stages {
		s, err := p.newStage(&p.contract.Stages[i])
		if err != nil {
			return fmt.Errorf("stage %s: %w", p.contract.Stages[i].Name, err)
		}
		p.stages[s.Name] = s
	}
	return nil
}

// A stage is a compiled ir.Stage.
type stage struct {
	*ir.Stage
	read, write, blind, source *region.Set
	rights                     []*region.Set // where it has each right (rights.go)
	seen                       *region.Set   // what the view depends on: more than read below some unions
	writes, sources            grantList     // as a view lists them
	params                     []string      // that are keys
	given                      []string      // and values
	bindings                   []*rule       // by parameter, the condition on it or nil
	require, ensure            []rule
	seesRule, seesChange       []bool           // of each invariant and change rule: cost.go
	seesMeasure                []bool           // likewise, of each measure
	unseen                     []region.Pattern // containers it writes into unseen (actor.go)
	conditions                 []string         // what judges it, in the contract's words
}

func (p *Program) newStage(s *ir.Stage) (*stage, error) {
	out := &stage{
		Stage: s,
		read:  region.Compile(s.Read), write: region.Compile(s.Write),
		blind: region.Compile(s.Blind), source: region.Compile(s.Source),
		seen:   region.Compile(region.Union(s.Read, p.unions.Deciding(s.Read))),
		rights: rightSets(s),
		writes: newGrantList(s.Rights, s.Write, s.Blind), sources: newGrantList(nil, s.Source),
		unseen: unseenContainers(s), conditions: p.conditions(s),
	}
	for _, param := range s.Params {
		out.params = append(out.params, param.Name)
	}
	out.given = s.ParamNames()
	for i := range p.invariants {
		out.seesRule = append(out.seesRule, out.seesGates(ir.InvariantGate, p.invariants[i].Name))
	}
	for i := range p.changes {
		out.seesChange = append(out.seesChange, out.seesGates(ir.ChangeGate, p.changes[i].Name))
	}
	for i := range p.measures {
		out.seesMeasure = append(out.seesMeasure, p.measures[i].where == nil || p.sees(s.Read, p.measures[i].all))
	}
	var err error
	out.bindings = make([]*rule, len(s.Params))
	for i := range s.Params {
		x := s.Params[i].Where
		if x == nil {
			continue
		}
		r, err := p.newRule(x, expr.Scope{Vars: ir.BindVars, Params: out.params[:i+1], Values: s.Values})
		if err != nil {
			return nil, fmt.Errorf("where of parameter %s: %w", s.Params[i].Name, err)
		}
		out.bindings[i] = &r
	}
	if out.require, err = p.newRules(s.Require, expr.Scope{Vars: ir.BeforeVars, Params: out.params, Values: s.Values}); err != nil {
		return nil, fmt.Errorf("require: %w", err)
	}
	if out.ensure, err = p.newRules(s.Ensure, expr.Scope{Vars: ir.AfterVars, Params: out.params, Values: s.Values}); err != nil {
		return nil, fmt.Errorf("ensure: %w", err)
	}
	return out, nil
}

func (p *Program) newRules(xs []ir.Expr, scope expr.Scope) ([]rule, error) {
	var out []rule
	for i := range xs {
		r, err := p.newRule(&xs[i], scope)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (p *Program) loadGuards() error {
	for i := range p.contract.Phases {
		from := &p.contract.Phases[i]
		for j := range from.Arrows {
			arrow := &from.Arrows[j]
			if arrow.Guard == nil {
				continue
			}
			r, err := p.newRule(arrow.Guard, expr.Scope{Vars: ir.GuardVars})
			if err != nil {
				return fmt.Errorf("guard of %s -> %s: %w", from.Name, arrow.To, err)
			}
			p.guards[move{from.Name, arrow.To}] = &r
		}
	}
	return nil
}

// A move is an edge of the phase graph.
type move struct{ from, to string }

// stage finds a stage and checks the names of its arguments.
func (p *Program) stage(name string, args map[string]string) (*stage, error) {
	s := p.stages[name]
	if s == nil {
		var names []string
		for i := range p.contract.Stages {
			names = append(names, p.contract.Stages[i].Name)
		}
		return nil, &UnknownStageError{name, spell.Nearest(name, names)}
	}
	for arg := range args {
		if !slices.Contains(s.given, arg) {
			return nil, &UnknownArgumentError{name, arg, spell.Nearest(arg, s.given)}
		}
	}
	return s, nil
}

// An UnknownStageError says that a contract has no stage of a name.
type UnknownStageError struct{ Name, Nearest string }

// Error names the stage and the nearest there is.
func (e *UnknownStageError) Error() string { return unknown("stage", e.Name, e.Nearest) }

// An UnknownArgumentError says that a stage has no parameter of a name.
type UnknownArgumentError struct{ Stage, Name, Nearest string }

// Error names the argument and the nearest parameter.
func (e *UnknownArgumentError) Error() string {
	return unknown("parameter of stage "+e.Stage, e.Name, e.Nearest)
}

func unknown(what, name, near string) string {
	text := fmt.Sprintf("there is no %s called %q", what, tree.Shorten(name, MaxText))
	if near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// CheckAll evaluates every type, reference, constraint and invariant of a state.
// It is done once when an instance opens; afterwards only what a commit touches is
// checked, and the two agree (spec/semantics.md theorem 8). The result is empty if
// all hold, and lists at most MaxViolations. It does not end with ctx.
func (p *Program) CheckAll(ctx context.Context, n *tree.Node, phase string) []Violation {
	found, _ := p.CheckWithin(context.WithoutCancel(ctx), n, phase)
	return found
}

// CheckWithin is CheckAll, which ends with ctx: the error then is the context's.
func (p *Program) CheckWithin(ctx context.Context, n *tree.Node, phase string) (found []Violation, err error) {
	defer catch(&err)
	p = p.within(ctx)
	c := typeCheck{types: &p.types, ctx: ctx, state: n}
	c.check(n, p.contract.State)
	if len(c.found) > 0 {
		found, _ = p.violations(c.found)
		return found, nil
	}
	r := ruleRun{p: p, ctx: ctx, state: n, phase: phase, measures: &measures{p: p, ctx: ctx, state: n}}
	for i := range p.invariants {
		r.all(&p.invariants[i])
	}
	found, _ = p.violations(r.found)
	return found, nil
}

// When a context ends, what is being worked out is left at once, from wherever it is:
// loops over what a state or a patch holds tick the watch, which panics with ended, and
// the function that was called from outside turns that into its error. So an end is
// never taken for an answer, and nothing unfinished is remembered.

// ticksBetween is how many ticks there are between two looks at the context.
const ticksBetween = 256

// A watch looks at a context now and then. It belongs to one goroutine. The nil watch
// is of a context that never ends.
type watch struct {
	ctx   context.Context
	ticks int
}

// newWatch is the watch of a context, nil if it never ends.
func newWatch(ctx context.Context) *watch {
	if ctx.Done() == nil {
		return nil
	}
	return &watch{ctx: ctx}
}

// ended is what a watch panics with.
type ended struct{ err error }

// tick is called for each piece of work whose number the contract does not bound.
func (w *watch) tick() {
	if w == nil {
		return
	}
	if w.ticks++; w.ticks%ticksBetween == 0 {
		w.look()
	}
}

// look is called before work that takes longer than a tick.
func (w *watch) look() {
	if w != nil {
		leaveIfEnded(w.ctx)
	}
}

func leaveIfEnded(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		panic(ended{err})
	}
}

// catch, deferred, makes the end of the context the error.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case ended:
		*err = r.err
	default:
		panic(r)
	}
}

// within is p for one call that lasts no longer than ctx.
func (p *Program) within(ctx context.Context) *Program {
	if ctx.Done() == nil && p.watch == nil {
		return p
	}
	bound := *p
	bound.watch = newWatch(ctx)
	return &bound
}
