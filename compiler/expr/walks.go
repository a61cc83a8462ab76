package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// Walks lists the containers of the state that a checked rule goes through from end
// to end whenever it is evaluated, and that grow with the state: its loops over them,
// apart from those that Parts takes apart, of which a commit asks for the entries it
// touched.
func (e *Env) Walks(x ir.Expr, s Scope) []region.Pattern {
	switch s.Vars {
	case ir.SelfVars, ir.ViewVars:
		return nil // a value, or a view: no part of what a commit must check
	case ir.StateVars:
		if parts := e.Parts(x, s); parts != nil {
			var out []region.Pattern
			for _, p := range parts {
				out = appendNew(out, e.loops(p.Expr, PartScope(p))...)
			}
			return out
		}
	}
	return e.loops(x, s)
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
