package witness

import (
	"encoding/json"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// formed yields values of a type's form until yield has enough.
func (m *maker) formed(id ir.TypeID, yield func(any) bool) {
	t := m.contract.Type(id)
	h := hintsOf(t.Where).and(m.hints)
	switch t.Kind {
	case ir.StringType:
		m.texts(h, yield)
	case ir.IntType, ir.NumberType:
		m.numbers(t.Kind == ir.IntType, h, yield)
	case ir.BoolType:
		_ = yield(false) && yield(true)
	case ir.AnyType:
		m.anything(h, yield)
	case ir.LiteralType:
		v, _ := decode(t.Literal)
		yield(v)
	case ir.UnionType:
		m.alternatives(t, yield)
	case ir.RefType:
		m.references(t, yield)
	case ir.RecordType:
		m.records(t, yield)
	case ir.MapType, ir.KeyedType:
		m.entries(t, yield)
	case ir.ListType, ir.SetType, ir.LogType:
		m.lists(t, h, yield)
	default:
		yield(nil)
	}
}

func (m *maker) texts(h hints, yield func(any) bool) {
	all := append(append([]string{}, plainTexts...), h.texts...)
	for _, size := range h.sizes(maxText) {
		all = append(all, strings.Repeat("a", size))
	}
	for _, s := range append(all, moreTexts...) {
		if !yield(s) {
			return
		}
	}
}

func (m *maker) numbers(whole bool, h hints, yield func(any) bool) {
	all := append(append([]json.Number{}, plainNumbers...), h.numbers...)
	for _, n := range append(all, moreNumbers...) {
		if whole && strings.Contains(string(n), ".") {
			continue
		}
		if !yield(n) {
			return
		}
	}
}

func (m *maker) anything(h hints, yield func(any) bool) {
	all := []any{json.Number("0"), json.Number("1"), json.Number("2"), "a", object{}, []any{}}
	for _, n := range h.numbers {
		all = append(all, n)
	}
	for _, s := range h.texts {
		all = append(all, s)
	}
	for _, v := range all {
		if !yield(v) {
			return
		}
	}
}

// alternatives takes turns.
func (m *maker) alternatives(t *ir.Type, yield func(any) bool) {
	for i := range maxValues {
		for _, a := range t.Alternatives {
			if vs := m.values(a); i < len(vs) && !yield(vs[i]) {
				return
			}
		}
	}
}

// references are the keys that the container has, then one it has not.
func (m *maker) references(t *ir.Type, yield func(any) bool) {
	target := m.word(*t.Target, nil)
	keys := m.known[target.Pointer()]
	if len(keys) == 0 {
		keys = []string{m.newKey(target, nil)}
	}
	for _, key := range keys {
		if !yield(key) {
			return
		}
	}
	yield(m.newKey(target, keys))
}

func (m *maker) records(t *ir.Type, yield func(any) bool) {
	var choices [][]any
	var dims []int
	for _, member := range t.Members {
		vs := m.values(member.Type)
		if member.Optional {
			vs = append([]any{absent{}}, vs...)
		}
		choices, dims = append(choices, vs), append(dims, len(vs))
	}
	tried := 0
	for at := range diagonal(dims) {
		v := object{}
		for i, member := range t.Members {
			if x := choices[i][at[i]]; x != (any)(absent{}) {
				v[member.Name] = copyOf(x)
			}
		}
		if tried++; tried > maxCombinations || !yield(v) {
			return
		}
	}
}

// absent stands for an optional member that is not there.
type absent struct{}

func (m *maker) entries(t *ir.Type, yield func(any) bool) {
	if !yield(object{}) {
		return
	}
	for _, v := range m.values(t.Elem) {
		key := m.firstKey(t, v)
		if !yield(object{key: m.keyed(t, copyOf(v), key)}) {
			return
		}
	}
}

// firstKey is a key that an entry may stand under.
func (m *maker) firstKey(t *ir.Type, v any) string {
	if o, ok := v.(object); ok && t.Kind == ir.KeyedType {
		if key, ok := o[t.KeyField].(string); ok {
			return key
		}
	}
	return "k1"
}

// keyed makes an entry of a keyed list carry its key.
func (m *maker) keyed(t *ir.Type, v any, key string) any {
	if o, ok := v.(object); ok && t.Kind == ir.KeyedType {
		o[t.KeyField] = key
	}
	return v
}

func (m *maker) lists(t *ir.Type, h hints, yield func(any) bool) {
	elements := m.values(t.Elem)
	lengths := append([]int{0, 1, 2}, h.sizes(32)...)
	for _, n := range lengths {
		if t.Kind == ir.SetType && n > len(elements) {
			continue
		}
		list := make([]any, n)
		for i := range list {
			list[i] = copyOf(elements[i%len(elements)])
		}
		if !yield(list) {
			return
		}
	}
	for _, v := range elements[1:] {
		if !yield([]any{copyOf(v)}) {
			return
		}
	}
}
