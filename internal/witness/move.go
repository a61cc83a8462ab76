package witness

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A move is what one side does: it writes a patch for a state, and reports false
// if it makes no sense there.
type move func(state any) (patch string, ok bool)

func nothing(any) (string, bool) { return "[]", true }

// writes lists operations of a side at w and, if it may, around w; what would
// stand below a key that is yet to be created is written with it.
func (s *scene) writes(d side, w region.Word) []move {
	may := s.mayWrite(d)
	var out []move
	for n := len(w); n >= 0; n-- {
		if u := w[:n]; may.Walk(s.asPath(d, u)).Interior() && s.reaches(d, u) {
			out = append(out, s.changes(u, w[n:])...)
		}
	}
	return out
}

// reaches reports whether a patch of a side can address w: its parent is there,
// and it is no entry that the other side appends.
func (s *scene) reaches(d side, w region.Word) bool {
	if len(w) == 0 {
		return true
	}
	_, there := get(s.state, w[:len(w)-1])
	return there && (w[len(w)-1].Kind != region.FreshLetter || w[len(w)-1].Name == d.owner)
}

// mayWrite is the start of what a side writes, with the scene's keys bound.
func (s *scene) mayWrite(d side) region.Cursor {
	if s.writeSets[d.stage] == nil {
		s.writeSets[d.stage] = region.Compile(region.Union(d.stage.Write, d.stage.Blind))
	}
	return s.writeSets[d.stage].Start(s.args(d))
}

// mayLook is the start of what a side may test.
func (s *scene) mayLook(d side) region.Cursor {
	if s.lookSets[d.stage] == nil {
		s.lookSets[d.stage] = region.Compile(region.Union(d.stage.Source, d.stage.Read))
	}
	return s.lookSets[d.stage].Start(s.args(d))
}

// args are the keys of a side's parameters.
func (s *scene) args(d side) region.Binding {
	args := region.Binding{}
	for _, p := range d.stage.Params {
		args[p.Name] = s.keys[footprint.OwnedParam(d.owner, p.Name)]
	}
	return args
}

// asPath is a word as the regions of a bound stage take it: its fresh keys have no
// owner.
func (s *scene) asPath(d side, w region.Word) region.Word {
	out := slices.Clone(w)
	for i, l := range out {
		if l.Kind == region.FreshLetter && l.Name == d.owner {
			out[i].Name = ""
		}
	}
	return out
}

// changes lists what can be done to the node at u; below is the place under it
// that matters.
func (s *scene) changes(u, below region.Word) []move {
	path := u.Pointer()
	if n := len(u); n > 0 && u[n-1].Kind == region.FreshLetter {
		return s.appends(path, u[:n-1])
	}
	var out []move
	for _, v := range s.proposed(u, below) {
		out = append(out, func(state any) (string, bool) {
			if _, there := get(state, u); there {
				return operation("replace", path, v), true
			}
			return operation("add", path, v), true
		})
	}
	if s.mayLack(u) {
		out = slices.Insert(out, min(1, len(out)), func(state any) (string, bool) {
			_, there := get(state, u)
			return operation("remove", path, absent{}), there
		})
	}
	for _, id := range s.at(u) {
		out = append(out, s.structural(u, s.contract.Type(id))...)
	}
	return out
}

// proposed lists values for u, and such that vary below it.
func (s *scene) proposed(u, below region.Word) []any {
	whole := s.valuesAt(u)
	if len(below) == 0 || slices.ContainsFunc(below, func(l region.Letter) bool { return l.Kind == region.FreshLetter }) {
		return s.eachNamed(u, whole)
	}
	var out []any
	for _, id := range s.at(u) {
		v := s.grow(nil, false, id, below)
		for _, x := range s.valuesAt(slices.Concat(u, below)) {
			if _, there := get(v, below[:len(below)-1]); there {
				out = append(out, set(copyOf(v), below, copyOf(x)))
			}
		}
	}
	return s.eachNamed(u, append(out, whole...))
}

func (s *scene) eachNamed(u region.Word, values []any) []any {
	var out []any
	for _, v := range values {
		if v = s.named(u, copyOf(v)); !containsEqual(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// appends adds entries to a log or set.
func (s *scene) appends(path string, container region.Word) []move {
	var out []move
	for _, id := range s.at(container) {
		for _, v := range s.values(s.contract.Type(id).Elem) {
			out = append(out, func(any) (string, bool) { return operation("add", path, v), true })
		}
	}
	return out
}

// structural is what only arrays know: insertion, and growing a log.
func (s *scene) structural(u region.Word, t *ir.Type) []move {
	path := u.Pointer()
	elem := t.Elem
	if t.Kind == ir.AnyType {
		elem = s.at(u)[0]
	}
	switch t.Kind {
	case ir.SetType:
		return s.appends(path+"/-", u)
	case ir.ListType, ir.AnyType:
		return []move{
			func(state any) (string, bool) {
				return operation("add", path+"/0", s.values(elem)[0]), isArray(state, u)
			},
			func(state any) (string, bool) { return operation("remove", path+"/0", absent{}), isArray(state, u) },
		}
	case ir.LogType:
		return []move{func(state any) (string, bool) {
			now, _ := get(state, u)
			log, ok := now.([]any)
			return operation("replace", path, append(slices.Clone(log), s.values(elem)[0])), ok
		}}
	}
	return nil
}

func isArray(state any, w region.Word) bool {
	now, _ := get(state, w)
	_, ok := now.([]any)
	return ok
}

// tests lists operations of a side that look at w: a test that holds, and one that
// does not, of the node or of what contains it.
func (s *scene) tests(d side, w region.Word) []move {
	may := s.mayLook(d)
	var out []move
	for n := len(w); n >= 0; n-- {
		u := w[:n]
		if n > 0 && u[n-1].Kind == region.FreshLetter || !may.Walk(s.asPath(d, u)).Interior() {
			continue
		}
		out = append(out, func(state any) (string, bool) {
			now, there := get(state, u)
			return operation("test", u.Pointer(), now), there
		})
		for _, v := range s.proposed(u, w[n:]) {
			out = append(out, func(state any) (string, bool) {
				now, there := get(state, u)
				return operation("test", u.Pointer(), v), !there || !equal(now, v)
			})
		}
	}
	return out
}

// operation writes a patch of one operation; an absent value is left out.
func operation(kind, path string, value any) string {
	var b strings.Builder
	b.WriteString(`[{"op":"` + kind + `","path":` + encode(path))
	if _, none := value.(absent); !none {
		b.WriteString(`,"value":` + encode(value))
	}
	b.WriteString("}]")
	return b.String()
}
