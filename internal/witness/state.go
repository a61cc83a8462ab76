package witness

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// States under construction: grown until they have a place, made to keep references and
// uniqueness, and written to and read from state files.

// maxPadding bounds the array that is made to reach a position.
const maxPadding = 4096

// grow returns v, a value of type id (or nothing, if it is not there), with
// something at w: members are added, arrays padded, and where a union or an
// untyped node holds something else, that is replaced. It changes v.
func (g *generator) grow(v any, there bool, id ir.TypeID, w region.Word) any {
	t := g.contract.Type(id)
	if t.Kind == ir.UnionType {
		return g.growUnion(v, there, t, w)
	}
	if !there {
		v = g.least(id)
	}
	if len(w) == 0 {
		return v
	}
	switch t.Kind {
	case ir.AnyType:
		return g.growAny(v, id, w)
	case ir.RecordType:
		if member, ok := t.Member(w[0].Name); ok {
			return g.growMember(v, t, member.Type, w)
		}
		return g.growMember(v, t, t.Rest, w)
	case ir.MapType, ir.KeyedType:
		return g.growMember(v, t, t.Elem, w)
	case ir.ListType, ir.SetType, ir.LogType:
		return g.growArray(v, t, w)
	}
	return v
}

func (g *generator) growMember(v any, t *ir.Type, child ir.TypeID, w region.Word) any {
	o, ok := v.(object)
	if !ok || child == ir.NoType {
		return v
	}
	old, there := o[w[0].Name]
	o[w[0].Name] = g.keyed(t, g.grow(old, there, child, w[1:]), w[0].Name)
	return o
}

func (g *generator) growArray(v any, t *ir.Type, w region.Word) any {
	a, ok := v.([]any)
	if !ok || w[0].Kind != region.IndexLetter || w[0].Index > maxPadding {
		return v
	}
	vs := g.values(t.Elem)
	for len(a) <= w[0].Index {
		a = append(a, copyOf(vs[len(a)%len(vs)]))
	}
	a[w[0].Index] = g.grow(a[w[0].Index], true, t.Elem, w[1:])
	return a
}

func (g *generator) growAny(v any, id ir.TypeID, w region.Word) any {
	if w[0].Kind == region.IndexLetter {
		a, _ := v.([]any)
		for len(a) <= w[0].Index && w[0].Index <= maxPadding {
			a = append(a, json.Number("0"))
		}
		if w[0].Index < len(a) {
			a[w[0].Index] = g.grow(a[w[0].Index], true, id, w[1:])
		}
		return a
	}
	o, ok := v.(object)
	if !ok {
		o = object{}
	}
	old, there := o[w[0].Name]
	o[w[0].Name] = g.grow(old, there, id, w[1:])
	return o
}

// growUnion keeps the alternative that is there if it can hold w.
func (g *generator) growUnion(v any, there bool, t *ir.Type, w region.Word) any {
	for _, keep := range []bool{true, false} {
		for _, a := range t.Alternatives {
			if g.canHold(a, w) && (!keep || there && g.fits(v, a)) {
				return g.grow(v, keep, a, w)
			}
		}
	}
	return v
}

func (g *generator) canHold(id ir.TypeID, w region.Word) bool {
	set := g.shape.Expand(nil, id)
	for _, l := range w {
		set = g.shape.Letter(set, l)
	}
	return len(set) > 0
}

// fits reports whether a value has a type's form; constraints are left aside.
func (g *generator) fits(v any, id ir.TypeID) bool {
	t := g.contract.Type(id)
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.UnionType:
		return slices.ContainsFunc(t.Alternatives, func(a ir.TypeID) bool { return g.fits(v, a) })
	case ir.LiteralType:
		return encode(v) == t.Literal
	case ir.RecordType:
		return g.fitsRecord(v, t)
	case ir.MapType, ir.KeyedType:
		o, ok := v.(object)
		return ok && !slices.ContainsFunc(keysOf(o), func(k string) bool { return !g.fits(o[k], t.Elem) })
	case ir.ListType, ir.SetType, ir.LogType:
		a, ok := v.([]any)
		return ok && !slices.ContainsFunc(a, func(x any) bool { return !g.fits(x, t.Elem) })
	case ir.IntType:
		n, ok := v.(json.Number)
		return ok && !strings.ContainsAny(string(n), ".eE")
	}
	return node{v}.Kind() == scalarKinds[t.Kind]
}

var scalarKinds = map[ir.TypeKind]ir.Kind{
	ir.StringType: ir.String, ir.RefType: ir.String, ir.NumberType: ir.Number, ir.DecimalType: ir.Number, ir.BoolType: ir.Bool, ir.NullType: ir.Null,
}

func (g *generator) fitsRecord(v any, t *ir.Type) bool {
	o, ok := v.(object)
	if !ok {
		return false
	}
	for _, member := range t.Members {
		if child, there := o[member.Name]; there && !g.fits(child, member.Type) || !there && !member.Optional {
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

// makeConsistent makes a state keep the rules that no search is needed for: references
// name what is there, and unique values differ.
func (g *generator) makeConsistent(state any) any {
	state = g.addReferenced(state)
	for _, v := range g.contract.Invariants {
		if places := v.UniquePlaces(); len(places) == 1 {
			state = g.makeUnique(state, places[0])
		} else if places != nil {
			state = g.makeTogether(state, places)
		}
	}
	return state
}

// makeUnique replaces values that repeat earlier ones, as long as there are
// others.
func (g *generator) makeUnique(state any, p region.Pattern) any {
	var taken []any
	eachMatch(state, region.Word{}, p.Segments, func(w region.Word) {
		now, _ := get(state, w)
		if containsEqual(taken, now) {
			for _, v := range g.valuesAt(w) {
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

// makeTogether does so for values that are unique together, of which it is enough that
// one is replaced.
func (g *generator) makeTogether(state any, places []region.Pattern) any {
	entries, _, _ := ir.EntryOf(places[0])
	var taken []any
	eachMatch(state, region.Word{}, entries.Segments, func(w region.Word) {
		var at []region.Word
		for _, p := range places {
			_, rest, _ := ir.EntryOf(p)
			word := w
			for _, s := range rest {
				word = longer(word, region.Key(s.Text))
			}
			at = append(at, word)
		}
		values := func() (out []any) {
			for _, x := range at {
				v, there := get(state, x)
				if !there {
					return nil
				}
				out = append(out, v)
			}
			return out
		}
		for _, x := range at {
			now, _ := get(state, x)
			for _, v := range g.valuesAt(x) {
				if all := values(); all == nil || !containsEqual(taken, all) {
					break
				}
				state = set(state, x, copyOf(v))
			}
			if all := values(); all != nil && containsEqual(taken, all) {
				state = set(state, x, now)
			}
		}
		if all := values(); all != nil {
			taken = append(taken, all)
		}
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

// addReferenced adds the entries that references name and that are missing. What it adds
// may refer to others: chains are finite, since types do not recurse and a new
// entry refers to keys that are known.
func (g *generator) addReferenced(state any) any {
	for range len(g.contract.Types) {
		var missing []region.Word
		g.eachReference(state, g.contract.State, func(target region.Pattern, key string) {
			w := longer(g.word(target, nil), region.Key(key))
			if _, there := get(state, w); !there && key != "" {
				missing = append(missing, w)
			}
		})
		if len(missing) == 0 {
			break
		}
		for _, w := range missing {
			state = g.grow(state, true, g.contract.State, w)
		}
	}
	return state
}

// eachReference visits the references in a value.
func (g *generator) eachReference(v any, id ir.TypeID, f func(target region.Pattern, key string)) {
	switch t := g.contract.Type(id); t.Kind {
	case ir.RefType:
		if key, ok := v.(string); ok {
			f(*t.Target, key)
		}
	case ir.UnionType:
		for _, a := range t.Alternatives {
			if g.fits(v, a) {
				g.eachReference(v, a, f)
				return
			}
		}
	case ir.RecordType:
		o, _ := v.(object)
		for _, member := range t.Members {
			if child, there := o[member.Name]; there {
				g.eachReference(child, member.Type, f)
			}
		}
	case ir.MapType, ir.KeyedType:
		for _, key := range keysOf(v) {
			g.eachReference(v.(object)[key], t.Elem, f)
		}
	case ir.ListType, ir.SetType, ir.LogType:
		a, _ := v.([]any)
		for _, child := range a {
			g.eachReference(child, t.Elem, f)
		}
	}
}

// toFile writes a state as a file has it: a keyed list is an array, in order of
// keys. It changes v.
func (g *generator) toFile(v any) string { return encode(g.reform(v, g.contract.State, asFile)) }

// fromFile reads a state file into patch space; ok is false if it is no JSON.
// Whether it fits the type is the runtime's to say.
func (g *generator) fromFile(text string) (any, bool) {
	v, ok := decode(text)
	if !ok {
		return nil, false
	}
	return g.reform(v, g.contract.State, asObject), true
}

// reform replaces every keyed list below v by what form makes of it.
func (g *generator) reform(v any, id ir.TypeID, form func(v any, t *ir.Type) any) any {
	t := g.contract.Type(id)
	switch t.Kind {
	case ir.UnionType:
		for _, a := range t.Alternatives {
			if try := g.reform(copyOf(v), a, form); g.fits(v, a) || g.fits(try, a) {
				return try
			}
		}
	case ir.RecordType:
		o, _ := v.(object)
		for _, member := range t.Members {
			if child, there := o[member.Name]; there {
				o[member.Name] = g.reform(child, member.Type, form)
			}
		}
	case ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType:
		g.reformEntries(v, t, form)
	}
	if t.Kind == ir.KeyedType {
		return form(v, t)
	}
	return v
}

func (g *generator) reformEntries(v any, t *ir.Type, form func(v any, t *ir.Type) any) {
	switch v := v.(type) {
	case object:
		for key, child := range v {
			v[key] = g.reform(child, t.Elem, form)
		}
	case []any:
		for i, child := range v {
			v[i] = g.reform(child, t.Elem, form)
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
