package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Rules, taken apart.
//
// A rule such as `state.m.all(k, state.m[k].n >= 0) && state.a <= 9` reads all of a
// container and more, but what it says it says of one entry after the other, and of
// something else beside. Taken apart it is several rules, and families of rules, one
// per entry, of which a commit has to ask only those it touched, and of which two
// stages may touch different ones.
//
// A rule is written as an "and" of clauses, each an "or": && under || is distributed,
// ! is moved inwards, and `a ? b : c` is `(!a || b) && (a || c)`, where also
// `a || !a` must have a value. A clause with an all(), or a negated exists(), over a
// container that always is there is a family: what else is in it does not depend on
// the entry. Its body is taken apart in turn and rewritten to a rule over one bound
// entry, as the author of an `each` invariant would have done: `state.m[k]` becomes
// the entry's name.
//
// The rule as a whole holds exactly if all of its parts do. If some part is false it
// is false, whatever other parts come to; else if some part has no value it has
// none. Only what a part costs is counted by itself.

// Parts takes apart a checked rule of StateVars or EachVars. The result is nil if that
// says no more than the rule itself.
func (e *Env) Parts(x ir.Expr, s Scope) []ir.Part {
	tree, extents, _ := e.parse(x.Source)
	if tree == nil || s.Vars != ir.StateVars && s.Vars != ir.EachVars {
		return nil
	}
	d := decomposer{env: e, src: x.Source, extents: extents, clauses: map[literalKey][]clause{}}
	var top *frame
	if s.Vars == ir.EachVars {
		top = entryFrame(s.Each)
	}
	var out []ir.Part
	for _, c := range d.clausesOf(tree.Expr(), false) {
		parts, ok := d.parts(c, top)
		if !ok || len(out)+len(parts) > maxClauses {
			return nil
		}
		out = append(out, parts...)
	}
	if len(out) == 1 && out[0].Each == s.Each && out[0].Bound == nil {
		return nil
	}
	return out
}

// maxClauses bounds what one rule is taken apart into: what would make more stays
// together.
const maxClauses = 16

// maxEntered bounds how often a container's entries are gone into while a rule is taken
// apart. Of an "or" of loops each may be the one that makes the family, and within it
// each of the others: what needs more than this to find out stays whole.
const maxEntered = 128

// PartScope is the scope that a part is checked in.
func PartScope(p ir.Part) Scope {
	if p.Each == nil {
		return Scope{Vars: ir.StateVars}
	}
	return Scope{Vars: ir.EachVars, Each: p.Each, Key: p.Key}
}

// RuleScope is the scope of the expression of an invariant, or of a rule about changes.
func RuleScope(v *ir.Invariant) Scope {
	switch {
	case v.Change:
		return Scope{Vars: ir.ChangeVars, Each: v.Each}
	case v.Each != nil:
		return Scope{Vars: ir.EachVars, Each: v.Each}
	}
	return Scope{Vars: ir.StateVars}
}

// Local reports whether a part about an entry looks at nothing but that: not at the
// state, the phase or a measure.
func (e *Env) Local(p ir.Part) bool {
	tree, _, _ := e.parse(p.Expr.Source)
	return tree != nil && !e.looksElsewhere(tree.Expr(), PartScope(p), p.Each.Var, p.Key)
}

// EntryReads splits what a part about entries reads: what it reads of the entry it is
// about, relative to that, and what it reads by other ways, with wildcards for the keys
// that it looks up. Cost: that of Check.
func (e *Env) EntryReads(p ir.Part) (within, elsewhere []region.Pattern) {
	s := PartScope(p)
	within = []region.Pattern{{Shallow: true}} // it is asked from when the entry comes
	tree, extents, _ := e.parse(p.Expr.Source)
	check, err := e.checkerFor(s)
	if tree == nil || err != nil {
		return []region.Pattern{{}}, []region.Pattern{{}}
	}
	checked, _ := e.typed(tree, extents, check)
	w := newWalker(e, s, checked, extents)
	w.oneState = true
	for i := range w.vars {
		if v := &w.vars[i]; v.root == stateRoot && v.name == p.Each.Var {
			v.at = place{segments: []region.Segment{boundEntry}}
		}
	}
	w.outcome()
	w.everything()
	for _, r := range w.footprint.widened().list() {
		if n := len(r.Pattern.Segments); n > 0 && r.Pattern.Segments[0] == boundEntry {
			within = append(within, region.Pattern{Segments: r.Pattern.Segments[1:], Shallow: r.Pattern.Shallow})
			continue
		}
		elsewhere = append(elsewhere, r.Pattern)
	}
	return within, elsewhere
}

// boundEntry is where the entry of a rule is, in a walk that tells it from all else.
var boundEntry = region.Segment{Kind: region.ParamSegment, Text: "@entry"}

// looksElsewhere reports whether e uses a name of the scope other than own. The
// measures of an import are all meant by its alias, with which their names begin.
func (e *Env) looksElsewhere(x ast.Expr, s Scope, own ...string) bool {
	found := false
	elsewhere := slices.DeleteFunc(names(e.variables(s)), func(name string) bool { return slices.Contains(own, name) })
	ast.PostOrderVisit(x, ast.NewExprVisitor(func(n ast.Expr) {
		found = found || n.Kind() == ast.IdentKind && slices.ContainsFunc(elsewhere, beginsWith(n.AsIdent()))
	}))
	return found
}

// beginsWith tells names that are an identifier or start with it and a dot.
func beginsWith(ident string) func(name string) bool {
	return func(name string) bool {
		rest, ok := strings.CutPrefix(name, ident)
		return ok && (rest == "" || rest[0] == '.')
	}
}

// A decomposer takes one rule apart.
type decomposer struct {
	env     *Env
	src     string
	extents *extents
	clauses map[literalKey][]clause // what clausesOf has written
	entered int                     // how often it went into a container
}

// A literal is an operand of a clause, or its negation.
type literal struct {
	expr    ast.Expr
	negated bool
}

// A clause is an "or" of literals; whole is the expression it is, if it is one.
type clause struct {
	literals []literal
	whole    *literal
}

func clauseOf(l literal) clause { return clause{[]literal{l}, &l} }

// A literalKey is a literal by the node that it is of.
type literalKey struct {
	node    int64
	negated bool
}

// clausesOf writes an expression, or its negation, as an "and" of clauses. Each node is
// written at most twice, negated and not: a condition is asked for both.
func (d *decomposer) clausesOf(e ast.Expr, negated bool) []clause {
	key := literalKey{e.ID(), negated}
	out, known := d.clauses[key]
	if !known {
		out = d.distribute(e, negated)
		d.clauses[key] = out
	}
	return out
}

// distribute makes what clausesOf remembers.
func (d *decomposer) distribute(e ast.Expr, negated bool) []clause {
	whole := []clause{clauseOf(literal{e, negated})}
	if e.Kind() != ast.CallKind {
		return whole
	}
	out, args := whole, e.AsCall().Args()
	switch f := e.AsCall().FunctionName(); f {
	case operators.LogicalNot:
		out = d.clausesOf(args[0], !negated)
	case operators.LogicalAnd, operators.LogicalOr:
		left, right := d.clausesOf(args[0], negated), d.clausesOf(args[1], negated)
		if (f == operators.LogicalAnd) != negated {
			out = slices.Concat(left, right)
		} else {
			out = either(left, right)
		}
		if len(out) == 1 {
			out[0].whole = whole[0].whole
		}
	case operators.Conditional:
		decided := clause{literals: []literal{{args[0], false}, {args[0], true}}}
		out = slices.Concat([]clause{decided},
			either(d.clausesOf(args[0], true), d.clausesOf(args[1], negated)),
			either(d.clausesOf(args[0], false), d.clausesOf(args[2], negated)))
	}
	if len(out) > maxClauses {
		return whole
	}
	return out
}

// either distributes: (A && B) || (C && D) is all pairs of one of each.
func either(a, b []clause) []clause {
	var out []clause
	for _, x := range a {
		for _, y := range b {
			out = append(out, clause{literals: slices.Concat(x.literals, y.literals)})
		}
	}
	return out
}

// A frame is what a part is about: an entry of a container that members lead to from
// the frame outside, or from the state.
type frame struct {
	each  *ir.Each
	key   string   // the name of the entry's key, "" for none
	from  *frame   // where path begins, nil for the state
	path  []string // the members that lead to the container
	lost  bool     // no members alone lead to it
	outer *frame
}

// entryFrame is the frame of the entries of an each.
func entryFrame(each *ir.Each) *frame {
	f := &frame{each: each, key: each.Key}
	last := len(each.Over.Segments) - 1
	for i, s := range each.Over.Segments {
		switch {
		case i < last && s.Kind == region.KeyLiteral:
			f.path = append(f.path, s.Text)
		case i < last || s.Kind != region.AnyKey:
			f.lost = true
		}
	}
	return f
}

// names reports whether a frame calls its entry or key so.
func (f *frame) names(name string) bool {
	return name != "" && (name == f.each.Var || name == f.key)
}

// binds reports whether f or a frame outside does.
func (f *frame) binds(name string) bool {
	for ; f != nil; f = f.outer {
		if f.names(name) {
			return true
		}
	}
	return false
}

// parts makes the parts of a clause: those of the family that it is, or it as a whole.
// ok is false if it cannot stand by itself.
func (d *decomposer) parts(c clause, in *frame) (out []ir.Part, ok bool) {
	for i, l := range c.literals {
		inner, body, ok := d.enter(l, in)
		if !ok {
			continue
		}
		if d.entered++; d.entered > maxEntered {
			return nil, false
		}
		rest := slices.Delete(slices.Clone(c.literals), i, i+1)
		if parts, ok := d.family(rest, d.clausesOf(body, l.negated), inner); ok {
			return parts, true
		}
	}
	part, ok := d.part(c, in)
	return []ir.Part{part}, ok
}

// family makes the parts of a clause of which the body of a quantifier is one operand.
func (d *decomposer) family(rest []literal, body []clause, in *frame) ([]ir.Part, bool) {
	var out []ir.Part
	for _, c := range body {
		if len(rest) > 0 {
			c = clause{literals: slices.Concat(rest, c.literals)}
		}
		parts, ok := d.parts(c, in)
		if !ok {
			return nil, false
		}
		out = append(out, parts...)
	}
	return out, true
}

// enter is the frame of the entries that a literal asks the same of.
func (d *decomposer) enter(l literal, in *frame) (*frame, ast.Expr, bool) {
	loop, ok := quantifierOf(l.expr, l.negated)
	if !ok {
		return nil, nil, false
	}
	from, path, ok := in.resolve(loop.over)
	if !ok || from != in { // of a container beside the entry, nothing is asked where there is no entry
		return nil, nil, false
	}
	each, keyed, ok := d.env.container(from, path)
	if !ok {
		return nil, nil, false
	}
	f := &frame{each: each, from: from, path: path, outer: in}
	each.Var = loop.vars[len(loop.vars)-1]
	switch {
	case len(loop.vars) == 1 && keyed:
		f.key, each.Var = loop.vars[0], d.freshName(in)
	case len(loop.vars) == 2 && keyed:
		f.key = loop.vars[0]
	case len(loop.vars) == 2:
		return nil, nil, false // by position, which changes when others come and go
	}
	globals := names(d.env.variables(Scope{Vars: ir.StateVars}))
	for _, name := range []string{f.key, each.Var} {
		if name != "" && (in.binds(name) || slices.ContainsFunc(globals, beginsWith(name))) {
			return nil, nil, false
		}
	}
	return f, loop.body, true
}

// freshName is a name that occurs neither in the source nor in frames around.
func (d *decomposer) freshName(in *frame) string {
	name := "entry"
	for strings.Contains(d.src, name) || in.binds(name) {
		name += "_"
	}
	return name
}

// A quantifier is a loop that asks the same of every entry of a container.
type quantifier struct {
	over ast.Expr // the container
	vars []string // one or two
	body ast.Expr
}

// quantifierOf reads e as all(), or where it is negated, as exists().
func quantifierOf(e ast.Expr, negated bool) (quantifier, bool) {
	if e.Kind() != ast.ComprehensionKind {
		return quantifier{}, false
	}
	c := e.AsComprehension()
	body, all := stepOf(c, operators.LogicalAnd, types.True)
	if negated {
		body, all = stepOf(c, operators.LogicalOr, types.False)
	}
	q := quantifier{over: c.IterRange(), vars: []string{c.IterVar()}, body: body}
	if c.HasIterVar2() {
		q.vars = append(q.vars, c.IterVar2())
	}
	return q, all
}

// stepOf is what a loop asks of an entry if it does nothing but join the answers
// with the operator, from start on.
func stepOf(c ast.ComprehensionExpr, operator string, start types.Bool) (ast.Expr, bool) {
	step, init, result := c.LoopStep(), c.AccuInit(), c.Result()
	if callName(step) != operator ||
		literalOf(init) != start ||
		result.Kind() != ast.IdentKind || result.AsIdent() != c.AccuVar() {
		return nil, false
	}
	args := step.AsCall().Args()
	return args[1], len(args) == 2 && args[0].Kind() == ast.IdentKind && args[0].AsIdent() == c.AccuVar()
}

// resolve reads e as the members that lead from the state (from is nil), or from the
// entry of a frame.
func (f *frame) resolve(e ast.Expr) (from *frame, path []string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		for g := f; g != nil; g = g.outer {
			if e.AsIdent() == g.each.Var {
				return g, nil, true
			}
			if e.AsIdent() == g.key {
				return nil, nil, false
			}
		}
		return nil, nil, e.AsIdent() == "state"
	case ast.SelectKind:
		from, path, ok = f.resolve(e.AsSelect().Operand())
		return from, append(slices.Clone(path), e.AsSelect().FieldName()), ok && !e.AsSelect().IsTestOnly()
	case ast.CallKind:
		args := e.AsCall().Args()
		if e.AsCall().FunctionName() != operators.Index || args[1].Kind() != ast.IdentKind {
			return nil, nil, false
		}
		from, path, ok = f.resolve(args[0])
		for g := f; ok && g != nil; g = g.outer {
			if g.key != "" && g.key == args[1].AsIdent() {
				return g, nil, !g.lost && from == g.from && slices.Equal(path, g.path)
			}
		}
	}
	return nil, nil, false
}

// container is the entries of the container that members lead to from an entry, or
// from the state, and whether they are found by key; ok is false where the types do not
// say that there is always such a container.
func (e *Env) container(from *frame, path []string) (each *ir.Each, keyed, ok bool) {
	id, over := e.root, region.Pattern{}
	if from != nil {
		id, over.Segments = from.each.Type, slices.Clone(from.each.Over.Segments)
	}
	for _, name := range path {
		t := e.typeOf(id)
		m, declared := t.Member(name)
		if t.Kind != ir.RecordType || !declared || m.Optional {
			return nil, false, false
		}
		over.Segments = append(over.Segments, region.Segment{Kind: region.KeyLiteral, Text: name})
		id = m.Type
	}
	t := e.typeOf(id)
	entry := region.Segment{Kind: region.AnyIndex}
	switch t.Kind {
	case ir.MapType, ir.KeyedType:
		entry.Kind, keyed = region.AnyKey, true
	case ir.ListType, ir.SetType, ir.LogType:
	default:
		return nil, false, false
	}
	over.Segments = append(over.Segments, entry)
	return &ir.Each{Over: over, Type: t.Elem}, keyed, wildcards(over) <= ir.MaxFamilyKeys
}

// part makes the part that a clause is in a frame.
func (d *decomposer) part(c clause, in *frame) (ir.Part, bool) {
	var out ir.Part
	if in != nil {
		out.Each, out.Key = in.each, in.key
	}
	texts := make([]string, len(c.literals))
	for i, l := range c.literals {
		text, ok := d.text(l, in)
		if !ok {
			return out, false
		}
		texts[i] = text
	}
	source := strings.Join(texts, " || ")
	if c.whole != nil {
		source, _ = d.text(*c.whole, in)
		source = withoutParentheses(source)
	} else if len(texts) == 1 {
		source = withoutParentheses(source)
	}
	x, ok := d.check(source, out)
	out.Expr, out.Bound = x, d.bound(c, texts, in, out)
	return out, ok
}

// check checks a part's text. A member that a guard in another part was for may be
// absent: then that one fails, and this one has no value.
func (d *decomposer) check(source string, p ir.Part) (ir.Expr, bool) {
	x, issues := d.env.Check(source, PartScope(p))
	return x, !slices.ContainsFunc(issues, func(i Issue) bool { return !i.Warning && i.Code != Unguarded })
}

// withoutParentheses takes off those that text puts around a literal.
func withoutParentheses(text string) string { return text[1 : len(text)-1] }

// text is a literal in parentheses as it stands in a frame; ok is false if it is about
// anything of a frame outside, or if names in it mean something else.
func (d *decomposer) text(l literal, in *frame) (string, bool) {
	r := rewriting{frame: in}
	r.walk(l.expr, nil)
	if r.outside {
		return "", false
	}
	whole := d.extents.operand(l.expr)
	var out strings.Builder
	at := whole.start
	cuts := make([]span, len(r.entries))
	for i, e := range r.entries {
		cuts[i] = d.extents.of(e)
	}
	slices.SortFunc(cuts, func(a, b span) int { return a.start - b.start })
	for _, cut := range slices.Compact(cuts) {
		out.WriteString(d.src[at:cut.start] + in.each.Var)
		at = cut.end
	}
	out.WriteString(d.src[at:whole.end])
	if l.negated {
		return "(!(" + out.String() + "))", true
	}
	return "(" + out.String() + ")", true
}

// A rewriting finds where a literal looks up the entry of its frame.
type rewriting struct {
	*frame
	entries []ast.Expr
	outside bool // it is about a frame outside, or names in it mean something else
}

func (r *rewriting) walk(e ast.Expr, bound []string) {
	if r.frame == nil {
		return
	}
	if e.Kind() == ast.CallKind {
		if from, path, ok := r.resolve(e); ok && from == r.frame && len(path) == 0 {
			r.entries = append(r.entries, e)
			return
		}
	}
	switch e.Kind() {
	case ast.IdentKind:
		r.outside = r.outside || !slices.Contains(bound, e.AsIdent()) && r.outer.binds(e.AsIdent()) && !r.names(e.AsIdent())
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		mine := []string{c.IterVar(), c.IterVar2(), c.AccuVar()}
		r.outside = r.outside || slices.ContainsFunc(mine, func(name string) bool { return name == "state" || r.binds(name) })
		bound = append(slices.Clone(bound), mine...)
	}
	for _, child := range children(e) {
		r.walk(child, bound)
	}
}

// bound finds the one literal of a clause that bounds a number of members: an order
// between size() of a container, or a count, and something else. texts are the
// literals as they stand in the part.
func (d *decomposer) bound(c clause, texts []string, in *frame, p ir.Part) *ir.Bound {
	var out *ir.Bound
	var rest []string
	for i, l := range c.literals {
		of, least, other, ok := d.counted(l, in)
		if !ok {
			rest = append(rest, texts[i])
			continue
		}
		text, fits := d.text(literal{expr: other}, in)
		if out != nil || !fits {
			return nil
		}
		out = &ir.Bound{Of: of, Least: least}
		rest = append(rest, text+" == "+text)
	}
	if out == nil {
		return nil
	}
	for _, text := range rest {
		x, ok := d.check(text, p)
		if !ok {
			return nil
		}
		for _, r := range x.Reads {
			out.Rest = append(out.Rest, r.Pattern)
		}
	}
	return out
}

// orders are the operators by which a number is bounded from above by what follows.
var orders = map[string]bool{operators.LessEquals: true, operators.Less: true, operators.GreaterEquals: false, operators.Greater: false}

// counted reads a literal as a bound: on the number of what a pattern matches, from
// below or above, by another expression.
func (d *decomposer) counted(l literal, in *frame) (of region.Pattern, least bool, other ast.Expr, ok bool) {
	if l.expr.Kind() != ast.CallKind {
		return of, false, nil, false
	}
	most, isOrder := orders[l.expr.AsCall().FunctionName()]
	if !isOrder {
		return of, false, nil, false
	}
	args := l.expr.AsCall().Args()
	if of, ok = d.number(args[0], in); ok {
		return of, most == l.negated, args[1], true
	}
	of, ok = d.number(args[1], in)
	return of, most != l.negated, args[0], ok
}

// number is the pattern of what e counts.
func (d *decomposer) number(e ast.Expr, in *frame) (of region.Pattern, ok bool) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == overloads.Size {
		args := operands(e.AsCall())
		if len(args) != 1 {
			return of, false
		}
		from, path, ok := in.resolve(args[0])
		if !ok || from != nil && from != in {
			return of, false
		}
		each, _, ok := d.env.container(from, path)
		if !ok {
			return of, false
		}
		of = region.Pattern{Segments: familyPlace(each.Over).segments}
		of.Segments[len(of.Segments)-1] = each.Over.Segments[len(each.Over.Segments)-1]
		return of, true
	}
	path, root, ok := memberPath(e)
	if !ok || in.binds(root) {
		return of, false
	}
	for _, name := range path {
		root += "." + name
	}
	for i := range d.env.measures {
		if m := &d.env.measures[i]; m.name == root && m.count && m.where == nil && !hasDepth(m.over) {
			return m.over, true
		}
	}
	return of, false
}

// Walks lists the containers of the state that a checked rule goes through from end
// to end whenever it is evaluated, and that grow with the state: its loops over them,
// apart from those that Parts takes apart, of which a commit asks for the entries it
// touched.
func (e *Env) Walks(x ir.Expr, s Scope) []region.Pattern {
	if s.Vars == ir.SelfVars || s.Vars == ir.ViewVars {
		return nil // a value, or a view: no part of what a commit must check
	}
	parts := []ir.Part{{Each: s.Each, Expr: x}}
	if s.Vars == ir.StateVars || s.Vars == ir.GuardVars {
		if apart := e.Parts(x, Scope{Vars: ir.StateVars}); apart != nil {
			parts = apart
		}
	}
	var out []region.Pattern
	for _, p := range parts {
		scope := s
		if s.Vars == ir.StateVars || s.Vars == ir.GuardVars {
			scope = PartScope(p)
		}
		out = appendNew(out, e.loops(p.Expr, scope)...)
	}
	return out
}

func (e *Env) loops(x ir.Expr, s Scope) []region.Pattern {
	tree, _, _ := e.parse(x.Source)
	if tree == nil {
		return nil
	}
	var out []region.Pattern
	vars := e.variables(s)
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(n ast.Expr) {
		var over ast.Expr
		switch {
		case n.Kind() == ast.ComprehensionKind:
			over = n.AsComprehension().IterRange()
		case isFold(callName(n)) && len(operands(n.AsCall())) == 1:
			over = operands(n.AsCall())[0]
		default:
			return
		}
		if p, ok := placeOf(over, vars); ok {
			out = appendNew(out, p)
		}
	}))
	return out
}

func appendNew(all []region.Pattern, more ...region.Pattern) []region.Pattern {
	for _, p := range more {
		if !slices.ContainsFunc(all, func(q region.Pattern) bool { return q.String() == p.String() }) {
			all = append(all, p)
		}
	}
	return all
}

// placeOf is where in the state a value is that members alone lead to from the state
// itself. One entry that is found by its key is no larger in a larger state.
func placeOf(e ast.Expr, vars []variable) (region.Pattern, bool) {
	path, root, ok := memberPath(e)
	if !ok || !slices.ContainsFunc(vars, func(v variable) bool {
		return v.name == root && v.root == stateRoot && len(v.at.segments) == 0
	}) {
		return region.Pattern{}, false
	}
	var p region.Pattern
	for _, name := range path {
		p.Segments = append(p.Segments, region.Segment{Kind: region.Literal, Text: name})
	}
	return p, true
}
