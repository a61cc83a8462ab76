package expr

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Definitions and constants are replaced by what they stand for before an expression is
// checked: `gift(m)` by the body of gift with the text of the argument in the place of its
// parameter, `LIMIT` by its literal. So what is checked, and what the compiled contract
// has, is plain CEL. The replacement is one of syntax trees, written as text: parentheses
// keep an operand whole, and a variable that a macro of the body binds is renamed where an
// argument mentions one of its name. What is found in the result is placed where the text
// of the part was written, which may be a definition; then the uses that led there are
// known as well.

// A Macro is a name that stands for an expression.
type Macro struct {
	Name   string
	Call   bool     // it is used with arguments, of which there may be none
	Params []string // of one that is
	Body   string   // what it stands for
	Origin any      // for whoever made it
	In     Macros   // the names in its body

	body *macroBody
}

// Macros finds the macro of a name, which may have dots, nil if there is none.
type Macros func(name string) *Macro

// A macroBody is a parsed body; its tree is nil if it does not parse.
type macroBody struct {
	tree    ast.Expr
	extents *extents
	free    map[string]bool // the names that are not bound in it
	lo, hi  int             // from its first token to its last
}

// An Expansion is an expression with its macros replaced.
type Expansion struct {
	Text  string
	Uses  []MacroUse // in the order in which they were met, also in bodies
	Stuck bool       // some use was left as it is, since its definition is wrong
	whole *expanded
}

// A MacroUse is a place where a macro is named: in the body of In, or if that is nil in
// the expression itself.
type MacroUse struct {
	Macro      *Macro
	In         *Macro
	Start, End int
}

// A MacroPlace is a range of the text of Of, or if that is nil of the expression itself.
type MacroPlace struct {
	Of         *Macro
	Start, End int
}

// An expanded is a range of a text, written with some parts replaced.
type expanded struct {
	src      string
	of       *Macro // whose body the text is, nil for the expression itself
	lo, hi   int
	parts    []macroPart // in order
	wrapped  bool        // in parentheses
	start    int         // where it was written
	end      int
	replaced string // if not "", it is written instead of all that
}

// A macroPart is what is written in the place of a range of the text around it.
type macroPart struct {
	from, to int
	by       *expanded
}

// Expand replaces the macros in an expression. Names that own lists are variables of it,
// and no macros. What is wrong with a use is an issue; that use is left as it is. A text
// that does not parse stays as it is, without an issue. Cost: linear in the result, which
// is bounded as expressions are.
func (e *Env) Expand(src string, macros Macros, own ...string) (Expansion, []Issue) {
	x := &expander{env: e, room: e.limits.MaxSource}
	tree, at, _ := e.parse(src)
	all := &expanded{src: src, hi: len(src)}
	if tree != nil {
		text := &macroText{src: src, extents: at, macros: macros}
		all.parts = partsInOrder(x.walk(text, tree.Expr(), own))
	}
	if x.room < 0 {
		return Expansion{Text: src, whole: &expanded{src: src, hi: len(src)}}, append(x.issues, whole(src, tooLarge("bytes with its definitions written out", e.limits.MaxSource)))
	}
	if x.deep {
		return Expansion{Text: src, whole: &expanded{src: src, hi: len(src)}}, append(x.issues, whole(src, tooLarge("definitions within one another", MaxDefinitionDepth)))
	}
	var b strings.Builder
	all.write(&b)
	return Expansion{Text: b.String(), Uses: x.uses, Stuck: x.stuck, whole: all}, x.issues
}

// A macroText is a text whose names are replaced.
type macroText struct {
	src     string
	of      *Macro
	extents *extents
	macros  Macros
	args    map[string]*macroArg // of a body
}

// A macroArg is what a parameter stands for.
type macroArg struct {
	text  *expanded
	names map[string]bool // all that it mentions
}

// An expander replaces macros.
type expander struct {
	env    *Env
	issues []Issue
	uses   []MacroUse
	active []*Macro
	stuck  bool

	checked *Macro // the definition that is checked by itself, nil for none
	room    int    // bytes that may still be written
	deep    bool   // definitions use one another deeper than they may
}

// MaxDefinitionDepth is how many definitions may lie within one another where they are used.
const MaxDefinitionDepth = 64

// walk lists what to replace in a part of a text; bound are the variables in scope.
func (x *expander) walk(t *macroText, e ast.Expr, bound []string) []macroPart {
	if path, root, ok := memberPath(e); ok && !slices.Contains(bound, root) {
		if r, ok := x.name(t, e, strings.Join(append([]string{root}, path...), "."), bound); ok {
			return r
		}
	}
	if e.Kind() == ast.CallKind {
		if r, ok := x.call(t, e, bound); ok {
			return r
		}
	}
	if e.Kind() == ast.ComprehensionKind {
		return x.loop(t, e, bound)
	}
	var out []macroPart
	for _, child := range children(e) {
		out = append(out, x.walk(t, child, bound)...)
	}
	return out
}

// name replaces a parameter or a constant.
func (x *expander) name(t *macroText, e ast.Expr, name string, bound []string) ([]macroPart, bool) {
	at := t.extents.of(e)
	if a := t.args[name]; a != nil {
		if t.src[at.start:at.end] != name { // what a macro made of its variable
			return nil, false
		}
		if x.room -= a.text.size(); x.room < 0 {
			x.stuck = true
			return nil, true
		}
		return []macroPart{{at.start, at.end, a.text.copied()}}, true
	}
	m := t.macros(name)
	if m == nil {
		return nil, false
	}
	if m.Call {
		x.report(t, at, definitionAsName(m))
		return nil, true
	}
	return x.replace(t, at, at, m, nil, bound), true
}

// call replaces a use of a definition.
func (x *expander) call(t *macroText, e ast.Expr, bound []string) ([]macroPart, bool) {
	call := e.AsCall()
	name, at := call.FunctionName(), t.extents.functionName(e)
	if call.IsMemberFunction() {
		path, root, ok := memberPath(call.Target())
		if !ok || slices.Contains(bound, root) || t.args[root] != nil {
			return nil, false
		}
		name, at.start = strings.Join(append(append([]string{root}, path...), name), "."), t.extents.of(call.Target()).start
	}
	m := t.macros(name)
	if m == nil {
		return nil, false
	}
	var inner []macroPart
	args := map[string]*macroArg{}
	for i, a := range call.Args() {
		parts := x.walk(t, a, bound)
		inner = append(inner, parts...)
		if i < len(m.Params) {
			args[m.Params[i]] = t.argument(a, parts)
		}
	}
	switch {
	case !m.Call:
		x.report(t, at, constantAsFunction(m))
		return inner, true
	case len(call.Args()) != len(m.Params):
		x.report(t, t.extents.of(e), otherArguments(m, len(call.Args())))
		return inner, true
	}
	if replaced := x.replace(t, t.extents.of(e), at, m, args, bound); replaced != nil {
		return replaced, true
	}
	return inner, true
}

// argument is the text of an argument, in parentheses unless it binds as tight as a name.
func (t *macroText) argument(e ast.Expr, parts []macroPart) *macroArg {
	at := t.extents.of(e)
	out := &expanded{src: t.src, of: t.of, lo: at.start, hi: at.end, parts: partsInOrder(parts)}
	out.wrapped = !bindsTight(e) || t.src[at.start] == '-'
	a := &macroArg{text: out, names: map[string]bool{}}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(n ast.Expr) {
		if n.Kind() == ast.IdentKind {
			a.names[n.AsIdent()] = true
			if of := t.args[n.AsIdent()]; of != nil {
				for name := range of.names {
					a.names[name] = true
				}
			}
		}
	}))
	return a
}

// replace writes the body of m in the place of a use; named is where it is named. The
// result is nil if it cannot be, which is an issue.
func (x *expander) replace(t *macroText, at, named span, m *Macro, args map[string]*macroArg, bound []string) []macroPart {
	x.uses = append(x.uses, MacroUse{Macro: m, In: t.of, Start: named.start, End: named.end})
	if slices.Contains(x.active, m) {
		x.report(t, named, recursiveDefinition(m))
		x.circle(m)
		return nil
	}
	if len(x.active) == MaxDefinitionDepth {
		x.deep = true
	}
	body := m.parsed(x.env)
	if body.tree == nil || x.room < 0 || x.deep {
		x.stuck = true
		return nil
	}
	for _, name := range bound {
		if body.free[name] && args[name] == nil && m.In(name) == nil {
			x.report(t, named, meansSomethingElse(m, name))
			return nil
		}
	}
	x.room -= body.hi - body.lo
	x.active = append(x.active, m)
	inside := &macroText{src: m.Body, of: m, extents: body.extents, macros: m.In, args: args}
	parts := x.walk(inside, body.tree, nil)
	x.active = x.active[:len(x.active)-1]
	return []macroPart{{at.start, at.end, &expanded{src: m.Body, of: m, lo: body.lo, hi: body.hi, parts: partsInOrder(parts), wrapped: !bindsTight(body.tree) || m.Body[body.lo] == '-'}}}
}

// circle reports that the definition that is checked leads back to itself through others, of
// which only the first by name says so.
func (x *expander) circle(m *Macro) {
	if x.checked != m || len(x.active) < 2 || slices.ContainsFunc(x.active, func(n *Macro) bool { return n.Name < m.Name }) {
		return
	}
	i := recursiveDefinition(m)
	for _, u := range x.uses {
		if u.In == nil { // the last is the one that led here
			i.Start, i.End = u.Start, u.End
		}
	}
	x.issues = append(x.issues, i)
}

// bindsTight reports whether an expression needs no parentheses wherever it stands, but for
// a sign before it.
func bindsTight(e ast.Expr) bool {
	function := callName(e)
	_, operator := operatorText(function)
	return !operator || function == operators.Index || function == operators.OptIndex || function == operators.OptSelect
}

// parsed is the body of m, parsed once.
func (m *Macro) parsed(e *Env) *macroBody {
	if m.body == nil {
		m.body = &macroBody{}
		if tree, at, _ := e.parse(m.Body); tree != nil {
			m.body = &macroBody{tree: tree.Expr(), extents: at, free: map[string]bool{}, lo: at.tokens[0].start, hi: at.tokens[len(at.tokens)-1].end}
			freeNames(tree.Expr(), m.Params, m.body.free)
		}
	}
	return m.body
}

// freeNames collects the names in e that are not bound.
func freeNames(e ast.Expr, bound []string, out map[string]bool) {
	switch e.Kind() {
	case ast.IdentKind:
		if name := e.AsIdent(); !slices.Contains(bound, name) {
			out[name] = true
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		freeNames(c.IterRange(), bound, out)
		freeNames(c.AccuInit(), bound, out)
		inner := append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
		for _, child := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
			freeNames(child, inner, out)
		}
	default:
		for _, child := range children(e) {
			freeNames(child, bound, out)
		}
	}
}

// loop goes through a macro of CEL. A variable of it that some argument mentions is
// renamed.
func (x *expander) loop(t *macroText, e ast.Expr, bound []string) []macroPart {
	c := e.AsComprehension()
	out := append(x.walk(t, c.IterRange(), bound), x.walk(t, c.AccuInit(), bound)...)
	inner := append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
	body := t
	for i, v := range loopVariables(c) {
		if !t.mentions(v) {
			continue
		}
		name := v + "_"
		for t.mentions(name) || t.extents.has(name) {
			name += "_"
		}
		if body == t {
			body = &macroText{src: t.src, of: t.of, extents: t.extents, macros: t.macros, args: map[string]*macroArg{}}
			for param, a := range t.args {
				body.args[param] = a
			}
		}
		renamed := &expanded{replaced: name}
		body.args[v] = &macroArg{text: renamed, names: map[string]bool{name: true}}
		inner = slices.DeleteFunc(inner, func(n string) bool { return n == v })
		if at := t.extents.mark(e.ID()) + 1 + 2*i; at < len(t.extents.tokens) && t.extents.text(at) == v {
			token := t.extents.tokens[at]
			out = append(out, macroPart{token.start, token.end, renamed.copied()})
		}
	}
	for _, child := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
		out = append(out, x.walk(body, child, inner)...)
	}
	return out
}

// loopVariables are the variables of a macro, in the order in which they stand in it.
func loopVariables(c ast.ComprehensionExpr) []string {
	switch {
	case isBinding(c):
		return []string{c.AccuVar()}
	case c.HasIterVar2():
		return []string{c.IterVar(), c.IterVar2()}
	}
	return []string{c.IterVar()}
}

// mentions reports whether an argument mentions a name.
func (t *macroText) mentions(name string) bool {
	for _, a := range t.args {
		if a.names[name] {
			return true
		}
	}
	return false
}

// has reports whether a name stands in the text.
func (x *extents) has(name string) bool {
	return slices.ContainsFunc(x.tokens, func(t token) bool { return x.src[t.start:t.end] == name })
}

// report adds an issue about a use; one in a body is about the use that led there, and is
// found where the definition is checked.
func (x *expander) report(t *macroText, at span, i Issue) {
	if t.of != nil {
		x.stuck = true
		return
	}
	i.Start, i.End = at.start, at.end
	if i.Fix != nil && i.Fix.End == 0 {
		i.Fix.Start, i.Fix.End = at.start, at.end
	}
	x.issues = append(x.issues, i)
}

// partsInOrder sorts replacements, each of which may have been met more than once.
func partsInOrder(parts []macroPart) []macroPart {
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].from < parts[j].from })
	return slices.CompactFunc(parts, func(a, b macroPart) bool { return a.from == b.from })
}

// copied is n to be written in one more place.
func (n *expanded) copied() *expanded {
	out := *n
	out.parts = slices.Clone(n.parts)
	for i := range out.parts {
		out.parts[i].by = out.parts[i].by.copied()
	}
	return &out
}

// size is how many bytes write writes.
func (n *expanded) size() int {
	size := n.hi - n.lo + len("()")
	for _, p := range n.parts {
		size += p.by.size() - (p.to - p.from)
	}
	return size
}

// write writes n, and notes where.
func (n *expanded) write(b *strings.Builder) {
	n.start = b.Len()
	if n.wrapped {
		b.WriteByte('(')
	}
	at := n.lo
	for _, p := range n.parts {
		b.WriteString(n.src[at:p.from])
		p.by.write(b)
		at = p.to
	}
	if n.replaced != "" {
		b.WriteString(n.replaced)
	} else {
		b.WriteString(n.src[at:n.hi])
	}
	if n.wrapped {
		b.WriteByte(')')
	}
	n.end = b.Len()
}

// Place is where a range of Text was written, and the uses of macros that led there, the
// innermost first.
func (x Expansion) Place(start, end int) (at MacroPlace, uses []MacroPlace) {
	n := x.whole
	for {
		i := slices.IndexFunc(n.parts, func(p macroPart) bool { return p.by.replaced == "" && p.by.start <= start && end <= p.by.end })
		if i < 0 {
			break
		}
		p := n.parts[i]
		if p.by.of != n.of || p.by.src != n.src {
			uses = append([]MacroPlace{{n.of, p.from, p.to}}, uses...)
		}
		n = p.by
	}
	if n.of == nil {
		uses = nil
	}
	return MacroPlace{n.of, n.place(start, false), n.place(end, true)}, uses
}

// place is the offset in the source of n of an offset of what was written; one within a
// part is the part's beginning or end.
func (n *expanded) place(offset int, isEnd bool) int {
	at, out := n.lo, n.start
	if n.wrapped {
		out++
	}
	for _, p := range n.parts {
		if offset < p.by.start || isEnd && offset == p.by.start {
			break
		}
		if offset < p.by.end || isEnd && offset == p.by.end {
			if isEnd {
				return p.to
			}
			return p.from
		}
		at, out = p.to, p.by.end
	}
	return max(n.lo, min(at+offset-out, n.hi))
}

// Issue places an issue about Text: in the expression itself if of is nil, else in the
// body of a macro, with the uses that led there. A fix is kept where nothing that it
// replaces was replaced before.
func (x Expansion) Issue(i Issue) (out Issue, of *Macro, uses []MacroPlace) {
	at, uses := x.Place(i.Start, i.End)
	out = i
	out.Start, out.End = at.Start, at.End
	if i.Fix != nil {
		fix, _ := x.Place(i.Fix.Start, i.Fix.End)
		moved := *i.Fix
		moved.Start, moved.End = fix.Start, fix.End
		if out.Fix = &moved; fix.Of != at.Of || x.touches(i.Fix.Start, i.Fix.End) {
			out.Fix = nil
		}
	}
	return out, at.Of, uses
}

// touches reports whether a range of Text has a part that was replaced in it.
func (x Expansion) touches(start, end int) bool {
	var any func(n *expanded) bool
	any = func(n *expanded) bool {
		return slices.ContainsFunc(n.parts, func(p macroPart) bool {
			inside := start <= p.by.start && p.by.end <= end && p.by.start < p.by.end
			return inside || any(p.by)
		})
	}
	return any(x.whole)
}

// Body checks the text of a definition by itself: that it parses, and which macros it
// uses. Names that it uses and that are neither its parameters nor bound in it are free.
func (e *Env) Body(m *Macro) (free []string, issues []Issue) {
	if _, _, issues := e.parse(m.Body); len(issues) > 0 {
		return nil, issues
	}
	body := m.parsed(e)
	for name := range body.free {
		free = append(free, name)
	}
	slices.Sort(free)
	x := &expander{env: e, room: e.limits.MaxSource, active: []*Macro{m}, checked: m}
	text := &macroText{src: m.Body, extents: body.extents, macros: m.In}
	x.walk(text, body.tree, m.Params)
	return free, x.issues
}

func definitionAsName(m *Macro) Issue {
	return Issue{Code: OperandTypes, Message: "`" + m.Name + "` is a definition that takes " + arguments(len(m.Params)), Help: "write `" + m.Name + "(" + strings.Join(m.Params, ", ") + ")`"}
}

func constantAsFunction(m *Macro) Issue {
	return Issue{Code: OperandTypes, Message: "`" + m.Name + "` is a constant, not a function", Help: "leave out the parentheses", Fix: nil}
}

func otherArguments(m *Macro, n int) Issue {
	return Issue{Code: OperandTypes, Message: fmt.Sprintf("`%s` takes %s, not %d", m.Name, arguments(len(m.Params)), n), Help: "write `" + m.Name + "(" + strings.Join(m.Params, ", ") + ")`"}
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

func recursiveDefinition(m *Macro) Issue {
	return Issue{Code: RecursiveDefinition, Message: "`" + m.Name + "` contains itself", Help: "a definition is written out where it is used, and so ends; say it with a macro such as `all(x, ...)`"}
}

func meansSomethingElse(m *Macro, name string) Issue {
	return Issue{Code: OperandTypes, Message: "`" + m.Name + "` uses `" + name + "`, which means something else here", Help: "give the variable of the macro around it another name"}
}
