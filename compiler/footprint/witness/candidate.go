package witness

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/patchoptic/poptic/compiler/expr"
	"github.com/patchoptic/poptic/compiler/footprint"
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// maxValues bounds the candidates for one node, maxText a text made for its
// length, maxCombinations what is tried to find the members of a record.
const (
	maxValues       = 8
	maxText         = 5000
	maxCombinations = 400
)

var (
	plainNumbers = []json.Number{"0", "1"}
	moreNumbers  = []json.Number{"2", "-1", "10", "0.5", "100", "1000"}
	plainTexts   = []string{"a", "b"}
	// moreTexts are of the forms that the standard library's predicates ask for,
	// three of each: enough to tell two from each other and leave one.
	moreTexts = []string{
		"c", "", "a@b.de", "c@d.org", "e@f.net", "+49301234567", "+12025550123", "+4420123456",
		"4539578763621486", "4012888888881881", "4111111111111111",
		"2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", "2024-01-03T00:00:00Z",
		"2024-01-01", "2024-01-02", "2024-01-03", "EUR", "USD", "GBP", "A",
	}
)

// A maker makes values of a contract's types.
type maker struct {
	contract  *ir.Contract
	shape     *footprint.Shape
	wheres    map[ir.TypeID][]*expr.Program
	refers    bool // some type refers to others
	writeSets map[*ir.Stage]*region.Set
	lookSets  map[*ir.Stage]*region.Set // what a test may look at
	hints     hints
	known     map[string][]string // keys by the container that references point to
	memo      map[ir.TypeID][]any
}

// newMaker compiles the constraints of the types. The error is a broken
// installation.
func newMaker(c *ir.Contract) (*maker, error) {
	env, err := expr.New(c, expr.Default())
	if err != nil {
		return nil, err
	}
	m := &maker{contract: c, shape: footprint.NewShape(c), wheres: map[ir.TypeID][]*expr.Program{}}
	m.writeSets, m.lookSets = map[*ir.Stage]*region.Set{}, map[*ir.Stage]*region.Set{}
	for i := range c.Types {
		id := ir.TypeID(i)
		m.refers = m.refers || c.Types[i].Kind == ir.RefType
		for _, x := range c.Types[i].Where {
			p, err := env.Compile(x, expr.Scope{Vars: ir.SelfVars, Self: id})
			if err != nil {
				return nil, err
			}
			m.wheres[id] = append(m.wheres[id], p)
		}
	}
	return m, nil
}

// with is a maker that prefers some values and knows some keys.
func (m *maker) with(h hints, known map[string][]string) *maker {
	out := *m
	out.hints, out.known, out.memo = h, known, map[ir.TypeID][]any{}
	return &out
}

// least is the smallest value of a type; if none is found that its constraints
// let through, one that has the right form.
func (m *maker) least(id ir.TypeID) any { return copyOf(m.values(id)[0]) }

// values lists candidates for a type, small ones first, at least one. They are
// only lent.
func (m *maker) values(id ir.TypeID) []any {
	if known, ok := m.memo[id]; ok {
		return known
	}
	var good []any
	first := any(nil)
	m.formed(id, func(v any) bool {
		if first == nil {
			first = v
		}
		if m.holds(id, v) && !containsEqual(good, v) {
			good = append(good, v)
		}
		return len(good) < maxValues
	})
	if len(good) == 0 {
		good = []any{first}
	}
	m.memo[id] = good
	return good
}

func containsEqual(list []any, v any) bool {
	for _, x := range list {
		if equal(x, v) {
			return true
		}
	}
	return false
}

// holds evaluates the constraints of a type.
func (m *maker) holds(id ir.TypeID, v any) bool {
	for _, p := range m.wheres[id] {
		if ok, err := p.Eval(context.Background(), &expr.Input{Self: node{v}}); err != nil || !ok {
			return false
		}
	}
	return true
}

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

// word is a pattern without wildcards as a path, parameters replaced by keys.
func (m *maker) word(p region.Pattern, keys map[string]string) region.Word {
	out := region.Word{}
	for _, s := range p.Segments {
		switch s.Kind {
		case region.IndexLiteral:
			out = append(out, region.Index(s.Index))
		case region.ParamSegment:
			out = append(out, region.Key(keys[s.Text]))
		default:
			out = append(out, region.Key(s.Text))
		}
	}
	return out
}

// at is the set of types that a path leads to.
func (m *maker) at(w region.Word) footprint.TypeSet {
	set := m.shape.Root()
	for _, l := range w {
		set = m.shape.Letter(set, l)
	}
	return set
}

// valuesAt lists candidates for the node at w.
func (m *maker) valuesAt(w region.Word) []any {
	var out []any
	for _, id := range m.at(w) {
		out = append(out, m.values(id)...)
	}
	return out[:min(len(out), maxValues)]
}
