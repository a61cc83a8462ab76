package witness

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// settle makes a state keep the rules that no search is needed for: references
// name what is there, and unique values differ.
func (m *maker) settle(state any) any {
	state = m.refer(state)
	for _, v := range m.contract.Invariants {
		if v.Unique != nil {
			state = m.distinguish(state, *v.Unique)
		}
	}
	return state
}

// distinguish replaces values that repeat earlier ones, as long as there are
// others.
func (m *maker) distinguish(state any, p region.Pattern) any {
	var taken []any
	eachMatch(state, region.Word{}, p.Segments, func(w region.Word) {
		now, _ := get(state, w)
		if containsEqual(taken, now) {
			for _, v := range m.valuesAt(w) {
				if !containsEqual(taken, v) {
					now = v
					state = set(state, w, copyOf(v))
					break
				}
			}
		}
		taken = append(taken, now)
	})
	return state
}

// eachMatch visits the nodes below w that segments lead to.
func eachMatch(root any, w region.Word, rest []region.Segment, f func(region.Word)) {
	v, there := get(root, w)
	if !there {
		return
	}
	if len(rest) == 0 {
		f(w)
		return
	}
	for _, l := range lettersOf(v) {
		if matches(rest[0], l) {
			eachMatch(root, longer(w, l), rest[1:], f)
		}
	}
}

func matches(s region.Segment, l region.Letter) bool {
	switch s.Kind {
	case region.AnySegment:
		return true
	case region.AnyKey:
		return l.Kind == region.KeyLetter
	case region.AnyIndex:
		return l.Kind == region.IndexLetter
	case region.IndexLiteral:
		return l == region.Index(s.Index)
	}
	return l == region.Key(s.Text)
}

// refer adds the entries that references name and that are missing. What it adds
// may refer to others: chains are finite, since types do not recurse and a new
// entry refers to keys that are known.
func (m *maker) refer(state any) any {
	for range len(m.contract.Types) {
		var missing []region.Word
		m.eachReference(state, m.contract.State, func(target region.Pattern, key string) {
			w := longer(m.word(target, nil), region.Key(key))
			if _, there := get(state, w); !there && key != "" {
				missing = append(missing, w)
			}
		})
		if len(missing) == 0 {
			break
		}
		for _, w := range missing {
			state = m.grow(state, true, m.contract.State, w)
		}
	}
	return state
}

// eachReference visits the references in a value.
func (m *maker) eachReference(v any, id ir.TypeID, f func(target region.Pattern, key string)) {
	switch t := m.contract.Type(id); t.Kind {
	case ir.RefType:
		if key, ok := v.(string); ok {
			f(*t.Target, key)
		}
	case ir.UnionType:
		for _, a := range t.Alternatives {
			if m.fits(v, a) {
				m.eachReference(v, a, f)
				return
			}
		}
	case ir.RecordType:
		o, _ := v.(object)
		for _, member := range t.Members {
			if child, there := o[member.Name]; there {
				m.eachReference(child, member.Type, f)
			}
		}
	case ir.MapType, ir.KeyedType:
		for _, key := range keysOf(v) {
			m.eachReference(v.(object)[key], t.Elem, f)
		}
	case ir.ListType, ir.SetType, ir.LogType:
		a, _ := v.([]any)
		for _, child := range a {
			m.eachReference(child, t.Elem, f)
		}
	}
}
