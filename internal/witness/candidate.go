package witness

import (
	"context"
	"encoding/json"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
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
