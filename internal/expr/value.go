package expr

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/ir"
)

// Values of the state reach CEL one node at a time. A scalar becomes CEL's own
// scalar, by the type the contract declares: an int where it says int, a double
// where it says number or nothing. An object or array becomes a wrapper of one
// node and its shape; its children are wrapped when they are asked for. Nothing is
// converted as a whole.

// wrap makes the CEL value of one node. v must not be nil.
func wrap(v ir.Value, s *shape, m *meter) ref.Val {
	m.spend(1)
	switch v.Kind() {
	case ir.Null:
		return types.NullValue
	case ir.Bool:
		return types.Bool(v.Bool())
	case ir.String:
		text := v.Text()
		m.spend(int64(len(text) / textStep))
		return types.String(text)
	case ir.Number:
		switch {
		case s.kinds&kNumeric == kInt && s.kinds&kDecimal == 0:
			return intValue(v.Text())
		case s.kinds&kDecimal != 0 && s.kinds&(kNumber|kAny) == 0:
			return exactValue(v.Text())
		}
		return numberValue(v.Text())
	case ir.Array:
		return &array{value: v, shape: s.below(), meter: m}
	}
	return &object{value: v, shape: s, meter: m}
}

var (
	errNoConversion = errors.New("a value of the state has no native form")
	errAbsent       = errors.New("no such key")

	mapType  = types.NewMapType(types.StringType, types.DynType)
	listType = types.NewListType(types.DynType)
)

// Errors are made anew each time: CEL writes into them where they occurred.
func absent() ref.Val { return types.WrapErr(errAbsent) }

func outOfRange() ref.Val { return types.NewErr("index out of bounds") }

func noOverload() ref.Val { return types.NewErr("no such overload") }

// An object is a record, a map or a keyed list of the state.
type object struct {
	value ir.Value
	shape *shape
	meter *meter
}

var (
	_ traits.Mapper      = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
	_ traits.Foldable    = (*object)(nil)
	_ traits.Lister      = (*array)(nil)
	_ traits.Foldable    = (*array)(nil)
	_ traits.Zeroer      = (*object)(nil)
	_ traits.Zeroer      = (*array)(nil)
)

func (o *object) Type() ref.Type { return mapType }

// Value is the wrapper itself: field getters receive it.
func (o *object) Value() any { return o }

func (o *object) Size() ref.Val { return types.Int(o.value.Len()) }

func (o *object) IsZeroValue() bool { return o.value.Len() == 0 }

func (o *object) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	return types.Bool(ok && o.value.Member(string(name)) != nil)
}

func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	v := o.value.Member(string(name))
	if v == nil {
		return nil, false
	}
	m, _, _ := o.shape.member(string(name))
	return wrap(v, m, o.meter), true
}

func (o *object) Get(key ref.Val) ref.Val {
	if v, found := o.Find(key); found {
		return v
	}
	return absent()
}

func (o *object) IsSet(key ref.Val) ref.Val { return o.Contains(key) }

// Iterator goes over the member names in ascending order.
func (o *object) Iterator() traits.Iterator {
	names := make([]string, 0, o.value.Len())
	o.value.EachMember(func(name string, _ ir.Value) bool {
		names = append(names, name)
		return true
	})
	return &memberNames{names: names}
}

// Fold goes over the members in ascending order of their names.
func (o *object) Fold(f traits.Folder) {
	o.value.EachMember(func(name string, v ir.Value) bool {
		m, _, _ := o.shape.member(name)
		return f.FoldEntry(types.String(name), wrap(v, m, o.meter))
	})
}

func (o *object) Equal(other ref.Val) ref.Val { return equal(o, other) }

func (o *object) ConvertToNative(reflect.Type) (any, error) { return nil, errNoConversion }

func (o *object) ConvertToType(t ref.Type) ref.Val { return convert(o, t) }

// An array is a list, a set or a log of the state. The elements of a set or a log
// are met in sorted order: neither the value of an expression, nor its error, nor
// its cost may depend on where they happen to stand.
type array struct {
	value ir.Value
	shape *shape
	meter *meter
}

// unordered reports whether the order of a's elements has no meaning. Where the type
// leaves that open it has none: which it is may depend on what is not read.
func (a *array) unordered() bool { return a.shape.bag }

// each calls f for every element until f returns false.
func (a *array) each(f func(v ref.Val) bool) {
	if a.unordered() {
		a.eachSorted(func(v ir.Value) bool { return f(wrap(v, a.shape.elem, a.meter)) })
		return
	}
	a.value.EachElement(func(_ int, v ir.Value) bool { return f(wrap(v, a.shape.elem, a.meter)) })
}

// eachSorted counts the sorting: one more step for every element.
func (a *array) eachSorted(f func(v ir.Value) bool) {
	a.meter.spend(int64(a.value.Len()))
	a.value.EachSorted(f)
}

func (a *array) Type() ref.Type { return listType }

func (a *array) Value() any { return a }

func (a *array) Size() ref.Val { return types.Int(a.value.Len()) }

func (a *array) IsZeroValue() bool { return a.value.Len() == 0 }

func (a *array) Contains(element ref.Val) ref.Val {
	found := types.False
	bag := a.unordered()
	a.value.EachElement(func(_ int, v ir.Value) bool { // all of a bag: sorting it would cost more
		if equal(wrap(v, a.shape.elem, a.meter), element) == types.True {
			found = types.True
		}
		return bag || found == types.False
	})
	return found
}

func (a *array) Get(index ref.Val) ref.Val {
	i, err := types.IndexOrError(index)
	if err != nil {
		return types.WrapErr(err)
	}
	if a.unordered() {
		return noOverload()
	}
	v := a.value.Element(i)
	if v == nil {
		return outOfRange()
	}
	return wrap(v, a.shape.elem, a.meter)
}

// Add appends other to a copy of the array.
func (a *array) Add(other ref.Val) ref.Val {
	l, ok := other.(traits.Lister)
	if !ok {
		return noOverload()
	}
	out := make([]ref.Val, 0, a.value.Len())
	a.each(func(v ref.Val) bool {
		out = append(out, v)
		return true
	})
	for i := l.Iterator(); i.HasNext() == types.True; {
		out = append(out, i.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, out)
}

func (a *array) Iterator() traits.Iterator {
	out := &elements{array: a, length: a.value.Len()}
	if a.unordered() {
		a.eachSorted(func(v ir.Value) bool {
			out.sorted = append(out.sorted, v)
			return true
		})
	}
	return out
}

// Fold goes over the elements in order.
func (a *array) Fold(f traits.Folder) {
	i := types.Int(-1)
	a.each(func(v ref.Val) bool {
		i++
		return f.FoldEntry(i, v)
	})
}

func (a *array) Equal(other ref.Val) ref.Val { return equal(a, other) }

func (a *array) ConvertToNative(reflect.Type) (any, error) { return nil, errNoConversion }

func (a *array) ConvertToType(t ref.Type) ref.Val { return convert(a, t) }

func convert(v ref.Val, t ref.Type) ref.Val {
	switch t {
	case v.Type():
		return v
	case types.TypeType:
		return v.Type().(ref.Val)
	}
	return types.NewErr("type conversion error")
}

// iteration is what CEL asks of an iterator beyond iterating; nothing calls it with
// effect.
type iteration struct{}

func (iteration) ConvertToNative(reflect.Type) (any, error) { return nil, errNoConversion }

func (iteration) ConvertToType(ref.Type) ref.Val { return noOverload() }

func (iteration) Equal(ref.Val) ref.Val { return noOverload() }

func (iteration) Type() ref.Type { return types.IteratorType }

func (iteration) Value() any { return nil }

// memberNames iterates over the names of an object's members.
type memberNames struct {
	iteration
	names []string
	at    int
}

var (
	_ traits.Iterator = (*memberNames)(nil)
	_ traits.Iterator = (*elements)(nil)
)

func (n *memberNames) HasNext() ref.Val { return types.Bool(n.at < len(n.names)) }

func (n *memberNames) Next() ref.Val {
	n.at++
	return types.String(n.names[n.at-1])
}

// elements iterates over an array.
type elements struct {
	iteration
	array  *array
	sorted []ir.Value // of a set or a log
	at     int
	length int
}

func (e *elements) HasNext() ref.Val { return types.Bool(e.at < e.length) }

func (e *elements) Next() ref.Val {
	e.at++
	if e.sorted != nil {
		return wrap(e.sorted[e.at-1], e.array.shape.elem, e.array.meter)
	}
	return wrap(e.array.value.Element(e.at-1), e.array.shape.elem, e.array.meter)
}

// An orderedMap is a map that an expression has made, gone through in the order of
// its keys: CEL's own iterators follow no order.
type orderedMap struct{ traits.Mapper }

var _ traits.Foldable = orderedMap{}

// inKeyOrder puts a map in order; other values are as they are.
func inKeyOrder(v ref.Val) ref.Val {
	switch m := v.(type) {
	case *object, orderedMap:
		return v
	case traits.Mapper:
		return orderedMap{m}
	}
	return v
}

// Iterator goes over the keys in order.
func (m orderedMap) Iterator() traits.Iterator { return sortedKeys(m.Mapper) }

// Fold goes over the entries in the order of their keys.
func (m orderedMap) Fold(f traits.Folder) {
	for i := sortedKeys(m.Mapper); i.HasNext() == types.True; {
		key := i.Next()
		value, _ := m.Find(key)
		if !f.FoldEntry(key, value) {
			return
		}
	}
}

// sortedKeys iterates over the keys of a map in order: by their texts, which differ.
func sortedKeys(m traits.Mapper) traits.Iterator {
	if o, ok := m.(*object); ok {
		return o.Iterator()
	}
	var keys valueList
	var texts []string
	for i := m.Iterator(); i.HasNext() == types.True; {
		key := i.Next()
		var b strings.Builder
		writeText(&b, key)
		at, _ := slices.BinarySearch(texts, b.String())
		texts, keys.values = slices.Insert(texts, at, b.String()), slices.Insert(keys.values, at, key)
	}
	return &keys
}

// A valueList iterates over given values.
type valueList struct {
	iteration
	values []ref.Val
}

func (l *valueList) HasNext() ref.Val { return types.Bool(len(l.values) > 0) }

func (l *valueList) Next() ref.Val {
	v := l.values[0]
	l.values = l.values[1:]
	return v
}

// value makes the CEL value of a measure's decimal text.
func (m *measure) value(literal string, present bool) ref.Val {
	if !present {
		if m.empty {
			return types.OptionalNone
		}
		return types.NewErr("no value")
	}
	if literal == "" {
		return types.NewErr("measure without a value")
	}
	v := numberValue(literal)
	switch {
	case m.int:
		v = intValue(literal)
	case m.decimal:
		v = exactValue(literal)
	}
	if m.empty && !types.IsError(v) {
		return types.OptionalOf(v)
	}
	return v
}
