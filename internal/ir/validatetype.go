package ir

import (
	"encoding/json"
	"strings"
)

// A typePart is a set of what a type may have beside its kind.
type typePart uint8

const (
	elemPart typePart = 1 << iota
	memberPart
	restPart
	alternativePart
	literalPart
	keyFieldPart
	targetPart
)

// typeParts says of each kind of type what it needs, and what it may have.
var typeParts = map[TypeKind]struct{ needs, may typePart }{
	StringType: {}, NumberType: {}, IntType: {}, BoolType: {}, NullType: {}, AnyType: {},
	LiteralType: {needs: literalPart},
	UnionType:   {needs: alternativePart},
	MapType:     {needs: elemPart},
	ListType:    {needs: elemPart},
	SetType:     {needs: elemPart},
	LogType:     {needs: elemPart},
	KeyedType:   {needs: elemPart | keyFieldPart},
	RefType:     {needs: targetPart},
	RecordType:  {may: memberPart | restPart},
}

// holds is what a type has beside its kind.
func (t *Type) holds() typePart {
	out := typePart(0)
	for _, part := range []struct {
		is   bool
		what typePart
	}{
		{t.Elem != NoType, elemPart},
		{len(t.Members) > 0, memberPart},
		{t.Rest != NoType, restPart},
		{len(t.Alternatives) > 0, alternativePart},
		{t.Literal != "", literalPart},
		{t.KeyField != "", keyFieldPart},
		{t.Target != nil, targetPart},
	} {
		if part.is {
			out |= part.what
		}
	}
	return out
}

// isWhole reports whether a type is of a known kind and has what its kind needs, and
// nothing else.
func (t *Type) isWhole() bool {
	parts, known := typeParts[t.Kind]
	has := t.holds()
	return known && has&parts.needs == parts.needs && has&^(parts.needs|parts.may) == 0 && (t.Kind != LiteralType || isScalar(t.Literal))
}

// isScalar reports whether a text is one JSON value that is no array or object, without
// blanks around it.
func isScalar(text string) bool {
	return json.Valid([]byte(text)) && strings.IndexByte(`"-0123456789tfn`, text[0]) >= 0 && strings.TrimSpace(text) == text
}

// children lists the types that a type uses.
func (t *Type) children() []TypeID {
	out := append([]TypeID{}, t.Alternatives...)
	for _, m := range t.Members {
		out = append(out, m.Type)
	}
	for _, id := range []TypeID{t.Elem, t.Rest} {
		if id != NoType {
			out = append(out, id)
		}
	}
	return out
}

// validateExtents demands that no type describes more than the compiler lets pass.
func (c *Contract) validateExtents() error {
	extents, entries := make([]Extent, len(c.Types)), 0
	for id := range c.Types {
		t := &c.Types[id]
		extents[id] = t.Extent(func(below TypeID) Extent { return extents[below] })
		if entries += t.Entries(); extents[id].Exceeds() || entries > MaxTypeEntries {
			return malformed("a type is larger than any type may be")
		}
	}
	return nil
}
