package syntax

// A TypeExpr is a type as written. The cases are NamedType, LiteralType,
// UnionType, ContainerType, KeyType, RecordType, SecretType and WhereType.
// Parentheses leave no node.
//
// Precedence, tightest first: "where" after a type (the nearest one), the
// prefixes "secret", "map of", "list of", "set of", "log of", then "|". A "|"
// directly after "... of T" is a mistake that asks for parentheses.
//
// TypeExpr, TypeTerm and TypeAtom are the levels of precedence for the grammar, and
// TypeBody what stands in a type declaration; a reader of the tree takes each for a
// TypeExpr. Each level is one node of the tree, left out (parseType, parseTerm) where
// the text says nothing on that level.
type TypeExpr interface {
	typeExpr()
}

// A TypeTerm is a type that ends before a "|".
type TypeTerm interface {
	TypeExpr
}

// A TypeAtom is a type that ends before a "where".
type TypeAtom interface {
	TypeExpr
}

// A TypeBody is "= T", or T if it starts with a record.
type TypeBody interface {
	TypeExpr
}

// typeBody is a TypeBody as the grammar sees it; the tree has the type.
type typeBody struct {
	Node
	Type TypeExpr `parser:"'=' @@ | (?= '{') @@"`
}

// UnionType is "A | B ...".
type UnionType struct {
	Node
	Alternatives []TypeTerm `parser:"@@ ( '|' @@ )*"`
}

// WhereType is "T where [MESSAGE] { CEL over self } ...".
type WhereType struct {
	Node
	Type        TypeAtom      `parser:"@@"`
	Constraints []*Constraint `parser:"( 'where' @@ )*"`
}

// A Constraint is what stands after a "where": "[MESSAGE] { CEL over self }".
type Constraint struct {
	Node
	Message *StringLit `parser:"@@?"`
	Expr    *Expr      `parser:"@@"`
}

// SecretType is "secret T".
type SecretType struct {
	Node
	Type TypeTerm `parser:"'secret' @@"`
}

// KeyType is "key of PATH".
type KeyType struct {
	Node
	Of *Path `parser:"'key' 'of' @@"`
}

// ContainerType is "map of T", "list of T", "list of T by FIELD", "set of T" or "log of T".
type ContainerType struct {
	Node
	Keyword Name       // the type's first token: map, list, set or log
	Elem    TypeTerm   `parser:"( 'map' | 'list' | 'set' | 'log' ) 'of' @@"`
	By      *FieldName `parser:"( 'by' @@ )?"` // FIELD of "list of T by FIELD"
}

// RecordType is "{ fields }"; Rest is the type after "*:", nil in a closed record.
type RecordType struct {
	Node
	Fields []*Field `parser:"'{' ( (?= Field) @@ )*"`
	Rest   TypeExpr `parser:"( '*' ':' @@ )? '}'"`
}

// A Field is "name: T" or "name?: T".
type Field struct {
	Node
	Documented
	Name     FieldName `parser:"@@"`
	Optional bool      `parser:"( ':' | @'?:' )"`
	Type     TypeExpr  `parser:"@@"`
}

// typeGroup is "( T )", in whose place the tree has T.
type typeGroup struct {
	Node
	Type TypeExpr `parser:"'(' @@ ')'"`
}

// LiteralType is a JSON string, number, true or false; Text is the literal as written. Of an
// alternative, comments above its "|" are above it.
type LiteralType struct {
	Node
	Documented
	Text string `parser:"@( String | Int | Number | 'true' | 'false' )"`
}

// NamedType is a built-in (string number int bool any null) or a declared type, possibly "alias.Name".
type NamedType struct {
	Node
	Name Name `parser:"@@"`
}

func (*UnionType) typeExpr()     {}
func (*WhereType) typeExpr()     {}
func (*SecretType) typeExpr()    {}
func (*KeyType) typeExpr()       {}
func (*ContainerType) typeExpr() {}
func (*RecordType) typeExpr()    {}
func (*typeGroup) typeExpr()     {}
func (*LiteralType) typeExpr()   {}
func (*NamedType) typeExpr()     {}
