package schema

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What a stage is shown of a value (spec/semantics.md section 11.1): all of it, where one
// grant holds all; otherwise the scalars that grants hold, and the containers that may lead
// to one, of which only what is required and wholly shown is certain to be there.

// shown is the schema of what is shown of values of some types; ok is false if nothing is.
func (w *writer) shown(types []ir.TypeID, c region.Cursor, s *ir.Stage) (out Object, ok bool) {
	var all []any
	for _, id := range types {
		if one, ok := w.shownOf(id, c, s); ok {
			all = append(all, one)
		}
	}
	switch len(all) {
	case 0:
		return Object{{"type", "null"}}, false
	case 1:
		return all[0].(Object), true
	}
	return Object{{"anyOf", all}}, true
}

func (w *writer) shownOf(id ir.TypeID, c region.Cursor, s *ir.Stage) (Object, bool) {
	if c.Interior() {
		return w.schemaOf(id), true
	}
	t := w.contract.Type(id)
	switch t.Kind {
	case ir.UnionType:
		return w.shown(t.Alternatives, c, s)
	case ir.RecordType:
		return w.shownRecord(t, c, s), c.In() || c.CanHold(region.Object)
	case ir.MapType, ir.KeyedType:
		if unsure(c) {
			return Object{{"type", "object"}}, c.In() || c.CanHold(region.Object)
		}
		properties := Object{}
		for _, name := range ownKeys(c) {
			if below, ok := w.shown([]ir.TypeID{t.Elem}, c.Key(name), s); ok {
				properties = properties.with(name, below)
			}
		}
		out := Object{{"type", "object"}}
		if len(properties) > 0 {
			out = out.with("properties", properties)
		}
		return out.with("additionalProperties", w.others(t.Elem, c, s)), c.In() || c.CanHold(region.Object)
	case ir.ListType, ir.SetType, ir.LogType:
		var forms []any
		for _, l := range []region.Letter{region.Index(anyIndex), region.Fresh("-")} {
			if below, ok := w.shown([]ir.TypeID{t.Elem}, c.Step(l), s); ok {
				forms = append(forms, below)
			}
		}
		if _, own := c.Named(); own { // positions that are named show something else
			return Object{{"type", "array"}}, true
		}
		forms = append(forms, Object{{"type", "null"}})
		return Object{{"type", "array"}, {"items", Object{{"anyOf", forms}}}}, c.In() || c.CanHold(region.Array)
	case ir.AnyType:
		return Object{}, c.In() || c.CanHold(region.Object) || c.CanHold(region.Array)
	}
	return w.schemaOf(id), c.In()
}

// others is what is shown of entries whose keys nothing names: also of those that a parameter
// without argument may stand for.
func (w *writer) others(elem ir.TypeID, c region.Cursor, s *ir.Stage) any {
	var forms []any
	for _, name := range append([]string{anyKey}, unknownKeys(c)...) {
		if below, ok := w.shown([]ir.TypeID{elem}, c.Key(name), s); ok {
			forms = append(forms, below)
		}
	}
	switch len(forms) {
	case 0:
		return false
	case 1:
		return forms[0]
	}
	return Object{{"anyOf", forms}}
}

func (w *writer) shownRecord(t *ir.Type, c region.Cursor, s *ir.Stage) Object {
	properties := Object{}
	required := []string{}
	for _, m := range t.Members {
		below, ok := w.shown([]ir.TypeID{m.Type}, c.Key(m.Name), s)
		if !ok {
			continue
		}
		properties = properties.with(m.Name, documented(below, m.Doc))
		if !m.Optional && c.Key(m.Name).Interior() {
			required = append(required, m.Name)
		}
	}
	out := Object{{"type", "object"}, {"properties", properties}, {"required", required}}
	if t.Rest == ir.NoType {
		return out.with("additionalProperties", false)
	}
	if unsure(c) {
		return out
	}
	for _, name := range ownKeys(c) {
		if _, declared := t.Member(name); declared {
			continue
		}
		if below, ok := w.shown([]ir.TypeID{t.Rest}, c.Key(name), s); ok {
			properties = properties.with(name, below)
		}
	}
	out[1].Value = properties
	return out.with("additionalProperties", w.others(t.Rest, c, s))
}

// anyKey is a key that no contract names, anyIndex such a position.
const (
	anyKey   = "\x00\x00"
	anyIndex = 1 << 30
)

// ownKeys are the known keys that lead somewhere of their own.
func ownKeys(c region.Cursor) []string {
	return slices.DeleteFunc(namedKeys(c), func(name string) bool { return isUnknown(name) })
}

// unknownKeys are those that stand for a parameter without argument.
func unknownKeys(c region.Cursor) []string {
	return slices.DeleteFunc(namedKeys(c), func(name string) bool { return !isUnknown(name) })
}

// unsure reports whether a parameter without argument may stand for a key of which something
// else is known, another parameter's among them: then what is shown of it is not known.
func unsure(c region.Cursor) bool {
	unknown := len(unknownKeys(c))
	return unknown > 1 || unknown == 1 && len(ownKeys(c)) > 0
}

func namedKeys(c region.Cursor) []string {
	names, _ := c.Named()
	names = slices.DeleteFunc(names, func(name string) bool { return c.Key(name) == c.Key(anyKey) })
	slices.Sort(names)
	return slices.Compact(names)
}

func isUnknown(key string) bool { return key[:min(1, len(key))] == standsFor }
