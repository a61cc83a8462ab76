package expr

import (
	"encoding/json"
	"sort"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/ir"
)

// A shape is a state type as expressions see it: what kinds a value may have and
// what lies below it. A union is one shape, the sum of its alternatives, so that a
// value can be wrapped without trying alternatives one by one. Shapes are made
// once per contract and never change.
type shape struct {
	kinds    kinds
	name     string            // the declared name, for messages
	id       ir.TypeID         // of a record, to name it to CEL
	literals []string          // all strings it may be; nil if any string may occur
	members  map[string]*field // of records
	rest     *shape            // other members of objects: map, keyed, open record, any
	elem     *shape            // of arrays
	bag      bool              // it may be an array whose order has no meaning: a set or a log
	bags     bool              // it, or something below it, may be one
	cel      *types.Type
}

// A field is a declared member of a record shape. It is optional as well when it
// belongs to some alternatives of a union only.
type field struct {
	shape    *shape
	optional bool
}

// kinds is a set of the language's types.
type kinds uint16

const (
	kString kinds = 1 << iota
	kInt
	kNumber
	kBool
	kNull
	kRecord
	kMap
	kKeyed
	kList
	kSet
	kLog
	kAny // any JSON value: implies no other bit

	kScalar  = kString | kInt | kNumber | kBool | kNull
	kObjects = kRecord | kMap | kKeyed
	kArrays  = kList | kSet | kLog
	kNumeric = kInt | kNumber
	// Their elements have no order that means something.
	kUnordered = kSet | kLog
)

var kindNames = []struct {
	kind kinds
	name string
}{
	{kString, "string"}, {kInt, "int"}, {kNumber, "number"}, {kBool, "bool"},
	{kRecord, "record"}, {kMap, "map"}, {kKeyed, "keyed list"}, {kList, "list"}, {kSet, "set"}, {kLog, "log"},
	{kNull, "null"}, {kAny, "any"},
}

// is reports whether every value of s is of one of the kinds in k.
func (s *shape) is(k kinds) bool { return s != nil && s.kinds != 0 && s.kinds&^k == 0 }

// untyped reports whether the types do not tell what lies below a value of s.
func (s *shape) untyped() bool { return s == nil || s.kinds&kAny != 0 }

// anyShape is the shape of what no type describes; its arrays are lists. anyBag is
// that of what may be typed as well, by a union with any: there may be sets and logs
// anywhere in it.
var anyShape, anyBag = newAnyShape(false), newAnyShape(true)

func newAnyShape(bags bool) *shape {
	s := &shape{kinds: kAny, bag: bags, bags: bags, cel: types.DynType}
	s.rest, s.elem = s, s
	return s
}

// findBags fills in where s may hold sets and logs. What is below is known already.
func (s *shape) findBags() {
	s.bag = s.kinds&kUnordered != 0
	s.bags = s.bag || s.rest.holdsBags() || s.elem.holdsBags()
	for _, f := range s.members {
		s.bags = s.bags || f.shape.holdsBags()
	}
}

func (s *shape) holdsBags() bool { return s != nil && s.bags }

func (s *shape) isBag() bool { return s != nil && s.bag }

// shapes makes the shapes of a contract's types.
type shapes struct {
	types  []ir.Type
	byID   map[ir.TypeID]*shape
	merger *merger
}

func (ss *shapes) of(id ir.TypeID) *shape {
	if int(id) <= 0 || int(id) >= len(ss.types) {
		return anyShape
	}
	if s, ok := ss.byID[id]; ok {
		return s
	}
	s := ss.build(id)
	if s.cel == nil {
		s.cel = celType(s)
		s.findBags()
	}
	ss.byID[id] = s
	return s
}

func (ss *shapes) build(id ir.TypeID) *shape {
	t := &ss.types[id]
	s := &shape{name: t.Name}
	switch t.Kind {
	case ir.StringType, ir.RefType:
		s.kinds = kString
	case ir.IntType:
		s.kinds = kInt
	case ir.NumberType:
		s.kinds = kNumber
	case ir.BoolType:
		s.kinds = kBool
	case ir.NullType:
		s.kinds = kNull
	case ir.LiteralType:
		literalShape(s, t.Literal)
	case ir.MapType:
		s.kinds, s.rest = kMap, ss.of(t.Elem)
	case ir.KeyedType:
		s.kinds, s.rest = kKeyed, ss.of(t.Elem)
	case ir.ListType:
		s.kinds, s.elem = kList, ss.of(t.Elem)
	case ir.SetType:
		s.kinds, s.elem = kSet, ss.of(t.Elem)
	case ir.LogType:
		s.kinds, s.elem = kLog, ss.of(t.Elem)
	case ir.RecordType:
		ss.record(s, id, t)
	case ir.UnionType:
		return ss.union(t)
	default:
		return anyShape
	}
	return s
}

func (ss *shapes) record(s *shape, id ir.TypeID, t *ir.Type) {
	s.kinds, s.id, s.members = kRecord, id, map[string]*field{}
	for _, m := range t.Members {
		s.members[m.Name] = &field{shape: ss.of(m.Type), optional: m.Optional}
	}
	if t.Rest != ir.NoType {
		s.rest = ss.of(t.Rest)
	}
}

func literalShape(s *shape, literal string) {
	var text string
	switch {
	case json.Unmarshal([]byte(literal), &text) == nil && literal != "null":
		s.kinds, s.literals = kString, []string{text}
	case literal == "true" || literal == "false":
		s.kinds = kBool
	case literal == "null":
		s.kinds = kNull
	case strings.ContainsAny(literal, ".eE"):
		s.kinds = kNumber
	default:
		s.kinds = kInt
	}
}

func (ss *shapes) union(t *ir.Type) *shape {
	var alternatives []*shape
	for _, alternative := range t.Alternatives {
		alternatives = append(alternatives, ss.of(alternative))
	}
	sum := ss.merger.all(alternatives)
	if sum == nil {
		return anyShape
	}
	if sum.kinds == kAny {
		return sum
	}
	named := *sum
	named.name, named.cel = t.Name, nil
	return &named
}

// celType is what a shape is declared as. null beside one other kind keeps the
// other's type where CEL has a nullable form of it; any other mixture is dynamic.
func celType(s *shape) *types.Type {
	nullable := s.kinds&kNull != 0 && s.kinds != kNull
	switch s.kinds &^ kNull {
	case kString:
		return orNull(types.StringType, nullable)
	case kInt:
		return orNull(types.IntType, nullable)
	case kNumber, kNumeric:
		return orNull(types.DoubleType, nullable)
	case kBool:
		return orNull(types.BoolType, nullable)
	case 0:
		return types.NullType
	case kRecord:
		if s.id != ir.NoType {
			return types.NewObjectType(objectName(s.id), traits.FieldTesterType|traits.IndexerType)
		}
	case kMap, kKeyed:
		if !nullable {
			return types.NewMapType(types.StringType, s.rest.cel)
		}
	case kList, kSet, kLog:
		if !nullable {
			return types.NewListType(s.elem.cel)
		}
	}
	return types.DynType
}

func orNull(t *types.Type, nullable bool) *types.Type {
	if nullable {
		return types.NewNullableType(t)
	}
	return t
}

// member finds what lies under a member name: its shape, whether it may be absent,
// and whether it can exist at all. A map's member is not optional in this sense:
// a missing key is an error of evaluation, not of the expression.
func (s *shape) member(name string) (m *shape, optional, exists bool) {
	if s == nil {
		return anyShape, false, true
	}
	if s.untyped() {
		return s, false, true
	}
	if f, ok := s.members[name]; ok {
		return f.shape, f.optional, true
	}
	if s.rest != nil {
		return s.rest, s.kinds&kRecord != 0, true
	}
	return anyShape, false, false
}

// memberNames lists the declared members, sorted.
func (s *shape) memberNames() []string {
	var names []string
	for name := range s.members {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// String is the type in the words of the language.
func (s *shape) String() string {
	switch {
	case s == nil:
		return "any"
	case s.kinds == kRecord && s.name != "":
		return "record " + s.name
	case s.is(kMap):
		return "map of " + s.rest.String()
	case s.is(kKeyed):
		return "keyed list of " + s.rest.String()
	case s.is(kArrays) && s.elem != nil:
		return kindWord(s.kinds) + " of " + s.elem.String()
	}
	return kindWord(s.kinds)
}

func kindWord(k kinds) string {
	var words []string
	for _, n := range kindNames {
		if k&n.kind != 0 {
			words = append(words, n.name)
		}
	}
	return strings.Join(words, " or ")
}
