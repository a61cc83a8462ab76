package witness

import (
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The parameters of both sides are bound so that a conflict's equalities hold and
// all others do not: one key for each class of equal parameters. A parameter that
// is taken from the state is no different, but for two that are taken from one
// place, which are equal whatever the conflict says.

// a side is one of the two stages with its owner.
type side struct {
	owner string
	stage *ir.Stage
}

func sidesOf(p footprint.Pair) []side {
	return []side{{footprint.OwnerA, p.A}, {footprint.OwnerB, p.B}}
}

// binder assigns keys to owned parameters and family keys.
type binder struct {
	m     *generator
	class map[string]string // towards the representative
	keys  map[string]string // by representative
	taken []string
	at    map[string]string // the parameter taken from a place
}

func newBinder(m *generator, c footprint.Conflict) *binder {
	b := &binder{m: m, class: map[string]string{}, keys: map[string]string{}, at: map[string]string{}}
	for _, e := range slices.Concat(c.When.All, c.Keys) {
		switch {
		case e.Not:
		case e.Literal:
			b.give(e.Left, e.Right)
		default:
			b.join(e.Left, e.Right)
		}
	}
	return b
}

func (b *binder) find(name string) string {
	for b.class[name] != "" {
		name = b.class[name]
	}
	return name
}

// join makes two parameters one; false if they have different keys already.
func (b *binder) join(x, y string) bool {
	x, y = b.find(x), b.find(y)
	if x == y {
		return true
	}
	kx, ky := b.keys[x], b.keys[y]
	if kx != "" && ky != "" && kx != ky {
		return false
	}
	b.class[x] = y
	if ky == "" && kx != "" {
		b.keys[y] = kx
	}
	return true
}

// joinAll makes parameters one that are keys of containers and the same, as far as the
// conflict lets them be; false if there is nothing to join.
func (b *binder) joinAll(sides []side, c footprint.Conflict, same func(p *ir.Param) string) bool {
	first, joined := map[string]string{}, false
	for _, s := range sides {
		for i := range s.stage.Params {
			p := &s.stage.Params[i]
			if p.Kind != ir.ExistingParam || len(p.Of.Params()) > 0 {
				continue
			}
			name, of := footprint.OwnedParam(s.owner, p.Name), same(p)
			if other := first[of]; other != "" && b.find(other) != b.find(name) {
				joined = b.join(name, other) || joined
			}
			first[of] = name
		}
	}
	return joined && !slices.ContainsFunc(slices.Concat(c.When.All, c.Keys), func(e region.Equality) bool {
		return e.Not && !e.Literal && b.find(e.Left) == b.find(e.Right)
	})
}

func (b *binder) give(name, key string) {
	b.keys[b.find(name)] = key
	b.taken = append(b.taken, key)
}

// all gives every parameter and every family key its key; ok is false if the
// equalities cannot hold together.
func (b *binder) all(sides []side) (keys map[string]string, ok bool) {
	names := slices.Collect(maps.Keys(b.class))
	for _, s := range sides {
		for i := range s.stage.Params {
			b.taken = append(b.taken, s.stage.Params[i].Reserved...)
		}
	}
	for _, s := range sides {
		for i := range s.stage.Params {
			p := &s.stage.Params[i]
			if !b.param(s, p) {
				return nil, false
			}
			names = append(names, footprint.OwnedParam(s.owner, p.Name))
		}
	}
	keys = map[string]string{}
	for _, name := range slices.Concat(names, slices.Collect(maps.Keys(b.keys))) {
		if key := b.keys[b.find(name)]; key != "" {
			keys[name] = key
		}
	}
	return keys, true
}

func (b *binder) param(s side, p *ir.Param) bool {
	name := footprint.OwnedParam(s.owner, p.Name)
	of := b.place(s, p)
	if p.Kind == ir.DependentParam {
		if same := b.at[of.Pointer()]; same != "" && !b.join(name, same) {
			return false
		}
		b.at[of.Pointer()] = name
	}
	if b.keys[b.find(name)] == "" {
		b.give(name, b.fresh(p, of))
	}
	return true
}

// place is where a parameter's keys, or its value, are.
func (b *binder) place(s side, p *ir.Param) region.Word {
	keys := map[string]string{}
	for _, q := range p.Of.Params() {
		keys[q] = b.keys[b.find(footprint.OwnedParam(s.owner, q))]
	}
	return b.m.word(p.Of, keys)
}

// fresh is a key that no other class has.
func (b *binder) fresh(p *ir.Param, of region.Word) string {
	switch {
	case p.Kind == ir.NewParam && b.m.isReferred(of):
		return b.m.newKey(of, append(slices.Clone(b.taken), b.m.newKey(of, nil))) // the first one is what made-up references name
	case p.Kind.IsKey():
		return b.m.newKey(of, b.taken)
	case p.Kind == ir.ElementParam:
		of = longer(of, region.Index(0))
	}
	for _, id := range b.m.at(of) {
		if t := b.m.contract.Type(id); t.Kind == ir.RefType {
			return b.m.newKey(b.m.word(*t.Target, nil), b.taken)
		}
		for _, v := range b.m.values(id) {
			if text, ok := v.(string); ok && text != "" && !slices.Contains(b.taken, text) {
				return text
			}
		}
	}
	return b.m.newKey(nil, b.taken)
}

// maxBindings bounds the bindings that are tried on one fixture.
const maxBindings = 12

// found lists the admitted bindings to the keys that a state has, such that the
// equalities of the conflict hold; keys for new entries are made up.
func (b *binder) found(sides []side, state any, admit func(keys map[string]string) bool) []map[string]string {
	var params []owned
	for _, s := range sides {
		for i := range s.stage.Params {
			params = append(params, owned{s, &s.stage.Params[i]})
		}
	}
	var out []map[string]string
	b.search(params, state, map[string]string{}, func(keys map[string]string) bool {
		if admit(keys) {
			out = append(out, maps.Clone(keys))
		}
		return len(out) < maxBindings
	})
	return out
}

// admitted reports whether keys by owned parameter are within what is claimed of a pair.
func admitted(p footprint.Pair, keys map[string]string) bool {
	of := func(d side) map[string]string {
		out := map[string]string{}
		for i := range d.stage.Params {
			name := d.stage.Params[i].Name
			out[name] = keys[footprint.OwnedParam(d.owner, name)]
		}
		return out
	}
	sides := sidesOf(p)
	return p.Admits(of(sides[0]), of(sides[1]))
}

type owned struct {
	side
	param *ir.Param
}

// search binds the parameters one after the other.
func (b *binder) search(params []owned, state any, keys map[string]string, yield func(map[string]string) bool) bool {
	if len(params) == 0 {
		return yield(keys)
	}
	p := params[0]
	name := footprint.OwnedParam(p.owner, p.param.Name)
	own := map[string]string{}
	for _, q := range p.param.Of.Params() {
		own[q] = keys[footprint.OwnedParam(p.owner, q)]
	}
	of := b.m.word(p.param.Of, own)
	for _, key := range b.choices(p.param, of, state) {
		if !b.agrees(name, key, keys) {
			continue
		}
		keys[name] = key
		if !b.search(params[1:], state, keys, yield) {
			return false
		}
		delete(keys, name)
	}
	return true
}

func (b *binder) choices(p *ir.Param, of region.Word, state any) []string {
	at, _ := get(state, of)
	switch p.Kind {
	case ir.DependentParam:
		if key, ok := at.(string); ok {
			return []string{key}
		}
		return nil
	case ir.ElementParam:
		return slices.DeleteFunc(textsOf(at), func(k string) bool { return k == "" || slices.Contains(p.Reserved, k) })
	case ir.NewParam:
		first := b.m.newKey(of, slices.Concat(keysOf(at), p.Reserved))
		return []string{first, b.m.newKey(of, slices.Concat(keysOf(at), p.Reserved, []string{first}))}
	}
	return slices.DeleteFunc(keysOf(at), func(k string) bool { return slices.Contains(p.Reserved, k) })
}

// agrees reports whether a key is that of the parameter's class, and of no other.
func (b *binder) agrees(name, key string, keys map[string]string) bool {
	for other, k := range keys {
		if b.find(other) == b.find(name) && k != key {
			return false
		}
	}
	given := b.keys[b.find(name)]
	return given == "" || given == key
}
