package guide

import (
	"encoding/json"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
)

// A Shape says what a value may be. Kind says which of the other members are set.
type Shape struct {
	Kind         ShapeKind       `json:"kind"`
	Name         string          `json:"name,omitempty"` // of a named one: see Guide.Types
	Literal      json.RawMessage `json:"literal,omitempty"`
	Alternatives []Shape         `json:"alternatives,omitempty"`
	Of           *Shape          `json:"of,omitempty"`      // of what has entries or elements
	KeyField     string          `json:"by,omitempty"`      // of a keyed list: the member that the key of an entry must equal
	Members      []Member        `json:"members,omitempty"` // of a record
	Rest         *Shape          `json:"rest,omitempty"`    // of a record that may have other members
	Target       string          `json:"target,omitempty"`  // of a key: the container whose keys are meant
	Doc          string          `json:"doc,omitempty"`     // of a literal: what the contract says of it
	Where        []string        `json:"where,omitempty"`   // what else must hold of it, in words or as the contract has it
}

// A Member is one of a record.
type Member struct {
	Name     string `json:"name"`
	Optional bool   `json:"optional,omitempty"`
	Shape    Shape  `json:"shape"`
	Doc      string `json:"doc,omitempty"`
}

// A NamedShape is a shape that others name.
type NamedShape struct {
	Name  string `json:"name"`
	Shape Shape  `json:"shape"`
}

// A ShapeKind is a form of values.
type ShapeKind string

// The kinds of shapes: those of the language's types, and a name for one of them.
const (
	StringShape  ShapeKind = "string"
	NumberShape  ShapeKind = "number"
	IntShape     ShapeKind = "int"
	BoolShape    ShapeKind = "bool"
	NullShape    ShapeKind = "null"
	AnyShape     ShapeKind = "any"
	LiteralShape ShapeKind = "literal"
	UnionShape   ShapeKind = "union"
	MapShape     ShapeKind = "map"
	ListShape    ShapeKind = "list"
	SetShape     ShapeKind = "set"
	LogShape     ShapeKind = "log"
	KeyedShape   ShapeKind = "keyed"
	KeyShape     ShapeKind = "key"
	RecordShape  ShapeKind = "record"
	NamedKind    ShapeKind = "named"
)

// shapeOf is the shape of what may have one of some types.
func (b *builder) shapeOf(types []ir.TypeID) Shape {
	if len(types) == 1 {
		return b.shape(types[0])
	}
	out := Shape{Kind: UnionShape}
	for _, id := range types {
		out.Alternatives = append(out.Alternatives, b.shape(id))
	}
	return out
}

// shapeAt is the shape of what may stand at a site: of an entry of a keyed list, with what its key
// field must hold.
func (b *builder) shapeAt(s *site) Shape {
	if s.keyField == "" || len(s.raw) != 1 || b.contract.Types[s.raw[0]].Kind != ir.RecordType {
		return b.shapeOf(s.raw)
	}
	out := b.describe(s.raw[0])
	last := s.segments[len(s.segments)-1]
	for i, m := range b.contract.Types[s.raw[0]].Members {
		if m.Name != s.keyField {
			continue
		}
		if out.Members[i].Shape = b.describe(m.Type); !isWildcard(last) {
			out.Members[i].Shape = Shape{Kind: LiteralShape, Literal: encoded(last.Text)}
		} else {
			out.Members[i].Shape.Where = append(slices.Clip(out.Members[i].Shape.Where), "the same as in the path")
		}
	}
	return out
}

// shape is that of a type. A type with a name is described once; if two have one name, the
// second is described where it stands.
func (b *builder) shape(id ir.TypeID) Shape {
	t := &b.contract.Types[id]
	if t.Name == "" {
		return b.describe(id)
	}
	first, known := b.named[t.Name]
	if !known {
		b.named[t.Name] = id
		at := len(b.guide.Types)
		b.guide.Types = append(b.guide.Types, NamedShape{Name: t.Name})
		described := b.describe(id)
		b.guide.Types[at].Shape = described
	} else if first != id && !b.alike(first, id) {
		return b.describe(id)
	}
	return Shape{Kind: NamedKind, Name: t.Name}
}

// alike reports whether two types differ in no more than in being secret.
func (b *builder) alike(x, y ir.TypeID) bool {
	s, t := b.contract.Types[x], b.contract.Types[y]
	same := func(v, w ir.Expr) bool { return v.Source == w.Source && v.Message == w.Message }
	return s.Kind == t.Kind && s.Elem == t.Elem && s.Rest == t.Rest && s.Literal == t.Literal && s.KeyField == t.KeyField &&
		slices.Equal(s.Members, t.Members) && slices.Equal(s.Alternatives, t.Alternatives) && slices.EqualFunc(s.Where, t.Where, same)
}

func (b *builder) describe(id ir.TypeID) Shape {
	t := &b.contract.Types[id]
	kind := ShapeKind(t.Kind)
	if t.Kind == ir.DecimalType {
		kind = NumberShape // which is how it is written
	}
	out := Shape{Kind: kind, KeyField: t.KeyField, Doc: t.Doc, Where: t.Demands()}
	if t.Elem != ir.NoType {
		of := b.shape(t.Elem)
		out.Of = &of
	}
	if t.Rest != ir.NoType {
		rest := b.shape(t.Rest)
		out.Rest = &rest
	}
	if t.Literal != "" {
		out.Literal = json.RawMessage(t.Literal)
	}
	if t.Target != nil {
		out.Target = b.pointerOf(*t.Target)
	}
	for _, a := range t.Alternatives {
		out.Alternatives = append(out.Alternatives, b.shape(a))
	}
	for _, m := range t.Members {
		out.Members = append(out.Members, Member{m.Name, m.Optional, b.shape(m.Type), m.Doc})
	}
	return out
}
