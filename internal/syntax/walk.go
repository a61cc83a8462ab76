package syntax

// Walk calls visit for n and, where visit returns true, for every node below it,
// parents first, in source order as far as the tree keeps it. n and what visit
// gets are pointers to the node types of this package; names that were not
// written (Text "" and no span) are left out.
func Walk(n any, visit func(n any) bool) {
	walker{visit}.walk(n)
}

type walker struct{ visit func(any) bool }

func (w walker) walk(n any) {
	if name, ok := n.(*Name); ok && name.absent() {
		return
	}
	if !w.visit(n) {
		return
	}
	switch n := n.(type) {
	case *File:
		w.file(n)
	case Decl:
		w.decl(n)
	case TypeExpr:
		w.typ(n)
	default:
		w.part(n)
	}
}

func (n *Name) absent() bool { return n.Text == "" && n.Span.IsZero() && len(n.Tokens) == 0 }

func (w walker) file(f *File) {
	if f.Header != nil {
		w.walk(f.Header)
	}
	walkAll(w, f.Decls)
}

func (w walker) decl(d Decl) {
	switch d := d.(type) {
	case *Import:
		w.walk(&d.Path)
		w.walk(&d.Alias)
	case *StateDecl:
		w.maybeType(d.Type)
	case *TypeDecl:
		w.walk(&d.Name)
		w.maybeType(d.Type)
	case *PhasesDecl:
		walkAll(w, d.Phases)
	case *RegionDecl:
		w.walk(&d.Name)
		walkMaybe(w, d.Region)
	case *RolesDecl:
		w.walk(&d.Name)
		w.names(d.Roles)
	case *ConstDecl:
		w.walk(&d.Name)
		walkMaybe(w, d.Value)
	case *DefineDecl:
		w.walk(&d.Name)
		w.names(d.Params)
		walkMaybe(w, d.Expr)
	case *MeasureDecl:
		w.walk(&d.Name)
		w.walk(&d.Kind)
		walkMaybe(w, d.Over)
		walkMaybe(w, d.Where)
	case *InvariantDecl:
		w.walk(&d.Name)
		walkMaybe(w, d.Each)
		walkMaybe(w, d.Message)
		walkMaybe(w, d.Expr)
		walkAll(w, d.Unique)
	case *StageDecl:
		w.walk(&d.Name)
		walkMaybe(w, d.From)
		walkAll(w, d.Params)
		walkAll(w, d.Clauses)
	case *ComposeDecl:
		w.walk(&d.Name)
		w.names(d.Stages)
	case *ParallelDecl:
		w.walk(&d.Name)
		w.names(d.Stages)
		walkMaybe(w, d.When)
	case *ProveDecl:
		walkMaybe(w, d.AllCommute)
		walkMaybe(w, d.NoStage)
		walkMaybe(w, d.NoFlow)
		walkMaybe(w, d.Pair)
	case *GivenDecl:
		w.walk(&d.Name)
		walkMaybe(w, d.State)
	case *TestDecl:
		w.walk(&d.Title)
		walkAll(w, d.Clauses)
		walkAll(w, d.Cases)
	}
}

func (w walker) typ(t TypeExpr) {
	switch t := t.(type) {
	case *NamedType:
		w.walk(&t.Name)
	case *UnionType:
		walkAll(w, t.Alternatives)
	case *ContainerType:
		w.walk(&t.Keyword)
		w.maybeType(t.Elem)
		walkMaybe(w, t.By)
	case *KeyType:
		walkMaybe(w, t.Of)
	case *RecordType:
		walkAll(w, t.Fields)
		w.maybeType(t.Rest)
	case *SecretType:
		w.maybeType(t.Type)
	case *WhereType:
		w.maybeType(t.Type)
		walkAll(w, t.Constraints)
	}
}

// part walks what is below the nodes that are neither declarations nor types.
func (w walker) part(n any) {
	switch n := n.(type) {
	case *Header:
		w.walk(&n.Name)
	case *Phase:
		w.walk(&n.Name)
		walkAll(w, n.Arrows)
	case *Arrow:
		w.walk(&n.To)
		walkMaybe(w, n.Guard)
	case *Each:
		w.walk(&n.First)
		walkMaybe(w, n.Second)
		walkMaybe(w, n.Over)
	case *Param:
		w.walk(&n.Name)
		walkMaybe(w, n.Path)
		walkMaybe(w, n.Message)
		walkMaybe(w, n.Where)
		if n.Type != nil {
			w.walk(n.Type)
		}
	case *Clause:
		w.clause(n)
	case *Constraint:
		walkMaybe(w, n.Message)
		walkMaybe(w, n.Expr)
	case *GateRef:
		w.walk(&n.Name)
		w.walk(&n.Of)
		walkMaybe(w, n.Path)
	case *RegionExpr:
		walkAll(w, n.Grants)
	case *GrantExpr:
		for i := range n.Rights {
			w.walk(&n.Rights[i])
		}
		walkAll(w, n.Intersect)
		walkAll(w, n.Except)
	case *RegionAtom:
		walkMaybe(w, n.Path)
		walkMaybe(w, n.Name)
		walkMaybe(w, n.Group)
	case *NoStageClaim:
		w.names(n.Except)
		w.walk(&n.Verb)
		walkMaybe(w, n.Region)
	case *NoFlowClaim:
		walkMaybe(w, n.From)
		walkMaybe(w, n.To)
	case *PairClaim:
		w.walk(&n.A)
		walkMaybe(w, n.With)
		walkMaybe(w, n.When)
		walkMaybe(w, n.Within)
		walkMaybe(w, n.Before)
	case *HypothesisExpr:
		walkAll(w, n.Any)
	case *DifferencesExpr:
		walkAll(w, n.All)
	case *DifferenceExpr:
		walkMaybe(w, n.Group)
		walkMaybe(w, n.Param)
		walkMaybe(w, n.From)
	case *Path:
		walkAll(w, n.Segments)
	case *PathSegment:
		walkAll(w, n.Choices)
	case *Field:
		w.walk(&n.Name)
		w.maybeType(n.Type)
	case *DataRef:
		walkMaybe(w, n.File)
	case *Arg:
		w.walk(&n.Name)
		walkMaybe(w, n.Value)
	case *TestCase:
		w.walk(&n.Title)
		walkAll(w, n.Args)
		walkAll(w, n.Clauses)
	case *TestClause:
		w.testClause(n)
	case *StateRef:
		walkMaybe(w, n.Given)
		walkMaybe(w, n.Data)
		walkMaybe(w, n.With)
	case *Expect:
		w.expect(n)
	case *View:
		walkMaybe(w, n.Data)
		walkMaybe(w, n.Expr)
	case *Reason:
		walkMaybe(w, n.Gate)
		walkMaybe(w, n.Name)
		walkMaybe(w, n.Message)
		walkMaybe(w, n.Only)
		walkMaybe(w, n.At)
	}
}

func (w walker) testClause(n *TestClause) {
	w.walk(&n.Keyword)
	walkMaybe(w, n.State)
	walkMaybe(w, n.Text)
	walkMaybe(w, n.Data)
	walkMaybe(w, n.Expect)
	walkMaybe(w, n.Name)
	walkMaybe(w, n.Stage)
	walkAll(w, n.Args)
}

func (w walker) expect(n *Expect) {
	w.walk(&n.Kind)
	walkMaybe(w, n.Expr)
	walkMaybe(w, n.Reason)
	walkMaybe(w, n.Phase)
	walkMaybe(w, n.Data)
	walkMaybe(w, n.View)
	walkAll(w, n.Paths)
	walkMaybe(w, n.Path)
	walkMaybe(w, n.Value)
	walkMaybe(w, n.Holds)
}

func (w walker) clause(c *Clause) {
	w.walk(&c.Keyword)
	w.names(c.Names)
	walkMaybe(w, c.Kind)
	walkMaybe(w, c.Region)
	walkAll(w, c.Paths)
	walkMaybe(w, c.Label)
	walkMaybe(w, c.Message)
	walkMaybe(w, c.Expr)
	walkMaybe(w, c.Number)
	walkAll(w, c.Gates)
}

func (w walker) names(names []Name) {
	for i := range names {
		w.walk(&names[i])
	}
}

func (w walker) maybeType(t TypeExpr) {
	if t != nil {
		w.walk(t)
	}
}

func walkAll[T any](w walker, nodes []T) {
	for _, n := range nodes {
		w.walk(n)
	}
}

func walkMaybe[T any](w walker, n *T) {
	if n != nil {
		w.walk(n)
	}
}
