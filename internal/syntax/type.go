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

func (*NamedType) typeExpr() {}

func (*LiteralType) typeExpr() {}

func (*UnionType) typeExpr() {}

func (*ContainerType) typeExpr() {}

func (*KeyType) typeExpr() {}

func (*RecordType) typeExpr() {}

func (*SecretType) typeExpr() {}

func (*WhereType) typeExpr() {}

// Types have two trees: the one below is the grammar, one level of it per level
// of precedence; the public one has a node only where the text says
// something. convert turns the first into the second.

// typeSyntax is a type: alternatives separated by "|".
type typeSyntax struct {
	Node
	Alternatives []*typeTerm `parser:"@@ ( '|' @@ )*"`
}

// typeTerm is a type with the constraints directly after it.
type typeTerm struct {
	Node
	Atom  *typeAtom      `parser:"@@"`
	Where []*whereSyntax `parser:"@@*"`
}

type whereSyntax struct {
	Node
	Expr *Expr `parser:"'where' @@"`
}

type typeAtom struct {
	Node
	Secret    *typeTerm        `parser:"  'secret' @@"`
	Key       *Path            `parser:"| 'key' 'of' @@"`
	Container *containerSyntax `parser:"| @@"`
	Record    *recordSyntax    `parser:"| @@"`
	Group     *typeSyntax      `parser:"| '(' @@ ')'"`
	Literal   *LiteralType     `parser:"| @@"`
	Name      *Name            `parser:"| @@"`
}

type containerSyntax struct {
	Node
	Keyword string     `parser:"@( 'map' | 'list' | 'set' | 'log' )"`
	Elem    *typeTerm  `parser:"'of' @@"`
	By      *fieldWord `parser:"( 'by' @@ )?"`
}

// fieldWord names a field outside a record; keywords are allowed.
type fieldWord struct {
	Node
	Text string `parser:"@( Ident | Keyword | Field )"`
}

type recordSyntax struct {
	Node
	Fields []*fieldSyntax `parser:"'{' @@*"`
	Rest   *typeSyntax    `parser:"( '*' ':' @@ )? '}'"`
}

type fieldSyntax struct {
	Node
	Name     fieldName   `parser:"@@"`
	Optional bool        `parser:"( ':' | @'?:' )"`
	Type     *typeSyntax `parser:"@@"`
}

type fieldName struct {
	Node
	Text string `parser:"@Field"`
}

func (s *typeSyntax) convert() TypeExpr {
	if s == nil {
		return nil
	}
	if len(s.Alternatives) == 1 {
		return s.Alternatives[0].convert()
	}
	u := &UnionType{Node: s.Node}
	for _, a := range s.Alternatives {
		u.Alternatives = append(u.Alternatives, a.convert())
	}
	return u
}

func (t *typeTerm) convert() TypeExpr {
	typ := t.Atom.convert()
	for _, w := range t.Where {
		n := t.Node
		n.EndPos = w.EndPos
		typ = &WhereType{Node: n, Type: typ, Expr: w.Expr}
	}
	return typ
}

func (a *typeAtom) convert() TypeExpr {
	switch {
	case a.Secret != nil:
		return &SecretType{Node: a.Node, Type: a.Secret.convert()}
	case a.Key != nil:
		return &KeyType{Node: a.Node, Of: a.Key}
	case a.Container != nil:
		return a.Container.convert()
	case a.Record != nil:
		return a.Record.convert()
	case a.Group != nil:
		return a.Group.convert()
	case a.Literal != nil:
		return a.Literal
	}
	return &NamedType{Node: a.Node, Name: *a.Name}
}

func (c *containerSyntax) convert() TypeExpr {
	// The keyword is the node's first token: finish gives it its span.
	t := &ContainerType{Node: c.Node, Keyword: Name{Text: c.Keyword}, Elem: c.Elem.convert()}
	if c.By != nil {
		t.By = &Name{Node: c.By.Node, Text: c.By.Text}
	}
	return t
}

func (r *recordSyntax) convert() TypeExpr {
	t := &RecordType{Node: r.Node, Rest: r.Rest.convert()}
	for _, f := range r.Fields {
		t.Fields = append(t.Fields, &Field{
			Node:     f.Node,
			Name:     Name{Node: f.Name.Node, Text: f.Name.Text},
			Optional: f.Optional,
			Type:     f.Type.convert(),
		})
	}
	return t
}
