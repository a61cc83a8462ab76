package expr

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/patchoptic/poptic/internal/ir"
)

// Evaluation. A checked expression is planned by CEL after three changes to its tree
// (rewrite): operators that CEL would not evaluate as the language wants are calls of this
// package's functions (operators.go), macros go over maps in the order of their keys, and
// macros over sets and logs take every turn, so that neither a value nor a cost depends on
// an order that is no part of the state. The plan is decorated by the meter (meter.go).
//
// An activation is the names of one evaluation. It wraps what an Input holds (value.go) when
// a name is asked for, and carries the meter. How an evaluation ended that has no value is
// told by CEL's error texts (failures), which never get through.

// A Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	program cel.Program
	limit   int64 // of steps
	slots   map[string]nameSlot
	state   *shape
	self    *shape
	entry   *shape
	pool    sync.Pool // of *activation
}

// An Input holds the values of the names in scope; those that are not in the
// program's scope are not looked at. The values are only read, and not kept.
type Input struct {
	State, Before, After, Self, Entry, View ir.Value
	Phase                                   string
	Values                                  map[string]ir.Value // those of the scope's Values
	Params                                  map[string]string
	Role, Actor                             string
	Now                                     time.Time
	Budget                                  *Budget // nil for no end beside the limit on one evaluation
	// Measure computes a measure: its exact decimal text, or present = false for
	// min and max of nothing. The text is empty where a condition of the measure has no
	// value. It is called once per use, only for measures in scope.
	Measure func(name string) (literal string, present bool)
}

// Compile makes the program of a checked expression: x.Source in a scope equal to the
// one it was checked in. It fails if the contract is not the one x was checked for.
func (e *Env) Compile(x ir.Expr, s Scope) (*Program, error) {
	tree, extents, issues := e.parse(x.Source)
	if tree == nil {
		return nil, errors.New(issues[0].Message)
	}
	check, err := e.checkerFor(s)
	if err != nil {
		return nil, err
	}
	checked, errs := e.typed(tree, extents, check)
	if len(errs.GetErrors()) > 0 {
		return nil, errNotChecked
	}
	rewrite(checked, e.decimals, e.bagLoops(checked, extents, s))
	texts, err := textMeter(checked)
	if err != nil {
		return nil, errNotChecked
	}
	program, err := e.cel.PlanProgram(checked,
		cel.OptimizeRegex(interpreter.MatchesRegexOptimization),
		cel.CustomDecoratorV2(loopMeter(checked)),
		cel.CustomDecoratorV2(texts),
		cel.InterruptCheckFrequency(e.limits.CheckEvery))
	if err != nil {
		return nil, errNotChecked
	}
	p := &Program{program: program, limit: int64(e.limits.CostLimit), slots: e.slots(s), state: e.state, self: e.shapes.of(s.Self)}
	if s.Each != nil {
		if p.entry = e.shapes.of(s.Each.Type); s.Vars == ir.ChangeVars {
			p.state = p.entry
		}
	}
	p.pool.New = func() any { return &activation{program: p} }
	return p, nil
}

var errNotChecked = errors.New("the expression does not fit the contract it was checked for")

// rewrite puts this package's functions in the place of operators that CEL would not
// evaluate as the language wants: == and != except between two values of one scalar
// type, where CEL's own equality is exact, and + where it may build a text. What a
// macro goes over is put in order where CEL's own maps would come in any. The macros
// over bags take every turn. The tree is changed.
func rewrite(tree *ast.AST, decimals bool, overBags map[int64]bool) {
	factory := ast.NewExprFactory()
	next := ast.MaxID(tree)
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			if v, ok := decimalLiteral(e); ok {
				e.SetKindCase(factory.NewLiteral(e.ID(), v))
				return
			}
			if function := replacement(tree, decimals, e); function != "" {
				e.SetKindCase(factory.NewCall(e.ID(), function, operands(e.AsCall())...))
				tree.SetReference(e.ID(), ast.NewFunctionReference(function))
			}
		case ast.ComprehensionKind:
			if overBags[e.ID()] {
				e.SetKindCase(everyTurn(factory, e.ID(), e.AsComprehension()))
			}
			c := e.AsComprehension()
			kind := tree.GetType(c.IterRange().ID()).Kind()
			if kind != types.MapKind && kind != types.DynKind {
				return
			}
			next++
			e.SetKindCase(inOrder(factory, next, c))
			tree.SetType(next, tree.GetType(c.IterRange().ID()))
			tree.SetReference(next, ast.NewFunctionReference(ordered))
		}
	}))
}

// replacement is the function that takes the place of e's operator, "" for none.
func replacement(tree *ast.AST, decimals bool, e ast.Expr) string {
	c := e.AsCall()
	if function := exactOperators[c.FunctionName()]; decimals && function != "" && mayBeDecimal(tree, e) {
		return function
	}
	switch c.FunctionName() {
	case operators.Equals:
		if !oneScalarType(tree, c.Args()) {
			return sameValue
		}
	case operators.NotEquals:
		if !oneScalarType(tree, c.Args()) {
			return otherValue
		}
	case operators.Add:
		switch tree.GetType(e.ID()).Kind() {
		case types.StringKind, types.BytesKind, types.DynKind:
			return boundedSum
		}
	case sumFold:
		return foldReplacement(tree, e)
	}
	return ""
}

// mayBeDecimal reports whether an operator may have a decimal for an operand.
func mayBeDecimal(tree *ast.AST, e ast.Expr) bool {
	return slices.ContainsFunc(e.AsCall().Args(), func(arg ast.Expr) bool {
		t := tree.GetType(arg.ID())
		return isDecimalType(t) || t.Kind() == types.DynKind
	})
}

func oneScalarType(tree *ast.AST, args []ast.Expr) bool {
	a, b := tree.GetType(args[0].ID()), tree.GetType(args[1].ID())
	switch a.Kind() {
	case types.BoolKind, types.StringKind, types.IntKind, types.DoubleKind, types.NullTypeKind:
		return a.Kind() == b.Kind()
	}
	return false
}

// bagLoops are the macros of a checked expression that may go over a bag.
func (e *Env) bagLoops(checked *ast.AST, x *extents, s Scope) map[int64]bool {
	w := newWalker(e, s, checked, x)
	w.outcome()
	return w.bagLoops
}

// everyTurn is the macro c without the end that all() and exists() come to once they
// are decided. In which order the elements of a bag are met may follow from members
// that the expression does not read; so what it costs must not depend on which of them
// decides it.
func everyTurn(factory ast.ExprFactory, id int64, c ast.ComprehensionExpr) ast.Expr {
	step := c.LoopStep()
	if f := callName(step); f == operators.LogicalAnd || f == operators.LogicalOr {
		args := step.AsCall().Args()
		step = factory.NewCall(step.ID(), f, args[1], args[0])
	}
	always := factory.NewLiteral(c.LoopCondition().ID(), types.True)
	return factory.NewComprehension(id, c.IterRange(), c.IterVar(), c.AccuVar(), c.AccuInit(), always, step, c.Result())
}

// inOrder is the macro c with the range put in order by a call, whose id is given.
func inOrder(factory ast.ExprFactory, id int64, c ast.ComprehensionExpr) ast.Expr {
	over := factory.NewCall(id, ordered, c.IterRange())
	if c.HasIterVar2() {
		return factory.NewComprehensionTwoVar(id, over, c.IterVar(), c.IterVar2(), c.AccuVar(),
			c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
	}
	return factory.NewComprehension(id, over, c.IterVar(), c.AccuVar(),
		c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
}

// Eval evaluates to a bool. Every other outcome, a value of another type included, is
// an *EvalError. ctx is looked at every CheckEvery loop steps.
func (p *Program) Eval(ctx context.Context, in *Input) (bool, error) {
	if ctx.Err() != nil {
		return false, &EvalError{Code: DeadlineExceeded, Message: "the time for the evaluation is over"}
	}
	a := p.pool.Get().(*activation)
	limit := in.Budget.room(p.limit)
	a.input, a.meter.left = in, limit
	var out ref.Val
	var err error
	if ctx.Done() == nil {
		out, _, err = p.program.Eval(a)
	} else {
		out, _, err = p.program.ContextEval(ctx, a)
	}
	in.Budget.Spend(limit - a.meter.left + 1)
	a.input = nil
	p.pool.Put(a)
	if err != nil {
		return false, evalError(err)
	}
	if in.Budget.Over() {
		return false, &EvalError{Code: CostExceeded, Message: "the evaluations take more steps than are allowed"}
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, &EvalError{Code: EvaluationError, Message: "the expression has no bool value"}
	}
	return bool(b), nil
}

// An activation resolves names during one evaluation. It is pooled.
type activation struct {
	program *Program
	input   *Input
	meter   meter
}

var _ interpreter.Activation = (*activation)(nil)

func (a *activation) Parent() interpreter.Activation { return nil }

func (a *activation) ResolveName(name string) (any, bool) {
	s, ok := a.program.slots[name]
	if !ok {
		return &a.meter, name == meterName
	}
	in, state := a.input, a.program.state
	switch s.slot {
	case stateSlot:
		return a.wrap(in.State, state)
	case beforeSlot:
		return a.wrap(in.Before, state)
	case afterSlot:
		return a.wrap(in.After, state)
	case viewSlot:
		return a.wrap(in.View, state)
	case selfSlot:
		return a.wrap(in.Self, a.program.self)
	case entrySlot:
		return a.wrap(in.Entry, a.program.entry)
	case phaseSlot:
		return types.String(in.Phase), true
	case roleSlot:
		return types.String(in.Role), true
	case actorSlot:
		return types.String(in.Actor), true
	case nowSlot:
		return types.Timestamp{Time: in.Now.UTC()}, true
	case valueSlot:
		return a.wrap(in.Values[name], s.shape)
	case paramSlot:
		text, bound := in.Params[name]
		return types.String(text), bound
	}
	if in.Measure == nil {
		return nil, false
	}
	return s.measure.value(in.Measure(name)), true
}

func (a *activation) wrap(v ir.Value, s *shape) (any, bool) {
	if v == nil {
		return nil, false
	}
	return wrap(v, s, &a.meter), true
}

// slot tells where a name's value is in an Input.
type slot uint8

const (
	stateSlot slot = iota + 1
	beforeSlot
	afterSlot
	selfSlot
	viewSlot
	entrySlot
	phaseSlot
	roleSlot
	actorSlot
	nowSlot
	paramSlot
	valueSlot
	measureSlot
)

var rootSlots = map[string]slot{
	"state": stateSlot, "before": beforeSlot, "after": afterSlot, "self": selfSlot, "view": viewSlot, "phase": phaseSlot,
}

var inputSlots = map[string]slot{ir.RoleInput: roleSlot, ir.ActorInput: actorSlot, ir.NowInput: nowSlot}

// nameSlot is a slot with the measure it may belong to, or the shape of the value.
type nameSlot struct {
	slot    slot
	measure *measure
	shape   *shape
}

func (e *Env) slots(s Scope) map[string]nameSlot {
	out := map[string]nameSlot{}
	for _, v := range e.variables(s) {
		switch {
		case v.param != "":
			out[v.name] = nameSlot{slot: paramSlot}
		case v.root == valueRoot:
			out[v.name] = nameSlot{slot: valueSlot, shape: v.shape}
		case v.measure != nil:
			out[v.name] = nameSlot{slot: measureSlot, measure: v.measure}
		case v.root == inputRoot:
			out[v.name] = nameSlot{slot: inputSlots[v.name]}
		case s.Each != nil && (s.Vars == ir.EachVars || s.Vars == ir.ChangeVars) && v.name == s.Each.Var && rootSlots[v.name] == 0:
			out[v.name] = nameSlot{slot: entrySlot}
		default:
			out[v.name] = nameSlot{slot: rootSlots[v.name]}
		}
	}
	return out
}

// The codes of evaluation errors.
const (
	EvaluationError  = "evaluation_error"
	CostExceeded     = "cost_exceeded"
	DeadlineExceeded = "deadline_exceeded"
)

// An EvalError says why an expression has no value. Its message holds no part of
// the state. A caller treats the rule as violated.
type EvalError struct {
	Code    string
	Message string
}

// Error is the message.
func (e *EvalError) Error() string { return e.Message }

// failures words the run-time errors of CEL and of this package, by what the fixed part
// of their texts has in it. What follows a colon may be a value of the state.
var failures = []struct{ sign, code, message string }{
	{costLimitText, CostExceeded, "the evaluation takes more steps than are allowed"},
	{"operation interrupted", DeadlineExceeded, "the time for the evaluation is over"},
	{"no such key", EvaluationError, "a member or key that the expression reads is absent"},
	{"no such attribute", EvaluationError, "a name that the expression uses has no value"},
	{"index out of bounds", EvaluationError, "a position that the expression reads does not exist"},
	{"no such overload", EvaluationError, "an operator or function does not take values of these kinds"},
	{"overflow", EvaluationError, "an int is out of range"},
	{"not a 64-bit integer", EvaluationError, "a number of the state is no int, where its type says int"},
	{"division by zero", EvaluationError, "division by zero"},
	{"modulus by zero", EvaluationError, "division by zero"},
	{"optional.none() dereference", EvaluationError, "an optional that the expression opens is empty"},
	{"text too long", CostExceeded, "the evaluation makes a longer text than is allowed"},
	{"not a time", EvaluationError, "a text that is compared as a time is none"},
	{"decimal out of range", EvaluationError, "a decimal that is computed has more than 4,096 digits"},
	{"not a decimal", EvaluationError, "what is to be a decimal is none"},
	{"no number to add", EvaluationError, "a number that is added up has no value"},
	{"measure without a value", EvaluationError, "a measure has no value: its condition ends in an error for an entry"},
	{"NaN values cannot be ordered", EvaluationError, "a number that is compared has no value"},
}

func evalError(err error) *EvalError {
	fixed, _, _ := strings.Cut(err.Error(), ":")
	for _, f := range failures {
		if strings.Contains(fixed, f.sign) {
			return &EvalError{Code: f.code, Message: f.message}
		}
	}
	return &EvalError{Code: EvaluationError, Message: "the expression has no value for this state"}
}
