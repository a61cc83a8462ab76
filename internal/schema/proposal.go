package schema

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The operations that a stage may make. The state type and the stage's regions are walked
// together, as the scope step reads a pointer (spec/semantics.md section 3.5): at each place, what
// it may add, replace, remove, test and take. Operations on one type of value are one branch of
// the schema, with a pattern for all their paths.

// rights are what a stage may do where the walk is.
type rights struct{ create, update, remove, blind, source, read region.Cursor }

func (r rights) step(l region.Letter) rights {
	return rights{r.create.Step(l), r.update.Step(l), r.remove.Step(l), r.blind.Step(l), r.source.Step(l), r.read.Step(l)}
}

func (r rights) each() []region.Cursor {
	return []region.Cursor{r.create, r.update, r.remove, r.blind, r.source, r.read}
}

func (r rights) reachable() bool { return slices.ContainsFunc(r.each(), region.Cursor.Reachable) }

// own are the keys that lead somewhere of their own.
func (r rights) own() (known, unknown []string) {
	for _, c := range r.each() {
		known, unknown = append(known, ownKeys(c)...), append(unknown, unknownKeys(c)...)
	}
	slices.Sort(known)
	slices.Sort(unknown)
	return slices.Compact(known), slices.Compact(unknown)
}

// A standing is how a place stands in what is above it.
type standing uint8

const (
	root     standing = iota
	entry             // a member of a record, an entry of a map or keyed list
	element           // of a list
	end               // of a list
	appended          // the next entry of a set or log
	untyped           // of a value of which the type says nothing, or anything below it
)

// A spot is where the walk is.
type spot struct {
	path  []step
	types []ir.TypeID
	may   rights
	above rights // what may be done with the container
	stand standing
	deep  int // levels below an untyped value
}

// A branch is operations on one type of value.
type branch struct {
	ops    []string
	value  Object
	places [][]step
}

// A walk collects the branches.
type walk struct {
	*writer
	stage     *ir.Stage
	positions []int // that regions name
	branches  []*branch
	byKind    map[string]*branch
	removed   [][]step
	added     [][]step // where a copy may go
	taken     [][]step // from where
	moved     [][]step // and where something can be moved from
	tooLarge  bool
}

// operations is the schema of an operation, nil if the stage can make none.
func (w *writer) operations(s *ir.Stage, args region.Binding) (any, error) {
	start := func(r region.Region) region.Cursor { return region.Compile(r).Start(args) }
	may := rights{
		start(s.Writing(ir.Create)), start(s.Writing(ir.Update)), start(s.Writing(ir.Delete)),
		start(s.Blind), start(s.Source), start(s.Read),
	}
	k := &walk{writer: w, stage: s, byKind: map[string]*branch{}, positions: positionsIn(s.Read, s.Write, s.Blind, s.Source)}
	k.visit(spot{types: []ir.TypeID{w.contract.State}, may: may})
	if k.tooLarge {
		return nil, &TooLargeError{s.Name}
	}
	return k.schema(), nil
}

// positionsIn are the positions of arrays that regions name.
func positionsIn(regions ...region.Region) []int {
	var out []int
	for _, r := range regions {
		for _, g := range r {
			for _, p := range append(slices.Clone(g.Include), g.Except...) {
				for _, s := range p.Segments {
					i := s.Index
					if s.Kind == region.Literal {
						var err error
						if i, err = strconv.Atoi(s.Text); err != nil {
							continue
						}
					} else if s.Kind != region.IndexLiteral {
						continue
					}
					out = append(out, i)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (k *walk) visit(s spot) {
	if k.places++; k.places > MaxPlaces {
		k.tooLarge = true
		return
	}
	k.note(s)
	if !s.may.reachable() || s.stand == appended || s.stand == end {
		return
	}
	for _, id := range k.alternatives(s.types) {
		k.below(s, k.contract.Type(id))
	}
}

// alternatives is types without unions.
func (k *walk) alternatives(types []ir.TypeID) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range types {
		if t := k.contract.Type(id); t.Kind == ir.UnionType {
			out = append(out, k.alternatives(t.Alternatives)...)
		} else {
			out = append(out, id)
		}
	}
	return out
}

// below visits what is in a value of a type.
func (k *walk) below(s spot, t *ir.Type) {
	switch t.Kind {
	case ir.RecordType:
		var declared []string
		for _, m := range t.Members {
			declared = append(declared, m.Name)
			k.step(s, region.Key(m.Name), keyStep(m.Name), m.Type, entry)
		}
		if t.Rest != ir.NoType {
			k.entries(s, t.Rest, declared)
		}
	case ir.MapType, ir.KeyedType:
		k.entries(s, t.Elem, nil)
	case ir.ListType:
		k.step(s, region.Index(anyIndex), step{text: "-"}, t.Elem, end)
		k.elements(s, t.Elem)
	case ir.SetType, ir.LogType:
		k.step(s, region.Fresh("-"), step{text: "-"}, t.Elem, appended)
	case ir.AnyType:
		k.untyped(s)
	}
}

func (k *walk) step(s spot, l region.Letter, at step, elem ir.TypeID, stand standing) {
	k.visit(spot{path: append(slices.Clip(s.path), at), types: []ir.TypeID{elem}, may: s.may.step(l), above: s.may, stand: stand, deep: s.deep})
}

// entries visits the entries under keys that are not declared, those that regions name one by one.
func (k *walk) entries(s spot, elem ir.TypeID, declared []string) {
	known, unknown := s.may.own()
	known = slices.DeleteFunc(known, func(name string) bool { return slices.Contains(declared, name) })
	for _, name := range known {
		k.step(s, region.Key(name), keyStep(name), elem, entry)
	}
	k.step(s, region.Key(anyKey), anyStep(append(known, declared...)), elem, entry)
	for _, name := range unknown { // it may be one of those, too
		k.step(s, region.Key(name), anyStep(declared), elem, entry)
	}
}

func (k *walk) elements(s spot, elem ir.TypeID) {
	for _, i := range k.positions {
		k.step(s, region.Index(i), number(i), elem, element)
	}
	k.step(s, region.Index(anyIndex), indexStep, elem, element)
}

// deepest bounds how far names are followed in values without type; further down, and where a
// step leads nowhere new, as behind "**", what a region reaches counts as granted.
const deepest = 5

// untyped visits what may be in a value without type: members or elements, of which nobody knows.
func (k *walk) untyped(s spot) {
	anything := s
	anything.path = append(slices.Clip(s.path), step{pattern: token + "(?:/" + token + ")*"})
	anything.stand = untyped
	k.note(anything) // of those rights that hold for all of it
	if s.may.free() || s.deep == deepest {
		return
	}
	if s.deep++; s.deep > 1 && s.may == s.above {
		s.deep = deepest
	}
	k.entries(s, s.types[0], nil)
	k.elements(s, s.types[0])
}

// free reports whether everything may be done at a place and below.
func (r rights) free() bool {
	return !slices.ContainsFunc(r.each(), func(c region.Cursor) bool { return c.Reachable() && !c.Interior() })
}

// note adds the operations that may be made at a spot.
func (k *walk) note(s spot) {
	holds := region.Cursor.Interior
	if s.deep == deepest {
		holds = region.Cursor.Reachable
	}
	create, update, remove := holds(s.may.create), holds(s.may.update), holds(s.may.remove)
	adds, replaces, removes, looks := false, false, false, true
	switch s.stand {
	case root:
		adds, replaces = create || update, update
	case entry:
		adds, replaces, removes = create || update || holds(s.may.blind), update, remove
	case untyped: // what changes a list needs the right to update it
		adds, replaces, removes = create || update || holds(s.may.blind), update, remove || update
	case element:
		list := holds(s.above.update)
		adds, replaces, removes = list, update, list
	case end:
		adds, looks = holds(s.above.update), false
	case appended:
		adds, looks = create, false
	}
	if s.deep > 0 && s.stand == entry { // the value may be a list
		adds, removes = adds || holds(s.above.update), removes || holds(s.above.update)
	}
	var ops []string
	if adds {
		ops = append(ops, "add")
		k.added = append(k.added, s.path)
	}
	if replaces {
		ops = append(ops, "replace")
	}
	if len(ops) > 0 {
		k.add(ops, s)
	}
	if removes {
		k.removed = append(k.removed, s.path)
	}
	if looks && (holds(s.may.source) || holds(s.may.read)) {
		k.add([]string{"test"}, s)
	}
	if looks && holds(s.may.source) && !slices.ContainsFunc(s.types, k.holdsLog) {
		k.taken = append(k.taken, s.path)
		if removes {
			k.moved = append(k.moved, s.path)
		}
	}
}

func (k *walk) holdsLog(id ir.TypeID) bool {
	return k.contract.Holds(id, func(t *ir.Type) bool { return t.Kind == ir.LogType })
}

// add notes a place for operations with a value.
func (k *walk) add(ops []string, s spot) {
	var value Object
	if s.stand != untyped {
		value = k.schemaOf(s.types[0])
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("schema: what is made of texts cannot be written: " + err.Error())
	}
	kind := string(text)
	for _, op := range ops {
		kind += " " + op
	}
	b := k.byKind[kind]
	if b == nil {
		b = &branch{ops: ops, value: value}
		k.byKind[kind] = b
		k.branches = append(k.branches, b)
	}
	b.places = append(b.places, s.path)
}

func (k *walk) schema() any {
	var all, tests []any
	for _, b := range k.branches {
		branch := operation(b.ops, Member{"path", pathSchema(b.places)}, Member{"value", b.value})
		if b.ops[0] == "test" {
			tests = append(tests, branch)
		} else {
			all = append(all, branch)
		}
	}
	if len(k.removed) > 0 {
		all = append(all, operation([]string{"remove"}, Member{"path", pathSchema(k.removed)}))
	}
	if len(k.taken) > 0 && len(k.added) > 0 {
		all = append(all, operation([]string{"copy"}, Member{"from", pathSchema(k.taken)}, Member{"path", pathSchema(k.added)}))
	}
	if len(k.moved) > 0 && len(k.added) > 0 {
		all = append(all, operation([]string{"move"}, Member{"from", pathSchema(k.moved)}, Member{"path", pathSchema(k.added)}))
	}
	if all = append(all, tests...); len(all) == 0 {
		return nil
	}
	return Object{{"anyOf", all}}
}

// operation is the schema of an operation of one of some kinds with these members and no others.
func operation(ops []string, members ...Member) Object {
	var op Object
	if len(ops) == 1 {
		op = Object{{"const", ops[0]}}
	} else {
		op = Object{{"enum", ops}}
	}
	properties := Object{{"op", op}}
	required := []string{"op"}
	for _, m := range members {
		if o, ok := m.Value.(Object); ok && o == nil {
			m.Value = Object{}
		}
		properties = append(properties, m)
		required = append(required, m.Name)
	}
	return Object{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}
}
