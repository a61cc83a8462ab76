package expr

import (
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/decimal"
)

// Folds: the sum of the numbers of a container, the least and the greatest of them. What
// comes out does not depend on the order of the elements, in value, error or cost, so that
// bags may be folded as well. Nothing is rounded and nothing overflows on the way: a sum of
// ints is an int or has no value, any other is the number that the exact sum is.

// The names of the folds. numberSum is what sum is rewritten to where it yields a number:
// of nothing it is 0.0.
const (
	sumFold   = "sum"
	minFold   = "min"
	maxFold   = "max"
	numberSum = "@number_sum"
)

func isFold(function string) bool {
	return function == sumFold || function == minFold || function == maxFold || function == numberSum || function == exactFold
}

// foldOptions declares the folds: over lists, and over the values of maps, as functions and
// as methods.
func foldOptions() []cel.EnvOption {
	sum := func(zero ref.Val) cel.FunctionOpt {
		return cel.SingletonUnaryBinding(func(v ref.Val) ref.Val { return sumOf(v, zero) })
	}
	extreme := func(sign int) cel.FunctionOpt {
		return cel.SingletonUnaryBinding(func(v ref.Val) ref.Val { return extremeOf(v, sign) })
	}
	numbers := []*cel.Type{cel.IntType, cel.DoubleType}
	return []cel.EnvOption{
		cel.Function(sumFold, append(foldOverloads(sumFold, plainType, numbers...), sum(types.IntZero))...),
		cel.Function(numberSum, append(foldOverloads(numberSum, plainType, numbers...), sum(types.Double(0)))...),
		cel.Function(minFold, append(foldOverloads(minFold, cel.OptionalType, numbers...), extreme(-1))...),
		cel.Function(maxFold, append(foldOverloads(maxFold, cel.OptionalType, numbers...), extreme(1))...),
	}
}

func plainType(t *cel.Type) *cel.Type { return t }

// foldOverloads are the overloads of a fold over some types of numbers.
func foldOverloads(name string, result func(*cel.Type) *cel.Type, numbers ...*cel.Type) []cel.FunctionOpt {
	var out []cel.FunctionOpt
	for _, number := range numbers {
		for _, of := range []*cel.Type{cel.ListType(number), cel.MapType(cel.TypeParamType("K"), number)} {
			id := name + "_" + of.TypeName() + "_" + number.TypeName()
			out = append(out,
				cel.Overload(id, []*cel.Type{of}, result(number)),
				cel.MemberOverload(id+"_method", []*cel.Type{of}, result(number)))
		}
	}
	return out
}

// eachNumber calls visit for the numbers of a container. The error is the same wherever in
// it stands what is no number.
func eachNumber(container ref.Val, visit func(n ref.Val)) (bad ref.Val) {
	see := func(v ref.Val) {
		switch {
		case !isNumber(v):
			bad = noOverload()
		case bad == nil:
			visit(v)
		}
	}
	switch c := container.(type) {
	case *array:
		c.each(func(v ref.Val) bool {
			see(v)
			return true
		})
	case traits.Lister:
		for i := c.Iterator(); i.HasNext() == types.True; {
			see(i.Next())
		}
	case traits.Mapper:
		for i := c.Iterator(); i.HasNext() == types.True; {
			v, _ := c.Find(i.Next())
			see(v)
		}
	default:
		return noOverload()
	}
	return bad
}

// sumOf adds the numbers of a container up; zero is the sum of none.
func sumOf(container, zero ref.Val) ref.Val {
	total, whole, any, infinite := decimal.Sum{}, true, false, false
	decimals, numbers := isExact(zero), false
	bad := eachNumber(container, func(n ref.Val) {
		any = true
		if x, ok := n.(exact); ok {
			decimals, total = true, total.Plus(x.sum)
			return
		}
		if i, ok := n.(types.Int); ok {
			total = total.Plus(decimal.SumOfInt(int64(i)))
			return
		}
		whole, numbers = false, true
		literal, ok := decimalText(n)
		if !ok {
			infinite = true
			return
		}
		total = total.Plus(decimal.SumOf(literal))
	})
	switch {
	case bad != nil:
		return bad
	case decimals && numbers:
		return noOverload()
	case infinite:
		return types.NewErr("no number to add")
	case !any:
		return zero
	case decimals:
		return bounded(total)
	case whole:
		i, fits := total.Int64()
		if !fits {
			return types.NewErr("integer overflow")
		}
		return types.Int(i)
	}
	return numberValue(total.String())
}

// decimalText is the literal of a number that is no int; ok is false for one that has
// none.
func decimalText(n ref.Val) (literal string, ok bool) {
	if w, isWide := n.(wide); isWide {
		return w.text(), true
	}
	d, isDouble := n.(types.Double)
	if !isDouble {
		return "", false
	}
	r := exactly(float64(d))
	switch {
	case r == nil:
		return "", false
	case r.IsInt():
		return r.Num().String(), true
	}
	return strconv.FormatFloat(float64(d), 'g', -1, 64), true
}

// extremeOf is an optional of the least number of a container, or where sign is 1 the
// greatest. Of equal ones an int is taken, so that it does not matter which came first.
func extremeOf(container ref.Val, sign int) ref.Val {
	var best ref.Val
	none := false
	bad := eachNumber(container, func(n ref.Val) {
		if d, ok := n.(types.Double); ok && d == 0 {
			n = types.Double(0) // and not -0
		}
		if best == nil {
			best = n
		}
		order, ok, _ := compareNumbers(n, best)
		_, isInt := n.(types.Int)
		if none = none || !ok; order*sign > 0 || order == 0 && isInt {
			best = n
		}
	})
	switch {
	case bad != nil:
		return bad
	case none:
		return types.NewErr("NaN values cannot be ordered")
	case best == nil:
		return types.OptionalNone
	}
	return types.OptionalOf(best)
}

// foldReplacement is the function that a sum is evaluated by, "" for sum itself.
func foldReplacement(tree *ast.AST, e ast.Expr) string {
	switch t := tree.GetType(e.ID()); {
	case t.Kind() == types.DoubleKind:
		return numberSum
	case isDecimalType(t):
		return exactFold
	}
	return ""
}
