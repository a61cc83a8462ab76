package expr

import (
	"reflect"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// Decimals: the type `decimal` of the language as a type of CEL's, whose arithmetic is exact.
// It takes ints beside decimals, and no numbers: those are doubles, of which nobody can say
// which decimal was meant once something was computed of them. A literal beside a decimal is
// none: it is the decimal that it is written as (exactLiterals). There is no division, whose
// results would have no end.
//
// CEL knows of decimals in the expressions of contracts that have some, so that those of all
// others are typed as if there were none.

const decimalName = "decimal"

var decimalType = types.NewOpaqueType(decimalName)

// An exact is the value of a decimal.
type exact struct{ sum decimal.Sum }

// maxDigits bounds the digits of a decimal that an expression computes, written without an
// exponent. A number of the state has at most 1,024 on either side of its point and as
// many more by its exponent, so that sums of them are always within.
const maxDigits = 4 << 10

// exactValue is the decimal of a literal that is valid JSON.
func exactValue(literal string) ref.Val { return bounded(decimal.SumOf(literal)) }

func bounded(s decimal.Sum) ref.Val {
	if s.Digits() > maxDigits {
		return types.NewErr("decimal out of range")
	}
	return exact{s}
}

func (x exact) Type() ref.Type { return decimalType }

func (x exact) Value() any { return x.sum }

func (x exact) Equal(other ref.Val) ref.Val {
	order, ok, both := compareNumbers(x, other)
	return types.Bool(both && ok && order == 0)
}

func (x exact) IsZeroValue() bool { return x.sum.Sign() == 0 }

func (x exact) ConvertToNative(reflect.Type) (any, error) { return nil, errNoConversion }

func (x exact) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case decimalType:
		return x
	case types.IntType:
		return intValue(x.sum.String())
	case types.DoubleType:
		return numberValue(x.sum.String())
	case types.StringType:
		return types.String(x.sum.String())
	case types.TypeType:
		return decimalType
	}
	return noOverload()
}

// exactOf is an int or a decimal as a sum.
func exactOf(v ref.Val) (decimal.Sum, bool) {
	switch x := v.(type) {
	case exact:
		return x.sum, true
	case types.Int:
		return decimal.SumOfInt(int64(x)), true
	}
	return decimal.Sum{}, false
}

func isExact(v ref.Val) bool {
	_, ok := v.(exact)
	return ok
}

// compareExact orders two numbers of which one is a decimal; ok is false for NaN.
func compareExact(a, b ref.Val) (order int, ok bool) {
	x, infiniteX, okX := sumOfNumber(a)
	y, infiniteY, okY := sumOfNumber(b)
	switch {
	case !okX || !okY:
		return 0, false
	case infiniteX != 0 || infiniteY != 0:
		return infiniteX - infiniteY, true
	}
	return x.Compare(y), true
}

func sumOfNumber(v ref.Val) (s decimal.Sum, infinite int, ok bool) {
	if s, ok = exactOf(v); ok {
		return s, 0, true
	}
	if literal, finite := decimalText(v); finite {
		return decimal.SumOf(literal), 0, true
	}
	d, ok := v.(types.Double)
	return s, compareOrdered(d, 0), ok && d == d
}

// The operators that take decimals, by the functions that they are rewritten to where one
// of their operands may be one.
const (
	exactSum        = "@exact_sum"
	exactDifference = "@exact_difference"
	exactProduct    = "@exact_product"
	exactNegative   = "@exact_negative"
	exactFold       = "@decimal_sum"
)

var exactOperators = map[string]string{
	operators.Add: exactSum, operators.Subtract: exactDifference, operators.Multiply: exactProduct, operators.Negate: exactNegative,
}

// addExact, subtractExact and multiplyExact are the operators where one operand is a decimal, and CEL's own where
// none is.
func addExact(l Limits) func(a, b ref.Val) ref.Val {
	plain := concat(l)
	return func(a, b ref.Val) ref.Val {
		if !isExact(a) && !isExact(b) {
			return plain(a, b)
		}
		return computed(a, b, decimal.Sum.Plus)
	}
}

func subtractExact(a, b ref.Val) ref.Val {
	if !isExact(a) && !isExact(b) {
		if x, ok := a.(traits.Subtractor); ok {
			return x.Subtract(b)
		}
		return noOverload()
	}
	return computed(a, b, func(x, y decimal.Sum) decimal.Sum { return x.Plus(y.Negate()) })
}

func multiplyExact(a, b ref.Val) ref.Val {
	if !isExact(a) && !isExact(b) {
		if x, ok := a.(traits.Multiplier); ok {
			return x.Multiply(b)
		}
		return noOverload()
	}
	return computed(a, b, decimal.Sum.Times)
}

func negateExact(v ref.Val) ref.Val {
	if x, ok := v.(exact); ok {
		return exact{x.sum.Negate()}
	}
	if x, ok := v.(traits.Negater); ok {
		return x.Negate()
	}
	return noOverload()
}

func computed(a, b ref.Val, f func(x, y decimal.Sum) decimal.Sum) ref.Val {
	x, okX := exactOf(a)
	y, okY := exactOf(b)
	if !okX || !okY {
		return noOverload()
	}
	return bounded(f(x, y))
}

// decimalOptions declare the type, and the operators and functions that take it.
func decimalOptions(l Limits) []cel.EnvOption {
	d, i := decimalType, cel.IntType
	var opts []cel.EnvOption
	for operator, name := range map[string]string{operators.Add: "add", operators.Subtract: "subtract", operators.Multiply: "multiply"} {
		opts = append(opts, cel.Function(operator,
			cel.Overload(name+"_decimal", []*cel.Type{d, d}, d),
			cel.Overload(name+"_decimal_int64", []*cel.Type{d, i}, d),
			cel.Overload(name+"_int64_decimal", []*cel.Type{i, d}, d)))
	}
	for operator, name := range map[string]string{
		operators.Less: "less", operators.LessEquals: "less_equals", operators.Greater: "greater", operators.GreaterEquals: "greater_equals",
	} {
		opts = append(opts, cel.Function(operator,
			cel.Overload(name+"_decimal", []*cel.Type{d, d}, cel.BoolType),
			cel.Overload(name+"_decimal_int64", []*cel.Type{d, i}, cel.BoolType),
			cel.Overload(name+"_int64_decimal", []*cel.Type{i, d}, cel.BoolType)))
	}
	a, b := cel.TypeParamType("A"), cel.TypeParamType("B")
	two := []*cel.Type{a, b}
	return append(opts,
		cel.Function(operators.Negate, cel.Overload("negate_decimal", []*cel.Type{d}, d)),
		cel.Function(exactSum, cel.Overload(exactSum, two, cel.DynType, cel.BinaryBinding(addExact(l)))),
		cel.Function(exactDifference, cel.Overload(exactDifference, two, cel.DynType, cel.BinaryBinding(subtractExact))),
		cel.Function(exactProduct, cel.Overload(exactProduct, two, cel.DynType, cel.BinaryBinding(multiplyExact))),
		cel.Function(exactNegative, cel.Overload(exactNegative, two[:1], cel.DynType, cel.UnaryBinding(negateExact))),
		cel.Function(exactFold, cel.Overload(exactFold, two[:1], cel.DynType, cel.UnaryBinding(func(v ref.Val) ref.Val { return sumOf(v, exact{}) }))),
		cel.Function(sumFold, foldOverloads(sumFold, plainType, d)...),
		cel.Function(minFold, foldOverloads(minFold, cel.OptionalType, d)...),
		cel.Function(maxFold, foldOverloads(maxFold, cel.OptionalType, d)...),
		cel.Function(decimalName,
			cel.Overload("string_to_decimal", []*cel.Type{cel.StringType}, d, cel.UnaryBinding(toDecimal)),
			cel.Overload("int64_to_decimal", []*cel.Type{i}, d, cel.UnaryBinding(toDecimal)),
			cel.Overload("double_to_decimal", []*cel.Type{cel.DoubleType}, d, cel.UnaryBinding(toDecimal)),
			cel.Overload("decimal_to_decimal", []*cel.Type{d}, d, cel.UnaryBinding(toDecimal))),
		conversion("string", cel.StringType), conversion("int", i), conversion("double", cel.DoubleType),
		cel.Function("money.cents", cel.Overload("poptic_money.cents_decimal", []*cel.Type{d}, cel.BoolType,
			cel.UnaryBinding(func(v ref.Val) ref.Val { return cents(l, []ref.Val{v}) }))),
	)
}

func conversion(name string, to *cel.Type) cel.EnvOption {
	return cel.Function(name, cel.Overload("decimal_to_"+name, []*cel.Type{decimalType}, to,
		cel.UnaryBinding(func(v ref.Val) ref.Val {
			if x, ok := v.(exact); ok {
				return x.ConvertToType(to)
			}
			return noOverload()
		})))
}

// toDecimal is decimal(): of a text that is a number in JSON, and of a number the shortest
// decimal that stands for it, which is the one that was written.
func toDecimal(v ref.Val) ref.Val {
	if text, ok := v.(types.String); ok {
		if !isDecimal(string(text)) {
			return types.NewErr("not a decimal")
		}
		return exactValue(string(text))
	}
	s, infinite, ok := sumOfNumber(v)
	if !ok || infinite != 0 {
		return types.NewErr("not a decimal")
	}
	return bounded(s)
}

// isDecimal reports whether a text is a number as a state may have it.
func isDecimal(text string) bool {
	const most = 1 << 10
	power := decimal.Exponent(text)
	return len(text) <= most && decimal.Valid(text) && power >= -most && power <= most
}

// usesDecimals reports whether a contract has decimals.
func usesDecimals(c *ir.Contract) bool {
	for i := range c.Types {
		if c.Types[i].Kind == ir.DecimalType {
			return true
		}
	}
	return false
}

// typed types a tree. Literals that stand beside decimals become decimals: each becomes a
// call of decimal() with its text, under the literal's id. Where one makes the type of what
// is around it known, there may be more to do there.
func (e *Env) typed(tree *ast.AST, x *extents, check *checker.Env) (*ast.AST, *common.Errors) {
	source := common.NewTextSource(x.src)
	checked, errs := checker.Check(tree, source, check)
	for pass := 0; e.decimals && pass < e.limits.MaxNesting && exactLiterals(checked, errs, x); pass++ {
		checked, errs = checker.Check(tree, source, check)
	}
	return checked, errs
}

// exactLiterals rewrites the literals that stand beside decimals, and reports whether there
// were any: operands of == and !=, elements of a list, and arguments of what takes no
// number beside a decimal.
func exactLiterals(checked *ast.AST, errs *common.Errors, x *extents) bool {
	failed := map[int64]bool{}
	for _, err := range errs.GetErrors() {
		failed[err.ExprID] = true
	}
	found, next := false, ast.MaxID(checked)
	factory := ast.NewExprFactory()
	beside := func(all []ast.Expr, ints bool) {
		if !anyDecimal(checked, all) {
			return
		}
		for _, e := range all {
			switch literalOf(e).(type) {
			case types.Double:
			case types.Int:
				if !ints {
					continue
				}
			default:
				continue
			}
			text := factory.NewLiteral(next, types.String(jsonNumber(x, e)))
			next++
			e.SetKindCase(factory.NewCall(e.ID(), decimalName, text))
			found = true
		}
	}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.ListKind:
			beside(e.AsList().Elements(), false)
		case e.Kind() != ast.CallKind:
		case failed[e.ID()] && e.AsCall().FunctionName() != operators.Divide && e.AsCall().FunctionName() != operators.Modulo:
			beside(operands(e.AsCall()), true)
		case e.AsCall().FunctionName() == operators.Equals || e.AsCall().FunctionName() == operators.NotEquals:
			beside(e.AsCall().Args(), false)
		case e.AsCall().FunctionName() == operators.In:
			if args := e.AsCall().Args(); len(args) == 2 && args[1].Kind() == ast.ListKind {
				beside(append([]ast.Expr{args[0]}, args[1].AsList().Elements()...), false)
			}
		}
	}))
	return found
}

// anyDecimal reports whether one of some expressions is a decimal or an optional of one.
func anyDecimal(checked *ast.AST, all []ast.Expr) bool {
	for _, e := range all {
		t := checked.GetType(e.ID())
		if t.Kind() == types.OpaqueKind && len(t.Parameters()) == 1 {
			t = t.Parameters()[0]
		}
		if isDecimalType(t) {
			return true
		}
	}
	return false
}

func isDecimalType(t *types.Type) bool {
	return t.Kind() == types.OpaqueKind && t.TypeName() == decimalName
}

// jsonNumber is the literal of a number in an expression as JSON writes it.
func jsonNumber(x *extents, literal ast.Expr) string {
	at := x.of(literal)
	text, negative := strings.CutPrefix(x.src[at.start:at.end], "-")
	text = strings.TrimSpace(text)
	if i, ok := literalOf(literal).(types.Int); ok {
		return literalText(i) // it may be in hexadecimal
	}
	if text = strings.TrimLeft(text, "0"); text == "" || !isDigit(text[0]) {
		text = "0" + text
	}
	if d, ok := literalOf(literal).(types.Double); negative || ok && d < 0 {
		text = "-" + text
	}
	return text
}

// isExactLiteral reports whether a node was made of a literal by exactLiterals.
func (x *extents) isExactLiteral(e ast.Expr) bool {
	if callName(e) != decimalName || len(x.tokens) == 0 {
		return false
	}
	mark := x.mark(e.ID())
	return x.tokens[mark].kind == numberToken || x.text(mark) == "-"
}

// decimalLiteral is the value of decimal() of a literal text.
func decimalLiteral(e ast.Expr) (v ref.Val, ok bool) {
	if callName(e) != decimalName || len(e.AsCall().Args()) != 1 {
		return nil, false
	}
	text, ok := literalOf(e.AsCall().Args()[0]).(types.String)
	if !ok {
		return nil, false
	}
	return toDecimal(text), true
}
