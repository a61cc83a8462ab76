package expr

import "github.com/patchoptic/poptic/compiler/ir"

// merge is the shape of a value that fits a or b.
func merge(a, b *shape) *shape {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	case (a.kinds|b.kinds)&kAny != 0 && (a.bags || b.bags):
		return anyBag
	case (a.kinds|b.kinds)&kAny != 0:
		return anyShape
	}
	m := &shape{
		kinds:    a.kinds | b.kinds,
		literals: mergeLiterals(a, b),
		members:  mergeMembers(a, b),
		rest:     merge(a.rest, b.rest),
		elem:     merge(a.elem, b.elem),
	}
	if m.kinds&kRecord != 0 {
		m.id = a.id + b.id
		if a.kinds&b.kinds&kRecord != 0 {
			m.id = ir.NoType // two records: no single object type
		}
	}
	m.cel = celType(m)
	m.findBags()
	return m
}

func mergeLiterals(a, b *shape) []string {
	switch {
	case a.kinds&kString == 0:
		return b.literals
	case b.kinds&kString == 0:
		return a.literals
	case a.literals == nil || b.literals == nil:
		return nil
	}
	return append(append([]string(nil), a.literals...), b.literals...)
}

func mergeMembers(a, b *shape) map[string]*field {
	if a.members == nil && b.members == nil {
		return nil
	}
	out := map[string]*field{}
	for name, f := range a.members {
		out[name] = mergeField(f, b, name)
	}
	for name, f := range b.members {
		if _, done := out[name]; !done {
			out[name] = mergeField(f, a, name)
		}
	}
	return out
}

func mergeField(f *field, other *shape, name string) *field {
	switch g, both := other.members[name]; {
	case both:
		return &field{shape: merge(f.shape, g.shape), optional: f.optional || g.optional}
	case other.rest != nil:
		return &field{shape: merge(f.shape, other.rest), optional: true}
	case other.kinds&kRecord == 0: // T | null: the member is there when the record is
		return f
	}
	return &field{shape: f.shape, optional: true}
}
