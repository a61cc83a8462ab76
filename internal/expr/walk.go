package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The walk is an abstract interpretation of the checked syntax tree. It follows
// evaluation with abstract values (domain.go) in place of values, and finds in one pass
//
//   - the footprint: which nodes of the state the outcome depends on;
//   - what CEL's type checker cannot see: members that may be absent and are not
//     guarded, comparisons that always come out the same, uses of a log or a set
//     that would depend on the order of commits (report.go).
//
// Guards are facts: paths such as `t.reply` that are certainly present (fact.go). They
// flow as evaluation does: from the left side of && to its right side, negated through
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

// A walker is one walk of one expression.
type walker struct {
	env     *Env
	vars    []variable
	tree    *ast.AST
	extents *extents
	steps   int
	fresh   int // numbers local variables, to tell shadowed ones apart

	oneState  bool                // places of the state are those of one state: of before or after, not both
	phase     string              // the phase, if the walk is about one
	texts     map[string][]string // by place, the texts that it may hold, where that is known
	longTexts bool                // the texts of the state that it reads may be too long to go through

	// What it finds.
	footprint footprint
	lookups   []ir.Lookup // the keys looked up so far
	issues    []Issue
	flagged   map[int64]bool // nodes that have an issue
	unnamed   []unnamed      // names whose absence only follows from another finding
	folded    map[int64]bool // what came out as a constant, by node, but for what that is made of
	bagLoops  map[int64]bool // the macros that may go over a bag

	seen map[int64]*shape // the types of the parts of the state, by node; nil if nobody asks
}

func newWalker(e *Env, s Scope, checked *ast.AST, x *extents) *walker {
	return &walker{env: e, vars: e.variables(s), tree: checked, extents: x, flagged: map[int64]bool{}, folded: map[int64]bool{}, bagLoops: map[int64]bool{}}
}

// maxSteps is the budget of a walk, in visits of a node.
const maxSteps = 50_000

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

// globals are the names of the scope.
func (w *walker) globals() *locals {
	var l *locals
	for _, v := range w.vars {
		a := abstract{shape: v.shape, path: v.name}
		switch {
		case v.param != "":
			a.param = v.param
		case v.root == stateRoot:
			a.places = []place{v.at}
			a.ofState = v.shape
		case v.root == valueRoot: // no part of the state, and made as one
			a.ofState = v.shape
		case v.name == ir.NowInput && v.root == inputRoot:
			a.shape = nil // CEL's type says all
		}
		l = l.with(v.name, a)
	}
	return l
}

// outcome walks the whole expression.
func (w *walker) outcome() abstract { return w.value(w.tree.Expr(), w.globals(), nil) }

// walk interprets e where the given facts hold.
func (w *walker) walk(e ast.Expr, in *locals, facts []string) abstract {
	if w.steps++; w.steps > maxSteps {
		return abstract{}
	}
	v := w.interpret(e, in, facts)
	if w.seen != nil && v.shape != nil {
		w.seen[e.ID()] = v.shape
	}
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
		return w.ident(e.AsIdent(), in)
	case ast.SelectKind: // e.name, or has(e.name)
		sel := e.AsSelect()
		v := w.walk(sel.Operand(), in, facts)
		out := w.member(e, v, sel.FieldName(), !sel.IsTestOnly() && !v.optional, facts)
		if !sel.IsTestOnly() {
			return out
		}
		w.hasOfNull(e, v.shape, sel.FieldName())
		for _, p := range out.places {
			w.footprint.add(p, true)
		}
	case ast.CallKind:
		return w.call(e, in, facts)
	case ast.ComprehensionKind:
		return w.loop(e, in, facts)
	case ast.ListKind:
		elem := &abstract{nothing: true}
		w.oneArithmetic(e)
		for _, x := range e.AsList().Elements() {
			elem = joinElem(elem, w.ingredient(x, in, facts))
		}
		return abstract{elem: elem}
	case ast.MapKind:
		elem := &abstract{nothing: true}
		for _, entry := range e.AsMap().Entries() {
			m := entry.AsMapEntry()
			w.value(m.Key(), in, facts)
			elem = joinElem(elem, w.ingredient(m.Value(), in, facts))
		}
		return abstract{elem: elem}
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			w.read(w.walk(f.AsStructField().Value(), in, facts))
		}
	}
	return abstract{}
}

// ingredient is what a list or map that the expression makes has of x.
func (w *walker) ingredient(x ast.Expr, in *locals, facts []string) *abstract {
	v := w.walk(x, in, facts)
	w.wholeLog(x, v)
	w.touch(v)
	v.constant, v.path = nil, ""
	return &v
}

// value walks e, marks all of its value as read, and returns it.
func (w *walker) value(e ast.Expr, in *locals, facts []string) abstract {
	v := w.walk(e, in, facts)
	w.wholeLog(e, v)
	w.read(v)
	return v
}

// read marks everything of v as read.
func (w *walker) read(v abstract) {
	for _, p := range v.places {
		w.footprint.add(p, false)
	}
	if v.elem != nil {
		w.read(*v.elem)
	}
}

// touch marks that v is there, and of which kind it is. The label of a scalar is its
// value.
func (w *walker) touch(v abstract) {
	for _, p := range v.places {
		w.footprint.add(p, !v.shape.is(kScalar))
	}
}

// enumerate marks v's kind, length and keys as read. The length of a list is in its
// label; keys, and the entries of sets and logs, are labels of their own.
func (w *walker) enumerate(v abstract) {
	for _, p := range v.places {
		if v.shape.is(kScalar) {
			w.footprint.add(p, false)
			continue
		}
		w.footprint.add(p, true)
		if wildcard := v.shape.wildcard(); !v.shape.is(kList | kScalar) {
			w.footprint.add(p.child(wildcard), true)
		}
	}
}

// isScalar reports whether e is of a type whose values have nothing in them.
func (w *walker) isScalar(e ast.Expr) bool {
	switch w.tree.GetType(e.ID()).Kind() {
	case types.DynKind, types.AnyKind, types.ErrorKind, types.ListKind, types.MapKind, types.StructKind,
		types.OpaqueKind, types.TypeParamKind, types.UnspecifiedKind:
		return false
	}
	return true
}

// ident is the value of a name; that of the phase or of a measure is read with it.
func (w *walker) ident(name string, in *locals) abstract {
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
			w.footprint.phase = true
			if w.phase != "" {
				return abstract{constant: types.String(w.phase)}
			}
		case inputRoot:
			w.footprint.input(name)
		case measureRoot:
			w.footprint.add(place{segments: g.measure.over.Segments, inexact: hasDepth(g.measure.over)}, g.measure.count)
			for _, p := range g.measure.where {
				w.footprint.add(place{segments: p.Segments}, p.Shallow)
			}
		}
	}
	return v
}

func hasDepth(p region.Pattern) bool {
	return slices.ContainsFunc(p.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
}

// member is the member called name of v; guarded asks whether an optional one must
// be known to be present.
func (w *walker) member(e ast.Expr, v abstract, name string, guarded bool, facts []string) abstract {
	m, optional, exists := v.shape.member(name)
	if v.shape != nil && !exists {
		w.unknownMember(e, v.shape, name)
	}
	w.keyByName(e, v.shape, name)
	kind := region.KeyLiteral
	if v.shape.untyped() {
		kind = region.Literal
	}
	out := v.below(region.Segment{Kind: kind, Text: name}, m)
	if v.path != "" {
		out.path = memberOf(v.path, name)
	}
	if v.shape != nil && optional && guarded && !slices.Contains(facts, out.path) && !isThere(v, name, facts) {
		where, never := whereThere(v, name, facts)
		w.unguarded(e, where, never)
	}
	return out
}

// call has a rule for every operator and function that passes a part of its arguments
// along or looks at less than all of them. All others read their arguments whole.
func (w *walker) call(e ast.Expr, in *locals, facts []string) abstract {
	args, f := operands(e.AsCall()), e.AsCall().FunctionName()
	if !rightCount(f, len(args)) {
		f = "" // the type checker has reported it
	}
	switch f {
	case operators.LogicalAnd, operators.LogicalOr:
		left := w.value(args[0], in, facts)
		if w.decides(left, f) {
			return w.fold(e, f == operators.LogicalOr)
		}
		right := w.value(args[1], in, withFacts(facts, w.facts(args[0], f == operators.LogicalAnd, in)))
		_, knownLeft := w.truth(left)
		if b, known := w.truth(right); known && (knownLeft || w.decides(right, f) && !w.costly(args[0])) {
			return w.fold(e, b)
		}
		return abstract{}
	case operators.LogicalNot:
		if b, known := w.truth(w.value(args[0], in, facts)); known {
			return w.fold(e, !b)
		}
		return abstract{}
	case operators.Conditional:
		switch b, known := w.truth(w.value(args[0], in, facts)); {
		case known && b:
			return w.walk(args[1], in, facts)
		case known:
			return w.walk(args[2], in, facts)
		}
		yes := w.walk(args[1], in, withFacts(facts, w.facts(args[0], true, in)))
		no := w.walk(args[2], in, withFacts(facts, w.facts(args[0], false, in)))
		return join(yes, no)
	case operators.Index, operators.OptIndex:
		return w.index(e, args, f == operators.OptIndex, in, facts)
	case operators.OptSelect:
		v := w.walk(args[0], in, facts)
		name, _ := args[1].AsLiteral().(types.String)
		out := w.member(e, v, string(name), false, facts)
		out.optional = true
		return out
	case operators.In:
		return w.membership(e, args, in, facts)
	case operators.Equals, operators.NotEquals:
		var sides [2]abstract
		for i, arg := range args {
			sides[i] = w.walk(arg, in, facts)
			w.wholeLog(arg, sides[i])
			w.comparesWhole(arg, sides[i])
		}
		w.comparable(e, args, sides)
		for i := range args {
			if literalOf(args[1-i]) == types.NullValue {
				w.touch(sides[i]) // the kind is all that counts
				continue
			}
			w.read(sides[i])
		}
		return w.foldEquality(e, sides)
	case operators.Add:
		return w.addition(args, in, facts)
	case overloads.Size:
		w.enumerate(w.walk(args[0], in, facts))
		return abstract{}
	case sumFold, minFold, maxFold:
		w.read(w.walk(args[0], in, facts)) // a bag too: order makes no difference
		return abstract{}

	// The functions that hand a value on: into an optional, out of it, or as a value of
	// unknown type.
	case "optional.of", "optional.ofNonZeroValue", "value", "hasValue", "or", "orValue", overloads.TypeConvertDyn:
		out := w.walk(args[0], in, facts)
		w.touch(out)
		switch f {
		case "optional.ofNonZeroValue":
			w.enumerate(out)
			w.touch(out)
			out.optional = true
		case "optional.of":
			out.optional = true
		case "value":
			out.optional = false
		case "hasValue":
			return abstract{}
		case "or", "orValue":
			other := w.walk(args[1], in, facts)
			w.touch(other)
			out = join(out, other)
			out.optional = f == "or"
		}
		out.constant = nil
		return out
	case "cel.@mapInsert": // what transformMap and transformMapEntry make of their map
		out := w.walk(args[0], in, facts)
		var elem abstract
		if len(args) == 2 {
			more := w.walk(args[1], in, facts)
			w.enumerate(more)
			elem = w.element(more)
		} else {
			w.value(args[1], in, facts)
			elem = w.walk(args[2], in, facts)
			w.wholeLog(args[2], elem)
		}
		w.touch(elem)
		out.elem = joinElem(out.elem, &elem)
		return out
	case "first", "last":
		v := w.walk(args[0], in, facts)
		if v.isBag() {
			w.report(e, noPosition(w.source(args[0])))
		}
		w.read(v)
		out := w.element(v)
		out.optional = true
		return out
	case "optional.unwrap", "unwrapOpt": // a list of what the optionals of a list hold
		v := w.walk(args[0], in, facts)
		w.read(v)
		if v.elem != nil {
			elem := *v.elem
			elem.optional, v.elem = false, &elem
		}
		return v
	}
	_, known := w.tree.ReferenceMap()[e.ID()]
	for _, arg := range args {
		v := w.walk(arg, in, facts)
		if known && f != overloads.TypeConvertType {
			w.needsOrder(arg, v)
		}
		w.wholeLog(arg, v)
		w.read(v)
	}
	return abstract{}
}

// rightCount reports whether the number of arguments of a function that is called
// by its name, unlike an operator, is what its rule expects.
func rightCount(function string, n int) bool {
	switch function {
	case overloads.Size, overloads.TypeConvertDyn, overloads.TypeConvertType, "first", "last", "optional.unwrap", "unwrapOpt", "optional.of", "optional.ofNonZeroValue", "value", "hasValue", sumFold, minFold, maxFold:
		return n == 1
	case "or", "orValue":
		return n == 2
	}
	return true
}

// index is e[i] and e[?i].
func (w *walker) index(e ast.Expr, args []ast.Expr, optional bool, in *locals, facts []string) abstract {
	v := w.walk(args[0], in, facts)
	i := w.walk(args[1], in, facts)
	w.read(i)
	w.indexable(e, args, v)
	segment, s := step(v.shape, i)
	if key, ok := w.lookup(segment, i); ok {
		segment = key
	}
	out := v.below(segment, s)
	if isWild(segment) && !samePlaces(i.keys, v.places) {
		out = out.guessed()
	}
	out.path = indexPath(v.path, i.path, args[1])
	out.optional = out.optional || optional
	return out
}

// step is the segment that indexing with i appends, and the type found there.
func step(s *shape, i abstract) (region.Segment, *shape) {
	switch constant := i.constant.(type) {
	case types.String:
		m, _, _ := s.member(string(constant))
		kind := region.KeyLiteral
		if s.untyped() {
			kind = region.Literal
		}
		return region.Segment{Kind: kind, Text: string(constant)}, m
	case types.Int:
		if constant >= 0 && constant <= 1<<31-1 && !s.is(kObjects) {
			return region.Segment{Kind: region.IndexLiteral, Index: int(constant)}, s.elements()
		}
	}
	if i.param != "" {
		return region.Segment{Kind: region.ParamSegment, Text: i.param}, s.entries()
	}
	return s.wildcard(), merge(s.elements(), s.entries())
}

// membership is `x in e`.
func (w *walker) membership(e ast.Expr, args []ast.Expr, in *locals, facts []string) abstract {
	x := w.walk(args[0], in, facts)
	v := w.walk(args[1], in, facts)
	w.wholeLog(args[0], x)
	w.read(x)
	w.logUse(args[1], v, "with `in`")
	w.possibleElement(e, args, x, v)
	w.comparesWhole(args[0], x)
	if elem := w.element(v); elem.holdsMade() {
		w.comparesWhole(args[1], elem)
	}
	if !v.shape.is(kObjects) {
		w.read(v)
		return w.foldMembership(e, args, x)
	}
	segment, _ := step(v.shape, x)
	if key, ok := w.lookup(segment, x); ok {
		segment = key
	}
	for _, p := range v.places {
		w.footprint.add(p.child(segment), true)
	}
	if v.elem != nil {
		w.read(*v.elem)
	}
	return abstract{}
}

// addition of lists makes a list of the elements of both; of scalars it reads both.
func (w *walker) addition(args []ast.Expr, in *locals, facts []string) abstract {
	var out abstract
	for _, arg := range args {
		v := w.walk(arg, in, facts)
		w.wholeLog(arg, v)
		if v.elem == nil && !v.shape.is(kArrays) {
			w.read(v)
			if v.holdsBag() {
				out.bags = out.bags.join(bags{made: true, opaque: true, ofState: anyBag})
			}
			continue
		}
		w.enumerate(v)
		if v.shape != nil || v.elem != nil {
			elem := w.element(v)
			w.touch(elem)
			out.elem = joinElem(out.elem, &elem)
		}
		out.made = out.made || v.isBag()
	}
	return out
}

// loop is a macro: cel.bind, or a fold over a container.
func (w *walker) loop(e ast.Expr, in *locals, facts []string) abstract {
	c := e.AsComprehension()
	if isBinding(c) {
		init := w.walk(c.AccuInit(), in, facts)
		w.touch(init)
		if init.path == "" {
			init.path = w.freshPath(c.AccuVar())
		}
		return w.walk(c.Result(), in.with(c.AccuVar(), init), facts)
	}
	ranged := w.walk(c.IterRange(), in, facts)
	w.rangeable(c.IterRange(), ranged)
	if c.HasIterVar2() {
		w.hasPositions(c.IterRange(), ranged)
	}
	if ranged.isBag() {
		w.bagLoops[e.ID()] = true
	}
	w.enumerate(ranged)
	inner, facts := w.bindVariables(c, ranged, in, facts)

	accumulator := w.walk(c.AccuInit(), in, facts)
	accumulator.constant = nil
	for range maxRounds {
		body := inner.with(c.AccuVar(), accumulator)
		w.value(c.LoopCondition(), body, facts)
		step := w.walk(c.LoopStep(), body, facts)
		next := join(accumulator, step)
		grown := !sameReach(&next, &accumulator)
		if accumulator = next; !grown {
			break
		}
	}
	if accumulator.depth() > 2*maxRounds {
		// The rounds did not suffice to know all that it reaches. Such a loop cannot be
		// written with the macros there are.
		w.read(accumulator)
	}
	accumulator.facts = w.filterFacts(c, inner)
	accumulator.made = accumulator.made || ranged.isBag()
	return w.walk(c.Result(), in.with(c.AccuVar(), accumulator), facts)
}

// maxRounds bounds how often a loop's body is walked.
const maxRounds = 4

// isBinding reports whether a loop only gives a value a name: what cel.bind is expanded to.
func isBinding(c ast.ComprehensionExpr) bool {
	return c.IterVar() == "#unused" && c.IterRange().Kind() == ast.ListKind && c.IterRange().AsList().Size() == 0
}

// bindVariables puts the loop's variables in scope: elements of a list, keys of a
// map, or with two variables index and element, or key and value. The elements have the
// facts that a filter left.
func (w *walker) bindVariables(c ast.ComprehensionExpr, ranged abstract, in *locals, facts []string) (*locals, []string) {
	key := abstract{path: w.freshPath(c.IterVar()), keys: ranged.places}
	elem := w.element(ranged)
	elem.path = w.freshPath(c.IterVar())
	inner := in
	if c.HasIterVar2() {
		elem.path = w.freshPath(c.IterVar2())
		inner = in.with(c.IterVar(), key).with(c.IterVar2(), elem)
	} else {
		switch w.tree.GetType(c.IterRange().ID()).Kind() {
		case types.MapKind:
			inner = in.with(c.IterVar(), key)
		case types.ListKind:
			inner = in.with(c.IterVar(), elem)
		default: // a key or an element
			either := elem
			either.shape = nil
			inner = in.with(c.IterVar(), either)
		}
	}
	facts = slices.Clone(facts)
	for _, suffix := range ranged.facts {
		facts = append(facts, elem.path+suffix)
	}
	return inner, facts
}

func (w *walker) freshPath(name string) string {
	w.fresh++
	return name + "#" + strconv.Itoa(w.fresh)
}

// element is any element of an array, or any value of an object.
func (w *walker) element(v abstract) abstract {
	var s *shape
	if v.shape != nil {
		s = v.shape.child()
	}
	return v.below(v.shape.wildcard(), s)
}

// filterFacts are the members that elements have for certain after
// `filter(x, has(x.m) && ...)`.
func (w *walker) filterFacts(c ast.ComprehensionExpr, in *locals) []string {
	step := c.LoopStep()
	if callName(step) != operators.Conditional || !appends(step.AsCall().Args()[1], c.IterVar()) {
		return nil
	}
	v, _ := in.find(c.IterVar())
	var out []string
	for _, fact := range w.facts(step.AsCall().Args()[0], true, in) {
		if suffix, ok := strings.CutPrefix(fact, v.path); ok && strings.HasPrefix(suffix, ".") {
			out = append(out, suffix)
		}
	}
	return out
}

// appends reports whether e is `accumulator + [name]`.
func appends(e ast.Expr, name string) bool {
	if callName(e) != operators.Add {
		return false
	}
	last := e.AsCall().Args()[1]
	if last.Kind() != ast.ListKind || last.AsList().Size() != 1 {
		return false
	}
	x := last.AsList().Elements()[0]
	return x.Kind() == ast.IdentKind && x.AsIdent() == name
}

// everything marks the whole state as read if the budget did not suffice.
func (w *walker) everything() {
	if w.steps <= maxSteps {
		return
	}
	w.footprint.add(place{inexact: true}, false)
	w.footprint.phase = true
	if slices.ContainsFunc(w.vars, func(v variable) bool { return v.shape.holdsBags() }) {
		root := w.tree.Expr()
		w.report(root, tooDeepToFollow())
	}
}
