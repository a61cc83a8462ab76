package expr

import (
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A shape is a state type as expressions see it: what kinds a value may have and
// what lies below it. A union is one shape, the sum of its alternatives, so that a
// value can be wrapped without trying alternatives one by one. Shapes are made
// once per contract and never change.
type shape struct {
	kinds    kinds
	name     string            // the declared name, for messages
	id       ir.TypeID         // of a record, to name it to CEL
	sumOf    []*shape          // the alternatives of which it is the sum; nil of a type that is none
	literals []string          // all strings it may be; nil if any string may occur
	literal  string            // the one value it may be, as JSON; "" of what is no literal
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
	kDecimal
	kBool
	kNull
	kRecord
	kMap
	kKeyed
	kList
	kSet
	kLog
	kAny // any JSON value: implies no other bit

	kScalar  = kString | kInt | kNumber | kDecimal | kBool | kNull
	kObjects = kRecord | kMap | kKeyed
	kArrays  = kList | kSet | kLog
	kNumeric = kInt | kNumber
	kExact   = kInt | kDecimal
	// Their elements have no order that means something.
	kUnordered = kSet | kLog
)

var kindNames = []struct {
	kind kinds
	name string
}{
	{kString, "string"}, {kInt, "int"}, {kNumber, "number"}, {kDecimal, "decimal"}, {kBool, "bool"},
	{kRecord, "record"}, {kMap, "map"}, {kKeyed, "keyed list"}, {kList, "list"}, {kSet, "set"}, {kLog, "log"},
	{kNull, "null"}, {kAny, "any"},
}

// is reports whether every value of s is of one of the kinds in k.
func (s *shape) is(k kinds) bool { return s != nil && s.kinds != 0 && s.kinds&^k == 0 }

// untyped reports whether the types do not tell what lies below a value of s.
func (s *shape) untyped() bool { return s == nil || s.kinds&kAny != 0 }

func (s *shape) isBag() bool { return s != nil && s.bag }

func (s *shape) holdsBags() bool { return s != nil && s.bags }

// anyShape is the shape of what no type describes; its arrays are lists. anyBag is
// that of what may be typed as well, by a union with any: there may be sets and logs
// anywhere in it.
var anyShape, anyBag = newAnyShape(false), newAnyShape(true)

func newAnyShape(bags bool) *shape {
	s := &shape{kinds: kAny, bag: bags, bags: bags, cel: types.DynType}
	s.rest, s.elem = s, s
	return s
}

// shapes makes the shapes of a contract's types.
type shapes struct {
	contract *ir.Contract
	byID     map[ir.TypeID]*shape
	merger   *merger
}

func (ss *shapes) of(id ir.TypeID) *shape {
	if int(id) <= 0 || int(id) >= len(ss.contract.Types) {
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
	t := &ss.contract.Types[id]
	s := &shape{name: t.Name}
	switch t.Kind {
	case ir.StringType, ir.RefType:
		s.kinds = kString
	case ir.IntType:
		s.kinds = kInt
	case ir.NumberType:
		s.kinds = kNumber
	case ir.DecimalType:
		s.kinds = kDecimal
	case ir.BoolType:
		s.kinds = kBool
	case ir.NullType:
		s.kinds, s.literal = kNull, "null"
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
	s.literal = literal
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
	case kDecimal, kExact:
		return orNull(decimalType, nullable)
	case kNumber, kNumeric, kNumber | kDecimal, kNumeric | kDecimal:
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

// findBags fills in where s may hold sets and logs. What is below is known already.
func (s *shape) findBags() {
	s.bag = s.kinds&kUnordered != 0
	s.bags = s.bag || s.rest.holdsBags() || s.elem.holdsBags()
	for _, f := range s.members {
		s.bags = s.bags || f.shape.holdsBags()
	}
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

func (s *shape) elements() *shape {
	if s == nil {
		return nil
	}
	return s.elem
}

func (s *shape) entries() *shape {
	if s == nil {
		return nil
	}
	return s.rest
}

// below is the shape that answers for elements, also where the value is not what
// the type says.
func (s *shape) below() *shape {
	if s.elem == nil {
		return anyShape
	}
	return s
}

// under is the shape of what a segment matches below s; nil if nothing can be there.
func (s *shape) under(segment region.Segment) *shape {
	switch segment.Kind {
	case region.Literal, region.KeyLiteral:
		if m, _, exists := s.member(segment.Text); exists {
			return m
		}
		return nil
	case region.AnyDepth:
		return anyShape
	case region.AnyIndex, region.IndexLiteral:
		return s.elem
	}
	return s.child()
}

// child is the shape of whatever lies directly below s; nil if nothing can.
func (s *shape) child() *shape {
	below := []*shape{s.rest, s.elem}
	for _, name := range s.memberNames() {
		below = append(below, s.members[name].shape)
	}
	return merge(below...)
}

// wildcard is the segment for any child of a value of shape s.
func (s *shape) wildcard() region.Segment {
	if s != nil {
		switch containers := s.kinds &^ kScalar; {
		case containers&^kObjects == 0:
			return region.Segment{Kind: region.AnyKey}
		case containers&^kArrays == 0:
			return region.Segment{Kind: region.AnyIndex}
		}
	}
	return region.Segment{Kind: region.AnySegment}
}

func isWild(s region.Segment) bool {
	return s.Kind == region.AnyKey || s.Kind == region.AnyIndex || s.Kind == region.AnySegment
}

// at is the shape of every node that a pattern matches, anyShape where the types
// do not tell.
func (ss *shapes) at(root ir.TypeID, segments []region.Segment) *shape {
	s := ss.of(root)
	for _, segment := range segments {
		if s == nil {
			return anyShape
		}
		s = s.under(segment)
	}
	if s == nil {
		return anyShape
	}
	return s
}

// counted is what as many nodes match as match p: a required member of a record is there
// exactly if the record is.
func (ss *shapes) counted(root ir.TypeID, p region.Pattern) region.Pattern {
	n := len(p.Segments)
	for ; n > 0 && p.Segments[n-1].Kind == region.KeyLiteral; n-- {
		if slices.ContainsFunc(p.Segments[:n], func(s region.Segment) bool { return s.Kind == region.AnyDepth }) {
			break
		}
		record := ss.at(root, p.Segments[:n-1])
		f, declared := record.members[p.Segments[n-1].Text]
		if !record.is(kRecord) || record.id == ir.NoType || !declared || f.optional {
			break
		}
	}
	return region.Pattern{Segments: p.Segments[:n]}
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

// MaxMerged bounds the members that are looked at to add up the alternatives of the
// unions of a contract.
const MaxMerged = 1 << 20

// ErrMerged says that a contract's unions are beyond MaxMerged.
var ErrMerged = errors.New("the alternatives of its unions have too many members in common")

// A merger makes shapes of values that fit one of several. It remembers what it made,
// so that what shapes share is merged once.
type merger struct {
	numbers map[*shape]int
	made    map[string]*shape
	left    int // members that may still be looked at; below 0 everything is any
}

func newMerger() *merger {
	return &merger{numbers: map[*shape]int{}, made: map[string]*shape{}, left: MaxMerged}
}

// merge is the shape of a value that fits one of some shapes, nil where all are nil.
func merge(shapes ...*shape) *shape { return newMerger().all(shapes) }

func (m *merger) all(shapes []*shape) *shape {
	set, key := m.distinct(shapes)
	switch {
	case len(set) == 0:
		return nil
	case len(set) == 1:
		return set[0]
	case m.left < 0:
		return anyBag
	case slices.ContainsFunc(set, func(s *shape) bool { return s.kinds&kAny != 0 }):
		if slices.ContainsFunc(set, (*shape).holdsBags) {
			return anyBag
		}
		return anyShape
	}
	if s, known := m.made[key]; known {
		return s
	}
	s := m.sum(set)
	if m.left < 0 {
		s = anyBag
	}
	m.made[key] = s
	return s
}

// distinct drops what stands twice, and names the set.
func (m *merger) distinct(shapes []*shape) (set []*shape, key string) {
	var name []byte
	seen := map[*shape]bool{}
	for _, s := range shapes {
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		number, known := m.numbers[s]
		if !known {
			number = len(m.numbers)
			m.numbers[s] = number
		}
		set, name = append(set, s), append(strconv.AppendInt(name, int64(number), 36), ' ')
	}
	return set, string(name)
}

func (m *merger) sum(set []*shape) *shape {
	out := &shape{literals: sumLiterals(set), sumOf: set}
	var rests, elems []*shape
	records := 0
	for _, s := range set {
		out.kinds |= s.kinds
		rests, elems = append(rests, s.rest), append(elems, s.elem)
		if s.kinds&kRecord != 0 {
			records++
			out.id = s.id
		}
	}
	if records != 1 {
		out.id = ir.NoType // several records: no single object type
	}
	out.members = m.sumMembers(set, records)
	out.rest, out.elem = m.all(rests), m.all(elems)
	out.cel = celType(out)
	out.findBags()
	return out
}

// sumLiterals lists the strings that a value may be, nil if any may occur.
func sumLiterals(set []*shape) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range set {
		if s.kinds&kString != 0 && s.literals == nil {
			return nil
		}
		for _, l := range s.literals {
			if !seen[l] {
				seen[l] = true
				out = append(out, l)
			}
		}
	}
	return out
}

// sumMembers merges members of one name. Where only some of the records have it, or a
// map may have it, it is optional; a value that is no object at all does not count:
// of T | null the member is there when the record is.
func (m *merger) sumMembers(set []*shape, records int) map[string]*field {
	type entry struct {
		shapes   []*shape
		optional bool
		having   int
		in       map[*shape]bool // of those with a rest
	}
	var open []*shape
	entries := map[string]*entry{}
	declared := false
	for _, s := range set {
		if s.rest != nil {
			open = append(open, s)
		}
		declared = declared || s.members != nil
		for name, f := range s.members {
			m.left--
			e := entries[name]
			if e == nil {
				e = &entry{in: map[*shape]bool{}}
				entries[name] = e
			}
			e.shapes, e.optional, e.having = append(e.shapes, f.shape), e.optional || f.optional, e.having+1
			if s.rest != nil {
				e.in[s] = true
			}
		}
	}
	if !declared {
		return nil
	}
	out := make(map[string]*field, len(entries))
	for name, e := range entries {
		for _, s := range open {
			m.left--
			if !e.in[s] {
				e.shapes, e.optional = append(e.shapes, s.rest), true
			}
		}
		out[name] = &field{shape: m.all(e.shapes), optional: e.optional || e.having < records}
	}
	return out
}
