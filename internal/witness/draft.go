package witness

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// maxPadding bounds the array that is made to reach a position.
const maxPadding = 4096

// grow returns v, a value of type id (or nothing, if it is not there), with
// something at w: members are added, arrays padded, and where a union or an
// untyped node holds something else, that is replaced. It changes v.
func (m *maker) grow(v any, there bool, id ir.TypeID, w region.Word) any {
	t := m.contract.Type(id)
	if t.Kind == ir.UnionType {
		return m.growUnion(v, there, t, w)
	}
	if !there {
		v = m.least(id)
	}
	if len(w) == 0 {
		return v
	}
	switch t.Kind {
	case ir.AnyType:
		return m.growAny(v, id, w)
	case ir.RecordType:
		if member, ok := t.Member(w[0].Name); ok {
			return m.growMember(v, t, member.Type, w)
		}
		return m.growMember(v, t, t.Rest, w)
	case ir.MapType, ir.KeyedType:
		return m.growMember(v, t, t.Elem, w)
	case ir.ListType, ir.SetType, ir.LogType:
		return m.growArray(v, t, w)
	}
	return v
}

func (m *maker) growMember(v any, t *ir.Type, child ir.TypeID, w region.Word) any {
	o, ok := v.(object)
	if !ok || child == ir.NoType {
		return v
	}
	old, there := o[w[0].Name]
	o[w[0].Name] = m.keyed(t, m.grow(old, there, child, w[1:]), w[0].Name)
	return o
}

func (m *maker) growArray(v any, t *ir.Type, w region.Word) any {
	a, ok := v.([]any)
	if !ok || w[0].Kind != region.IndexLetter || w[0].Index > maxPadding {
		return v
	}
	vs := m.values(t.Elem)
	for len(a) <= w[0].Index {
		a = append(a, copyOf(vs[len(a)%len(vs)]))
	}
	a[w[0].Index] = m.grow(a[w[0].Index], true, t.Elem, w[1:])
	return a
}

func (m *maker) growAny(v any, id ir.TypeID, w region.Word) any {
	if w[0].Kind == region.IndexLetter {
		a, _ := v.([]any)
		for len(a) <= w[0].Index && w[0].Index <= maxPadding {
			a = append(a, json.Number("0"))
		}
		if w[0].Index < len(a) {
			a[w[0].Index] = m.grow(a[w[0].Index], true, id, w[1:])
		}
		return a
	}
	o, ok := v.(object)
	if !ok {
		o = object{}
	}
	old, there := o[w[0].Name]
	o[w[0].Name] = m.grow(old, there, id, w[1:])
	return o
}

// growUnion keeps the alternative that is there if it can hold w.
func (m *maker) growUnion(v any, there bool, t *ir.Type, w region.Word) any {
	for _, keep := range []bool{true, false} {
		for _, a := range t.Alternatives {
			if m.canHold(a, w) && (!keep || there && m.fits(v, a)) {
				return m.grow(v, keep, a, w)
			}
		}
	}
	return v
}

func (m *maker) canHold(id ir.TypeID, w region.Word) bool {
	set := m.shape.Expand(nil, id)
	for _, l := range w {
		set = m.shape.Letter(set, l)
	}
	return len(set) > 0
}

// fits reports whether a value has a type's form; constraints are left aside.
func (m *maker) fits(v any, id ir.TypeID) bool {
	t := m.contract.Type(id)
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.UnionType:
		return slices.ContainsFunc(t.Alternatives, func(a ir.TypeID) bool { return m.fits(v, a) })
	case ir.LiteralType:
		return encode(v) == t.Literal
	case ir.RecordType:
		return m.fitsRecord(v, t)
	case ir.MapType, ir.KeyedType:
		o, ok := v.(object)
		return ok && !slices.ContainsFunc(keysOf(o), func(k string) bool { return !m.fits(o[k], t.Elem) })
	case ir.ListType, ir.SetType, ir.LogType:
		a, ok := v.([]any)
		return ok && !slices.ContainsFunc(a, func(x any) bool { return !m.fits(x, t.Elem) })
	case ir.IntType:
		n, ok := v.(json.Number)
		return ok && !strings.ContainsAny(string(n), ".eE")
	}
	return node{v}.Kind() == scalarKinds[t.Kind]
}

var scalarKinds = map[ir.TypeKind]ir.Kind{
	ir.StringType: ir.String, ir.RefType: ir.String, ir.NumberType: ir.Number, ir.BoolType: ir.Bool, ir.NullType: ir.Null,
}

func (m *maker) fitsRecord(v any, t *ir.Type) bool {
	o, ok := v.(object)
	if !ok {
		return false
	}
	for _, member := range t.Members {
		if child, there := o[member.Name]; there && !m.fits(child, member.Type) || !there && !member.Optional {
			return false
		}
	}
	for name := range o {
		if _, declared := t.Member(name); !declared && t.Rest == ir.NoType {
			return false
		}
	}
	return true
}
