package expr

import (
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// The operators that this package gives CEL in place of its own: equality at every depth,
// order and membership, over exact numbers (number.go) and over sets and logs, whose
// elements have no order; and +, where it may build a text that is too long.

// operatorOptions declares them.
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

// sameValue and otherValue are what == and != are rewritten to where CEL's own
// equality could round a number (program.go).
const (
	sameValue  = "@same_value"
	otherValue = "@other_value"
)

// ordered is put around what a macro goes over where that may be a map.
const ordered = "@ordered"

// boundedSum is what + is rewritten to where it may build a text.
const boundedSum = "@bounded_sum"

// standardSubset is CEL's own functions without those that are replaced, and without those
// that ask for a time zone.
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

func orderFunction(operator, name string, holds func(order int) bool) cel.EnvOption {
	var opts []cel.FunctionOpt
	for _, t := range orderedTypes {
		opts = append(opts, cel.Overload(name+"_"+t.name, []*cel.Type{t.left, t.right}, cel.BoolType))
	}
	return cel.Function(operator, append(opts, cel.SingletonBinaryBinding(func(a, b ref.Val) ref.Val {
		return compare(a, b, holds)
	}))...)
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

func notEqual(a, b ref.Val) ref.Val {
	same, ok := equal(a, b).(types.Bool)
	if !ok {
		return noOverload()
	}
	return !same
}

// equal is CEL's equality with exact numbers, at every depth. Sets and logs are
// equal to an array with the same elements in any order.
func equal(a, b ref.Val) ref.Val {
	if order, ok, both := compareNumbers(a, b); both {
		return types.Bool(ok && order == 0)
	}
	switch x := a.(type) {
	case traits.Lister:
		if y, ok := b.(traits.Lister); ok {
			return equalLists(x, y)
		}
		return types.False
	case traits.Mapper:
		if y, ok := b.(traits.Mapper); ok {
			return equalMaps(x, y)
		}
		return types.False
	case *types.Optional:
		return equalOptionals(x, b)
	}
	return types.Equal(a, b)
}

func equalOptionals(a *types.Optional, other ref.Val) ref.Val {
	b, ok := other.(*types.Optional)
	if !ok || a.HasValue() != b.HasValue() {
		return types.False
	}
	if !a.HasValue() {
		return types.True
	}
	return equal(a.GetValue(), b.GetValue())
}

func equalLists(a, b traits.Lister) ref.Val {
	if a.Size() != b.Size() {
		return types.False
	}
	if unordered(a) || unordered(b) {
		return types.Bool(sameMultiset(a, b))
	}
	i, j := a.Iterator(), b.Iterator()
	for i.HasNext() == types.True {
		if r := equal(i.Next(), j.Next()); r != types.True {
			return r
		}
	}
	return types.True
}

func unordered(l traits.Lister) bool {
	a, ok := l.(*array)
	return ok && a.unordered()
}

func equalMaps(a, b traits.Mapper) ref.Val {
	if a.Size() != b.Size() {
		return types.False
	}
	for i := sortedKeys(a); i.HasNext() == types.True; {
		key := i.Next()
		other, found := b.Find(key)
		if !found {
			return types.False
		}
		mine, _ := a.Find(key)
		if r := equal(mine, other); r != types.True {
			return r
		}
	}
	return types.True
}

// sameMultiset compares two lists of equal length without regard to order, by
// sorting texts. Values of equal texts are equal; others may be only where a list on
// one side meets a set or log on the other. Then elements are matched one by one.
func sameMultiset(a, b traits.Lister) bool {
	if slices.Equal(elementTexts(a), elementTexts(b)) {
		return true
	}
	if !nestsContainers(a) || !nestsContainers(b) {
		return false
	}
	m := meterOf(a)
	if !unordered(a) {
		m = meterOf(b)
	}
	var left []ref.Val
	for i := b.Iterator(); i.HasNext() == types.True; {
		left = append(left, i.Next())
	}
	for i := a.Iterator(); i.HasNext() == types.True; {
		x := i.Next()
		at := slices.IndexFunc(left, func(y ref.Val) bool {
			m.spend(1)
			return equal(x, y) == types.True
		})
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}

// nestsContainers reports whether there may be a list, a set or a log in the elements
// of l.
func nestsContainers(l traits.Lister) bool {
	if a, ok := l.(*array); ok {
		return !a.shape.elem.is(kScalar)
	}
	for i := l.Iterator(); i.HasNext() == types.True; {
		switch i.Next().(type) {
		case traits.Lister, traits.Mapper:
			return true
		}
	}
	return false
}

// meterOf is the meter of a part of the state.
func meterOf(l traits.Lister) *meter {
	if a, ok := l.(*array); ok {
		return a.meter
	}
	return &meter{left: math.MaxInt64}
}

func elementTexts(l traits.Lister) []string {
	var out []string
	for i := l.Iterator(); i.HasNext() == types.True; {
		var b strings.Builder
		writeText(&b, i.Next())
		out = append(out, b.String())
	}
	sort.Strings(out)
	return out
}

// writeText writes a text of v such that two elements of a state's set have the same
// text exactly when equal says so.
func writeText(b *strings.Builder, v ref.Val) {
	switch x := v.(type) {
	case types.Int:
		b.WriteString(strconv.FormatInt(int64(x), 10))
	case types.Uint:
		b.WriteString(strconv.FormatUint(uint64(x), 10))
	case types.Double:
		b.WriteString(doubleText(float64(x)))
	case wide:
		b.WriteString(x.text())
	case exact:
		b.WriteString(x.sum.String())
	case types.String:
		b.WriteString(strconv.Quote(string(x)))
	case types.Bool:
		b.WriteString(strconv.FormatBool(bool(x)))
	case traits.Lister:
		writeList(b, x)
	case traits.Mapper:
		writeMap(b, x)
	default:
		b.WriteString(x.Type().TypeName())
	}
}

func writeList(b *strings.Builder, l traits.Lister) {
	b.WriteByte('[')
	if unordered(l) {
		b.WriteString(strings.Join(elementTexts(l), ","))
	} else {
		for i := l.Iterator(); i.HasNext() == types.True; {
			writeText(b, i.Next())
			b.WriteByte(',')
		}
	}
	b.WriteByte(']')
}

func writeMap(b *strings.Builder, m traits.Mapper) {
	var entries []string
	for i := m.Iterator(); i.HasNext() == types.True; {
		var entry strings.Builder
		key := i.Next()
		writeText(&entry, key)
		entry.WriteByte(':')
		value, _ := m.Find(key)
		writeText(&entry, value)
		entries = append(entries, entry.String())
	}
	sort.Strings(entries)
	b.WriteByte('{')
	b.WriteString(strings.Join(entries, ","))
	b.WriteByte('}')
}

// doubleText writes a whole double as the integer it is, exactly, so that it meets
// the int of the same value.
func doubleText(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	if exact, accuracy := big.NewFloat(f).Int(nil); accuracy == big.Exact {
		return exact.String()
	}
	return strconv.FormatFloat(f, 'f', -1, 64) // as a decimal of the same value has it
}
