package expr

import (
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/region"
)

// call has a rule for every function that passes a part of its arguments along or
// looks at less than all of them. All others read their arguments whole.
func (w *walker) call(e ast.Expr, in *locals, facts []string) abstract {
	c := e.AsCall()
	args := c.Args()
	if c.IsMemberFunction() {
		args = append([]ast.Expr{c.Target()}, args...)
	}
	f := c.FunctionName()
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
		return w.conditional(args, in, facts)
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
		return w.equality(e, args, in, facts)
	case overloads.Size:
		v := w.walk(args[0], in, facts)
		w.enumerate(v)
		return abstract{}
	case operators.Add:
		return w.addition(args, in, facts)
	case "optional.of", "optional.ofNonZeroValue", "value", "hasValue", "or", "orValue", overloads.TypeConvertDyn:
		return w.passing(f, args, in, facts)
	case "cel.@mapInsert":
		return w.insertion(args, in, facts)
	case "first", "last":
		return w.end(e, args, in, facts)
	case "optional.unwrap", "unwrapOpt":
		return w.unwrapped(args, in, facts)
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

// end is the first or last element of a list.
func (w *walker) end(e ast.Expr, args []ast.Expr, in *locals, facts []string) abstract {
	v := w.walk(args[0], in, facts)
	if v.isBag() {
		w.report(e, w.extents.of(e), noPosition(w.source(args[0])))
	}
	w.read(v)
	out := w.element(v)
	out.optional = true
	return out
}

// unwrapped is a list of what the optionals of a list hold.
func (w *walker) unwrapped(args []ast.Expr, in *locals, facts []string) abstract {
	v := w.walk(args[0], in, facts)
	w.read(v)
	if v.elem != nil {
		elem := *v.elem
		elem.optional, v.elem = false, &elem
	}
	return v
}

// rightCount reports whether the number of arguments of a function that is called
// by its name, unlike an operator, is what its rule expects.
func rightCount(function string, n int) bool {
	switch function {
	case overloads.Size, overloads.TypeConvertDyn, overloads.TypeConvertType, "first", "last", "optional.unwrap", "unwrapOpt", "optional.of", "optional.ofNonZeroValue", "value", "hasValue":
		return n == 1
	case "or", "orValue":
		return n == 2
	}
	return true
}

func (w *walker) conditional(args []ast.Expr, in *locals, facts []string) abstract {
	switch b, known := w.truth(w.value(args[0], in, facts)); {
	case known && b:
		return w.walk(args[1], in, facts)
	case known:
		return w.walk(args[2], in, facts)
	}
	yes := w.walk(args[1], in, withFacts(facts, w.facts(args[0], true, in)))
	no := w.walk(args[2], in, withFacts(facts, w.facts(args[0], false, in)))
	return join(yes, no)
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

func isWild(s region.Segment) bool {
	return s.Kind == region.AnyKey || s.Kind == region.AnyIndex || s.Kind == region.AnySegment
}

func (s *shape) elements() *shape {
	if s == nil {
		return nil
	}
	return s.elem
}

func (s *shape) entries() *shape {
	if s == nil {
		return nil
	}
	return s.rest
}

// membership is `x in e`.
func (w *walker) membership(e ast.Expr, args []ast.Expr, in *locals, facts []string) abstract {
	x := w.walk(args[0], in, facts)
	v := w.walk(args[1], in, facts)
	w.wholeLog(args[0], x)
	w.read(x)
	w.logOperand(args[1], v, "`in`")
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
		w.prints.add(p.child(segment), true)
	}
	if v.elem != nil {
		w.read(*v.elem)
	}
	return abstract{}
}

func (w *walker) equality(e ast.Expr, args []ast.Expr, in *locals, facts []string) abstract {
	var sides [2]abstract
	for i, arg := range args {
		sides[i] = w.walk(arg, in, facts)
		w.wholeLog(arg, sides[i])
		w.comparesWhole(arg, sides[i])
	}
	w.comparable(e, args, sides)
	for i := range args {
		if isNull(args[1-i]) {
			w.touch(sides[i]) // the kind is all that counts
			continue
		}
		w.read(sides[i])
	}
	return w.foldEquality(e, sides)
}

func isNull(e ast.Expr) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.NullValue
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
				out.bags = out.bags.or(bags{made: true, opaque: true, parts: anyBag})
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

// passing are the functions that hand a value on: into an optional, out of it, or
// as a value of unknown type.
func (w *walker) passing(function string, args []ast.Expr, in *locals, facts []string) abstract {
	out := w.walk(args[0], in, facts)
	w.touch(out)
	switch function {
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
		out.optional = function == "or"
	}
	out.constant = nil
	return out
}

func (w *walker) insertion(args []ast.Expr, in *locals, facts []string) abstract {
	out := w.walk(args[0], in, facts)
	if len(args) == 2 {
		more := w.walk(args[1], in, facts)
		w.enumerate(more)
		elem := w.element(more)
		w.touch(elem)
		out.elem = joinElem(out.elem, &elem)
		return out
	}
	w.value(args[1], in, facts)
	v := w.walk(args[2], in, facts)
	w.wholeLog(args[2], v)
	w.touch(v)
	out.elem = joinElem(out.elem, &v)
	return out
}

// literalText is a constant as an expression writes it.
func literalText(v ref.Val) string {
	switch x := v.(type) {
	case types.String:
		return strconv.Quote(string(x))
	case types.Int:
		return strconv.FormatInt(int64(x), 10)
	case types.Double:
		return strconv.FormatFloat(float64(x), 'g', -1, 64)
	case types.Bool:
		return strconv.FormatBool(bool(x))
	}
	return "null"
}
