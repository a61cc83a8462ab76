package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// What the names mean, for tools. It is found out after the checks, in two goes over the
// trees of a file and of the libraries that it imports: first all definitions, then all
// uses. The goes report nothing, and pass over what has no meaning, so that a file with
// errors has all the symbols that it can have.

// symbols makes the table.
func (c *checker) symbols() *symbol.Table {
	n := &namer{checker: c, table: &symbol.Table{}, defs: map[any]*symbol.Symbol{}, named: map[string]*symbol.Symbol{}, texts: map[ir.TypeID]string{}, members: map[ir.TypeID][]*symbol.Symbol{}}
	scopes := c.root.scopes()
	for _, s := range scopes {
		if n.defs[s.file] == nil {
			n.define(s)
		}
	}
	for _, s := range scopes {
		n.uses(s)
	}
	n.constraints()
	n.conditions()
	n.table.Finish()
	return n.table
}

// A namer fills a table.
type namer struct {
	*checker
	table   *symbol.Table
	defs    map[any]*symbol.Symbol         // by the node that defines it
	named   map[string]*symbol.Symbol      // builtins and roles, by kind and name
	texts   map[ir.TypeID]string           // of types, once written
	members map[ir.TypeID][]*symbol.Symbol // of records, once listed
}

// Limits of a table: what is beyond them a tool could not show.
const (
	maxUses  = 1 << 18 // noted; others are not
	maxTypes = 8       // that a path may lead to, for them to be named
	maxText  = 400     // bytes of a type as text
)

// Definitions.

// add defines a symbol at a node; name is where it is named.
func (n *namer) add(node any, s symbol.Symbol) *symbol.Symbol {
	out := &s
	n.defs[node] = out
	n.table.Symbols = append(n.table.Symbols, out)
	n.use(s.Span, out)
	return out
}

func (n *namer) declare(node any, kind symbol.Kind, name syntax.Name, whole source.Span, doc string) *symbol.Symbol {
	if name.Text == "" {
		return nil
	}
	return n.add(node, symbol.Symbol{Kind: kind, Name: name.Text, Span: name.Span, Whole: whole, Doc: doc})
}

// entry adds the names of an each: of the entry, and of its key.
func (n *namer) entry(e *syntax.Each, scope source.Span, rule *symbol.Symbol) {
	add := func(node any, name *syntax.Name, typ string) {
		if name != nil && name.Text != "" {
			n.add(node, symbol.Symbol{Kind: symbol.Variable, Name: name.Text, Span: name.Span, Whole: e.Span, Scope: scope, Owner: rule, Type: typ})
		}
	}
	typ := ""
	if each := n.entryOf[e]; each != nil {
		typ = n.written(each.Type)
	}
	add(e, e.Var(), typ)
	add(e.Key(), e.Key(), "string")
}

// define adds what a file declares.
func (n *namer) define(s *scope) {
	f := s.file
	n.defs[f] = &symbol.Symbol{}
	if h := f.Header; h != nil {
		kind := symbol.Contract
		if h.Library {
			kind = symbol.Library
		}
		n.declare(h, kind, h.Name, h.Span, h.Doc)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *syntax.Import:
			at := d.Alias.Span
			if d.Alias.Text == "" {
				at = d.Path.Span
			}
			n.add(d, symbol.Symbol{Kind: symbol.Import, Name: importAlias(d), Span: at, Whole: d.Span, Doc: d.Doc, Type: d.Path.Value})
		case *syntax.StateDecl:
			n.fieldsOf(d.Type, nil)
		case *syntax.TypeDecl:
			if t := n.declare(d, symbol.Type, d.Name, d.Span, d.Doc); t != nil {
				if def := s.types[d.Name.Text]; def != nil && def.decl == d {
					if t.Type = n.written(def.id); t.Type == t.Name {
						t.Type = folded(spanOf(d.Type).Text())
					}
				}
				n.fieldsOf(d.Type, t)
			}
		case *syntax.RegionDecl:
			if r := n.declare(d, symbol.Region, d.Name, d.Span, d.Doc); r != nil && s.regions[d.Name.Text] != nil {
				r.Type = cut(regionText(s.regions[d.Name.Text].region))
			}
		case *syntax.RolesDecl:
			n.declare(d, symbol.Group, d.Name, d.Span, d.Doc)
		case *syntax.ConstDecl:
			if m := n.declare(d, symbol.Constant, d.Name, d.Span, d.Doc); m != nil && d.Value != nil {
				m.Type = d.Value.Text
			}
		case *syntax.DefineDecl:
			def := n.declare(d, symbol.Definition, d.Name, d.Span, d.Doc)
			for i := range d.Params {
				n.declare(&d.Params[i], symbol.Parameter, d.Params[i], d.Params[i].Span, "")
				if p := n.defs[&d.Params[i]]; p != nil {
					p.Scope, p.Owner = d.Span, def
				}
			}
		case *syntax.MeasureDecl:
			if m := n.declare(d, symbol.Measure, d.Name, d.Span, d.Doc); m != nil {
				m.Type = "number"
				if d.Kind.Text == string(ir.Count) {
					m.Type = "int"
				}
			}
		case *syntax.InvariantDecl:
			rule := n.declare(d, symbol.Invariant, d.Name, d.Span, d.Doc)
			if d.Each != nil {
				n.entry(d.Each, d.Span, rule)
			}
		case *syntax.PhasesDecl:
			for _, p := range d.Phases {
				if n.phases[p.Name.Text] == p {
					n.declare(p, symbol.Phase, p.Name, p.Span, p.Doc)
				}
			}
		case *syntax.StageDecl:
			st := n.declare(d, symbol.Stage, d.Name, d.Span, d.Doc)
			for _, p := range d.Params {
				if p.Name.Text == "" {
					continue
				}
				_, from, _ := strings.Cut(folded(p.Span.Text()), " ")
				n.add(p, symbol.Symbol{Kind: symbol.Parameter, Name: p.Name.Text, Span: p.Name.Span, Whole: p.Span, Scope: d.Span, Owner: st, Type: from})
			}
			for _, cl := range d.Clauses {
				if cl.Label != nil && cl.Label.Text != "" {
					n.add(cl, symbol.Symbol{Kind: symbol.Condition, Name: cl.Label.Text, Span: cl.Label.Span, Whole: cl.Span, Scope: d.Span, Owner: st, Doc: cl.Doc, Type: textOf(cl.Message)})
				}
			}
		case *syntax.ComposeDecl:
			n.declare(d, symbol.Composition, d.Name, d.Span, d.Doc)
		case *syntax.ParallelDecl:
			n.declare(d, symbol.Parallel, d.Name, d.Span, d.Doc)
		}
	}
}

// spanOf is where a type expression stands.
func spanOf(t syntax.TypeExpr) source.Span {
	if t, ok := t.(interface{ GetSpan() source.Span }); ok {
		return t.GetSpan()
	}
	return source.Span{}
}

// fieldsOf defines the members of the records in a type expression.
func (n *namer) fieldsOf(t syntax.TypeExpr, owner *symbol.Symbol) {
	syntax.Walk(t, func(x any) bool {
		f, ok := x.(*syntax.Field)
		if !ok {
			return true
		}
		field := n.add(f, symbol.Symbol{Kind: symbol.Field, Name: f.Name.Text, Span: f.Name.Span, Whole: f.Span, Owner: owner, Doc: f.Doc, Type: n.written(n.fieldTypes[f])})
		n.fieldsOf(f.Type, field)
		return false
	})
}

// written is a type as an author would write it, "" for none.
func (n *namer) written(id ir.TypeID) string {
	if id == ir.NoType {
		return ""
	}
	text, ok := n.texts[id]
	if !ok {
		text = cut(n.describe(id))
		n.texts[id] = text
	}
	return text
}

// cut is a text within the bound of those in a table.
func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// regionText writes the paths of a region, those of other regions that it names included.
func regionText(r region.Region) string {
	list := func(patterns []region.Pattern) string {
		var out []string
		for _, p := range patterns {
			out = append(out, p.Source())
		}
		return strings.Join(out, ", ")
	}
	var grants []string
	for _, g := range r {
		text := list(g.Include)
		switch len(g.Except) {
		case 0:
		case 1:
			text += " except " + list(g.Except)
		default:
			text += " except (" + list(g.Except) + ")"
		}
		grants = append(grants, text)
	}
	return strings.Join(grants, ", ")
}

// writtenSet is one of some types as text.
func (n *namer) writtenSet(types footprint.TypeSet) string {
	if len(types) > maxTypes {
		return fmt.Sprintf("one of %d types", len(types))
	}
	var out []string
	for _, id := range types {
		if text := n.written(id); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, " or ")
}

// Uses.

// use notes that a symbol is named at a place; of what is not known nothing.
func (n *namer) use(at source.Span, s *symbol.Symbol) {
	if s != nil && !at.IsZero() && len(n.table.Uses) < maxUses {
		n.table.Uses = append(n.table.Uses, symbol.Use{Span: at, Symbol: s})
	}
}

// builtin is what the language itself calls by a name.
func (n *namer) builtin(name string) *symbol.Symbol {
	return n.shared(symbol.Symbol{Kind: symbol.Builtin, Name: name})
}

// shared is the one symbol of a kind that has a name and no declaration.
func (n *namer) shared(s symbol.Symbol) *symbol.Symbol {
	key := string(s.Kind) + " " + s.Name
	if n.named[key] == nil {
		n.named[key] = &s
		n.table.Symbols = append(n.table.Symbols, &s)
	}
	return n.named[key]
}

// uses notes the uses of names in a file.
func (n *namer) uses(s *scope) {
	for _, d := range s.file.Decls {
		params := map[string]*symbol.Symbol{}
		var stage *syntax.StageDecl
		if d, ok := d.(*syntax.StageDecl); ok {
			stage, params = d, n.paramsOf(d.Name.Text)
		}
		syntax.Walk(d, func(x any) bool {
			switch x := x.(type) {
			case *syntax.NamedType:
				n.typeName(s, x.Name)
			case *syntax.ContainerType:
				n.keyField(s, x)
			case *syntax.Path:
				n.path(x, params)
			case *syntax.RegionAtom:
				if x.Name != nil {
					n.regionName(s, *x.Name)
				} else if x.Secrets {
					n.use(x.Span, n.builtin("secrets"))
				}
			case *syntax.Phase:
				for _, a := range x.Arrows {
					n.use(a.To.Span, n.defs[n.phases[a.To.Text]])
					if a.Guard != nil {
						n.expression(a.Guard, expr.Scope{Vars: ir.GuardVars}, s, params, nil)
					}
				}
			case *syntax.InvariantDecl:
				n.rule(s, x)
			case *syntax.RolesDecl:
				n.roleName(x.Roles)
			case *syntax.DefineDecl:
				n.definition(s, x)
			case *syntax.Param:
				if x.Where != nil {
					n.expression(x.Where, expr.Scope{Vars: ir.BindVars, Params: keys(params)}, s, params, nil)
				}
			case *syntax.Clause:
				n.clause(s, x, stage, params)
			}
			return true
		})
		switch d := d.(type) {
		case *syntax.StageDecl:
			if d.From != nil {
				n.stageName(*d.From)
			}
		case *syntax.ComposeDecl:
			n.stageName(d.Stages...)
		case *syntax.ParallelDecl:
			n.stageName(d.Stages...)
			n.hypothesis(d.When, d.Stages)
		case *syntax.ProveDecl:
			n.claim(d)
		}
	}
}

// paramsOf are the parameters of a stage by name; a delegate has those of its parent.
func (n *namer) paramsOf(stage string) map[string]*symbol.Symbol {
	out := map[string]*symbol.Symbol{}
	st := n.findStage(stage)
	for st != nil && st.parent != nil {
		st = st.parent
	}
	if st != nil {
		for _, p := range slices.Backward(st.decl.Params) {
			out[p.Name.Text] = n.defs[p]
		}
	}
	return out
}

// qualified is the scope that a name belongs to, with where its last part stands; the
// alias before it is noted.
func (n *namer) qualified(s *scope, name syntax.Name) (in *scope, last string, at source.Span) {
	alias, rest, ok := strings.Cut(name.Text, ".")
	if !ok {
		return s, name.Text, name.Span
	}
	at = name.Span
	at.Start += len(alias) + 1
	n.use(source.Span{File: at.File, Start: name.Span.Start, End: name.Span.Start + len(alias)}, n.importOf(s, alias))
	return s.imports[alias], rest, at
}

func (n *namer) importOf(s *scope, alias string) *symbol.Symbol {
	for _, d := range s.file.Decls {
		if d, ok := d.(*syntax.Import); ok && importAlias(d) == alias {
			return n.defs[d]
		}
	}
	return nil
}

func (n *namer) typeName(s *scope, name syntax.Name) {
	if slices.Contains(builtinTypes, name.Text) {
		n.use(name.Span, n.builtin(name.Text))
		return
	}
	in, last, at := n.qualified(s, name)
	if in == nil {
		return
	}
	if def := in.types[last]; def != nil {
		n.use(at, n.defs[def.decl])
	} else if d := in.constant(last); d != nil {
		n.use(at, n.defs[d])
	}
}

// keyField notes the member after "by".
func (n *namer) keyField(s *scope, t *syntax.ContainerType) {
	if t.By == nil {
		return
	}
	var elem ir.TypeID
	switch e := t.Elem.(type) {
	case *syntax.NamedType:
		in, last := s, e.Name.Text
		if alias, rest, ok := strings.Cut(e.Name.Text, "."); ok {
			in, last = s.imports[alias], rest
		}
		if in != nil && in.types[last] != nil {
			elem = in.types[last].id
		}
	case *syntax.RecordType:
		for _, f := range e.Fields {
			if f.Name.Text == t.By.Text {
				n.use(t.By.Span, n.defs[f])
			}
		}
	}
	n.member(t.By.Span, t.By.Text, []ir.TypeID{elem})
}

func (n *namer) regionName(s *scope, name syntax.Name) {
	if in, last, at := n.qualified(s, name); in != nil && in.regions[last] != nil {
		n.use(at, n.defs[in.regions[last].decl])
	}
}

func (n *namer) stageName(names ...syntax.Name) {
	for _, name := range names {
		if st := n.findStage(name.Text); st != nil {
			n.use(name.Span, n.defs[st.decl])
			continue
		}
		for _, d := range n.root.file.Decls {
			if d, ok := d.(*syntax.ComposeDecl); ok && d.Name.Text == name.Text {
				n.use(name.Span, n.defs[d])
			}
		}
	}
}

func (n *namer) phaseName(names ...syntax.Name) {
	for _, name := range names {
		if p := n.phases[name.Text]; p != nil {
			n.use(name.Span, n.defs[p])
		}
	}
}

func (n *namer) roleName(names []syntax.Name) {
	for _, name := range names {
		if g := n.groups[name.Text]; g != nil {
			n.use(name.Span, n.defs[g.decl])
		} else if name.Text != "" {
			n.use(name.Span, n.shared(symbol.Symbol{Kind: symbol.Role, Name: name.Text, Span: name.Span, Whole: name.Span}))
		}
	}
}

func (n *namer) clause(s *scope, cl *syntax.Clause, d *syntax.StageDecl, params map[string]*symbol.Symbol) {
	switch cl.Keyword.Text {
	case "in", "next":
		n.phaseName(cl.Names...)
	case "by":
		n.roleName(cl.Names)
	case "after":
		n.stageName(cl.Names...)
	case "require", "ensure":
		vars := ir.BeforeVars
		if cl.Keyword.Text == "ensure" {
			vars = ir.AfterVars
		}
		if cl.Expr != nil && d != nil {
			in := expr.Scope{Vars: vars, Params: keys(params)}
			n.expression(cl.Expr, in, s, params, nil)
		}
	case "discloses":
		for _, g := range cl.Gates {
			n.gate(g, d)
		}
	}
}

// conditionOf is the condition that a stage, or for a delegate its parents, call by a name.
func (n *namer) conditionOf(d *syntax.StageDecl, name string) *symbol.Symbol {
	for st := n.findStage(d.Name.Text); st != nil; st = st.parent {
		for _, cl := range st.decl.Clauses {
			if cl.Label != nil && cl.Label.Text == name {
				return n.defs[cl]
			}
		}
	}
	return nil
}

// gate notes the name of a gate that a stage discloses; a path in its place is noted as one.
func (n *namer) gate(g *syntax.GateRef, d *syntax.StageDecl) {
	switch name := g.Name.Text; {
	case g.Path != nil:
	case g.Of.Text != "" && name == "next":
		n.phaseName(g.Of)
	case g.Of.Text != "":
		n.use(g.Of.Span, n.paramsOf(d.Name.Text)[g.Of.Text])
	case slices.Contains([]string{"require", "ensure", "produce", disclosedPhase}, name):
		n.use(g.Name.Span, n.builtin(name))
	case d != nil && n.conditionOf(d, name) != nil:
		n.use(g.Name.Span, n.conditionOf(d, name))
	default:
		for _, s := range n.root.scopes() {
			for _, d := range s.file.Decls {
				if d, ok := d.(*syntax.InvariantDecl); ok && s.prefix+d.Name.Text == name {
					at := g.Name.Span
					at.Start += len(s.prefix)
					n.use(at, n.defs[d])
				}
			}
		}
		if alias, _, ok := strings.Cut(name, "."); ok {
			at := g.Name.Span
			at.End = at.Start + len(alias)
			n.use(at, n.importOf(n.root, alias))
		}
	}
}

func (n *namer) claim(d *syntax.ProveDecl) {
	switch pair := d.Pair; {
	case d.AllCommute != nil:
		n.phaseName(*d.AllCommute)
	case d.NoStage != nil:
		n.stageName(d.NoStage.Except...)
	case d.NoFlow != nil:
	case pair.Before != nil:
		n.phaseName(pair.A, *pair.Before)
	case pair.Within != nil:
		n.stageName(pair.A, *pair.Within)
	default:
		n.stageName(pair.A, *pair.With)
		n.hypothesis(pair.When, []syntax.Name{pair.A, *pair.With})
	}
}

// hypothesis notes the parameters in it: the first of a difference is one of the stages
// that are named first, the other of those after them.
func (n *namer) hypothesis(x *syntax.HypothesisExpr, stages []syntax.Name) {
	eachDifference(x, func(d *syntax.DifferenceExpr) {
		for i, name := range stages {
			if p := n.paramsOf(name.Text)[d.Param.Text]; p != nil && (d.From == nil || i < len(stages)-1) {
				n.use(d.Param.Span, p)
			}
			if d.From != nil && i > 0 {
				n.use(d.From.Span, n.paramsOf(name.Text)[d.From.Text])
			}
		}
	})
}

// Paths.

// path notes the members and parameters of a path, and what type each step of it leads to.
func (n *namer) path(p *syntax.Path, params map[string]*symbol.Symbol) {
	at := n.model.Shape.Root()
	for _, seg := range p.Segments {
		var next footprint.TypeSet
		for _, choice := range choices(seg) {
			to := n.segment(choice, at, params)
			n.typed(choice.Span, n.writtenSet(to), to)
			for _, id := range to {
				next = n.model.Shape.Expand(next, id)
			}
		}
		at = next
	}
}

func (n *namer) segment(seg *syntax.PathSegment, at footprint.TypeSet, params map[string]*symbol.Symbol) footprint.TypeSet {
	shape := n.model.Shape
	switch seg.Kind {
	case syntax.LiteralSegment:
		n.member(seg.Span, seg.Text, at)
		out := shape.Letter(at, region.Key(seg.Text))
		if i, ok := arrayIndex(seg.Text); ok {
			out = slices.Concat(out, shape.Letter(at, region.Index(i)))
		}
		return out
	case syntax.StarSegment:
		return shape.Children(at, true, true)
	case syntax.DeepSegment:
		return shape.Below(at)
	case syntax.ParamSegment:
		inner := seg.Span
		if text := inner.Text(); strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
			inner.Start, inner.End = inner.Start+1, inner.End-1
		}
		n.use(inner, params[seg.Text])
		return shape.Letter(at, region.Param(seg.Text))
	case syntax.DashSegment:
		return shape.Letter(at, region.Fresh(""))
	}
	return nil
}

// member notes a use of a member of some types, in each that has it.
func (n *namer) member(at source.Span, name string, types []ir.TypeID) {
	for _, id := range types {
		if f := n.fields[id][name]; f != nil {
			n.use(at, n.defs[f])
		}
	}
}

func (n *namer) typed(at source.Span, text string, types []ir.TypeID) {
	t := symbol.Typed{Span: at, Type: text}
	switch {
	case len(types) == 1:
		t.Fields = n.membersOf(types[0])
	case len(types) <= maxTypes:
		for _, id := range types {
			t.Fields = append(t.Fields, n.membersOf(id)...)
		}
	}
	n.table.Types = append(n.table.Types, t)
}

// membersOf lists the members of a record, by name; of what is none, nothing.
func (n *namer) membersOf(id ir.TypeID) []*symbol.Symbol {
	out, ok := n.members[id]
	if !ok {
		fields := n.fields[id]
		for _, name := range keys(fields) {
			if f := n.defs[fields[name]]; f != nil {
				out = append(out, f)
			}
		}
		n.members[id] = out
	}
	return out
}

// Expressions.

// rule notes the names in an invariant: those of a library are its own wherever it is
// imported (rules.go).
func (n *namer) rule(s *scope, d *syntax.InvariantDecl) {
	if d.Expr == nil || n.env == nil {
		return
	}
	in, entry := expr.Scope{Vars: ir.StateVars}, map[string]*symbol.Symbol{}
	if d.Change {
		in.Vars = ir.ChangeVars
	}
	if d.Each != nil {
		if in.Each = n.entryOf[d.Each]; in.Each == nil {
			return
		}
		if entry[d.Each.Var().Text] = n.defs[d.Each]; !d.Change {
			in.Vars = ir.EachVars
		}
		if k := d.Each.Key(); k != nil {
			entry[k.Text] = n.defs[k]
		}
	}
	n.expression(d.Expr, in, s, nil, entry)
}

// definition notes the parameters in the body of a definition. Its other names are noted
// where it is used, for there they have their meaning.
func (n *namer) definition(s *scope, d *syntax.DefineDecl) {
	if n.env == nil || d.Expr == nil {
		return
	}
	names, _ := n.env.Names(d.Expr.Text, expr.Scope{})
	for _, name := range names {
		i := slices.IndexFunc(d.Params, func(p syntax.Name) bool { return p.Text == name.Text })
		if name.Kind == expr.FreeName && i >= 0 {
			n.use(source.Span{File: d.Expr.Span.File, Start: d.Expr.Span.Start + name.Start, End: d.Expr.Span.Start + name.End}, n.defs[&d.Params[i]])
		}
	}
}

// conditions notes the names in the conditions of measures.
func (n *namer) conditions() {
	for i := range n.out.Measures {
		if m := &n.out.Measures[i]; m.Where != nil {
			e := n.wheres[m.Name]
			n.expression(e, expr.Scope{Vars: ir.SelfVars, Self: m.Entry}, n.root, nil, nil)
		}
	}
}

// constraints notes the names in the constraints of types.
func (n *namer) constraints() {
	seen := map[*syntax.Expr]bool{}
	for id := range n.out.Types {
		for _, w := range n.pending.where[ir.TypeID(id)] {
			e := w.Expr
			if !seen[e] {
				seen[e] = true
				n.expression(e, expr.Scope{Vars: ir.SelfVars, Self: ir.TypeID(id)}, n.root, nil, nil)
			}
		}
	}
}

// expression notes the names of an expression of a file, those of the definitions that it
// uses included, and the types of its parts.
func (n *namer) expression(e *syntax.Expr, in expr.Scope, s *scope, params, entry map[string]*symbol.Symbol) {
	if n.env == nil {
		return
	}
	x := n.expanded(e, in)
	for _, use := range x.Uses {
		at := textSpan(use.In, e, use.Start, use.End)
		at.Start = max(at.Start, at.End-len(use.Macro.Name))
		n.use(at, n.defs[use.Macro.Origin])
	}
	text, back := x.Text, func(i expr.Issue) expr.Issue { return i }
	if s.prefix != "" {
		q := n.env.Qualify(text, s.prefix, s.measures(), append([]string{"state", "phase"}, variables(in)...)...)
		text, back = q.Text, q.Issue
	}
	at := func(start, end int) source.Span {
		i := back(expr.Issue{Start: start, End: end})
		place, _ := x.Place(i.Start, i.End)
		return textSpan(place.Of, e, place.Start, place.End)
	}
	names, parts := n.env.Names(text, in)
	bound := map[int]*symbol.Symbol{}
	for _, name := range names {
		span := at(name.Start, name.End)
		switch name.Kind {
		case expr.BoundName:
			v := bound[name.Binding]
			if v == nil {
				v = &symbol.Symbol{Kind: symbol.Variable, Name: name.Text, Span: span, Whole: span, Scope: e.Span}
				bound[name.Binding] = v
				n.table.Symbols = append(n.table.Symbols, v)
			}
			if v.Type == "" {
				v.Type = name.Type
			}
			n.use(span, v)
		case expr.MemberName:
			n.member(span, name.Text, name.Records)
		case expr.FunctionName:
			n.use(span, n.builtin(name.Text))
		case expr.PhaseName:
			if p := n.phases[name.Text]; p != nil {
				n.use(span, n.defs[p])
			}
		case expr.FreeName:
			switch {
			case params[name.Text] != nil:
				n.use(span, params[name.Text])
			case entry[name.Text] != nil:
				n.use(span, entry[name.Text])
			case reservedVariable(name.Text):
				n.use(span, n.builtin(name.Text))
			case slices.Contains(ir.Inputs(), name.Text) && !n.isMeasure(name.Text):
				n.use(span, n.builtin(name.Text))
			default:
				n.measure(span, name.Text, s)
			}
		}
	}
	for _, p := range parts {
		n.typed(at(p.Start, p.End), p.Type, p.Records)
	}
}

// measure notes a measure, by the name that the contract has for it, and the aliases
// before it as far as they are written.
func (n *namer) measure(at source.Span, name string, from *scope) {
	for _, s := range n.root.scopes() {
		for _, d := range s.file.Decls {
			d, ok := d.(*syntax.MeasureDecl)
			if !ok || s.prefix+d.Name.Text != name {
				continue
			}
			last := at
			last.Start = last.End - len(d.Name.Text)
			n.use(last, n.defs[d])
			if alias, _, ok := strings.Cut(at.Text(), "."); ok {
				n.use(source.Span{File: at.File, Start: at.Start, End: at.Start + len(alias)}, n.importOf(from, alias))
			}
		}
	}
}
