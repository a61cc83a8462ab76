package ir

import (
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
