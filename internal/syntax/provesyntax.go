package syntax

// proveSyntax is the grammar of a prove statement: the forms differ in their
// first word. convert makes the one public node of it.
type proveSyntax struct {
	Node
	Doc  string
	All  *Name       `parser:"'prove' ( 'all' 'commute' 'in' @@"`
	No   *noSyntax   `parser:"| 'no' @@"`
	Pair *pairSyntax `parser:"| @@ )"`
}

type noSyntax struct {
	Node
	Stage *noStageSyntax `parser:"  'stage' @@"`
	Flow  *noFlowSyntax  `parser:"| 'flow' @@"`
}

type noStageSyntax struct {
	Node
	Except []Name      `parser:"( 'except' @@ ( ',' @@ )* )?"`
	Verb   Name        `parser:"@@"`
	Region *RegionExpr `parser:"@@"`
}

type noFlowSyntax struct {
	Node
	From *RegionExpr `parser:"'from' @@"`
	To   *RegionExpr `parser:"'to' @@"`

	Memory bool `parser:"( 'with' @'memory' )?"`
}

type pairSyntax struct {
	Node
	A      Name            `parser:"@@"`
	With   *Name           `parser:"( 'commutes' 'with' @@"`
	When   *HypothesisExpr `parser:"  ( 'when' @@ )?"`
	Within *Name           `parser:"| 'within' @@"`
	Before *Name           `parser:"| 'before' @@ )"`
}

// DeclName makes proveSyntax a Decl until convert replaces it.
func (d *proveSyntax) DeclName() Name { return Name{} }

func (d *proveSyntax) convert() *ProveDecl {
	out := &ProveDecl{Node: d.Node}
	switch {
	case d.All != nil:
		out.Kind, out.A = AllCommuteClaim, *d.All
	case d.No != nil && d.No.Stage != nil:
		s := d.No.Stage
		out.Kind, out.Except, out.Verb, out.From = NoStageClaim, s.Except, s.Verb, s.Region
	case d.No != nil:
		f := d.No.Flow
		out.Kind, out.From, out.To, out.Memory = NoFlowClaim, f.From, f.To, f.Memory
	default:
		d.Pair.convert(out)
	}
	return out
}

func (p *pairSyntax) convert(out *ProveDecl) {
	out.A, out.When = p.A, p.When
	switch {
	case p.With != nil:
		out.Kind, out.B = CommutesClaim, *p.With
	case p.Within != nil:
		out.Kind, out.B = WithinClaim, *p.Within
	default:
		out.Kind, out.B = PhaseBeforeClaim, *p.Before
	}
}
