package syntax

// StateDecl is "state { fields }" or "state TYPE".
type StateDecl struct {
	Node
	Doc  string
	Type TypeExpr `parser:"'state' @@"` // a *RecordType for the brace form
}

// TypeDecl is "type N { ... }" or "type N = TYPE".
type TypeDecl struct {
	Node
	Doc  string
	Name Name     `parser:"'type' @@"`
	Type TypeExpr `parser:"( '=' @@ | (?= '{') @@ )"`
}

// PhasesDecl is "phases { ... }".
type PhasesDecl struct {
	Node
	Doc    string
	Phases []*Phase `parser:"'phases' '{' @@* '}'"`
}

// A Phase is one line of the phase graph: its name and where one may go from it.
type Phase struct {
	Node
	Doc    string
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
	Doc    string
	Name   Name        `parser:"'region' @@"`
	Region *RegionExpr `parser:"'=' @@"`
}

// MeasureDecl is "measure NAME = sum|count|min|max PATH".
type MeasureDecl struct {
	Node
	Doc  string
	Name Name  `parser:"'measure' @@"`
	Kind Name  `parser:"'=' @@"`
	Over *Path `parser:"@@"`
}

// InvariantDecl is "invariant NAME [each x in PATH] [MESSAGE] { CEL }" or
// "invariant NAME [MESSAGE] unique PATH".
type InvariantDecl struct {
	Node
	Doc     string
	Name    Name       `parser:"'invariant' @@"`
	Each    *Each      `parser:"@@?"`
	Message *StringLit `parser:"@@?"`
	Expr    *Expr      `parser:"( @@"`
	Unique  *Path      `parser:"| 'unique' @@ )"`
}

// Each is "each x in PATH".
type Each struct {
	Node
	Var  Name  `parser:"'each' @@"`
	Over *Path `parser:"'in' @@"`
}

// StageDecl is "stage NAME(params) { clauses }"; as "delegate NAME from S { clauses }" From is set.
type StageDecl struct {
	Node
	Doc     string
	Name    Name      `parser:"( 'stage' | 'delegate' ) @@"`
	From    *Name     `parser:"( 'from' @@ )?"` // the parent of a delegate, nil for a stage
	Params  []*Param  `parser:"( '(' ( @@ ( ',' @@ )* )? ')' )?"`
	Clauses []*Clause `parser:"'{' @@* '}'"`
}

// A Param is a stage parameter: "p in PATH", "p new in PATH" or "p = PATH".
type Param struct {
	Node
	Name Name  `parser:"@@"`
	New  bool  `parser:"( @'new'? 'in'"`
	From bool  `parser:"| @'=' )"` // "p = PATH"
	Path *Path `parser:"@@"`
}

// A Clause is one clause of a stage. Keyword tells which fields are set:
// in, by, next, after: Names; read, source, delegable, write: Region; produce:
// Paths; require, ensure: Expr; attempts: Number; discloses: Gates.
type Clause struct {
	Node
	Doc     string
	Keyword Name        // the clause's first token
	Names   []Name      `parser:"  ( 'in' | 'by' | 'next' | 'after' ) @@ ( ',' @@ )*"`
	Region  *RegionExpr `parser:"| ( 'read' | 'write' | 'source' | 'delegable' ) @@"`
	Paths   []*Path     `parser:"| 'produce' @@ ( ',' @@ )*"`
	Expr    *Expr       `parser:"| ( 'require' | 'ensure' ) @@"`
	Number  *Number     `parser:"| 'attempts' @@"`
	Gates   []*GateRef  `parser:"| 'discloses' @@ ( ',' @@ )*"`
}

// A Number is an integer literal.
type Number struct {
	Node
	Value int `parser:"@Int"`
}

// A GateRef names a gate in a discloses clause: an invariant, "require",
// "ensure", "produce", "next PHASE", or a typed node's path.
type GateRef struct {
	Node
	Phase Name  `parser:"  'next' @@"` // of "next PHASE"
	Name  Name  `parser:"| @@"`        // the invariant or keyword; Text "" if Path is set
	Path  *Path `parser:"| @@"`
}

// ComposeDecl is "compose NAME = A + B ...".
type ComposeDecl struct {
	Node
	Doc    string
	Name   Name   `parser:"'compose' @@"`
	Stages []Name `parser:"'=' @@ ( '+' @@ )*"`
}

// ParallelDecl is "parallel NAME = A | B ... [when HYPOTHESIS]".
type ParallelDecl struct {
	Node
	Doc    string
	Name   Name            `parser:"'parallel' @@"`
	Stages []Name          `parser:"'=' @@ ( '|' @@ )*"`
	When   *HypothesisExpr `parser:"( 'when' @@ )?"`
}

func (d *Import) DeclName() Name        { return d.Alias }
func (d *StateDecl) DeclName() Name     { return Name{} }
func (d *TypeDecl) DeclName() Name      { return d.Name }
func (d *PhasesDecl) DeclName() Name    { return Name{} }
func (d *RegionDecl) DeclName() Name    { return d.Name }
func (d *MeasureDecl) DeclName() Name   { return d.Name }
func (d *InvariantDecl) DeclName() Name { return d.Name }
func (d *StageDecl) DeclName() Name     { return d.Name }
func (d *ComposeDecl) DeclName() Name   { return d.Name }
func (d *ParallelDecl) DeclName() Name  { return d.Name }
func (d *ProveDecl) DeclName() Name     { return Name{} }
func (d *TestDecl) DeclName() Name      { return Name{} }
