package expr

import (
	"slices"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// loop is a macro.
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
		if w.bagLoops == nil {
			w.bagLoops = map[int64]bool{}
		}
		w.bagLoops[e.ID()] = true
	}
	w.enumerate(ranged)
	inner := w.bindVariables(c, ranged, in, &facts)

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
	w.settle(accumulator)
	accumulator.facts = w.filterFacts(c, inner, facts)
	accumulator.made = accumulator.made || ranged.isBag()
	return w.walk(c.Result(), in.with(c.AccuVar(), accumulator), facts)
}

// settle reads what an accumulator reaches if the rounds did not suffice to know it
// all; such a loop cannot be written with the macros there are.
func (w *walker) settle(accumulator abstract) {
	for depth, v := 0, &accumulator; v != nil; depth, v = depth+1, v.elem {
		if depth > 2*maxRounds {
			w.read(accumulator)
			return
		}
	}
}

func isBinding(c ast.ComprehensionExpr) bool {
	return c.IterVar() == "#unused" && c.IterRange().Kind() == ast.ListKind && c.IterRange().AsList().Size() == 0
}

// bindVariables puts the loop's variables in scope: elements of a list, keys of a
// map, or with two variables index and element, or key and value.
func (w *walker) bindVariables(c ast.ComprehensionExpr, ranged abstract, in *locals, facts *[]string) *locals {
	elem := w.element(ranged)
	elem.path = w.freshPath(c.IterVar())
	key := abstract{path: w.freshPath(c.IterVar()), keys: ranged.places}
	if c.HasIterVar2() {
		elem.path = w.freshPath(c.IterVar2())
		*facts = w.elementFacts(ranged, elem.path, *facts)
		return in.with(c.IterVar(), key).with(c.IterVar2(), elem)
	}
	*facts = w.elementFacts(ranged, elem.path, *facts)
	switch w.tree.GetType(c.IterRange().ID()).Kind() {
	case types.MapKind:
		return in.with(c.IterVar(), key)
	case types.ListKind:
	default:
		elem.shape = nil // a key or an element
	}
	return in.with(c.IterVar(), elem)
}

// element is any element of an array, or any value of an object.
func (w *walker) element(v abstract) abstract {
	var s *shape
	if v.shape != nil {
		s = v.shape.child()
	}
	return v.below(v.shape.wildcard(), s)
}

func (w *walker) elementFacts(ranged abstract, path string, facts []string) []string {
	out := slices.Clone(facts)
	for _, suffix := range ranged.facts {
		out = append(out, path+suffix)
	}
	return out
}

func (w *walker) freshPath(name string) string {
	w.fresh++
	return name + "#" + strconv.Itoa(w.fresh)
}

// filterFacts are the members that elements have for certain after
// `filter(x, has(x.m) && ...)`.
func (w *walker) filterFacts(c ast.ComprehensionExpr, in *locals, facts []string) []string {
	step := c.LoopStep()
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Conditional {
		return nil
	}
	args := step.AsCall().Args()
	if !appends(args[1], c.IterVar()) {
		return nil
	}
	v, _ := in.find(c.IterVar())
	var out []string
	for _, fact := range w.facts(args[0], true, in) {
		if len(fact) > len(v.path) && fact[:len(v.path)] == v.path && fact[len(v.path)] == '.' {
			out = append(out, fact[len(v.path):])
		}
	}
	return out
}

// appends reports whether e is `accumulator + [name]`.
func appends(e ast.Expr, name string) bool {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Add {
		return false
	}
	last := e.AsCall().Args()[1]
	if last.Kind() != ast.ListKind || last.AsList().Size() != 1 {
		return false
	}
	x := last.AsList().Elements()[0]
	return x.Kind() == ast.IdentKind && x.AsIdent() == name
}
