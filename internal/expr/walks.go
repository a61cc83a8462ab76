package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Walks lists the containers of the state that a checked rule goes through from end
// to end whenever it is evaluated, and that grow with the state: its loops over them,
// apart from those that Parts takes apart, of which a commit asks for the entries it
// touched. Where entries have no keys, which it touched can be told only of a rule that
// looks at nothing else.
func (e *Env) Walks(x ir.Expr, s Scope) []region.Pattern {
	if s.Vars == ir.SelfVars || s.Vars == ir.ViewVars {
		return nil // a value, or a view: no part of what a commit must check
	}
	parts := []ir.Part{{Each: s.Each, Expr: x}}
	if s.Vars == ir.StateVars {
		if apart := e.Parts(x, s); apart != nil {
			parts = apart
		}
	}
	var out []region.Pattern
	for _, p := range parts {
		scope := s
		if s.Vars == ir.StateVars {
			scope = PartScope(p)
		}
		out = appendNew(out, e.loops(p.Expr, scope)...)
		if scope.Vars == ir.EachVars && !e.Local(p) {
			out = appendNew(out, e.unkeyed(p.Each.Over)...)
		}
	}
	return out
}

// unkeyed is the outermost container of the entries that a pattern matches, if not all
// of them are found by keys.
func (e *Env) unkeyed(over region.Pattern) []region.Pattern {
	first := slices.IndexFunc(over.Segments, isWild)
	if !slices.ContainsFunc(over.Segments, func(s region.Segment) bool { return isWild(s) && s.Kind != region.AnyKey }) {
		return nil
	}
	return []region.Pattern{{Segments: over.Segments[:first]}}
}

func (e *Env) loops(x ir.Expr, s Scope) []region.Pattern {
	tree, _, _ := e.parse(x.Source)
	if tree == nil {
		return nil
	}
	var out []region.Pattern
	vars := e.variables(s)
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(n ast.Expr) {
		if n.Kind() != ast.ComprehensionKind {
			return
		}
		if p, ok := placeOf(n.AsComprehension().IterRange(), vars); ok {
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
