package witness

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What the two sides of a conflict do in a state: operations at the conflict's path and
// around it, as far as the stage may write or test there. A patch is written for the state
// it meets, since one operation fits where a node is, and another where it is missing.

// patchers lists what the two sides do.
func (s *scenario) patchers(r round) (a, b []patcher) {
	sides := sidesOf(s.pair)
	x, y := sides[0], sides[1]
	if s.conflict.A == footprint.OwnerB {
		x, y = y, x
	}
	w := s.concrete(s.conflict.Path)
	var px, py []patcher
	switch s.conflict.Kind {
	case footprint.WriteConflict:
		px, py = s.writes(x, w), s.writes(y, w)
	case footprint.SourceConflict:
		px, py = s.tests(x, w), s.writes(y, w)
	case footprint.GateConflict:
		px, py = s.writes(x, w), s.writes(y, s.concrete(s.conflict.Other))
	case footprint.PhaseConflict:
		px, py = []patcher{nothing}, []patcher{nothing}
	default:
		px, py = []patcher{nothing}, s.writes(y, w)
	}
	if r.wide || s.conflict.Kind == footprint.LocalConflict {
		px = append(px, s.anywhere(x)...)
	}
	if r.wide {
		py = append(py, s.anywhere(y)...)
	}
	if r.whole {
		px, py = s.completed(x, px), s.completed(y, py)
	}
	if s.conflict.A == footprint.OwnerB {
		px, py = py, px
	}
	return px, py
}

// A patcher is what one side does: it writes a patch for a state, and reports false
// if it makes no sense there.
type patcher func(state any) (patch string, ok bool)

func nothing(any) (string, bool) { return "[]", true }

// writes lists operations of a side at w and, if it may, around w; what would
// stand below a key that is yet to be created is written with it.
func (s *scenario) writes(d side, w region.Word) []patcher {
	may := s.mayWrite(d)
	var out []patcher
	for n := len(w); n >= 0; n-- {
		if u := w[:n]; may.Walk(s.asPath(d, u)).Interior() && s.reaches(d, u) {
			out = append(out, s.changes(d, u, w[n:])...)
			if s.has(d, ir.Create, u) && s.has(d, ir.Delete, u) && !s.has(d, ir.Update, u) && n > 0 && u[n-1].Kind == region.KeyLetter {
				out = append(out, s.renewals(u, w[n:])...)
			}
		}
	}
	return out
}

// renewals take away what is at u and put something in its place, which is how those change
// it who may create and delete there, and not update.
func (s *scenario) renewals(u, below region.Word) []patcher {
	path := u.Pointer()
	var out []patcher
	for _, v := range s.proposed(u, below) {
		out = append(out, func(state any) (string, bool) {
			_, there := get(state, u)
			return joinPatches(operation("remove", path, absent{}), operation("add", path, v)), there
		})
	}
	return out
}

// reaches reports whether a patch of a side can address w: its parent is there,
// and it is no entry that the other side appends.
func (s *scenario) reaches(d side, w region.Word) bool {
	if len(w) == 0 {
		return true
	}
	_, there := get(s.state, w[:len(w)-1])
	return there && (w[len(w)-1].Kind != region.FreshLetter || w[len(w)-1].Name == d.owner)
}

// mayWrite is the start of what a side writes, with the scenario's keys bound.
func (s *scenario) mayWrite(d side) region.Cursor {
	return s.writing(d, writing{d.stage, 0})
}

// has reports whether a side has a right at w.
func (s *scenario) has(d side, right ir.Rights, w region.Word) bool {
	return s.writing(d, writing{d.stage, right}).Walk(s.asPath(d, w)).Interior()
}

// limited reports whether a side has not all rights everywhere.
func (s *scenario) limited() bool { return len(s.pair.A.Rights)+len(s.pair.B.Rights) > 0 }

// A writing is what a stage writes with a right, or with any.
type writing struct {
	stage *ir.Stage
	right ir.Rights
}

func (s *scenario) writing(d side, of writing) region.Cursor {
	if s.writeSets[of] == nil {
		r := of.stage.Writing(of.right)
		if of.right == 0 || of.right == ir.Create {
			r = region.Union(r, of.stage.Blind)
		}
		s.writeSets[of] = region.Compile(r)
	}
	return s.writeSets[of].Start(s.args(d))
}

// mayLook is the start of what a side may test.
func (s *scenario) mayLook(d side) region.Cursor {
	if s.lookSets[d.stage] == nil {
		s.lookSets[d.stage] = region.Compile(region.Union(d.stage.Source, d.stage.Read))
	}
	return s.lookSets[d.stage].Start(s.args(d))
}

// args are the keys of a side's parameters.
func (s *scenario) args(d side) region.Binding {
	args := region.Binding{}
	for _, p := range d.stage.Params {
		args[p.Name] = s.keys[footprint.OwnedParam(d.owner, p.Name)]
	}
	return args
}

// asPath is a word as the regions of a bound stage take it: its fresh keys have no
// owner.
func (s *scenario) asPath(d side, w region.Word) region.Word {
	out := slices.Clone(w)
	for i, l := range out {
		if l.Kind == region.FreshLetter && l.Name == d.owner {
			out[i].Name = ""
		}
	}
	return out
}

// changes lists what a side has the right to do to the node at u; below is the place under
// it that matters. Whoever may not both create and update waits for the other side to take
// away, or to put there, what stands in the way.
func (s *scenario) changes(d side, u, below region.Word) []patcher {
	path := u.Pointer()
	if n := len(u); n > 0 && u[n-1].Kind == region.FreshLetter {
		if !s.has(d, ir.Create, u) {
			return nil
		}
		return s.appends(path, u[:n-1])
	}
	var out []patcher
	creates, updates := s.has(d, ir.Create, u), s.has(d, ir.Update, u)
	for _, v := range s.proposed(u, below) {
		out = append(out, func(state any) (string, bool) {
			if _, there := get(state, u); updates && (there || !creates) {
				return operation("replace", path, v), true
			}
			return operation("add", path, v), creates
		})
	}
	if s.mayLack(u) && s.has(d, ir.Delete, u) {
		out = slices.Insert(out, min(1, len(out)), func(state any) (string, bool) {
			_, there := get(state, u)
			return operation("remove", path, absent{}), there || s.limited()
		})
	}
	for _, id := range s.at(u) {
		if t := s.contract.Type(id); updates || t.Kind == ir.SetType && creates {
			out = append(out, s.structural(u, t)...)
		}
	}
	return out
}

// proposed lists values for u, and such that vary below it.
func (s *scenario) proposed(u, below region.Word) []any {
	whole := s.valuesAt(u)
	for _, id := range s.at(u) {
		if s.contract.Type(id).Kind == ir.RecordType {
			whole = append(whole, s.arguments(id)...)
		}
	}
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

func (s *scenario) eachNamed(u region.Word, values []any) []any {
	var out []any
	for _, v := range values {
		if v = s.named(u, copyOf(v)); !containsEqual(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// appends adds entries to a log or set.
func (s *scenario) appends(path string, container region.Word) []patcher {
	var out []patcher
	for _, id := range s.at(container) {
		for _, v := range s.values(s.contract.Type(id).Elem) {
			out = append(out, func(any) (string, bool) { return operation("add", path, v), true })
		}
	}
	return out
}

// structural is what only arrays know: insertion, and growing a log.
func (s *scenario) structural(u region.Word, t *ir.Type) []patcher {
	path := u.Pointer()
	elem := t.Elem
	if t.Kind == ir.AnyType {
		elem = s.at(u)[0]
	}
	switch t.Kind {
	case ir.SetType:
		return s.appends(path+"/-", u)
	case ir.ListType, ir.AnyType:
		return []patcher{
			func(state any) (string, bool) {
				return operation("add", path+"/0", s.values(elem)[0]), isArray(state, u)
			},
			func(state any) (string, bool) { return operation("remove", path+"/0", absent{}), isArray(state, u) },
		}
	case ir.LogType:
		return []patcher{func(state any) (string, bool) {
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
func (s *scenario) tests(d side, w region.Word) []patcher {
	may := s.mayLook(d)
	var out []patcher
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

// anywhere lists operations at the places that a side's patterns lead to.
func (s *scenario) anywhere(d side) []patcher {
	var out []patcher
	for _, p := range footprint.Includes(region.Union(d.stage.Write, d.stage.Blind)) {
		out = append(out, s.writes(d, s.place(d.owned(p)))...)
	}
	return out
}

// maxCreated is how many values are tried for an entry that is made beside something
// else.
const maxCreated = 4

// mayComplete reports whether a side is to create an entry that its conditions may ask
// for, whatever else it does.
func (s *scenario) mayComplete() bool {
	return slices.ContainsFunc(sidesOf(s.pair), func(d side) bool { return len(s.toCreate(d)) > 0 })
}

// toCreate lists the entries that a side with conditions may create.
func (s *scenario) toCreate(d side) []region.Word {
	var out []region.Word
	for i := range d.stage.Params {
		if p := &d.stage.Params[i]; p.Kind == ir.NewParam && len(d.stage.Ensure)+len(d.stage.Produce) > 0 {
			if entry := s.createdBy(d, p); s.mayWrite(d).Walk(entry).Interior() {
				out = append(out, entry)
			}
		}
	}
	return out
}

// completed lets everything that a side does create its entries first.
func (s *scenario) completed(d side, patchers []patcher) []patcher {
	for _, entry := range s.toCreate(d) {
		values := s.eachNamed(entry, s.valuesAt(entry))
		var out []patcher
		for at := range graded([]int{len(patchers), min(len(values), maxCreated)}) {
			write, v := patchers[at[0]], values[at[1]]
			out = append(out, func(state any) (string, bool) {
				patch, ok := write(state)
				if strings.Contains(patch, encode(entry.Pointer())) {
					return patch, ok
				}
				return joinPatches(operation("add", entry.Pointer(), v), patch), ok
			})
		}
		patchers = out
	}
	return patchers
}

// joinPatches is one patch after another.
func joinPatches(a, b string) string {
	if b == "[]" {
		return a
	}
	return strings.TrimSuffix(a, "]") + "," + strings.TrimPrefix(b, "[")
}

// proposal is a side's, with a patch.
func (s *scenario) proposal(i int, patch string) footprint.Proposal {
	d := sidesOf(s.pair)[i]
	out := footprint.Proposal{Stage: d.stage.Name, Patch: patch}
	if len(d.stage.Params)+len(d.stage.Values) > 0 {
		out.Args = map[string]string{}
	}
	for _, p := range d.stage.Params {
		if p.Kind == ir.DependentParam {
			continue
		}
		out.Args[p.Name] = s.keys[footprint.OwnedParam(d.owner, p.Name)]
	}
	if len(d.stage.Next) > 0 {
		out.Next = d.stage.Next[0]
	}
	return out
}
