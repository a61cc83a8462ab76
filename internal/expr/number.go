package expr

import (
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/decimal"
)

// Numbers are compared by value, exactly.
//
// CEL's own comparison of an int with a double first rounds the int to a double, so
// that 9007199254740993 equals 9007199254740992.0 and a bound above 2^53 can be
// passed by one. A state has both kinds side by side (int and number of the
// language), so here every comparison of two kinds goes through compareIntFloat,
// which rounds nothing. This covers < <= > >= (bound in operators.go), == and !=
// (rewritten to a function of this package, because CEL plans them itself), `in`,
// and all of them inside lists and maps.

// intValue reads the literal of an int: the language lets 1.0 and 1e2 be ints.
func intValue(literal string) ref.Val {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return types.Int(i)
	}
	if decimal.Valid(literal) {
		if i, ok := decimal.Parse(literal).Int64(); ok {
			return types.Int(i)
		}
	}
	return types.NewErr("not a 64-bit integer")
}

// numberValue reads the literal of a number: a double that stands for it alone, or a
// wide.
func numberValue(literal string) ref.Val {
	f, err := strconv.ParseFloat(literal, 64)
	if size := math.Abs(f); err == nil && len(literal) < 16 && (size >= smallestNormal && size < 1<<53 || literal == "0") {
		return types.Double(f) // 15 digits tell these apart, and each whole one is a double
	}
	exact, ok := new(big.Rat).SetString(literal)
	if !ok {
		return types.NewErr("not a number")
	}
	if same := exactly(f); same != nil && exact.Cmp(same) == 0 {
		return types.Double(f)
	}
	return wide{exact}
}

// smallestNormal is the least positive double of full precision. Between it and zero
// doubles tell fewer digits apart, down to none.
const smallestNormal = 0x1p-1022

// lost reports whether the literal of a double, in an expression, says more than the
// double does: it is not the shortest decimal that is read as it.
func lost(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return false // the parser tells
	}
	if f == 0 {
		mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
		return strings.ContainsAny(mantissa, "123456789")
	}
	exact, ok := new(big.Rat).SetString(literal)
	if !ok {
		return false
	}
	shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	whole := new(big.Rat).SetFloat64(f)
	return exact.Cmp(shortest) != 0 && exact.Cmp(whole) != 0
}

// exactly is the number that a double stands for: itself if it is whole, else the
// shortest decimal that is read as it. nil if it is none.
func exactly(f float64) *big.Rat {
	r := new(big.Rat).SetFloat64(f)
	if r == nil || r.IsInt() {
		return r
	}
	r, _ = r.SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}

// compareNumbers orders two numeric values. both is false if one is no number;
// ok is false for NaN.
func compareNumbers(a, b ref.Val) (order int, ok, both bool) {
	if isNumber(a) && isNumber(b) && (isExact(a) || isExact(b)) {
		order, ok = compareExact(a, b)
		return order, ok, true
	}
	if isNumber(a) && isNumber(b) && (isWide(a) || isWide(b)) {
		order, ok = compareWide(a, b)
		return order, ok, true
	}
	switch x := a.(type) {
	case types.Int:
		switch y := b.(type) {
		case types.Int:
			return compareOrdered(x, y), true, true
		case types.Double:
			order, ok = compareIntFloat(int64(x), float64(y))
			return order, ok, true
		}
	case types.Double:
		switch y := b.(type) {
		case types.Int:
			order, ok = compareIntFloat(int64(y), float64(x))
			return -order, ok, true
		case types.Double:
			return compareOrdered(x, y), x == x && y == y, true
		}
	}
	return 0, false, false
}

func isNumber(v ref.Val) bool {
	switch v.(type) {
	case types.Int, types.Double, wide, exact:
		return true
	}
	return false
}

func isWide(v ref.Val) bool {
	_, ok := v.(wide)
	return ok
}

func compareOrdered[T types.Int | types.Double](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareIntFloat orders i and f; ok is false for NaN.
func compareIntFloat(i int64, f float64) (order int, ok bool) {
	switch {
	case math.IsNaN(f):
		return 0, false
	case f >= 1<<63:
		return -1, true
	case f < -1<<63:
		return 1, true
	}
	whole := math.Trunc(f)
	switch n := int64(whole); {
	case i < n:
		return -1, true
	case i > n:
		return 1, true
	case f > whole:
		return -1, true
	case f < whole:
		return 1, true
	}
	return 0, true
}

// compareWide orders two numbers of which one is wide.
func compareWide(a, b ref.Val) (order int, ok bool) {
	x, infiniteX, okX := rational(a)
	y, infiniteY, okY := rational(b)
	switch {
	case !okX || !okY:
		return 0, false
	case x == nil || y == nil:
		return infiniteX - infiniteY, true
	}
	return x.Cmp(y), true
}

// rational is the number that a value stands for; ok is false for NaN, and for what is
// no number.
func rational(v ref.Val) (r *big.Rat, infinite int, ok bool) {
	switch x := v.(type) {
	case types.Int:
		return new(big.Rat).SetInt64(int64(x)), 0, true
	case wide:
		return x.exact, 0, true
	case types.Double:
		if r = exactly(float64(x)); r != nil {
			return r, 0, true
		}
		return nil, compareOrdered(x, 0), x == x
	}
	return nil, 0, false
}

// A wide is a number of the state, of the type number or of none, that no double
// holds: a whole number that a double would round, a decimal of more digits than a
// double tells apart, or a number beyond the largest double or so near to zero that
// doubles are few there. It compares exactly. What would need a double of it (arithmetic,
// functions) has no value, so that a rule does not pass for a number near by; double()
// leaves it as it is.
type wide struct{ exact *big.Rat }

func (w wide) Type() ref.Type { return types.DoubleType }

func (w wide) Value() any { return w.text() }

// text is the decimal digits of w, without an exponent. It is the same for equal numbers:
// that of an int if it is one.
func (w wide) text() string {
	digits, _ := w.exact.FloatPrec()
	return w.exact.FloatString(digits)
}

func (w wide) Equal(other ref.Val) ref.Val {
	order, ok, both := compareNumbers(w, other)
	return types.Bool(both && ok && order == 0)
}

// Compare orders w and another number exactly.
func (w wide) Compare(other ref.Val) ref.Val {
	order, ok, both := compareNumbers(w, other)
	if !ok || !both {
		return noOverload()
	}
	return types.Int(order)
}

func (w wide) ConvertToNative(reflect.Type) (any, error) { return nil, errNoConversion }

func (w wide) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.IntType:
		if w.exact.IsInt() && w.exact.Num().IsInt64() {
			return types.Int(w.exact.Num().Int64())
		}
	case types.DoubleType:
		return w
	case types.StringType:
		return types.String(w.text())
	case types.TypeType:
		return types.DoubleType
	}
	return noOverload()
}

// A wide is of CEL's type double and so can be asked for all that a double can: what it
// does not implement would end the evaluation, not come to an error that `||` and `&&`
// may absorb.
var _ double = wide{}

type double interface {
	traits.Adder
	traits.Comparer
	traits.Divider
	traits.Multiplier
	traits.Negater
	traits.Subtractor
	traits.Zeroer
}

func (w wide) Add(ref.Val) ref.Val { return noOverload() }

func (w wide) Divide(ref.Val) ref.Val { return noOverload() }

func (w wide) Multiply(ref.Val) ref.Val { return noOverload() }

func (w wide) Negate() ref.Val { return noOverload() }

func (w wide) Subtract(ref.Val) ref.Val { return noOverload() }

func (w wide) IsZeroValue() bool { return w.exact.Sign() == 0 }
