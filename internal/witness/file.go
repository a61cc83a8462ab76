package witness

import "github.com/patchoptic/poptic/internal/ir"

// toFile writes a state as a file has it: a keyed list is an array, in order of
// keys. It changes v.
func (m *maker) toFile(v any) string { return encode(m.reform(v, m.contract.State, asFile)) }

// fromFile reads a state file into patch space; ok is false if it is no JSON.
// Whether it fits the type is the runtime's to say.
func (m *maker) fromFile(text string) (any, bool) {
	v, ok := decode(text)
	if !ok {
		return nil, false
	}
	return m.reform(v, m.contract.State, asObject), true
}

// reform replaces every keyed list below v by what form makes of it.
func (m *maker) reform(v any, id ir.TypeID, form func(v any, t *ir.Type) any) any {
	t := m.contract.Type(id)
	switch t.Kind {
	case ir.UnionType:
		for _, a := range t.Alternatives {
			if try := m.reform(copyOf(v), a, form); m.fits(v, a) || m.fits(try, a) {
				return try
			}
		}
	case ir.RecordType:
		o, _ := v.(object)
		for _, member := range t.Members {
			if child, there := o[member.Name]; there {
				o[member.Name] = m.reform(child, member.Type, form)
			}
		}
	case ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType:
		m.reformEntries(v, t, form)
	}
	if t.Kind == ir.KeyedType {
		return form(v, t)
	}
	return v
}

func (m *maker) reformEntries(v any, t *ir.Type, form func(v any, t *ir.Type) any) {
	switch v := v.(type) {
	case object:
		for key, child := range v {
			v[key] = m.reform(child, t.Elem, form)
		}
	case []any:
		for i, child := range v {
			v[i] = m.reform(child, t.Elem, form)
		}
	}
}

func asFile(v any, _ *ir.Type) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	out := make([]any, 0, len(o))
	for _, key := range keysOf(o) {
		out = append(out, o[key])
	}
	return out
}

func asObject(v any, t *ir.Type) any {
	a, ok := v.([]any)
	if !ok {
		return v
	}
	out := object{}
	for _, child := range a {
		if o, ok := child.(object); ok {
			if key, ok := o[t.KeyField].(string); ok {
				out[key] = child
			}
		}
	}
	return out
}
