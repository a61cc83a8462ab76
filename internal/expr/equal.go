package expr

import (
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

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
	return strconv.FormatFloat(f, 'g', -1, 64)
}
