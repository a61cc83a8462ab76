package expr

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
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

// elements iterates over an array.
type elements struct {
	iteration
	array  *array
	at     int
	length int
}

func (e *elements) HasNext() ref.Val { return types.Bool(e.at < e.length) }

func (e *elements) Next() ref.Val {
	e.at++
	return wrap(e.array.value.Element(e.at-1), e.array.shape.elem, e.array.meter)
}
