package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// States under construction are plain JSON values in patch space, where a keyed
// list is an object: nil, bool, json.Number, string, []any and object.
type object = map[string]any

// copyOf is a copy that shares nothing with v.
func copyOf(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for name, child := range v {
			out[name] = copyOf(child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = copyOf(child)
		}
		return out
	}
	return v
}

// encode writes a value, members in order of their names.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

func decode(text string) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	return v, dec.Decode(&v) == nil
}

// equal compares values; numbers count as equal if they are written alike.
func equal(v, w any) bool {
	switch v := v.(type) {
	case object:
		w, ok := w.(object)
		return ok && maps.EqualFunc(v, w, equal)
	case []any:
		w, ok := w.([]any)
		return ok && slices.EqualFunc(v, w, equal)
	}
	switch w.(type) {
	case object, []any:
		return false
	}
	return v == w
}

// step is the child of v that l leads to.
func step(v any, l region.Letter) (any, bool) {
	switch v := v.(type) {
	case object:
		child, ok := v[l.Name]
		return child, ok && l.Kind == region.KeyLetter
	case []any:
		if l.Kind == region.IndexLetter && l.Index < len(v) {
			return v[l.Index], true
		}
	}
	return nil, false
}

// get is the value at w.
func get(v any, w region.Word) (any, bool) {
	for _, l := range w {
		next, ok := step(v, l)
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// set puts a value at w, whose parent must be there, and returns the new root.
func set(root any, w region.Word, value any) any {
	if len(w) == 0 {
		return value
	}
	last := w[len(w)-1]
	parent, _ := get(root, w[:len(w)-1])
	switch parent := parent.(type) {
	case object:
		parent[last.Name] = value
	case []any:
		if last.Index < len(parent) {
			parent[last.Index] = value
		}
	}
	return root
}

// unset removes what is at w and returns the new root.
func unset(root any, w region.Word) any {
	if len(w) == 0 {
		return root
	}
	last, up := w[len(w)-1], w[:len(w)-1]
	parent, _ := get(root, up)
	switch parent := parent.(type) {
	case object:
		delete(parent, last.Name)
	case []any:
		if last.Index < len(parent) {
			return set(root, up, slices.Delete(parent, last.Index, last.Index+1))
		}
	}
	return root
}

// keysOf lists the members of an object in order.
func keysOf(v any) []string {
	o, _ := v.(object)
	return slices.Sorted(maps.Keys(o))
}

// textsOf lists the strings of a list or set, each once.
func textsOf(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, e := range list {
		if text, ok := e.(string); ok && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

func longer(w region.Word, l region.Letter) region.Word { return append(w[:len(w):len(w)], l) }

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
