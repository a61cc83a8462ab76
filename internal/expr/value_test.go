package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// jsonValue is an ir.Value over what encoding/json decodes with UseNumber.
type jsonValue struct{ v any }

func value(text string) ir.Value {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return jsonValue{v}
}

func (j jsonValue) Kind() ir.Kind {
	switch j.v.(type) {
	case nil:
		return ir.Null
	case bool:
		return ir.Bool
	case json.Number:
		return ir.Number
	case string:
		return ir.String
	case []any:
		return ir.Array
	}
	return ir.Object
}

func (j jsonValue) Len() int {
	switch x := j.v.(type) {
	case []any:
		return len(x)
	case map[string]any:
		return len(x)
	}
	return 0
}

func (j jsonValue) Member(name string) ir.Value {
	m, _ := j.v.(map[string]any)
	if v, ok := m[name]; ok {
		return jsonValue{v}
	}
	return nil
}

func (j jsonValue) Element(i int) ir.Value {
	if l, ok := j.v.([]any); ok && i >= 0 && i < len(l) {
		return jsonValue{l[i]}
	}
	return nil
}

func (j jsonValue) EachMember(f func(string, ir.Value) bool) {
	m, _ := j.v.(map[string]any)
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !f(name, jsonValue{m[name]}) {
			return
		}
	}
}

func (j jsonValue) EachSorted(f func(ir.Value) bool) {
	l, _ := j.v.([]any)
	texts := map[string]any{}
	for i, v := range l {
		text, _ := json.Marshal(v)
		texts[fmt.Sprintf("%s %d", text, i)] = v
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if !f(jsonValue{texts[text]}) {
			return
		}
	}
}

func (j jsonValue) EachElement(f func(int, ir.Value) bool) {
	l, _ := j.v.([]any)
	for i, v := range l {
		if !f(i, jsonValue{v}) {
			return
		}
	}
}

func (j jsonValue) Bool() bool { b, _ := j.v.(bool); return b }

func (j jsonValue) Text() string {
	switch x := j.v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	}
	return ""
}

// patternText writes a pattern in the notation of spec/semantics.md section 3.1.
func patternText(r ir.Read) string {
	var b strings.Builder
	for _, s := range r.Pattern.Segments {
		b.WriteByte('/')
		b.WriteString(segmentText(s))
	}
	if r.Pattern.Shallow {
		b.WriteByte('!')
	}
	if r.Inexact {
		b.WriteByte('~')
	}
	return b.String()
}
