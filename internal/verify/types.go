package verify

import (
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// What the types of a contract tell. A type fixes what leads on below its values; a union
// may leave that to the value, whose alternative is then the first that fits (check.go).
// What follows from the types alone is worked out once, when a contract is loaded.

// types are the types of a contract, with what was worked out about each. Program, and
// whatever looks at values, embeds them.
type types struct {
	contract *ir.Contract
	info     []typeInfo // by type
	folds    []typeFold // by type
	literals map[ir.TypeID]*tree.Node
	words    map[string]*tree.Node // the literals that are texts: values that patches often have
	wheres   map[ir.TypeID][]rule

	watch *watch // of the call that they are bound to (within), nil for none
}

// newTypes are the types of a contract, but for literals and constraints, which Load adds.
func newTypes(c *ir.Contract, unions *ir.Unions) types {
	return types{
		contract: c, info: describeTypes(c, unions), folds: newTypeFolds(c.Types),
		literals: map[ir.TypeID]*tree.Node{}, words: map[string]*tree.Node{}, wheres: map[ir.TypeID][]rule{},
	}
}

// A form tells which letters lead below a value, and what an operation at its end
// does there.
type form uint8

const (
	openForm   form = iota // not fixed by the type: the running state decides
	scalarForm             // nothing is below
	objectForm             // keys: records, maps, keyed lists
	listForm               // indices; adding and removing edits the list itself
	setForm                // only "-", an entry without a name
	logForm                // the same
)

// A typeInfo is what is worked out once for every type of a contract.
type typeInfo struct {
	form form
	// container is the type to look children up in: the type itself, or the only
	// alternative of a union that has children; NoType if that is not settled.
	container ir.TypeID
	ordered   bool // a set or log is at or below
	shaped    bool // so is one of these, an int or a number literal: shape may change a value
	keyed     bool // a keyed list is at or below
	refs      bool // a key of something is at or below
	logs      bool // a log is at or below
	ruled     bool // a constraint or reference is at or below
	// confusable: what is written in a file for one alternative of the union may be read
	// as another, because at some place a keyed list stands for one of them and another
	// array for another.
	confusable bool
	text       string
}

// describeTypes works out the info of every type.
func describeTypes(c *ir.Contract, unions *ir.Unions) []typeInfo {
	types := c.Types
	d := typeDescriber{types: types, unions: unions, info: make([]typeInfo, len(types)), done: make([]bool, len(types))}
	for id := range types {
		d.describe(ir.TypeID(id))
	}
	return d.info
}

type typeDescriber struct {
	types  []ir.Type
	unions *ir.Unions
	info   []typeInfo
	done   []bool
}

func (d *typeDescriber) describe(id ir.TypeID) typeInfo {
	if d.done[id] || id == ir.NoType {
		return d.info[id]
	}
	t := &d.types[id]
	info := typeInfo{form: formOfKind(t.Kind), container: id}
	for _, child := range children(t) {
		below := d.describe(child)
		info.ordered = info.ordered || below.ordered
		info.shaped = info.shaped || below.shaped
		info.keyed = info.keyed || below.keyed
		info.refs = info.refs || below.refs
		info.logs = info.logs || below.logs
		info.ruled = info.ruled || below.ruled
	}
	switch t.Kind {
	case ir.UnionType:
		info.form, info.container = d.union(t)
		info.confusable = info.keyed && d.unions.Confusable(id)
	case ir.IntType, ir.LiteralType:
		info.shaped = true
	case ir.SetType:
		info.ordered, info.shaped = true, true
	case ir.LogType:
		info.ordered, info.shaped, info.logs = true, true, true
	case ir.KeyedType:
		info.keyed = true
	case ir.RefType:
		info.refs = true
	}
	info.ruled = info.ruled || info.refs || len(t.Where) > 0
	info.text = d.text(t)
	d.info[id], d.done[id] = info, true
	return info
}

func children(t *ir.Type) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range append([]ir.TypeID{t.Elem, t.Rest}, t.Alternatives...) {
		if id != ir.NoType {
			out = append(out, id)
		}
	}
	for _, m := range t.Members {
		out = append(out, m.Type)
	}
	return out
}

func formOfKind(k ir.TypeKind) form {
	switch k {
	case ir.RecordType, ir.MapType, ir.KeyedType:
		return objectForm
	case ir.ListType:
		return listForm
	case ir.SetType:
		return setForm
	case ir.LogType:
		return logForm
	case ir.AnyType, ir.UnionType:
		return openForm
	default:
		return scalarForm
	}
}

// union is what the alternatives agree on.
func (d *typeDescriber) union(t *ir.Type) (form, ir.TypeID) {
	found, container := scalarForm, ir.NoType
	for _, alt := range t.Alternatives {
		a := d.info[alt]
		switch {
		case a.form == scalarForm:
		case a.form == openForm:
			return openForm, ir.NoType
		case found == scalarForm:
			found, container = a.form, a.container
		case a.form != found:
			return openForm, ir.NoType
		case a.container != container:
			container = ir.NoType
		}
	}
	return found, container
}

// text names a type in the language's own words.
func (d *typeDescriber) text(t *ir.Type) string {
	switch {
	case t.Kind == ir.RecordType && t.Name != "":
		return "record " + t.Name
	case t.Name != "":
		return t.Name
	}
	elem := d.info[t.Elem].text
	switch t.Kind {
	case ir.LiteralType:
		return t.Literal
	case ir.UnionType:
		var parts []string
		for _, alt := range t.Alternatives {
			parts = append(parts, d.info[alt].text)
		}
		return strings.Join(parts, " | ")
	case ir.MapType, ir.ListType, ir.SetType, ir.LogType:
		return string(t.Kind) + " of " + elem
	case ir.KeyedType:
		return "list of " + elem + " by " + t.KeyField
	case ir.RefType:
		return "key of " + t.Target.Source()
	default:
		return string(t.Kind)
	}
}

// Where a type leads, and which type a value has.

// below is the type of the member or element that name leads to below a value of
// type t; NoType where the type does not say.
func (ts *types) below(t ir.TypeID, name string) ir.TypeID {
	c := &ts.contract.Types[ts.info[t].container]
	switch c.Kind {
	case ir.RecordType:
		if m, ok := c.Member(name); ok {
			return m.Type
		}
		return c.Rest
	case ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType:
		return c.Elem
	default:
		return ir.NoType
	}
}

// concrete is the type without unions that the value n of type t has: of a union the
// first alternative that fits, NoType if none does or t is not known. It depends on
// what n holds, not on how it is marked.
func (ts *types) concrete(t ir.TypeID, n *tree.Node) ir.TypeID {
	for ts.contract.Types[t].Kind == ir.UnionType {
		t = ts.alternative(&ts.contract.Types[t], n)
	}
	return t
}

// alternative picks the alternative of a union that fits n, looking into n only
// where its kind does not settle it.
func (ts *types) alternative(union *ir.Type, n *tree.Node) ir.TypeID {
	candidate, several := ir.NoType, false
	for _, alt := range union.Alternatives {
		if ts.sameKind(alt, n) {
			several = candidate != ir.NoType
			if several {
				break
			}
			candidate = alt
		}
	}
	if !several {
		return candidate
	}
	for _, alt := range union.Alternatives {
		if ts.fits(alt, n) {
			return alt
		}
	}
	return ir.NoType
}

// sameKind reports whether a value of n's JSON kind can have type t at all.
func (ts *types) sameKind(id ir.TypeID, n *tree.Node) bool {
	t := &ts.contract.Types[id]
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.UnionType:
		for _, alt := range t.Alternatives {
			if ts.sameKind(alt, n) {
				return true
			}
		}
		return false
	case ir.RecordType, ir.MapType, ir.KeyedType:
		return n.Kind() == ir.Object
	case ir.ListType, ir.SetType, ir.LogType:
		return n.Kind() == ir.Array
	default:
		return ts.fits(id, n)
	}
}

// typeAt is the type of the value at w in root, as far as types and values tell.
func (ts *types) typeAt(root *tree.Node, w region.Word) ir.TypeID {
	id, n := ts.contract.State, root
	for _, l := range w {
		if n == nil {
			return ir.NoType
		}
		id = ts.below(ts.concrete(id, n), l.Name)
		n = child(n, l)
	}
	return id
}

// typeOf is the type of what a pattern leads to, NoType where it hangs on the state.
func (ts *types) typeOf(p region.Pattern) ir.TypeID {
	id := ts.contract.State
	for _, s := range p.Segments {
		if id == ir.NoType || s.Kind == region.AnyDepth {
			return ir.NoType
		}
		id = ts.below(id, s.Text)
	}
	return id
}

// judgedBy is the place whose type decides about what is at w, with that type: the first
// union on the way that decides by what it holds, or else w itself.
func (ts *types) judgedBy(root *tree.Node, w region.Word) (region.Word, ir.TypeID) {
	id := ts.contract.State
	for depth, l := range w {
		if ts.ambiguous(id) {
			return w[:depth], id
		}
		id = ts.below(ts.concrete(id, tree.NodeAt(root, w[:depth])), l.Name)
	}
	return w, id
}

// unionAbove is the outermost union above a place of root whose alternatives are told
// apart by what it holds.
func (ts *types) unionAbove(root *tree.Node, w region.Word) (region.Word, bool) {
	id, n := ts.contract.State, root
	for depth, l := range w {
		if ts.ambiguous(id) {
			return w[:depth], true
		}
		id, n = ts.below(ts.concrete(id, n), l.Name), child(n, l)
	}
	return nil, false
}

// ambiguous reports whether values of type id must be looked into to know what the
// type says about what is below them: several alternatives of a union are objects, or
// several are arrays. Where a value's kind settles it, a union is no gate.
func (ts *types) ambiguous(id ir.TypeID) bool {
	objects, arrays := ts.containers(id)
	return ts.contract.Types[id].Kind == ir.UnionType && (objects > 1 || arrays > 1)
}

// containers counts the types without unions that a type stands for and that are
// objects, and those that are arrays.
func (ts *types) containers(id ir.TypeID) (objects, arrays int) {
	t := &ts.contract.Types[id]
	switch formOfKind(t.Kind) {
	case objectForm:
		return 1, 0
	case listForm, setForm, logForm:
		return 0, 1
	case scalarForm:
		return 0, 0
	}
	if t.Kind == ir.AnyType {
		return 1, 1
	}
	for _, alternative := range t.Alternatives {
		o, a := ts.containers(alternative)
		objects, arrays = objects+o, arrays+a
	}
	return objects, arrays
}

// typedPrefix is how many letters of w lead from a value of a type to places that some value
// of the type has.
func (ts *types) typedPrefix(id ir.TypeID, w region.Word) int {
	t := &ts.contract.Types[id]
	if len(w) == 0 || t.Kind == ir.AnyType {
		return len(w)
	}
	if t.Kind == ir.UnionType {
		most := 0
		for _, alternative := range t.Alternatives {
			most = max(most, ts.typedPrefix(alternative, w))
		}
		return most
	}
	if below := ts.typeBelow(t, w[0]); below != ir.NoType {
		return 1 + ts.typedPrefix(below, w[1:])
	}
	return 0
}

// typeBelow is where a letter leads from a value of a type without alternatives, NoType
// if nowhere.
func (ts *types) typeBelow(t *ir.Type, l region.Letter) ir.TypeID {
	isKey := l.Kind == region.KeyLetter
	switch form := formOfKind(t.Kind); {
	case t.Kind == ir.RecordType && isKey:
		if m, declared := t.Member(l.Name); declared {
			return m.Type
		}
		return t.Rest
	case form == objectForm && isKey, form != objectForm && form != scalarForm && !isKey:
		return t.Elem
	}
	return ir.NoType
}

// alwaysContainer reports whether every value that the path leads to is, by its
// type, a container that next leads on from.
func (ts *types) alwaysContainer(path []region.Segment, next region.Segment) bool {
	id := ts.contract.State
	for _, s := range path {
		if !ts.leadsOn(id, s) {
			return false
		}
		id = ts.below(id, s.Text)
	}
	return ts.leadsOn(id, next)
}

// leadsOn reports whether every value of a type is a container with the letters
// that a segment matches: in a record, only a declared member.
func (ts *types) leadsOn(id ir.TypeID, s region.Segment) bool {
	t := &ts.contract.Types[id]
	switch {
	case s.Kind == region.AnyDepth || t.Kind == ir.UnionType:
		return false
	case t.Kind == ir.RecordType:
		_, declared := t.Member(s.Text)
		return declared && (s.Kind == region.KeyLiteral || s.Kind == region.Literal)
	case ts.info[id].form == objectForm:
		return s.Kind != region.AnyIndex && s.Kind != region.IndexLiteral
	default:
		return ts.info[id].form != openForm && ts.info[id].form != scalarForm && (s.Kind == region.AnyIndex || s.Kind == region.AnySegment)
	}
}
