package expr

// The cost of an evaluation is counted in steps: one for every node of the state
// that is looked at, one more for every hundred bytes of a text, and for every turn
// of a loop as many as its body has parts, and for matching a regular expression one
// for every ten instructions of its program at every byte of the text. So the count depends on the expression
// and the state only, never on the machine, and what it bounds is the work. (CEL's
// own counter searches a stack that grows with every turn of a loop, which makes
// counting quadratic.)
//
// What a turn of a loop can make is bounded as well: the texts that + and the
// library's functions build have at most MaxText bytes.

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// textStep is how many bytes of text count as one more step.
const textStep = 100

// meterName is the name a program finds its meter by; no expression can spell it.
const meterName = "@meter"

// A meter counts the steps of one evaluation down.
type meter struct{ left int64 }

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
			steps[c.LoopCondition().ID()] = parts(c.LoopStep())
		}
	}))
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		if n, ok := steps[i.ID()]; ok {
			return &turn{InterpretableV2: i, steps: n}, nil
		}
		return i, nil
	}
}

// parts counts the nodes of a loop's body; a loop inside counts its own.
func parts(e ast.Expr) int64 {
	n := int64(1)
	if e.Kind() == ast.ComprehensionKind {
		return n
	}
	for _, child := range children(e) {
		n += parts(child)
	}
	return n
}

// A turn is a loop's condition that counts the turn.
type turn struct {
	interpreter.InterpretableV2
	steps int64
}

func (t *turn) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if m, ok := frame.ResolveName(meterName); ok {
		m.(*meter).spend(t.steps)
	}
	return t.InterpretableV2.Exec(frame)
}

func (t *turn) Eval(a interpreter.Activation) ref.Val { return t.Exec(interpreter.AsFrame(a)) }

// matchStep is how many instructions of a regular expression count as one step at
// every byte of the text.
const matchStep = 10

// matchMeter makes matching count before it begins: nothing ends it while it runs.
func matchMeter(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || call.Function() != overloads.Matches || len(call.Args()) != 2 {
		return i, nil
	}
	pattern, ok := call.Args()[1].(interpreter.InterpretableConst)
	if !ok {
		return i, nil
	}
	text, ok := pattern.Value().(types.String)
	if !ok {
		return i, nil
	}
	size, err := patternSize(string(text))
	if err != nil {
		return nil, err
	}
	return &match{InterpretableV2: i, of: call.Args()[0], size: int64(size)}, nil
}

// A match is a call of matches that counts what it will cost.
type match struct {
	interpreter.InterpretableV2
	of   interpreter.Interpretable // the text
	size int64                     // instructions of the regular expression
}

func (x *match) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if m, ok := frame.ResolveName(meterName); ok {
		if text, isText := x.of.Eval(frame).(types.String); isText {
			m.(*meter).spend(int64(len(text)) * x.size / matchStep)
		}
	}
	return x.InterpretableV2.Exec(frame)
}

func (x *match) Eval(a interpreter.Activation) ref.Val { return x.Exec(interpreter.AsFrame(a)) }

// concat is + where a text may come out.
func concat(l Limits) func(a, b ref.Val) ref.Val {
	return func(a, b ref.Val) ref.Val {
		switch x := a.(type) {
		case types.String:
			y, ok := b.(types.String)
			switch {
			case !ok:
				return noOverload()
			case len(x)+len(y) > l.MaxText:
				return tooLong()
			}
			return types.String(strings.Join([]string{string(x), string(y)}, ""))
		case types.Bytes:
			if y, ok := b.(types.Bytes); ok && len(x)+len(y) > l.MaxText {
				return tooLong()
			}
		}
		if adder, ok := a.(traits.Adder); ok {
			return adder.Add(b)
		}
		return noOverload()
	}
}
