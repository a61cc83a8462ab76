package syntax

// ClaimKind is the form of a prove statement.
type ClaimKind string

// The claims of the language.
const (
	CommutesClaim    ClaimKind = "commutes"    // A commutes with B [when HYPOTHESIS]
	AllCommuteClaim  ClaimKind = "all commute" // all commute in PHASE
	WithinClaim      ClaimKind = "within"      // A within B
	NoStageClaim     ClaimKind = "no stage"    // no stage [except S, ...] reads|writes|copies REGION
	NoFlowClaim      ClaimKind = "no flow"     // no flow from REGION to REGION [with memory]
	PhaseBeforeClaim ClaimKind = "before"      // P before Q
)

// ProveDecl is a prove statement. Kind tells which fields are set: A and B are
// stages of commutes and within, phases of before; A is the phase of all commute.
type ProveDecl struct {
	Node
	Doc    string
	Kind   ClaimKind
	A, B   Name
	When   *HypothesisExpr // of commutes; nil if nothing is assumed
	Except []Name
	Verb   Name        // reads, writes or copies
	From   *RegionExpr // of no flow; the region of no stage
	To     *RegionExpr
	Memory bool // of no flow: with memory
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

// TestDecl is a contract test. JSON parts are kept verbatim.
type TestDecl struct {
	Node
	Doc     string
	Title   StringLit `parser:"'test' @@ '{' ("`
	State   *DataRef  `parser:"  'state' @@"`
	Phase   *Name     `parser:"| 'phase' @@"`
	Role    *Name     `parser:"| 'role' @@"`
	Stage   *Name     `parser:"| 'stage' @@"`
	Args    []*Arg    `parser:"  ( '(' ( @@ ( ',' @@ )* )? ')' )?"`
	Patch   *DataRef  `parser:"| 'patch' @@"`
	Next    *Name     `parser:"| 'next' @@"`
	Expects []*Expect `parser:"| 'expect' @@ )* '}'"`
}

// A DataRef is a JSON file's path in quotes, or JSON written in place.
type DataRef struct {
	Node
	File *StringLit `parser:"  @@"`
	JSON string     `parser:"| @JSON"` // verbatim, "" if File is set
}

// An Arg binds a stage parameter: name: "value".
type Arg struct {
	Node
	Name  Name      `parser:"@@"`
	Value StringLit `parser:"':' @@"`
}

// An Expect is an outcome a test names: commit [{CEL}], noop, reject GATE [NAME],
// view {CEL}, or hidden PATH.
type Expect struct {
	Node
	Kind Name  // commit, noop, reject, view, hidden: the outcome's first token
	Expr *Expr `parser:"( ( 'commit' | 'view' ) @@?"`
	Gate Name  `parser:"| 'reject' @@"`
	Name Name  `parser:"  ( (?! 'state' | 'phase' | 'role' | 'stage' | 'patch' | 'next' | 'expect' ) @@ )?"`
	Path *Path `parser:"| 'hidden' @@ | 'noop' )"`
}
