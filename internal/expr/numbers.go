package expr

// Numbers are compared by value, exactly.
//
// CEL's own comparison of an int with a double first rounds the int to a double, so
// that 9007199254740993 equals 9007199254740992.0 and a bound above 2^53 can be
// passed by one. A state has both kinds side by side (int and number of the
// language), so here every comparison of two kinds goes through compareIntFloat,
// which rounds nothing. This covers < <= > >= (bound in operators.go), == and !=
// (rewritten to a function of this package, because CEL plans them itself), `in`,
// and all of them inside lists and maps.

import (
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/decimal"
)

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

// compareNumbers orders two numeric values. both is false if one is no number;
// ok is false for NaN.
func compareNumbers(a, b ref.Val) (order int, ok, both bool) {
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

func isWide(v ref.Val) bool {
	_, ok := v.(wide)
	return ok
}

func isNumber(v ref.Val) bool {
	switch v.(type) {
	case types.Int, types.Double, wide:
		return true
	}
	return false
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
