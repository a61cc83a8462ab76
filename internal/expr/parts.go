package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/patchoptic/poptic/internal/ir"
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

// maxClauses bounds what one rule is taken apart into: what would make more stays
// together.
const maxClauses = 16

// maxEntered bounds how often a container's entries are gone into while a rule is taken
// apart. Of an "or" of loops each may be the one that makes the family, and within it
// each of the others: what needs more than this to find out stays whole.
const maxEntered = 128

// Parts takes apart a checked rule of StateVars or EachVars. The result is nil if that
// says no more than the rule itself.
func (e *Env) Parts(x ir.Expr, s Scope) []ir.Part {
	tree, extents, _ := e.parse(x.Source)
	if tree == nil || s.Vars != ir.StateVars && s.Vars != ir.EachVars {
		return nil
	}
	t := takeApart{env: e, src: x.Source, extents: extents, clauses: map[literalKey][]clause{}}
	var top *frame
	if s.Vars == ir.EachVars {
		top = &frame{each: s.Each}
	}
	var out []ir.Part
	for _, c := range t.clausesOf(tree.Expr(), false) {
		parts, ok := t.parts(c, top)
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

// PartScope is the scope that a part is checked in.
func PartScope(p ir.Part) Scope {
	if p.Each == nil {
		return Scope{Vars: ir.StateVars}
	}
	s := Scope{Vars: ir.EachVars, Each: p.Each}
	if p.Key != "" {
		s.Params = []string{p.Key}
	}
	return s
}

// Local reports whether a part about an entry looks at nothing but that: not at the
// state, the phase or a measure.
func (e *Env) Local(p ir.Part) bool {
	tree, _, _ := e.parse(p.Expr.Source)
	return tree != nil && !e.looksElsewhere(tree.Expr(), PartScope(p), p.Each.Var, p.Key)
}

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

// conjuncts are the operands of the outermost &&.
func conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, operand := range e.AsCall().Args() {
		out = append(out, conjuncts(operand)...)
	}
	return out
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

// clausesOf writes an expression, or its negation, as an "and" of clauses. Each node is
// written at most twice, negated and not: a condition is asked for both.
func (t *takeApart) clausesOf(e ast.Expr, negated bool) []clause {
	key := literalKey{e.ID(), negated}
	out, known := t.clauses[key]
	if !known {
		out = t.distribute(e, negated)
		t.clauses[key] = out
	}
	return out
}

// distribute makes what clausesOf remembers.
func (t *takeApart) distribute(e ast.Expr, negated bool) []clause {
	whole := []clause{clauseOf(literal{e, negated})}
	if e.Kind() != ast.CallKind {
		return whole
	}
	out, args := whole, e.AsCall().Args()
	switch f := e.AsCall().FunctionName(); f {
	case operators.LogicalNot:
		out = t.clausesOf(args[0], !negated)
	case operators.LogicalAnd, operators.LogicalOr:
		left, right := t.clausesOf(args[0], negated), t.clausesOf(args[1], negated)
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
			either(t.clausesOf(args[0], true), t.clausesOf(args[1], negated)),
			either(t.clausesOf(args[0], false), t.clausesOf(args[2], negated)))
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

type takeApart struct {
	env     *Env
	src     string
	extents *extents
	clauses map[literalKey][]clause // what clausesOf has written
	entered int                     // how often it went into a container
}

// A literalKey is a literal by the node that it is of.
type literalKey struct {
	node    int64
	negated bool
}

// A frame is what a part is about: an entry of a container that members lead to from
// the frame outside, or from the state.
type frame struct {
	each  *ir.Each
	key   string   // the name of the entry's key, "" for none
	from  *frame   // where path begins, nil for the state
	path  []string // the members that lead to the container
	outer *frame
}

// parts makes the parts of a clause: those of the family that it is, or it as a whole.
// ok is false if it cannot stand by itself.
func (t *takeApart) parts(c clause, in *frame) (out []ir.Part, ok bool) {
	for i, l := range c.literals {
		inner, body, ok := t.enter(l, in)
		if !ok {
			continue
		}
		if t.entered++; t.entered > maxEntered {
			return nil, false
		}
		rest := slices.Delete(slices.Clone(c.literals), i, i+1)
		if parts, ok := t.family(rest, t.clausesOf(body, l.negated), inner); ok {
			return parts, true
		}
	}
	part, ok := t.part(c, in)
	return []ir.Part{part}, ok
}

// family makes the parts of a clause of which the body of a quantifier is one operand.
func (t *takeApart) family(rest []literal, body []clause, in *frame) ([]ir.Part, bool) {
	var out []ir.Part
	for _, c := range body {
		if len(rest) > 0 {
			c = clause{literals: slices.Concat(rest, c.literals)}
		}
		parts, ok := t.parts(c, in)
		if !ok {
			return nil, false
		}
		out = append(out, parts...)
	}
	return out, true
}

// enter is the frame of the entries that a literal asks the same of.
func (t *takeApart) enter(l literal, in *frame) (*frame, ast.Expr, bool) {
	loop, ok := quantifierOf(l.expr, l.negated)
	if !ok {
		return nil, nil, false
	}
	from, path, ok := in.resolve(loop.over)
	if !ok {
		return nil, nil, false
	}
	each, keyed, ok := t.env.container(from, path)
	if !ok {
		return nil, nil, false
	}
	f := &frame{each: each, from: from, path: path, outer: in}
	each.Var = loop.vars[len(loop.vars)-1]
	switch {
	case len(loop.vars) == 1 && keyed:
		f.key, each.Var = loop.vars[0], t.freshName(in)
	case len(loop.vars) == 2 && keyed:
		f.key = loop.vars[0]
	case len(loop.vars) == 2:
		return nil, nil, false // by position, which changes when others come and go
	}
	globals := names(t.env.variables(Scope{Vars: ir.StateVars}))
	for _, name := range []string{f.key, each.Var} {
		if name != "" && (in.binds(name) || slices.ContainsFunc(globals, beginsWith(name))) {
			return nil, nil, false
		}
	}
	return f, loop.body, true
}

// freshName is a name that occurs neither in the source nor in frames around.
func (t *takeApart) freshName(in *frame) string {
	name := "entry"
	for strings.Contains(t.src, name) || in.binds(name) {
		name += "_"
	}
	return name
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
				return g, nil, from == g.from && slices.Equal(path, g.path)
			}
		}
	}
	return nil, nil, false
}

// part makes the part that a clause is in a frame.
func (t *takeApart) part(c clause, in *frame) (ir.Part, bool) {
	var out ir.Part
	if in != nil {
		out.Each, out.Key = in.each, in.key
	}
	texts := make([]string, len(c.literals))
	for i, l := range c.literals {
		text, ok := t.text(l, in)
		if !ok {
			return out, false
		}
		texts[i] = text
	}
	source := strings.Join(texts, " || ")
	if c.whole != nil {
		source, _ = t.text(*c.whole, in)
		source = withoutParentheses(source)
	} else if len(texts) == 1 {
		source = withoutParentheses(source)
	}
	x, ok := t.check(source, out)
	out.Expr, out.Bound = x, t.bound(c, texts, in, out)
	return out, ok
}

// check checks a part's text. A member that a guard in another part was for may be
// absent: then that one fails, and this one has no value.
func (t *takeApart) check(source string, p ir.Part) (ir.Expr, bool) {
	x, issues := t.env.Check(source, PartScope(p))
	return x, !slices.ContainsFunc(issues, func(i Issue) bool { return !i.Warning && i.Code != Unguarded })
}

// withoutParentheses takes off those that text puts around a literal.
func withoutParentheses(text string) string { return text[1 : len(text)-1] }

// text is a literal in parentheses as it stands in a frame; ok is false if it is about
// anything of a frame outside, or if names in it mean something else.
func (t *takeApart) text(l literal, in *frame) (string, bool) {
	r := rewriting{frame: in}
	r.walk(l.expr, nil)
	if r.outside {
		return "", false
	}
	whole := t.extents.operand(l.expr)
	var out strings.Builder
	at := whole.start
	cuts := make([]span, len(r.entries))
	for i, e := range r.entries {
		cuts[i] = t.extents.of(e)
	}
	slices.SortFunc(cuts, func(a, b span) int { return a.start - b.start })
	for _, cut := range slices.Compact(cuts) {
		out.WriteString(t.src[at:cut.start] + in.each.Var)
		at = cut.end
	}
	out.WriteString(t.src[at:whole.end])
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
