package expr

// The walk is an abstract interpretation of the checked syntax tree. It follows
// evaluation with abstract values in place of values, and finds in one pass
//
//   - the footprint: which nodes of the state the outcome depends on;
//   - what CEL's type checker cannot see: members that may be absent and are not
//     guarded, comparisons that always come out the same, uses of a log or a set
//     that would depend on the order of commits.
//
// Guards are facts: paths such as `t.reply` that are certainly present. They flow
// as evaluation does: from the left side of && to its right side, negated through
// || and !, into the branches of ?:, and from filter into the macros after it.
//
// A macro is a loop with an accumulator in the syntax tree. Its body is walked until
// the accumulator's reach stops growing; the macros that exist need two rounds.
//
// Macros inside macros double the work at every level, so the walk as a whole has a
// budget. An expression that exceeds it is taken to read everything.
//
// What the walk does not know is read whole: a function it has no rule for reads
// all of its arguments, and its result is then made of what was already read. So a
// missing rule costs precision, never soundness.

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

type walker struct {
	env     *Env
	tree    *ast.AST
	extents *extents
	vars    []variable
	prints  footprint
	issues  []Issue
	flagged map[int64]bool // nodes that have an issue
	steps   int
	fresh   int // numbers local variables, to tell shadowed ones apart

	oneState bool        // places of the state are those of one state: of before or after, not both
	lookups  []ir.Lookup // the keys looked up so far

	phase  string              // the phase, if the walk is about one
	texts  map[string][]string // by place, the texts that it may hold, where that is known
	folded map[int64]bool      // what came out as a constant, by node, but for what that is made of

	longTexts bool // the texts of the state that it reads may be too long to go through

	bagLoops map[int64]bool // the macros that may go over a bag
}

// locals are the variables in scope, innermost first.
type locals struct {
	name  string
	value abstract
	outer *locals
}

func (l *locals) find(name string) (abstract, bool) {
	for ; l != nil; l = l.outer {
		if l.name == name {
			return l.value, true
		}
	}
	return abstract{}, false
}

func (l *locals) with(name string, v abstract) *locals {
	return &locals{name: name, value: v, outer: l}
}

// maxSteps is the budget of a walk, in visits of a node.
const maxSteps = 50_000

// everything marks the whole state as read if the budget did not suffice.
func (w *walker) everything() {
	if w.steps <= maxSteps {
		return
	}
	w.prints.add(place{inexact: true}, false)
	w.prints.phase = true
	if slices.ContainsFunc(w.vars, func(v variable) bool { return v.shape.holdsBags() }) {
		root := w.tree.Expr()
		w.report(root, w.extents.of(root), tooDeepToFollow())
	}
}

// maxRounds bounds how often a loop's body is walked.
const maxRounds = 4

func (w *walker) globals() *locals {
	var l *locals
	for _, v := range w.vars {
		a := abstract{shape: v.shape, path: v.name}
		switch {
		case v.param != "":
			a.param = v.param
		case v.root == stateRoot:
			a.places = []place{v.at}
			a.parts = v.shape
		}
		l = l.with(v.name, a)
	}
	return l
}

// walk interprets e where the given facts hold.
func (w *walker) walk(e ast.Expr, in *locals, facts []string) abstract {
	if w.steps++; w.steps > maxSteps {
		return abstract{}
	}
	v := w.interpret(e, in, facts)
	if w.isScalar(e) {
		v.bags = bags{}
	}
	return v
}

func (w *walker) interpret(e ast.Expr, in *locals, facts []string) abstract {
	switch e.Kind() {
	case ast.LiteralKind:
		return abstract{constant: e.AsLiteral()}
	case ast.IdentKind:
		return w.ident(e, in)
	case ast.SelectKind:
		return w.selection(e, in, facts)
	case ast.CallKind:
		return w.call(e, in, facts)
	case ast.ListKind:
		return w.list(e, in, facts)
	case ast.MapKind:
		return w.mapping(e, in, facts)
	case ast.ComprehensionKind:
		return w.loop(e, in, facts)
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			w.read(w.walk(f.AsStructField().Value(), in, facts))
		}
	}
	return abstract{}
}

// value walks e, marks all of its value as read, and returns it.
func (w *walker) value(e ast.Expr, in *locals, facts []string) abstract {
	v := w.walk(e, in, facts)
	w.wholeLog(e, v)
	w.read(v)
	return v
}

func (w *walker) ident(e ast.Expr, in *locals) abstract {
	name := e.AsIdent()
	v, ok := in.find(name)
	if !ok {
		return abstract{}
	}
	for _, g := range w.vars {
		if g.name != name || v.path != name {
			continue
		}
		switch g.root {
		case phaseRoot:
			w.prints.phase = true
			if w.phase != "" {
				return abstract{constant: types.String(w.phase)}
			}
		case measureRoot:
			w.prints.add(place{segments: g.measure.over.Segments, inexact: hasDepth(g.measure.over)}, g.measure.count)
		}
	}
	return v
}

func hasDepth(p region.Pattern) bool {
	return slices.ContainsFunc(p.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
}

// selection is e.name, or has(e.name).
func (w *walker) selection(e ast.Expr, in *locals, facts []string) abstract {
	sel := e.AsSelect()
	v := w.walk(sel.Operand(), in, facts)
	out := w.member(e, v, sel.FieldName(), !sel.IsTestOnly() && !v.optional, facts)
	if sel.IsTestOnly() {
		for _, p := range out.places {
			w.prints.add(p, true)
		}
		return abstract{}
	}
	return out
}

// member is the member called name of v; guarded asks whether an optional one must
// be known to be present.
func (w *walker) member(e ast.Expr, v abstract, name string, guarded bool, facts []string) abstract {
	m, optional, exists := v.shape.member(name)
	if v.shape != nil && !exists {
		w.unknownMember(e, v.shape, name)
	}
	kind := region.KeyLiteral
	if v.shape.untyped() {
		kind = region.Literal
	}
	out := v.below(region.Segment{Kind: kind, Text: name}, m)
	if v.path != "" {
		out.path = v.path + "." + name
	}
	if v.shape != nil && optional && guarded && !slices.Contains(facts, out.path) {
		w.unguarded(e)
	}
	return out
}

func (w *walker) list(e ast.Expr, in *locals, facts []string) abstract {
	var elem *abstract
	for _, x := range e.AsList().Elements() {
		v := w.walk(x, in, facts)
		w.wholeLog(x, v)
		w.touch(v)
		v.constant, v.path = nil, ""
		elem = joinElem(elem, &v)
	}
	if elem == nil {
		elem = &abstract{nothing: true}
	}
	return abstract{elem: elem}
}

func (w *walker) mapping(e ast.Expr, in *locals, facts []string) abstract {
	elem := &abstract{nothing: true}
	for _, entry := range e.AsMap().Entries() {
		m := entry.AsMapEntry()
		w.value(m.Key(), in, facts)
		v := w.walk(m.Value(), in, facts)
		w.wholeLog(m.Value(), v)
		w.touch(v)
		v.constant, v.path = nil, ""
		elem = joinElem(elem, &v)
	}
	return abstract{elem: elem}
}
