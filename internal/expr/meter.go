package expr

import (
	"math"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// The cost of an evaluation is counted in steps: one for every node of the state
// that is looked at, one more for every hundred bytes of a text, and for every turn
// of a loop as many as its body has parts. A function counts the texts it is given: one
// step for every hundred bytes, for splitting one for every five, and for matching a regular
// expression one for every ten instructions of its program at every byte; and of a decimal
// one for every ten digits after the first twenty. So the count depends on the expression and
// the state only, never on the machine, and what it bounds is the work. (CEL's own counter
// searches a stack that grows with every turn of a loop, which makes counting quadratic.)
//
// What a turn of a loop can make is bounded as well: the texts that + and the
// library's functions build have at most MaxText bytes.

// A meter counts the steps of one evaluation down.
type meter struct{ left int64 }

// A Budget is what is left of the steps for several evaluations, of which it is lowered by
// what each took and one more. It may lie within another one, which all is taken from too. The nil Budget has
// no end. Not safe for concurrent use.
type Budget struct {
	left  int64
	outer *Budget
}

// NewBudget has so many steps, within outer, nil for nothing.
func NewBudget(steps uint64, outer *Budget) *Budget {
	return &Budget{int64(min(steps, math.MaxInt64/2)), outer}
}

// Over reports whether more was needed than there was, here or in what b lies within.
func (b *Budget) Over() bool { return b != nil && (b.left < 0 || b.outer.Over()) }

// Outer is what b lies within, nil for nothing.
func (b *Budget) Outer() *Budget {
	if b == nil {
		return nil
	}
	return b.outer
}

// Room is how many steps there are left, here and in what b lies within.
func (b *Budget) Room() int64 { return b.room(math.MaxInt64 / 2) }

// Spend takes steps away.
func (b *Budget) Spend(steps int64) {
	for ; b != nil; b = b.outer {
		b.left = max(b.left-steps, -1)
	}
}

// room is how many steps the next evaluation has, most at most.
func (b *Budget) room(most int64) int64 {
	for ; b != nil; b = b.outer {
		most = min(most, max(b.left, 0))
	}
	return most
}

// meterName is the name a program finds its meter by; no expression can spell it.
const meterName = "@meter"

func (m *meter) spend(steps int64) {
	if m.left -= steps; m.left < 0 {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: costLimitText})
	}
}

const costLimitText = "cost limit exceeded"

// loopMeter makes every turn of a loop count: it wraps the loops' conditions.
func loopMeter(tree *ast.AST) interpreter.InterpretableDecoratorV2 {
	steps := map[int64]int64{}
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			c := e.AsComprehension()
			steps[c.LoopCondition().ID()] = nodeCount(c.LoopStep())
		}
	}))
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		if n, ok := steps[i.ID()]; ok {
			return &countedCondition{InterpretableV2: i, steps: n}, nil
		}
		return i, nil
	}
}

// nodeCount counts the nodes of a loop's body; a loop inside counts its own.
func nodeCount(e ast.Expr) int64 {
	n := int64(1)
	if e.Kind() == ast.ComprehensionKind {
		return n
	}
	for _, child := range children(e) {
		n += nodeCount(child)
	}
	return n
}

// A countedCondition is a loop's condition that counts the turn.
type countedCondition struct {
	interpreter.InterpretableV2
	steps int64
}

func (c *countedCondition) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if m, ok := frame.ResolveName(meterName); ok {
		m.(*meter).spend(c.steps)
	}
	return c.InterpretableV2.Exec(frame)
}

func (c *countedCondition) Eval(a interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(a))
}

// textStep is how many bytes of text count as one more step.
const textStep = 100

// textMeter makes functions count the texts they go through, and the lists that the
// expression made, before they begin: nothing ends them while they run.
func textMeter(tree *ast.AST) (interpreter.InterpretableDecoratorV2, error) {
	rates, err := textRates(tree.Expr())
	lists := listArguments(tree.Expr())
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		_, constant := i.(interpreter.InterpretableConst)
		rate := rates[i.ID()]
		if rate == 0 || constant {
			return i, nil
		}
		counted := argument{InterpretableV2: i, rate: rate, through: lists[i.ID()]}
		if attribute, ok := i.(interpreter.InterpretableAttribute); ok {
			return &attributeArgument{attribute, counted}, nil
		}
		return &counted, nil
	}, err
}

// textRates are, of the arguments of functions that go through a text, the steps that
// each hundred bytes take.
func textRates(of ast.Expr) (rates map[int64]int64, err error) {
	rates = map[int64]int64{}
	ast.PostOrderVisit(of, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || passing[e.AsCall().FunctionName()] {
			return
		}
		call := e.AsCall()
		args := operands(call)
		for _, arg := range args {
			rates[arg.ID()] = 1
		}
		if call.FunctionName() == overloads.Matches && len(args) == 2 && args[1].Kind() == ast.LiteralKind {
			pattern, _ := args[1].AsLiteral().(types.String)
			size, bad := patternSize(string(pattern))
			if bad != nil {
				err = bad
			}
			rates[args[0].ID()] = 1 + int64(size)*textStep/matchStep
		}
		if call.FunctionName() == "split" {
			rates[args[0].ID()] = textStep / splitStep
		}
	}))
	return rates, err
}

// listArguments are the arguments of functions that go through a list or map.
func listArguments(of ast.Expr) map[int64]bool {
	out := map[int64]bool{}
	ast.PostOrderVisit(of, ast.NewExprVisitor(func(e ast.Expr) {
		if f := callName(e); isFold(f) || f == operators.In || f == sameValue || f == otherValue {
			for _, arg := range operands(e.AsCall()) {
				out[arg.ID()] = true
			}
		}
	}))
	return out
}

// madeLength is how many elements a list or map has that the expression has made. Those of
// the state are counted when they are looked at.
func madeLength(v ref.Val) int64 {
	switch v.(type) {
	case *array, *object:
		return 0
	case traits.Lister, traits.Mapper:
		n, _ := v.(traits.Sizer).Size().(types.Int)
		return int64(n)
	}
	return 0
}

// passing are the functions that hand a text on and do not look into it.
var passing = map[string]bool{
	operators.Index: true, operators.OptIndex: true, operators.OptSelect: true, operators.Conditional: true,
	operators.LogicalAnd: true, operators.LogicalOr: true, operators.LogicalNot: true, overloads.TypeConvertDyn: true, overloads.TypeConvertType: true,
	"optional.of": true, "or": true, "orValue": true, "value": true, "hasValue": true,
}

// matchStep is how many instructions of a regular expression count as one step at
// every byte of the text.
const matchStep = 10

// splitStep is how many bytes of a text count as one step where it is split: each may
// become a text of its own.
const splitStep = 5

// digitStep is how many digits of a decimal, after the first twenty, count as one step where
// something is computed of it or compared with it.
const digitStep = 10

// An argument is one of a function that goes through it, if it is a text or a decimal.
type argument struct {
	interpreter.InterpretableV2
	rate    int64 // steps for each hundred bytes
	through bool  // the function goes through a list or map as well
}

func (x *argument) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := x.InterpretableV2.Exec(frame)
	bytes := 0
	switch text := v.(type) {
	case types.String:
		bytes = len(text)
	case types.Bytes:
		bytes = len(text)
	}
	steps := int64(bytes) * x.rate / textStep
	if d, ok := v.(exact); ok {
		steps = int64(max(d.sum.Digits()-digitStep*2, 0) / digitStep)
	}
	if x.through {
		steps += madeLength(v)
	}
	if steps > 0 {
		if m, ok := frame.ResolveName(meterName); ok {
			m.(*meter).spend(steps)
		}
	}
	return v
}

func (x *argument) Eval(a interpreter.Activation) ref.Val { return x.Exec(interpreter.AsFrame(a)) }

// An attributeArgument is an argument that may be qualified further: then what comes of it
// is another's.
type attributeArgument struct {
	interpreter.InterpretableAttribute
	argument argument
}

func (x *attributeArgument) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return x.argument.Exec(frame)
}

func (x *attributeArgument) Eval(a interpreter.Activation) ref.Val { return x.argument.Eval(a) }
