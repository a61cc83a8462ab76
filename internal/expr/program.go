package expr

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/patchoptic/poptic/internal/ir"
)

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
	Params                                  map[string]string
	// Measure computes a measure: its exact decimal text, or present = false for
	// min and max of nothing. It is called once per use, only for measures in scope.
	Measure func(name string) (literal string, present bool)
}

var errNotChecked = errors.New("the expression does not fit the contract it was checked for")

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
	checked, errs := checker.Check(tree, common.NewTextSource(x.Source), check)
	if len(errs.GetErrors()) > 0 {
		return nil, errNotChecked
	}
	rewrite(checked, e.bagLoops(checked, extents, s))
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
		p.entry = e.shapes.of(s.Each.Type)
	}
	p.pool.New = func() any { return &activation{program: p} }
	return p, nil
}

// Eval evaluates to a bool. Every other outcome, a value of another type included, is
// an *EvalError. ctx is looked at every CheckEvery loop steps.
func (p *Program) Eval(ctx context.Context, in *Input) (bool, error) {
	if ctx.Err() != nil {
		return false, &EvalError{Code: DeadlineExceeded, Message: "the time for the evaluation is over"}
	}
	a := p.pool.Get().(*activation)
	a.input, a.meter.left = in, p.limit
	var out ref.Val
	var err error
	if ctx.Done() == nil {
		out, _, err = p.program.Eval(a)
	} else {
		out, _, err = p.program.ContextEval(ctx, a)
	}
	a.input = nil
	p.pool.Put(a)
	if err != nil {
		return false, evalError(err)
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, &EvalError{Code: EvaluationError, Message: "the expression has no bool value"}
	}
	return bool(b), nil
}

// failures words CEL's run-time errors, which may hold values of the state.
var failures = []struct{ sign, code, message string }{
	{costLimitText, CostExceeded, "the evaluation takes more steps than are allowed"},
	{"interrupted", DeadlineExceeded, "the time for the evaluation is over"},
	{"no such key", EvaluationError, "a member or key that the expression reads is absent"},
	{"no such attribute", EvaluationError, "a name that the expression uses has no value"},
	{"index out of", EvaluationError, "a position that the expression reads does not exist"},
	{"no such overload", EvaluationError, "an operator or function does not take values of these kinds"},
	{"overflow", EvaluationError, "an int is out of range"},
	{"64-bit integer", EvaluationError, "a number of the state is no int, where its type says int"},
	{"fits 64 bits", EvaluationError, "a number of the state is out of range"},
	{"divi", EvaluationError, "division by zero"},
	{"modulus", EvaluationError, "division by zero"},
	{"optional.none", EvaluationError, "an optional that the expression opens is empty"},
	{"text too long", CostExceeded, "the evaluation makes a longer text than is allowed"},
	{"not a time", EvaluationError, "a text that is compared as a time is none"},
	{"NaN", EvaluationError, "a number that is compared has no value"},
}

func evalError(err error) *EvalError {
	text := err.Error()
	for _, f := range failures {
		if strings.HasPrefix(text, f.sign) || strings.Contains(withoutValue(text), f.sign) {
			return &EvalError{Code: f.code, Message: f.message}
		}
	}
	return &EvalError{Code: EvaluationError, Message: "the expression has no value for this state"}
}

// withoutValue is the fixed part of an error text: what follows a colon may be data.
func withoutValue(text string) string {
	fixed, rest, found := strings.Cut(text, ":")
	if found && strings.HasPrefix(fixed, "operation") {
		return text[:min(len(text), len(fixed)+len(rest)+1)]
	}
	return fixed
}
