package syntax

// A TypeExpr is a type as written. The cases are NamedType, LiteralType,
// UnionType, ContainerType, KeyType, RecordType, SecretType and WhereType.
// Parentheses leave no node.
//
// Precedence, tightest first: "where" after a type (the nearest one), the
// prefixes "secret", "map of", "list of", "set of", "log of", then "|". A "|"
// directly after "... of T" is a mistake that asks for parentheses.
type TypeExpr interface {
	typeExpr()
}

// NamedType is a built-in (string number int bool any null) or a declared type, possibly "alias.Name".
type NamedType struct {
	Node
	Name Name
}

// LiteralType is a JSON string, number, true or false; Text is the literal as written.
type LiteralType struct {
	Node
	Text string `parser:"@( String | Int | Number | 'true' | 'false' )"`
}

// UnionType is "A | B ...".
type UnionType struct {
	Node
	Alternatives []TypeExpr
}

// ContainerType is "map of T", "list of T", "list of T by FIELD", "set of T" or "log of T".
type ContainerType struct {
	Node
	Keyword Name // map, list, set, log
	Elem    TypeExpr
	By      *Name // FIELD of "list of T by FIELD"
}

// KeyType is "key of PATH".
type KeyType struct {
	Node
	Of *Path
}

// RecordType is "{ fields }"; Rest is the type after "*:", nil in a closed record.
type RecordType struct {
	Node
	Fields []*Field
	Rest   TypeExpr
}

// A Field is "name: T" or "name?: T".
type Field struct {
	Node
	Doc      string
	Name     Name // quoted names are decoded
	Optional bool
	Type     TypeExpr
}

// SecretType is "secret T".
type SecretType struct {
	Node
	Type TypeExpr
}

// WhereType is "T where { CEL over self }".
type WhereType struct {
	Node
	Type TypeExpr
	Expr *Expr
}

func (*NamedType) typeExpr()     {}
func (*LiteralType) typeExpr()   {}
func (*UnionType) typeExpr()     {}
func (*ContainerType) typeExpr() {}
func (*KeyType) typeExpr()       {}
func (*RecordType) typeExpr()    {}
func (*SecretType) typeExpr()    {}
func (*WhereType) typeExpr()     {}
