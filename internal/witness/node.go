package witness

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
)

// A node lets expressions read a value under construction.
type node struct{ v any }

var _ ir.Value = node{}

func (n node) Kind() ir.Kind {
	switch n.v.(type) {
	case bool:
		return ir.Bool
	case json.Number:
		return ir.Number
	case string:
		return ir.String
	case []any:
		return ir.Array
	case object:
		return ir.Object
	}
	return ir.Null
}

func (n node) Len() int {
	switch v := n.v.(type) {
	case object:
		return len(v)
	case []any:
		return len(v)
	}
	return 0
}

func (n node) Member(name string) ir.Value {
	if o, ok := n.v.(object); ok {
		if child, ok := o[name]; ok {
			return node{child}
		}
	}
	return nil
}

func (n node) Element(i int) ir.Value {
	if a, ok := n.v.([]any); ok && i >= 0 && i < len(a) {
		return node{a[i]}
	}
	return nil
}

func (n node) EachMember(f func(name string, v ir.Value) bool) {
	for _, name := range keysOf(n.v) {
		if !f(name, n.Member(name)) {
			return
		}
	}
}

func (n node) EachElement(f func(i int, v ir.Value) bool) {
	for i := range n.Len() {
		if v := n.Element(i); v == nil || !f(i, v) {
			return
		}
	}
}

func (n node) EachSorted(f func(v ir.Value) bool) {
	texts := map[string]any{}
	var order []string
	a, _ := n.v.([]any)
	for i, v := range a {
		text, _ := json.Marshal(v)
		key := fmt.Sprintf("%s %d", text, i)
		texts[key], order = v, append(order, key)
	}
	slices.Sort(order)
	for _, key := range order {
		if !f(node{texts[key]}) {
			return
		}
	}
}

func (n node) Bool() bool {
	b, _ := n.v.(bool)
	return b
}

func (n node) Text() string {
	switch v := n.v.(type) {
	case json.Number:
		return string(v)
	case string:
		return v
	}
	return ""
}
