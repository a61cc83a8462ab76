package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// Rules: the expressions of a contract, its measures and its invariants. What the checker of
// expressions finds is placed in the contract's text.

// openExpressions makes the CEL environment and checks what was waiting for it.
func (c *checker) openExpressions() {
	env, err := expr.New(&c.out, expr.Default())
	if err != nil {
		c.report(environmentFailed(c.root.file.Source, err))
		return
	}
	c.env = env
	c.checkDefinitions()
	c.lowerConstraints()
	c.lowerConditions()
}

// expression checks a CEL expression and maps what is wrong with it back into
// the contract's text.
func (c *checker) expression(e *syntax.Expr, s expr.Scope) ir.Expr {
	return c.expressionIn(c.root, e, s)
}

// expressionIn is expression for one of a file whose measures the contract calls by an alias.
func (c *checker) expressionIn(in *scope, e *syntax.Expr, s expr.Scope) ir.Expr {
	if e == nil || c.env == nil || c.ended() {
		return ir.Expr{}
	}
	x := c.expanded(e, s)
	for _, i := range x.issues {
		c.reportAt(nil, e, i)
	}
	text, back := x.Text, func(i expr.Issue) expr.Issue { return i }
	if in.prefix != "" {
		q := c.env.Qualify(text, in.prefix, in.measures(), append([]string{"state", "phase"}, variables(s)...)...)
		text, back = q.Text, q.Issue
	}
	if len(c.faultyNames) > 0 {
		mentioned, _ := c.env.ParamUses(text, c.faultyNames)
		c.use(len(mentioned) > 0)
	}
	out, issues := c.env.Check(text, s)
	if c.use(x.Stuck); x.Stuck || len(x.issues) > 0 { // the uses that were left as they are would be found again
		return out
	}
	for _, i := range issues {
		i, of, uses := x.Issue(back(i))
		c.reportAt(of, e, i, uses...)
	}
	if !expr.HasErrors(issues) {
		c.noteWalks(e, out, s)
	}
	if plain := syntax.Plain(out.Source); len(plain) <= expr.Default().MaxSource { // a brace may have had no space beside it
		out.Source = plain
	}
	return out
}

// An expansion is an expression with its constants and definitions written out, and what is
// wrong with their uses.
type expansion struct {
	expr.Expansion
	issues []expr.Issue
}

func (c *checker) expanded(e *syntax.Expr, s expr.Scope) expansion {
	x, issues := c.env.Expand(e.Text, c.scopeOf[e.Span.File].macro, variables(s)...)
	return expansion{x, issues}
}

// variables are the names that a scope has of its own.
func variables(s expr.Scope) []string {
	out := slices.Clone(s.Params)
	for _, v := range s.Values {
		out = append(out, v.Name)
	}
	if s.Each != nil {
		out = append(out, s.Each.Var, s.Each.Key)
	}
	return append(out, s.Key)
}

// noteWalks tells what a rule costs that goes through whole containers.
func (c *checker) noteWalks(e *syntax.Expr, x ir.Expr, s expr.Scope) {
	if walks := c.env.Walks(x, s); len(walks) > 0 {
		c.report(wholeStateRule(e, walks))
	}
}

var measureKinds = []string{string(ir.Count), string(ir.Max), string(ir.Min), string(ir.Sum)}

func (c *checker) lowerMeasures() {
	for _, s := range c.root.scopes() {
		for _, d := range s.file.Decls {
			if d, ok := d.(*syntax.MeasureDecl); ok {
				c.lowerMeasure(s, d)
			}
		}
	}
}

func (c *checker) lowerMeasure(s *scope, d *syntax.MeasureDecl) {
	if reservedVariable(d.Name.Text) {
		c.shadows(d.Name, "measure")
		return
	}
	if !slices.Contains(measureKinds, d.Kind.Text) {
		return // the parser has reported it
	}
	kind := ir.MeasureKind(d.Kind.Text)
	over, ok := c.onePattern(d.Over)
	if !ok {
		c.declareMeasure(s, d, kind)
		return
	}
	for _, id := range over.at {
		if kind != ir.Count && !c.isNumericType(id) && c.out.Type(id).Kind != ir.AnyType {
			c.report(notNumeric(d, c.describeSet(over.at), c.hasNumbers(over.at)))
			c.declareMeasure(s, d, kind)
			return
		}
	}
	m := ir.Measure{Name: s.prefix + d.Name.Text, Doc: d.Doc, Kind: kind, Over: over.pattern}
	if d.Where != nil {
		entry, _, ok := ir.EntryOf(over.pattern)
		if !ok {
			c.report(noEntry(d.Over, "a measure with a condition"))
			c.declareMeasure(s, d, kind)
			return
		}
		m.Entry = c.typeOfSet(c.model.Shape.At(entry))
		c.wheres[m.Name] = d.Where
	}
	c.out.Measures = append(c.out.Measures, m)
}

// lowerConditions checks the conditions of measures, before any expression that may use
// one.
func (c *checker) lowerConditions() {
	if c.env == nil || len(c.wheres) == 0 {
		return
	}
	for i := range c.out.Measures {
		m := &c.out.Measures[i]
		e := c.wheres[m.Name]
		if e == nil {
			continue
		}
		if c.faultily(func() {
			x := c.expression(e, expr.Scope{Vars: ir.SelfVars, Self: m.Entry})
			m.Where = &x
		}) {
			m.Where = nil
			c.faultyNames = append(c.faultyNames, m.Name)
		}
	}
	c.env.ReadMeasures()
}

// declareMeasure adds a measure that was reported, so that rules may name it.
func (c *checker) declareMeasure(s *scope, d *syntax.MeasureDecl, kind ir.MeasureKind) {
	c.faultyNames = append(c.faultyNames, s.prefix+d.Name.Text)
	everything := region.Pattern{Segments: []region.Segment{{Kind: region.AnyDepth}}}
	c.out.Measures = append(c.out.Measures, ir.Measure{Name: s.prefix + d.Name.Text, Kind: kind, Over: everything})
}

// reservedVariable reports whether a name is a variable that expressions already have, or a
// word that can be none.
func reservedVariable(name string) bool {
	return expr.IsReserved(name) || slices.Contains([]string{"state", "phase", "before", "after", "self", "view"}, name)
}

// onePattern types a path that may use wildcards but no alternatives.
func (c *checker) onePattern(p *syntax.Path) (typedPattern, bool) {
	out := c.typePath(p, otherPath, nil)
	if len(out) > 1 {
		c.report(choiceNotAllowed(p))
	}
	if len(out) != 1 {
		return typedPattern{}, false
	}
	return out[0], true
}

func (c *checker) lowerInvariants() {
	for _, s := range c.root.scopes() {
		for _, d := range s.file.Decls {
			if d, ok := d.(*syntax.InvariantDecl); ok {
				c.lowerInvariant(s, d)
			}
		}
	}
}

func (c *checker) lowerInvariant(s *scope, d *syntax.InvariantDecl) {
	kept := c.out.Invariants
	if c.faultily(func() { c.addInvariant(s, d) }) {
		c.out.Invariants = kept
		c.faultyRules[s.prefix+d.Name.Text] = true
	}
}

func (c *checker) addInvariant(s *scope, d *syntax.InvariantDecl) {
	if s.prefix == "" && d.Name.Text == disclosedPhase {
		c.shadows(d.Name, "invariant")
		return
	}
	v := ir.Invariant{Name: s.prefix + d.Name.Text, Doc: d.Doc, Message: textOf(d.Message), Change: d.Change}
	in := expr.Scope{Vars: ir.StateVars}
	if d.Change {
		in.Vars = ir.ChangeVars
	}
	if d.Each != nil {
		if v.Each = c.lowerEach(d.Each); v.Each == nil { // reported: of the entry nothing is known
			v.Each = &ir.Each{Var: d.Each.Var().Text, Key: keyName(d.Each), Type: c.anyType}
		}
		if in.Each = v.Each; d.Change {
			c.checkIdentity(d.Each, v.Each)
		} else {
			in.Vars = ir.EachVars
		}
		c.entryOf[d.Each] = v.Each
	}
	switch {
	case d.Unique != nil:
		if !c.lowerUnique(d, &v) {
			return
		}
	case d.Expr != nil:
		x := c.expressionIn(s, d.Expr, in)
		v.Expr = &x
		if c.env != nil && !d.Change {
			v.Parts = c.env.Parts(x, in)
		}
		if d.Change && d.Each == nil && len(x.Reads) == 0 {
			c.checkAsked(d, &x, in)
		}
	default:
		return
	}
	c.out.Invariants = append(c.out.Invariants, v)
}

// checkAsked reports a change rule that is right by itself, and that no commit is asked.
func (c *checker) checkAsked(d *syntax.InvariantDecl, x *ir.Expr, in expr.Scope) {
	if c.env == nil {
		return
	}
	if _, issues := c.env.Check(x.Source, in); expr.HasErrors(issues) {
		return
	}
	c.report(fault(diagnostic.NoEffect, d.Name.Span, "say what it is about, with `before` and `after` or with `each`; what a stage may do is for its `require` or `ensure`",
		"%s reads nothing of the state, and is asked of no commit: it is asked of those that write where it reads", d.Name.Text))
}

// checkIdentity reports a change rule over entries that have no names, so that none can be
// told to be the one it was before.
func (c *checker) checkIdentity(e *syntax.Each, each *ir.Each) {
	if slices.ContainsFunc(each.Over.Segments, func(s region.Segment) bool {
		return s.Kind == region.AnyIndex || s.Kind == region.AnySegment || s.Kind == region.IndexLiteral
	}) {
		c.report(noIdentity(e))
	}
}

// lowerUnique lowers "unique PATH, ...": the places of one entry whose values are unique
// together.
func (c *checker) lowerUnique(d *syntax.InvariantDecl, v *ir.Invariant) bool {
	for i, p := range d.Unique {
		over, ok := c.onePattern(p)
		if !ok {
			return false
		}
		if i == 0 {
			v.Unique = &over.pattern
		} else {
			v.Together = append(v.Together, over.pattern)
		}
		if len(d.Unique) == 1 && slices.IndexFunc(over.pattern.Segments, func(s region.Segment) bool { return !s.IsLiteral() }) < 0 {
			c.report(uniqueAlone(p, c.inEveryEntry(p, over.pattern)))
			return false
		}
		if len(d.Unique) == 1 {
			return true
		}
		entry, _, ok := ir.EntryOf(over.pattern)
		first, _, _ := ir.EntryOf(*v.Unique)
		switch {
		case !ok:
			c.report(noEntry(p, "what is unique together"))
			return false
		case entry.String() != first.String():
			c.report(otherEntry(p, d.Unique[0]))
			return false
		}
	}
	return true
}

// inEveryEntry is the text of a path that leads to the same place in every entry of a
// container on its way, "" if there is none.
func (c *checker) inEveryEntry(p *syntax.Path, pattern region.Pattern) string {
	for i := 1; i <= len(pattern.Segments); i++ {
		all := region.Pattern{Segments: slices.Concat(pattern.Segments[:i], []region.Segment{{Kind: region.AnyKey}}, pattern.Segments[i:])}
		if len(c.model.Shape.At(all)) > 0 {
			return all.Source()
		}
	}
	return ""
}

// keyName is what an each calls the key of its entry, "" for nothing.
func keyName(e *syntax.Each) string {
	if e.Key() == nil {
		return ""
	}
	return e.Key().Text
}

// lowerEach lowers "each [k,] x in PATH": keys, wildcards of one segment, and entries of
// one type.
func (c *checker) lowerEach(e *syntax.Each) *ir.Each {
	for _, name := range []*syntax.Name{e.Key(), e.Var()} {
		if name != nil && reservedVariable(name.Text) {
			c.shadows(*name, "entry")
			return nil
		}
	}
	if keyName(e) == e.Var().Text {
		c.report(entryTwice(e))
		return nil
	}
	over, ok := c.onePattern(e.Over)
	if !ok {
		return nil
	}
	wildcards := 0
	for i, s := range over.pattern.Segments {
		switch s.Kind {
		case region.AnyDepth:
			c.report(deepEach(e.Over.Segments[i]))
			return nil
		case region.AnyKey, region.AnyIndex, region.AnySegment:
			wildcards++
		}
	}
	if wildcards == 0 || wildcards > ir.MaxFamilyKeys {
		c.report(eachWithoutWildcard(e, ir.MaxFamilyKeys, wildcards == 0 && c.model.Shape.Only(over.at, ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType)))
		return nil
	}
	if entry, _, _ := ir.EntryOf(over.pattern); e.Key() != nil && entry.Segments[len(entry.Segments)-1].Kind != region.AnyKey {
		c.report(noKeyOfEntry(e))
		return nil
	}
	return &ir.Each{Var: e.Var().Text, Key: keyName(e), Over: over.pattern, Type: c.typeOfSet(over.at)}
}

// typeOfSet is the type of a set: its only member, or their union.
func (c *checker) typeOfSet(set footprint.TypeSet) ir.TypeID {
	if len(set) == 1 {
		return set[0]
	}
	return c.addType(ir.Type{Kind: ir.UnionType, Alternatives: set})
}
