package syntax

import "github.com/patchoptic/poptic/lang/source"

// A File is the tree of one source file.
type File struct {
	Source *source.File
	Header *Header // nil if the file has none (a test file may)
	Decls  []Decl  // in source order, imports included; partial where there were mistakes
	Tokens []Token // every token, comments included, in order: the formatter's input
	// Lost holds the words of what mistakes made unreadable: what such a word stood for is not known.
	Lost map[string]bool
}

// A Decl is one top-level declaration.
type Decl interface {
	GetSpan() source.Span
	// DeclName is the declared name; its Text is "" where the declaration has none (state, phases, prove).
	DeclName() Name
}

// Node is the part every tree node has: the span of source text it was read from.
type Node struct {
	Span source.Span
	extent
}

// GetSpan returns the node's span.
func (n Node) GetSpan() source.Span { return n.Span }

func (n *Node) node() *Node { return n }

// Documented is the part of a node above which comments can stand: Doc is their text.
type Documented struct {
	Doc string
}

func (d *Documented) document(doc string) { d.Doc = doc }

// IsItem reports whether a node is one of those that a file or a block is a sequence of: the
// header, a declaration, a field, a phase, a clause.
func IsItem(n any) bool {
	if _, literal := n.(*LiteralType); literal {
		return false
	}
	_, ok := n.(interface{ document(string) })
	return ok
}

// A Token is one lexical token; white space between tokens is not a token.
type Token struct {
	Span source.Span
	Kind TokenKind
}

// GetSpan returns the token's span.
func (t Token) GetSpan() source.Span { return t.Span }

// TokenKind is the class of a token.
type TokenKind uint8

// The classes of tokens.
const (
	BadToken     TokenKind = iota // bytes that no rule takes; always reported
	CommentToken                  // "#" to the end of the line
	WordToken                     // a name or keyword, possibly qualified: pii.Email
	FieldToken                    // the name of a record's field, without its colon; a word or a string
	StringToken                   // a JSON string
	NumberToken                   // a JSON number
	PathToken                     // a path pattern
	ExprToken                     // CEL with its braces
	JSONToken                     // JSON written in a test, with its brackets
	PunctToken                    // everything else
)

// A Name is an identifier, possibly qualified by an import's alias ("pii.Email").
type Name struct {
	Node
	Text string `parser:"@(Ident | Qualified)"`
}

// A FieldName is the name of a record's field; a quoted one is decoded.
type FieldName struct {
	Node
	Text string `parser:"@( Ident | Keyword | Field )"`
}

// A StringLit is a JSON string literal; Value is decoded.
type StringLit struct {
	Node
	Value string `parser:"@String"`
}

// An Expr is CEL source in braces. Span covers the text between the braces,
// verbatim: CEL positions are offsets into it. Outer covers the braces as well.
type Expr struct {
	Node
	Text  string `parser:"@Expr"`
	Outer source.Span
}

// Header is "contract NAME [sealed]" or "library NAME". NAME may contain dots.
type Header struct {
	Node
	Documented
	Library bool `parser:"( 'contract' | @'library' )"`
	Name    Name `parser:"@@"`
	Sealed  bool `parser:"@'sealed'?"`
}

// Import is `import "std/pii" as pii`. Without as, the alias is the last path element without its extension.
type Import struct {
	Node
	Documented
	Path  StringLit `parser:"'import' @@"`
	Alias Name      `parser:"( 'as' @@ )?"` // Text "" if none was written
}

// StateDecl is "state { fields }" or "state TYPE".
type StateDecl struct {
	Node
	Documented
	Type TypeExpr `parser:"'state' @@"` // a *RecordType for the brace form
}

// TypeDecl is "type N { ... }" or "type N = TYPE".
type TypeDecl struct {
	Node
	Documented
	Name Name     `parser:"'type' @@"`
	Type TypeBody `parser:"@@"`
}

// PhasesDecl is "phases { ... }".
type PhasesDecl struct {
	Node
	Documented
	Phases []*Phase `parser:"'phases' '{' @@* '}'"`
}

// A Phase is one line of the phase graph: its name and where one may go from it.
type Phase struct {
	Node
	Documented
	Name   Name     `parser:"@@"`
	Arrows []*Arrow `parser:"( '->' @@ ( ',' @@ )* )?"`
}

// An Arrow is one target of a phase: "b", "b when { CEL }", "b by host".
type Arrow struct {
	Node
	To     Name  `parser:"@@"`
	ByHost bool  `parser:"( 'by' @'host'"`
	Guard  *Expr `parser:"| 'when' @@ )*"`
}

// RegionDecl is "region NAME = REGION".
type RegionDecl struct {
	Node
	Documented
	Name   Name        `parser:"'region' @@"`
	Region *RegionExpr `parser:"'=' @@"`
}

// A RegionExpr is a list of grants, separated by commas.
type RegionExpr struct {
	Node
	Grants []*GrantExpr `parser:"@@ ( ',' @@ )*"`
}

// A GrantExpr is "[blind | RIGHT, ...] A [& B ...] [except E | except (E, ...)]", where a
// right is create, update or delete.
type GrantExpr struct {
	Node
	Blind     bool          `parser:"( @'blind'"` // in a write clause only
	Rights    []Right       `parser:"| @@ ( ',' @@ )* )?"`
	Intersect []*RegionAtom `parser:"@@ ( '&' @@ )*"` // one, or the operands of "&"
	Except    []*RegionAtom `parser:"( 'except' ( '(' @@ ( ',' @@ )* ')' | @@ ) )?"`
}

// A Right is a word before a grant that says what it lets happen.
type Right struct {
	Node
	Text string // create, update or delete
}

// A RegionAtom is a path, a region's name (possibly "alias.name"), the built-in
// "secrets", or a region in parentheses. Exactly one field is set.
type RegionAtom struct {
	Node
	Path    *Path       `parser:"  @@"`
	Secrets bool        `parser:"| @'secrets'"`
	Name    *Name       `parser:"| @@"`
	Group   *RegionExpr `parser:"| '(' @@ ')'"`
}

// A Path is a path pattern. Text is as written.
type Path struct {
	Node
	Text     string `parser:"@Path"`
	Segments []*PathSegment
}

// PathSegmentKind is the form of a path segment.
type PathSegmentKind uint8

// The forms of a segment in the surface syntax.
const (
	LiteralSegment PathSegmentKind = iota // a key, decoded (RFC 6901 escapes or JSON quotes undone)
	StarSegment                           // *
	DeepSegment                           // **
	ChoiceSegment                         // (a|b)
	ParamSegment                          // {p}
	DashSegment                           // -
)

// A PathSegment is one segment of a Path.
type PathSegment struct {
	Node
	Kind    PathSegmentKind
	Text    string         // the decoded key, or the parameter's name
	Choices []*PathSegment // of a ChoiceSegment: literals
	Bad     bool           // it could not be read, which was reported
}

// RolesDecl is "roles NAME = ROLE, ...".
type RolesDecl struct {
	Node
	Documented
	Name  Name   `parser:"'roles' @@"`
	Roles []Name `parser:"'=' @@ ( ',' @@ )*"`
}

// ConstDecl is "const NAME = LITERAL".
type ConstDecl struct {
	Node
	Documented
	Name  Name         `parser:"'const' @@"`
	Value *LiteralType `parser:"'=' @@"`
}

// DefineDecl is "define NAME(PARAMS) = { CEL }".
type DefineDecl struct {
	Node
	Documented
	Name   Name   `parser:"'define' @@"`
	Params []Name `parser:"'(' ( @@ ( ',' @@ )* )? ')'"`
	Expr   *Expr  `parser:"'=' @@"`
}

// MeasureDecl is "measure NAME = sum|count|min|max PATH [where { CEL }]".
type MeasureDecl struct {
	Node
	Documented
	Name  Name  `parser:"'measure' @@"`
	Kind  Name  `parser:"'=' @@"`
	Over  *Path `parser:"@@"`
	Where *Expr `parser:"( 'where' @@ )?"`
}

// InvariantDecl is "invariant NAME [each x in PATH] [MESSAGE] { CEL }" or
// "invariant NAME [MESSAGE] unique PATH, ...", or with Change "change NAME ..." of the
// first form.
type InvariantDecl struct {
	Node
	Documented
	Change  bool       `parser:"( 'invariant' | @'change' )"`
	Name    Name       `parser:"@@"`
	Each    *Each      `parser:"@@?"`
	Message *StringLit `parser:"@@?"`
	Expr    *Expr      `parser:"( @@"`
	Unique  []*Path    `parser:"| 'unique' @@ ( ',' @@ )* )"` // values that are unique together
}

// Each is "each [k,] x in PATH".
type Each struct {
	Node
	First  Name  `parser:"'each' @@"`
	Second *Name `parser:"( ',' @@ )?"`
	Over   *Path `parser:"'in' @@"`
}

// Var is what the entry is called.
func (e *Each) Var() *Name {
	if e.Second != nil {
		return e.Second
	}
	return &e.First
}

// Key is what the entry's key is called, nil if it has no name.
func (e *Each) Key() *Name {
	if e.Second != nil {
		return &e.First
	}
	return nil
}

// StageDecl is "stage NAME(params) { clauses }"; as "delegate NAME from S { clauses }" From is set.
type StageDecl struct {
	Node
	Documented
	Delegate bool      `parser:"( 'stage' | @'delegate' )"`
	Name     Name      `parser:"@@"`
	From     *Name     `parser:"( 'from' @@ )?"` // the parent of a delegate, nil for a stage
	Params   []*Param  `parser:"( '(' ( @@ ( ',' @@ )* )? ')' )?"`
	Clauses  []*Clause `parser:"'{' @@* '}'"`
}

// A Param is a stage parameter: "p in PATH", "p new in PATH", "p = PATH", with a condition or
// without, or "p: TYPE", a value, which has a Type and no Path.
type Param struct {
	Node
	Name Name  `parser:"@@"`
	New  bool  `parser:"( ( @'new'? 'in'"`
	From bool  `parser:"| @'=' )"` // "p = PATH"
	Path *Path `parser:"@@"`
	// Message and Where are those of "where [MESSAGE] { CEL }" behind a path.
	Message *StringLit `parser:"( 'where' @@?"`
	Where   *Expr      `parser:"  @@ )?"`
	Type    TypeExpr   `parser:"| ':' @@ )"`
}

// A Clause is one clause of a stage. Keyword tells which fields are set:
// in, by, next, after: Names; read, source, write: Region; delegable: Kind, Region; produce:
// Paths; require, ensure: Label, Message, Expr; attempts: Number; discloses: Gates.
type Clause struct {
	Node
	Documented
	Keyword Name        // the clause's first token
	Names   []Name      `parser:"  ( 'in' | 'by' | 'next' | 'after' ) @@ ( ',' @@ )*"`
	Kind    *GrantKind  `parser:"| ( 'read' | 'write' | 'source' | 'delegable' @@? )"` // nil if all that the stage has is meant
	Region  *RegionExpr `parser:"  @@"`
	Paths   []*Path     `parser:"| 'produce' @@ ( ',' @@ )*"`
	Label   *Name       `parser:"| ( 'require' | 'ensure' ) @@?"` // nil if the condition has no name
	Message *StringLit  `parser:"  @@?"`
	Expr    *Expr       `parser:"  @@"`
	Number  *Number     `parser:"| 'attempts' @@"`
	Gates   []*GateRef  `parser:"| 'discloses' @@ ( ',' @@ )*"`
}

// Name is what a stage has at most one clause of: the keyword, of "delegable" with the kind
// of what is handed on.
func (c *Clause) Name() string {
	if c.Kind != nil {
		return c.Keyword.Text + " " + c.Kind.Text
	}
	return c.Keyword.Text
}

// A GrantKind is the word behind "delegable" that says what is handed on.
type GrantKind struct {
	Node
	Text string // read, write or source
}

// A Number is an integer literal.
type Number struct {
	Node
	Value int `parser:"@Int"`
}

// A GateRef names a gate in a discloses clause: an invariant, "require",
// "ensure", "produce", "next PHASE", "where PARAMETER", or a typed node's path.
type GateRef struct {
	Node
	Of   Name  `parser:"  ( 'next' | 'where' ) @@"` // the phase, or the parameter
	Name Name  `parser:"| @@"`                      // the invariant or keyword; Text "" if Path is set
	Path *Path `parser:"| @@"`
}

// ComposeDecl is "compose NAME = A + B ...".
type ComposeDecl struct {
	Node
	Documented
	Name   Name   `parser:"'compose' @@"`
	Stages []Name `parser:"'=' @@ ( '+' @@ )*"`
}

// ParallelDecl is "parallel NAME = A | B ... [when HYPOTHESIS]".
type ParallelDecl struct {
	Node
	Documented
	Name   Name            `parser:"'parallel' @@"`
	Stages []Name          `parser:"'=' @@ ( '|' @@ )*"`
	When   *HypothesisExpr `parser:"( 'when' @@ )?"`
}

// ProveDecl is a prove statement. One of its claims is set.
type ProveDecl struct {
	Node
	Documented
	AllCommute *Name         `parser:"'prove' ( 'all' 'commute' 'in' @@"` // the phase of "all commute in PHASE"
	NoStage    *NoStageClaim `parser:"| 'no' ( 'stage' @@"`
	NoFlow     *NoFlowClaim  `parser:"| 'flow' @@ )"`
	Pair       *PairClaim    `parser:"| @@ )"`
}

// NoStageClaim is "no stage [except S, ...] reads|writes|copies REGION".
type NoStageClaim struct {
	Node
	Except []Name      `parser:"( 'except' @@ ( ',' @@ )* )?"`
	Verb   Name        `parser:"@@"`
	Region *RegionExpr `parser:"@@"`
}

// NoFlowClaim is "no flow from REGION to REGION [with memory]".
type NoFlowClaim struct {
	Node
	From   *RegionExpr `parser:"'from' @@"`
	To     *RegionExpr `parser:"'to' @@"`
	Memory bool        `parser:"( 'with' @'memory' )?"`
}

// A PairClaim is about two stages or two phases, A and one of the others:
// "A commutes with B [when HYPOTHESIS]", "A within B" or, of phases, "A before B".
type PairClaim struct {
	Node
	A      Name            `parser:"@@"`
	With   *Name           `parser:"( 'commutes' 'with' @@"`
	When   *HypothesisExpr `parser:"  ( 'when' @@ )?"` // of commutes; nil if nothing is assumed
	Within *Name           `parser:"| 'within' @@"`
	Before *Name           `parser:"| 'before' @@ )"`
}

// A HypothesisExpr is what a claim assumes of the parameters of two runs: one of its
// alternatives, of which each is all of several differences.
type HypothesisExpr struct {
	Node
	Any []*DifferencesExpr `parser:"@@ ( 'or' @@ )*"`
}

// A DifferencesExpr is "p differs and q differs ...": "and" binds tighter than "or".
type DifferencesExpr struct {
	Node
	All []*DifferenceExpr `parser:"@@ ( 'and' @@ )*"`
}

// A DifferenceExpr is "p differs", "p differs from q", or a hypothesis in parentheses.
type DifferenceExpr struct {
	Node
	Group *HypothesisExpr `parser:"  '(' @@ ')'"`
	Param *Name           `parser:"| @@ 'differs'"`
	From  *Name           `parser:"( 'from' @@ )?"`
}

// GivenDecl is "given NAME = STATE": a state that tests start from.
type GivenDecl struct {
	Node
	Documented
	Name  Name      `parser:"'given' @@"`
	State *StateRef `parser:"'=' @@"`
}

// TestDecl is a contract test: its clauses in order, then its cases.
type TestDecl struct {
	Node
	Documented
	Title   StringLit     `parser:"'test' @@ '{'"`
	Clauses []*TestClause `parser:"@@*"`
	Cases   []*TestCase   `parser:"@@* '}'"`
}

// A TestCase is "case TITLE [(NAME: VALUE, ...)] [{ clauses }]": the test with the clauses of the
// case behind its own, and values in the place of "$NAME".
type TestCase struct {
	Node
	Documented
	Title   StringLit     `parser:"'case' @@"`
	Args    []*Arg        `parser:"( '(' ( @@ ( ',' @@ )* )? ')' )?"`
	Clauses []*TestClause `parser:"( '{' @@* '}' )?"`
}

// A TestClause is one clause of a test. Keyword tells which fields are set: state: State;
// phase, role, advance, next: Name; actor, now: Text; stage: Name, Args; patch: Data;
// expect: Expect.
type TestClause struct {
	Node
	Documented
	Keyword Name
	State   *StateRef  `parser:"  'state' @@"`
	Text    *StringLit `parser:"| ( 'actor' | 'now' ) @@"`
	Data    *DataRef   `parser:"| 'patch' @@"`
	Expect  *Expect    `parser:"| 'expect' @@"`
	Name    *Name      `parser:"| ( ( 'phase' | 'role' | 'advance' | 'next' ) @@"`
	Stage   *Name      `parser:"  | 'stage' @@"`
	Args    []*Arg     `parser:"    ( '(' ( @@ ( ',' @@ )* )? ')' )? )"`
}

// A StateRef is a state: what a GivenDecl named, or data; and a patch that is made to it first.
type StateRef struct {
	Node
	Given *Name    `parser:"( @@"`
	Data  *DataRef `parser:"| @@ )"`
	With  *DataRef `parser:"( 'with' @@ )?"`
}

// A DataRef is a JSON file's path in quotes, or JSON written in place.
type DataRef struct {
	Node
	File *StringLit `parser:"  @@"`
	JSON string     `parser:"| @JSON"` // verbatim, "" if File is set
}

// An Arg gives a stage's parameter, or a case's, its value: name: "value".
type Arg struct {
	Node
	Name  Name   `parser:"@@"`
	Value *Value `parser:"':' @@"`
}

// A Value is a JSON value, verbatim.
type Value struct {
	Node
	JSON string `parser:"@( JSON | String | Int | Number | 'true' | 'false' | 'null' )"`
}

// An Expect is what a test expects. Kind tells which fields are set: commit: it may be Expr;
// noop: none; reject, reply: Reason; phase: Phase; state: Data; view: Data or Expr; shown,
// hidden, no: Paths. Kind is "" of "/path = VALUE" (Path, Value) and of CEL by itself (Expr).
type Expect struct {
	Node
	Kind   Name
	Expr   *Expr    `parser:"  'commit' @@? | 'noop'"`
	Reason *Reason  `parser:"| ( 'reject' | 'reply' ) @@"`
	Phase  *Name    `parser:"| 'phase':Ident @@"`
	Data   *DataRef `parser:"| 'state':Ident '=' @@"`
	View   *View    `parser:"| 'view' @@"`
	Paths  []*Path  `parser:"| ( 'shown' | 'hidden' | 'no' ) @@ ( ',' @@ )*"`
	Path   *Path    `parser:"| @@"`
	Value  *Value   `parser:"  '=' @@"`
	Holds  *Expr    `parser:"| @@"`
}

// A View is what a test expects of a view: "= DATA", or CEL.
type View struct {
	Node
	Data *DataRef `parser:"  '=' @@"`
	Expr *Expr    `parser:"| @@"`
}

// A Reason is why a proposal is expected to be refused: "GATE [NAME] [MESSAGE] [at PATH]", of
// which a gate (or a code) or a message is there.
type Reason struct {
	Node
	Gate    *Name      `parser:"( @@"`
	Name    *Name      `parser:"  ( (?! 'at' | 'case' | 'state' | 'phase' | 'role' | 'actor' | 'now' | 'stage' | 'advance' | 'patch' | 'next' | 'expect' ) @@ )?"`
	Message *StringLit `parser:"  @@?"`
	Only    *StringLit `parser:"| @@ )"` // the message, where there is no gate
	At      *Path      `parser:"( 'at' @@ )?"`
}

func (d *Import) DeclName() Name { return d.Alias }

func (d *StateDecl) DeclName() Name { return Name{} }

func (d *TypeDecl) DeclName() Name { return d.Name }

func (d *PhasesDecl) DeclName() Name { return Name{} }

func (d *RegionDecl) DeclName() Name { return d.Name }

func (d *RolesDecl) DeclName() Name { return d.Name }

func (d *ConstDecl) DeclName() Name { return d.Name }

func (d *DefineDecl) DeclName() Name { return d.Name }

func (d *MeasureDecl) DeclName() Name { return d.Name }

func (d *InvariantDecl) DeclName() Name { return d.Name }

func (d *StageDecl) DeclName() Name { return d.Name }

func (d *ComposeDecl) DeclName() Name { return d.Name }

func (d *ParallelDecl) DeclName() Name { return d.Name }

func (d *ProveDecl) DeclName() Name { return Name{} }

func (d *GivenDecl) DeclName() Name { return d.Name }

func (d *TestDecl) DeclName() Name { return Name{} }
