package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Clauses: the parts of a contract that a run can exercise, with the places where they were
// written. Tests are measured by them, and mutants are made of them.

// ClauseKind is the kind of a clause.
type ClauseKind string

// The kinds of clauses.
const (
	StageClause      ClauseKind = "stage"
	BindClause       ClauseKind = "bind"
	ByClause         ClauseKind = "by"
	GrantClause      ClauseKind = "grant"
	ExceptClause     ClauseKind = "except"
	RequireClause    ClauseKind = "require"
	EnsureClause     ClauseKind = "ensure"
	ProduceClause    ClauseKind = "produce"
	InvariantClause  ClauseKind = "invariant"
	ChangeClause     ClauseKind = "change"
	WhereClause      ClauseKind = "where"
	TransitionClause ClauseKind = "transition"
	GuardClause      ClauseKind = "guard"
)

// A Clause is one of them. Which fields are set follows from Kind.
type Clause struct {
	Kind ClauseKind
	Name string      // what it is called, as in "stage draft, require open"
	At   source.Span // all of it
	Body source.Span // of a condition, on binding too, an invariant, where or guard: the braces, or `unique` and its paths
	Path string      // of the file, as the compiler was given it

	Stage    string // the stage that it stands in
	Word     string // of a grant or except: read, write or source
	Index    int    // of a require or ensure of the stage as compiled
	Rule     string // of an invariant or change: its name in the contract; of a bind: the parameter
	Types    []TypeWhere
	From, To string // of a transition or guard

	Fresh  bool               // of a grant: it is about what a new key of the stage names, which was not there
	Region region.Region      // of a grant, what it lets happen; of an except, what it takes away
	Grant  *syntax.GrantExpr  // of a grant or except
	Except *syntax.RegionAtom // of an except
}

// TypeWhere is a constraint of a compiled type: the types that one in the source comes to.
type TypeWhere struct {
	Type  ir.TypeID
	Index int
}

// Clauses lists the clauses of a contract without errors and of what it imports from files, in
// the order of the files. The standard libraries' are left out.
func (r Result) Clauses() []Clause {
	c := r.checker
	c.muted++
	defer func() { c.muted-- }()
	l := &clauseList{checker: c}
	for _, s := range c.root.scopes() {
		if !s.standard {
			l.file(s)
		}
	}
	return l.all
}

// File is the contract's file: its name, and its path as the compiler was given it.
func (r Result) File() (name, path string) {
	root := r.checker.root
	return root.file.Source.Name, root.path
}

type clauseList struct {
	*checker
	all []Clause
}

func (l *clauseList) add(c Clause) { l.all = append(l.all, c) }

func (l *clauseList) file(s *scope) {
	from := len(l.all)
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *syntax.PhasesDecl:
			l.phases(d)
		case *syntax.InvariantDecl:
			l.invariant(s, d)
		case *syntax.StageDecl:
			if st := l.findStage(d.Name.Text); st != nil && st.decl == d {
				l.stage(st)
			}
		}
	}
	l.wheres(s)
	for i := from; i < len(l.all); i++ {
		l.all[i].Path = s.path
	}
	slices.SortStableFunc(l.all[from:], func(a, b Clause) int { return a.At.Start - b.At.Start })
}

func (l *clauseList) phases(d *syntax.PhasesDecl) {
	for _, p := range d.Phases {
		for _, a := range p.Arrows {
			name := "phase " + p.Name.Text + " -> " + a.To.Text
			l.add(Clause{Kind: TransitionClause, Name: name, At: a.To.Span, From: p.Name.Text, To: a.To.Text})
			if a.Guard != nil {
				l.add(Clause{Kind: GuardClause, Name: name + ", when", At: a.Guard.Outer, Body: a.Guard.Outer, From: p.Name.Text, To: a.To.Text})
			}
		}
	}
}

func (l *clauseList) invariant(s *scope, d *syntax.InvariantDecl) {
	c := Clause{Kind: InvariantClause, At: d.Span, Rule: s.prefix + d.Name.Text}
	if d.Change {
		c.Kind = ChangeClause
	}
	c.Name = string(c.Kind) + " " + c.Rule
	if d.Expr != nil {
		c.Body = d.Expr.Outer
	} else {
		first, last := d.Unique[0].Span, d.Unique[len(d.Unique)-1].Span
		c.Body = first.To(last)
		c.Body.Start = wordBefore(first.File.Text, first.Start)
	}
	l.add(c)
}

// wordBefore is the start of the word that ends before pos.
func wordBefore(text string, pos int) int {
	isSpace := func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
	for pos > 0 && isSpace(text[pos-1]) {
		pos--
	}
	for pos > 0 && !isSpace(text[pos-1]) {
		pos--
	}
	return pos
}

func (l *clauseList) stage(st *stage) {
	d, title := st.decl, st.title()
	l.add(Clause{Kind: StageClause, Name: title, At: d.Name.Span, Stage: d.Name.Text})
	for _, p := range d.Params {
		if p.Where != nil {
			l.add(Clause{Kind: BindClause, Name: title + ", parameter " + p.Name.Text + " where", At: p.Where.Outer, Body: p.Where.Outer, Stage: d.Name.Text, Rule: p.Name.Text})
		}
	}
	next := map[string]int{}
	if st.parent != nil {
		next["require"], next["ensure"] = len(st.parent.out.Require), len(st.parent.out.Ensure)
	}
	for _, cl := range d.Clauses {
		word := cl.Keyword.Text
		c := Clause{Kind: ClauseKind(word), Name: title + ", " + word, At: cl.Span, Stage: d.Name.Text, Word: word}
		switch word {
		case "by", "produce":
			l.add(c)
		case "require", "ensure":
			c.Index = next[word]
			next[word]++
			c.Body = cl.Expr.Outer
			if cl.Label != nil {
				c.Name += " " + cl.Label.Text
			}
			l.add(c)
		case "read", "write", "source":
			l.grants(st, c, cl.Region)
		}
	}
}

func (l *clauseList) grants(st *stage, c Clause, r *syntax.RegionExpr) {
	use := map[string]pathUse{"read": readPath, "write": writePath, "source": sourcePath}[c.Word]
	title := c.Name
	for _, g := range r.Grants {
		first, last := g.Span, g.Intersect[len(g.Intersect)-1].Span
		c.Kind, c.Grant, c.Except = GrantClause, g, nil
		c.At = first
		c.At.End = last.End
		c.Name = title + " " + folded(c.At.Text())
		c.Fresh = len(g.Intersect) == 1 && g.Intersect[0].Path != nil && slices.ContainsFunc(g.Intersect[0].Path.Segments, func(s *syntax.PathSegment) bool {
			return s.Kind == syntax.ParamSegment && st.params[s.Text] != nil && st.params[s.Text].Kind == ir.NewParam
		})
		c.Region = l.lowerGrant(l.root, g, use, st.params)
		l.add(c)
		for _, e := range g.Except {
			x := c
			x.Kind, x.Except, x.At = ExceptClause, e, e.Span
			x.Name = title + ", except " + folded(e.Span.Text())
			x.Region = l.lowerAtom(l.root, e, exceptUse(use), st.params)
			l.add(x)
		}
	}
}

// wheres lists the constraints that types of a file have, each once.
func (l *clauseList) wheres(s *scope) {
	at := map[*syntax.Constraint]int{}
	owner := map[*syntax.Constraint]string{}
	own := func(within any, name string) {
		syntax.Walk(within, func(n any) bool {
			if w, ok := n.(*syntax.Constraint); ok {
				owner[w] = name
			}
			return true
		})
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *syntax.TypeDecl:
			own(d, "type "+s.prefix+d.Name.Text+", ")
		case *syntax.StageDecl:
			for _, p := range d.Params {
				own(p, "stage "+s.prefix+d.Name.Text+", parameter "+p.Name.Text+" ")
			}
		}
	}
	for id := range l.out.Types {
		for i, w := range l.pending.where[ir.TypeID(id)] {
			if w.Expr == nil || w.Expr.Span.File != s.file.Source {
				continue
			}
			n, known := at[w]
			if !known {
				n = len(l.all)
				at[w] = n
				l.add(Clause{Kind: WhereClause, Name: owner[w] + "where", At: w.Expr.Outer, Body: w.Expr.Outer})
			}
			l.all[n].Types = append(l.all[n].Types, TypeWhere{ir.TypeID(id), i})
		}
	}
}
