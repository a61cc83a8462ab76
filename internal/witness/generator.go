package witness

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Values of a type, small ones first. Each kind of type enumerates values of its form
// (formed); those are kept that the constraints of the type let through. The literals of
// the rules are tried before what the standard library's types ask for.

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

// A generator makes values of a contract's types.
type generator struct {
	contract  *ir.Contract
	shape     *footprint.Shape
	wheres    map[ir.TypeID][]*expr.Program
	refers    bool // some type refers to others
	writeSets map[writing]*region.Set
	lookSets  map[*ir.Stage]*region.Set // what a test may look at
	hints     hints
	known     map[string][]string // keys by the container that references point to
	memo      map[ir.TypeID][]any
}

// newGenerator compiles the constraints of the types. The error is a broken
// installation.
func newGenerator(c *ir.Contract) (*generator, error) {
	env, err := expr.New(c, expr.Default())
	if err != nil {
		return nil, err
	}
	m := &generator{contract: c, shape: footprint.NewShape(c), wheres: map[ir.TypeID][]*expr.Program{}}
	m.writeSets, m.lookSets = map[writing]*region.Set{}, map[*ir.Stage]*region.Set{}
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

// with is a generator that prefers some values and knows some keys.
func (g *generator) with(h hints, known map[string][]string) *generator {
	out := *g
	out.hints, out.known, out.memo = h, known, map[ir.TypeID][]any{}
	return &out
}

// least is the smallest value of a type; if none is found that its constraints
// let through, one that has the right form.
func (g *generator) least(id ir.TypeID) any { return copyOf(g.values(id)[0]) }

// values lists candidates for a type, small ones first, at least one. They are
// only lent.
func (g *generator) values(id ir.TypeID) []any {
	if known, ok := g.memo[id]; ok {
		return known
	}
	var good []any
	first := any(nil)
	g.formed(id, func(v any) bool {
		if first == nil {
			first = v
		}
		if g.holds(id, v) && !containsEqual(good, v) {
			good = append(good, v)
		}
		return len(good) < maxValues
	})
	if len(good) == 0 {
		good = []any{first}
	}
	g.memo[id] = good
	return good
}

// holds evaluates the constraints of a type.
func (g *generator) holds(id ir.TypeID, v any) bool {
	for _, p := range g.wheres[id] {
		if ok, err := p.Eval(context.Background(), &expr.Input{Self: node{v}}); err != nil || !ok {
			return false
		}
	}
	return true
}

func containsEqual(list []any, v any) bool {
	for _, x := range list {
		if equal(x, v) {
			return true
		}
	}
	return false
}

// valuesAt lists candidates for the node at w.
func (g *generator) valuesAt(w region.Word) []any {
	var out []any
	for _, id := range g.at(w) {
		out = append(out, g.values(id)...)
	}
	return out[:min(len(out), maxValues)]
}

// at is the set of types that a path leads to.
func (g *generator) at(w region.Word) footprint.TypeSet {
	set := g.shape.Root()
	for _, l := range w {
		set = g.shape.Letter(set, l)
	}
	return set
}

// word is a pattern without wildcards as a path, parameters replaced by keys.
func (g *generator) word(p region.Pattern, keys map[string]string) region.Word {
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

// formed yields values of a type's form until yield has enough.
func (g *generator) formed(id ir.TypeID, yield func(any) bool) {
	t := g.contract.Type(id)
	h := hintsOf(t.Where).and(g.hints)
	switch t.Kind {
	case ir.StringType:
		g.texts(h, yield)
	case ir.IntType, ir.NumberType, ir.DecimalType:
		g.numbers(t.Kind == ir.IntType, h, yield)
	case ir.BoolType:
		_ = yield(false) && yield(true)
	case ir.AnyType:
		g.anything(h, yield)
	case ir.LiteralType:
		v, _ := decode(t.Literal)
		yield(v)
	case ir.UnionType:
		g.alternatives(t, yield)
	case ir.RefType:
		g.references(t, yield)
	case ir.RecordType:
		g.records(t, yield)
	case ir.MapType, ir.KeyedType:
		g.entries(t, yield)
	case ir.ListType, ir.SetType, ir.LogType:
		g.lists(t, h, yield)
	default:
		yield(nil)
	}
}

func (g *generator) texts(h hints, yield func(any) bool) {
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

func (g *generator) numbers(whole bool, h hints, yield func(any) bool) {
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

func (g *generator) anything(h hints, yield func(any) bool) {
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
func (g *generator) alternatives(t *ir.Type, yield func(any) bool) {
	for i := range maxValues {
		for _, a := range t.Alternatives {
			if vs := g.values(a); i < len(vs) && !yield(vs[i]) {
				return
			}
		}
	}
}

// references are the keys that the container has, then one it has not.
func (g *generator) references(t *ir.Type, yield func(any) bool) {
	target := g.word(*t.Target, nil)
	keys := g.known[target.Pointer()]
	if len(keys) == 0 {
		keys = []string{g.newKey(target, nil)}
	}
	for _, key := range keys {
		if !yield(key) {
			return
		}
	}
	yield(g.newKey(target, keys))
}

func (g *generator) records(t *ir.Type, yield func(any) bool) {
	var choices [][]any
	var dims []int
	for _, member := range t.Members {
		vs := g.values(member.Type)
		if member.Optional {
			vs = append([]any{absent{}}, vs...)
		}
		choices, dims = append(choices, vs), append(dims, len(vs))
	}
	tried := 0
	for at := range graded(dims) {
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

func (g *generator) entries(t *ir.Type, yield func(any) bool) {
	if !yield(object{}) {
		return
	}
	for _, v := range g.values(t.Elem) {
		key := g.firstKey(t, v)
		if !yield(object{key: g.keyed(t, copyOf(v), key)}) {
			return
		}
	}
}

// firstKey is a key that an entry may stand under.
func (g *generator) firstKey(t *ir.Type, v any) string {
	if o, ok := v.(object); ok && t.Kind == ir.KeyedType {
		if key, ok := o[t.KeyField].(string); ok {
			return key
		}
	}
	return "k1"
}

// keyed makes an entry of a keyed list carry its key.
func (g *generator) keyed(t *ir.Type, v any, key string) any {
	if o, ok := v.(object); ok && t.Kind == ir.KeyedType {
		o[t.KeyField] = key
	}
	return v
}

func (g *generator) lists(t *ir.Type, h hints, yield func(any) bool) {
	elements := g.values(t.Elem)
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

// newKey is a key for a container that is none of taken: t1 for /tickets, or what
// the key field of a keyed list may be.
func (g *generator) newKey(container region.Word, taken []string) string {
	for _, id := range g.at(container) {
		if t := g.contract.Type(id); t.Kind == ir.KeyedType {
			if key, ok := g.newField(t, taken); ok {
				return key
			}
		}
	}
	prefix := "k"
	if n := len(container); n > 0 && container[n-1].Kind == region.KeyLetter {
		if c := container[n-1].Name; c != "" && c[0] >= 'a' && c[0] <= 'z' {
			prefix = c[:1]
		}
	}
	for i := 1; ; i++ {
		if key := prefix + strconv.Itoa(i); !slices.Contains(taken, key) {
			return key
		}
	}
}

func (g *generator) newField(t *ir.Type, taken []string) (string, bool) {
	member, _ := g.contract.Type(t.Elem).Member(t.KeyField)
	if g.contract.Type(member.Type).Kind == ir.StringType && len(g.wheres[member.Type]) == 0 {
		return "", false // any key will do
	}
	for _, v := range g.values(member.Type) {
		if key, ok := v.(string); ok && key != "" && !slices.Contains(taken, key) {
			return key, true
		}
	}
	return "", false
}

// isReferred reports whether some type refers to the keys of a container.
func (g *generator) isReferred(container region.Word) bool {
	return slices.ContainsFunc(g.contract.Types, func(t ir.Type) bool {
		return t.Kind == ir.RefType && g.word(*t.Target, nil).Pointer() == container.Pointer()
	})
}
