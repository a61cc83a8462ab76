package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/patchoptic/poptic/compiler/ir"
)

// Rules over whole containers, taken apart.
//
// A rule such as `state.m.all(k, state.m[k].n >= 0)` reads all of a container, but
// what it says it says of one entry after the other. Taken apart it is a family of
// rules, one per entry, of which a commit has to ask only those it touched. Parts
// finds such rules among the operands of the outermost && and rewrites each to a
// rule over one bound entry, as the author of an `each` invariant would have done:
// `state.m[k]` becomes the entry's name, `!c.exists(k, P)` asks `!(P)` of each.
//
// The rule as a whole holds exactly if all of its parts do. If some part is false it
// is false, whatever other parts come to; else if some part has no value it has
// none. Only what a part costs is counted by itself.

// A Part is one operand of a rule.
type Part struct {
	Each  *ir.Each // the entries it is asked of; nil if it is about the state as such
	Scope Scope    // to compile Expr in
	Key   string   // the parameter that stands for the entry's key, "" for none
	Expr  ir.Expr
	Local bool // it looks at nothing but its entry
}

// Parts takes apart a checked rule of StateVars. The result is nil if no part of it
// can be asked entry by entry.
func (e *Env) Parts(x ir.Expr) []Part {
	tree, extents, _ := e.parse(x.Source)
	if tree == nil {
		return nil
	}
	t := takeApart{env: e, src: x.Source, extents: extents}
	for _, operand := range conjuncts(tree.Expr()) {
		part, ok := t.family(operand)
		if !ok {
			part, ok = t.rest(operand)
		}
		if !ok {
			return nil
		}
		t.parts = append(t.parts, part)
	}
	if !slices.ContainsFunc(t.parts, func(p Part) bool { return p.Each != nil }) {
		return nil
	}
	return t.parts
}

// Local reports whether the rule x of an `each` invariant looks at nothing but its
// entry: not at the state, the phase or a measure.
func (e *Env) Local(x ir.Expr, each *ir.Each) bool {
	tree, _, _ := e.parse(x.Source)
	return tree != nil && !e.looksElsewhere(tree.Expr(), Scope{Vars: ir.EachVars, Each: each}, each.Var)
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

type takeApart struct {
	env     *Env
	src     string
	extents *extents
	parts   []Part
}

// rest is an operand that stays as it is.
func (t *takeApart) rest(operand ast.Expr) (Part, bool) {
	s := t.extents.operand(operand)
	scope := Scope{Vars: ir.StateVars}
	x, issues := t.env.Check(t.src[s.start:s.end], scope)
	return Part{Scope: scope, Expr: x}, !HasErrors(issues)
}

// family rewrites all() or !exists() over a container that always is there.
func (t *takeApart) family(operand ast.Expr) (Part, bool) {
	loop, ok := quantifierOf(operand)
	if !ok {
		return Part{}, false
	}
	over, elem, keyed, ok := t.env.container(loop.over)
	if !ok {
		return Part{}, false
	}
	m := entryBody{takeApart: t, loop: loop, entry: loop.vars[len(loop.vars)-1]}
	switch {
	case len(loop.vars) == 1 && keyed:
		m.key, m.entry = loop.vars[0], t.freshName()
	case len(loop.vars) == 2 && keyed:
		m.key = loop.vars[0]
	case len(loop.vars) == 2:
		return Part{}, false // by position, which changes when others come and go
	}
	each := &ir.Each{Var: m.entry, Over: over, Type: elem}
	return m.part(each)
}

// freshName is a name that does not occur in the source.
func (t *takeApart) freshName() string {
	name := "entry"
	for strings.Contains(t.src, name) {
		name += "_"
	}
	return name
}

// An entryBody rewrites the body of a quantifier for one entry.
type entryBody struct {
	*takeApart
	loop       quantifier
	key, entry string // the names in the body; key is "" in an array
	cuts       []span // of the source, where the entry's name takes the place
	captured   bool   // a name means something else somewhere in the body
}

func (m *entryBody) part(each *ir.Each) (Part, bool) {
	scope := Scope{Vars: ir.EachVars, Each: each}
	names := names(m.env.variables(Scope{Vars: ir.StateVars}))
	if slices.ContainsFunc(names, beginsWith(m.key)) || slices.ContainsFunc(names, beginsWith(m.entry)) {
		return Part{}, false
	}
	m.walk(m.loop.body)
	if m.captured {
		return Part{}, false
	}
	body := m.rewritten()
	if m.loop.negated {
		body = "!(" + body + ")"
	}
	local := true
	if m.key != "" {
		scope.Params = []string{m.key}
	}
	x, issues := m.env.Check(body, scope)
	if HasErrors(issues) {
		return Part{}, false
	}
	if tree, _, _ := m.env.parse(body); tree != nil {
		local = !m.env.looksElsewhere(tree.Expr(), scope, m.entry, m.key)
	}
	return Part{Each: each, Scope: scope, Key: m.key, Expr: x, Local: local}, true
}

// walk finds where the body looks up its own entry, and names that an inner loop
// binds anew.
func (m *entryBody) walk(e ast.Expr) {
	if e.Kind() == ast.ComprehensionKind {
		c := e.AsComprehension()
		for _, name := range []string{c.IterVar(), c.IterVar2(), c.AccuVar()} {
			m.captured = m.captured || name != "" && (name == m.key || name == m.entry || name == "state")
		}
	}
	if m.looksUpEntry(e) {
		m.cuts = append(m.cuts, m.extents.of(e))
		return
	}
	for _, child := range children(e) {
		m.walk(child)
	}
}

func (m *entryBody) looksUpEntry(e ast.Expr) bool {
	if m.key == "" || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
		return false
	}
	args := e.AsCall().Args()
	path, ok := pathOf(args[0])
	return ok && slices.Equal(path, m.loop.over) && args[1].Kind() == ast.IdentKind && args[1].AsIdent() == m.key
}

func (m *entryBody) rewritten() string {
	whole := m.extents.operand(m.loop.body)
	slices.SortFunc(m.cuts, func(a, b span) int { return a.start - b.start })
	var out strings.Builder
	at := whole.start
	for _, cut := range slices.Compact(m.cuts) {
		out.WriteString(m.src[at:cut.start] + m.entry)
		at = cut.end
	}
	out.WriteString(m.src[at:whole.end])
	return out.String()
}
