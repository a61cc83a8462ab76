package replay_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A stateMaker draws state files of a contract: values of few sorts, keys k1 to k3,
// references mostly to keys that are there.
type stateMaker struct {
	maker
	c    *ir.Contract
	keys map[string][]string // by the path of a map or keyed list
}

// file draws a state file that fits the types in form; it may break rules.
func (m maker) file(c *ir.Contract) string {
	s := stateMaker{m, c, map[string][]string{}}
	s.value(c.State, "", true) // to know the keys
	out, err := json.Marshal(s.value(c.State, "", false))
	if err != nil {
		panic(err)
	}
	return string(out)
}

var stateKeys = []string{"k1", "k2", "k3"}

func (s stateMaker) value(id ir.TypeID, at string, planning bool) any {
	t := s.c.Type(id)
	switch t.Kind {
	case ir.RecordType:
		return s.record(t, at, planning)
	case ir.MapType, ir.KeyedType:
		return s.entries(t, at, planning)
	case ir.ListType, ir.SetType, ir.LogType:
		out := []any{}
		for range s.Intn(3) {
			out = append(out, s.value(t.Elem, at+"/*", planning))
		}
		return out
	case ir.UnionType:
		return s.value(t.Alternatives[s.Intn(len(t.Alternatives))], at, planning)
	case ir.RefType:
		target := "/" + joined(t.Target.Segments)
		if keys := s.keys[target]; len(keys) > 0 && s.chance(95) {
			return s.pick(keys...)
		}
		return s.pick(stateKeys...)
	case ir.LiteralType:
		return json.RawMessage(t.Literal)
	case ir.IntType:
		return s.Intn(4)
	case ir.NumberType:
		return json.RawMessage(s.pick("0", "1", "1.0", "2", "2e0", "3"))
	case ir.DecimalType:
		return json.RawMessage(s.pick("0", "1", "1.0", "0.5", "2.50", "25e-1", "0.1", "3"))
	case ir.BoolType:
		return s.chance(50)
	case ir.NullType:
		return nil
	case ir.AnyType:
		return json.RawMessage(tree.AppendJSON(nil, s.node(2)))
	}
	return s.pick("a", "b", "k1")
}

func joined(segments []region.Segment) string {
	out := ""
	for i, s := range segments {
		if i > 0 {
			out += "/"
		}
		out += s.Text
	}
	return out
}

func (s stateMaker) record(t *ir.Type, at string, planning bool) any {
	out := map[string]any{}
	for _, m := range t.Members {
		if !m.Optional || s.chance(50) {
			out[m.Name] = s.value(m.Type, at+"/"+m.Name, planning)
		}
	}
	return out
}

func (s stateMaker) entries(t *ir.Type, at string, planning bool) any {
	if planning {
		s.keys[at] = nil
		for _, key := range stateKeys {
			if s.chance(60) {
				s.keys[at] = append(s.keys[at], key)
			}
		}
	}
	keys, planned := s.keys[at]
	if !planned {
		keys = []string{s.pick(stateKeys...)}
	}
	out, list := map[string]any{}, []any{}
	for _, key := range keys {
		v := s.value(t.Elem, at+"/*", planning)
		if o, ok := v.(map[string]any); ok && t.Kind == ir.KeyedType {
			o[t.KeyField] = key
		}
		out[key], list = v, append(list, v)
	}
	if t.Kind == ir.KeyedType {
		return list
	}
	return out
}

// valid draws a state that keeps all rules in a phase; nil if none is found soon.
func (m maker) valid(p *verify.Program, c *ir.Contract, phase string) *tree.Node {
	for range 200 {
		n, err := p.Import([]byte(m.file(c)))
		if err == nil && len(p.CheckAll(context.Background(), n, phase)) == 0 {
			return n
		}
	}
	return nil
}

// varied replaces a few nodes of a state by those of another, or takes them away.
func (m maker) varied(n, other *tree.Node) *tree.Node {
	for range 1 + m.Intn(3) {
		n = m.graft(n, other)
	}
	return n
}

func (m maker) graft(n, other *tree.Node) *tree.Node {
	if n == nil || n.Kind() != ir.Object || m.chance(20) {
		return other
	}
	names := map[string]bool{}
	for name := range n.Members() {
		names[name] = true
	}
	if other != nil && other.Kind() == ir.Object {
		for name := range other.Members() {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return other
	}
	name := m.pick(slices.Sorted(maps.Keys(names))...)
	var theirs *tree.Node
	if other != nil && other.Kind() == ir.Object {
		theirs = other.Get(name)
	}
	child := m.graft(n.Get(name), theirs)
	if child == nil {
		return n.Without(name)
	}
	return n.With(name, child)
}
