package ir

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/region"
)

// TypeID is an index into Contract.Types. 0 means no type.
type TypeID int

// NoType is the absent type.
const NoType TypeID = 0

// TypeKind is the constructor of a state type.
type TypeKind string

// The constructors of language.md, "State and types".
const (
	StringType  TypeKind = "string"
	NumberType  TypeKind = "number"
	IntType     TypeKind = "int"
	DecimalType TypeKind = "decimal" // a number whose arithmetic is exact
	BoolType    TypeKind = "bool"
	NullType    TypeKind = "null"
	AnyType     TypeKind = "any"
	LiteralType TypeKind = "literal" // exactly Literal
	UnionType   TypeKind = "union"   // one of Alternatives
	MapType     TypeKind = "map"     // object: every member is an Elem
	ListType    TypeKind = "list"    // array of Elem, ordered
	SetType     TypeKind = "set"     // array of Elem without duplicates, order without meaning
	LogType     TypeKind = "log"     // append-only array of Elem, a multiset to equality
	KeyedType   TypeKind = "keyed"   // list of Elem by KeyField: in the state an object keyed by it, in files an array
	RefType     TypeKind = "key"     // string naming an existing member of the map (or keyed list) at Target
	RecordType  TypeKind = "record"  // object with Members; closed unless Rest is set
)

// A Type is one node of the state's type graph. Types do not recurse, so the
// graph reached from any TypeID is finite and acyclic.
type Type struct {
	Kind         TypeKind        `json:"kind"`
	Name         string          `json:"name,omitempty"` // the declared name, for messages
	Elem         TypeID          `json:"elem,omitempty"`
	Members      []Member        `json:"members,omitempty"` // of a record, in declared order
	Rest         TypeID          `json:"rest,omitempty"`    // an open record's other members
	Alternatives []TypeID        `json:"alternatives,omitempty"`
	Literal      string          `json:"literal,omitempty"` // canonical JSON text of the only value
	Doc          string          `json:"doc,omitempty"`     // of a literal: what it means
	KeyField     string          `json:"keyField,omitempty"`
	Target       *region.Pattern `json:"target,omitempty"` // of a RefType: the container whose keys are meant
	Where        []Expr          `json:"where,omitempty"`  // constraints over self
	Secret       bool            `json:"secret,omitempty"`
}

// A Member is a field of a record type.
type Member struct {
	Name     string `json:"name"`
	Type     TypeID `json:"type"`
	Optional bool   `json:"optional,omitempty"`
	Doc      string `json:"doc,omitempty"`
}

// Member finds a record's member by name in O(members).
func (t *Type) Member(name string) (Member, bool) {
	for _, m := range t.Members {
		if m.Name == name {
			return m, true
		}
	}
	return Member{}, false
}

// Limits of the types of a contract. Types share what they use, so that a short
// text can describe a very large value; these bound what becomes of it where the
// places of a state are gone through one by one.
const (
	MaxPlaces      = 1 << 18 // places of a type: members, entries and alternatives, at every depth
	MaxLevels      = 256     // levels of a type
	MaxTypeEntries = 1 << 20 // types of a contract with their members, alternatives and constraints
)

// An Extent is how large the values are that a type describes. What two members
// share counts for each of them.
type Extent struct{ Places, Levels int }

// Exceeds reports whether a type of this extent is beyond the limits.
func (e Extent) Exceeds() bool { return e.Places > MaxPlaces || e.Levels > MaxLevels }

// Extent is the extent of t, given those of the types it uses. O(members).
func (t *Type) Extent(of func(TypeID) Extent) Extent {
	out := Extent{Places: 1}
	add := func(id TypeID, deeper int) {
		if id == NoType {
			return
		}
		below := of(id)
		out.Places = min(out.Places+below.Places, MaxPlaces+1)
		out.Levels = max(out.Levels, min(below.Levels+deeper, MaxLevels+1))
	}
	for _, a := range t.Alternatives {
		add(a, 0)
	}
	for _, m := range t.Members {
		add(m.Type, 1)
	}
	add(t.Rest, 1)
	add(t.Elem, 1)
	return out
}

// Entries is what a type adds to the table of types.
func (t *Type) Entries() int { return 1 + len(t.Members) + len(t.Alternatives) + len(t.Where) }

// TypeText names a type as an author would: its declared name, or its form.
func (c *Contract) TypeText(id TypeID) string {
	t := c.Type(id)
	if t.Name != "" {
		return t.Name
	}
	switch t.Kind {
	case LiteralType:
		return t.Literal
	case UnionType:
		var names []string
		for _, a := range t.Alternatives {
			names = append(names, c.TypeText(a))
		}
		return strings.Join(names, " | ")
	case MapType, ListType, SetType, LogType:
		return string(t.Kind) + " of " + c.TypeText(t.Elem)
	case KeyedType:
		return "list of " + c.TypeText(t.Elem) + " by " + t.KeyField
	case RefType:
		return "key of " + t.Target.Source()
	}
	return string(t.Kind)
}

// NeedsState reports whether what a type says makes sense in a state only: that a key is
// there, that entries go on to be.
func (t *Type) NeedsState() bool { return t.Kind == RefType || t.Kind == LogType }

// Holds reports whether a type, or one that it uses at any depth, is of some sort. Each is
// asked once.
func (c *Contract) Holds(id TypeID, sort func(*Type) bool) bool {
	asked := map[TypeID]bool{NoType: true}
	var any func(id TypeID) bool
	any = func(id TypeID) bool {
		if asked[id] {
			return false
		}
		asked[id] = true
		t := c.Type(id)
		return sort(t) || any(t.Elem) || any(t.Rest) || slices.ContainsFunc(t.Alternatives, any) ||
			slices.ContainsFunc(t.Members, func(m Member) bool { return any(m.Type) })
	}
	return any(id)
}

// SameType reports whether a type of one contract has the values that one of another, or of
// the same, has, by what they say: names count for nothing. It may miss that they are equal.
// Each pair is compared once.
func SameType(c *Contract, a TypeID, d *Contract, b TypeID) bool {
	compared := map[[2]TypeID]bool{}
	var same func(a, b TypeID) bool
	same = func(a, b TypeID) bool {
		if a == NoType || b == NoType || c == d && a == b {
			return a == b
		}
		if compared[[2]TypeID{a, b}] {
			return true // or the comparison has ended already
		}
		compared[[2]TypeID{a, b}] = true
		t, u := c.Type(a), d.Type(b)
		target := t.Target == nil && u.Target == nil || t.Target != nil && u.Target != nil && t.Target.String() == u.Target.String()
		return t.Kind == u.Kind && t.Literal == u.Literal && t.KeyField == u.KeyField && t.Secret == u.Secret && target &&
			slices.EqualFunc(t.Where, u.Where, func(x, y Expr) bool { return x.Source == y.Source }) &&
			slices.EqualFunc(t.Members, u.Members, func(m, n Member) bool {
				return m.Name == n.Name && m.Optional == n.Optional && same(m.Type, n.Type)
			}) &&
			slices.EqualFunc(t.Alternatives, u.Alternatives, same) && same(t.Elem, u.Elem) && same(t.Rest, u.Rest)
	}
	return same(a, b)
}
