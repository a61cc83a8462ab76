package expr

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// sameValue and otherValue are what == and != are rewritten to where CEL's own
// equality could round a number (rewrite.go).
const (
	sameValue  = "@same_value"
	otherValue = "@other_value"
)

// ordered is put around what a macro goes over where that may be a map.
const ordered = "@ordered"

// boundedSum is what + is rewritten to where it may build a text.
const boundedSum = "@bounded_sum"

// replaced are the standard operators that operatorOptions declares anew: over
// operands of two types, and with exact numbers.
var replaced = []string{
	operators.Equals, operators.NotEquals, operators.In,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
}

// timeZoneOverloads read the machine's time zone files, so they could differ
// between machines.
var timeZoneOverloads = map[string]string{
	overloads.TimeGetFullYear:     overloads.TimestampToYearWithTz,
	overloads.TimeGetMonth:        overloads.TimestampToMonthWithTz,
	overloads.TimeGetDayOfYear:    overloads.TimestampToDayOfYearWithTz,
	overloads.TimeGetDayOfMonth:   overloads.TimestampToDayOfMonthZeroBasedWithTz,
	overloads.TimeGetDate:         overloads.TimestampToDayOfMonthOneBasedWithTz,
	overloads.TimeGetDayOfWeek:    overloads.TimestampToDayOfWeekWithTz,
	overloads.TimeGetHours:        overloads.TimestampToHoursWithTz,
	overloads.TimeGetMinutes:      overloads.TimestampToMinutesWithTz,
	overloads.TimeGetSeconds:      overloads.TimestampToSecondsWithTz,
	overloads.TimeGetMilliseconds: overloads.TimestampToMillisecondsWithTz,
}

func standardSubset() *env.LibrarySubset {
	subset := env.NewLibrarySubset()
	for _, name := range replaced {
		subset.AddExcludedFunctions(env.NewFunction(name))
	}
	for name, overload := range timeZoneOverloads {
		subset.AddExcludedFunctions(env.NewFunction(name, &env.Overload{ID: overload}))
	}
	return subset
}

func operatorOptions(l Limits) []cel.EnvOption {
	a, b, c := cel.TypeParamType("A"), cel.TypeParamType("B"), cel.TypeParamType("C")
	two := []*cel.Type{a, b}
	return []cel.EnvOption{
		cel.Function(operators.Equals, cel.Overload(overloads.Equals, two, cel.BoolType)),
		cel.Function(operators.NotEquals, cel.Overload(overloads.NotEquals, two, cel.BoolType)),
		cel.Function(sameValue, cel.Overload(sameValue, two, cel.BoolType, cel.BinaryBinding(equal))),
		cel.Function(otherValue, cel.Overload(otherValue, two, cel.BoolType, cel.BinaryBinding(notEqual))),
		cel.Function(boundedSum, cel.Overload(boundedSum, two, cel.DynType, cel.BinaryBinding(concat(l)))),
		cel.Function(ordered, cel.Overload(ordered, []*cel.Type{a}, a, cel.UnaryBinding(inKeyOrder))),
		cel.Function(operators.In,
			cel.Overload(overloads.InList, []*cel.Type{a, cel.ListType(b)}, cel.BoolType),
			cel.Overload(overloads.InMap, []*cel.Type{a, cel.MapType(b, c)}, cel.BoolType),
			cel.SingletonBinaryBinding(contains)),
		orderFunction(operators.Less, "less", func(order int) bool { return order < 0 }),
		orderFunction(operators.LessEquals, "less_equals", func(order int) bool { return order <= 0 }),
		orderFunction(operators.Greater, "greater", func(order int) bool { return order > 0 }),
		orderFunction(operators.GreaterEquals, "greater_equals", func(order int) bool { return order >= 0 }),
	}
}

// orderedTypes have an order of their own; int64 and double have one between them.
// The names are those of the standard overloads, by which CEL counts the cost.
var orderedTypes = []struct {
	name        string
	left, right *types.Type
}{
	{"int64", types.IntType, types.IntType},
	{"double", types.DoubleType, types.DoubleType},
	{"int64_double", types.IntType, types.DoubleType},
	{"double_int64", types.DoubleType, types.IntType},
	{"string", types.StringType, types.StringType},
	{"bool", types.BoolType, types.BoolType},
	{"uint64", types.UintType, types.UintType},
	{"bytes", types.BytesType, types.BytesType},
	{"timestamp", types.TimestampType, types.TimestampType},
	{"duration", types.DurationType, types.DurationType},
}

func orderFunction(operator, name string, holds func(order int) bool) cel.EnvOption {
	var opts []cel.FunctionOpt
	for _, t := range orderedTypes {
		opts = append(opts, cel.Overload(name+"_"+t.name, []*cel.Type{t.left, t.right}, cel.BoolType))
	}
	return cel.Function(operator, append(opts, cel.SingletonBinaryBinding(func(a, b ref.Val) ref.Val {
		return compare(a, b, holds)
	}))...)
}

func compare(a, b ref.Val, holds func(order int) bool) ref.Val {
	if order, ok, both := compareNumbers(a, b); both {
		if !ok {
			return types.NewErr("NaN values cannot be ordered")
		}
		return types.Bool(holds(order))
	}
	x, ok := a.(traits.Comparer)
	if !ok {
		return noOverload()
	}
	order, ok := x.Compare(b).(types.Int)
	if !ok {
		return noOverload()
	}
	return types.Bool(holds(int(order)))
}

func notEqual(a, b ref.Val) ref.Val {
	same, ok := equal(a, b).(types.Bool)
	if !ok {
		return noOverload()
	}
	return !same
}

// contains is `in`: an element of a list, or a key of a map.
func contains(element, container ref.Val) ref.Val {
	switch c := container.(type) {
	case *array:
		return c.Contains(element)
	case traits.Mapper:
		_, found := c.Find(element)
		return types.Bool(found)
	case traits.Lister:
		for i := c.Iterator(); i.HasNext() == types.True; {
			if equal(i.Next(), element) == types.True {
				return types.True
			}
		}
		return types.False
	}
	return noOverload()
}
