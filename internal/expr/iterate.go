package expr

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/ir"
)

// iteration is what CEL asks of an iterator beyond iterating; nothing calls it with
// effect.
type iteration struct{}

func (iteration) ConvertToNative(reflect.Type) (any, error) { return nil, errNoConversion }
func (iteration) ConvertToType(ref.Type) ref.Val            { return noOverload() }
func (iteration) Equal(ref.Val) ref.Val                     { return noOverload() }
func (iteration) Type() ref.Type                            { return types.IteratorType }
func (iteration) Value() any                                { return nil }

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
