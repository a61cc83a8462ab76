package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// facts are the paths that are certainly present when e comes out as outcome.
func (w *walker) facts(e ast.Expr, outcome bool, in *locals) []string {
	if w.steps++; w.steps > maxSteps {
		return nil
	}
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() && outcome {
			return w.fact(e.AsSelect().Operand(), e.AsSelect().FieldName(), in)
		}
	case ast.ComprehensionKind:
		return w.bindingFacts(e.AsComprehension(), outcome, in)
	case ast.CallKind:
		return w.callFacts(e.AsCall(), outcome, in)
	}
	return nil
}

func (w *walker) callFacts(c ast.CallExpr, outcome bool, in *locals) []string {
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalNot:
		return w.facts(args[0], !outcome, in)
	case operators.LogicalAnd, operators.LogicalOr:
		both := (c.FunctionName() == operators.LogicalAnd) == outcome
		left, right := w.facts(args[0], outcome, in), w.facts(args[1], outcome, in)
		if both {
			return append(left, right...)
		}
		return intersect(left, right)
	case operators.Conditional:
		yes := append(w.facts(args[0], true, in), w.facts(args[1], outcome, in)...)
		no := append(w.facts(args[0], false, in), w.facts(args[2], outcome, in)...)
		switch {
		case isConstant(args[2], !outcome):
			return yes
		case isConstant(args[1], !outcome):
			return no
		}
		return intersect(yes, no)
	case operators.Equals:
		if isConstant(args[1], true) || isConstant(args[1], false) {
			return w.facts(args[0], isConstant(args[1], outcome), in)
		}
	case "hasValue":
		if outcome && c.IsMemberFunction() {
			return w.optionalFacts(c.Target(), in)
		}
	}
	return nil
}

func isConstant(e ast.Expr, b bool) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.Bool(b)
}

func (w *walker) bindingFacts(c ast.ComprehensionExpr, outcome bool, in *locals) []string {
	if !isBinding(c) {
		return nil
	}
	if path := w.path(c.AccuInit(), in); path != "" {
		return w.facts(c.Result(), outcome, in.with(c.AccuVar(), abstract{path: path}))
	}
	return nil
}

// optionalFacts are what `e.?a.?b` being there says.
func (w *walker) optionalFacts(e ast.Expr, in *locals) []string {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.OptSelect {
		return nil
	}
	args := e.AsCall().Args()
	name, ok := args[1].AsLiteral().(types.String)
	if !ok {
		return nil
	}
	return append(w.optionalFacts(args[0], in), w.fact(args[0], string(name), in)...)
}

func (w *walker) fact(operand ast.Expr, name string, in *locals) []string {
	path := w.path(operand, in)
	if path == "" {
		return nil
	}
	out := []string{path + "." + name}
	for at := strings.LastIndexByte(path, '.'); at > 0; at = strings.LastIndexByte(path, '.') {
		out = append(out, path) // what lies on the way is there too
		path = path[:at]
	}
	return out
}

// path names the node that e stands for, such that equal names within one
// evaluation are the same node; "" if e is no plain access.
func (w *walker) path(e ast.Expr, in *locals) string {
	switch e.Kind() {
	case ast.IdentKind:
		v, _ := in.find(e.AsIdent())
		return v.path
	case ast.SelectKind:
		if operand := w.path(e.AsSelect().Operand(), in); operand != "" && !e.AsSelect().IsTestOnly() {
			return operand + "." + e.AsSelect().FieldName()
		}
	case ast.CallKind:
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex:
			return indexPath(w.path(args[0], in), w.path(args[1], in), args[1])
		case operators.OptSelect:
			name, _ := args[1].AsLiteral().(types.String)
			if operand := w.path(args[0], in); operand != "" {
				return operand + "." + string(name)
			}
		}
	}
	return ""
}

func indexPath(operand, index string, e ast.Expr) string {
	if operand == "" {
		return ""
	}
	if e.Kind() == ast.LiteralKind {
		return operand + "[" + literalText(e.AsLiteral()) + "]"
	}
	if index == "" {
		return ""
	}
	return operand + "[" + index + "]"
}

func withFacts(facts, more []string) []string {
	return append(slices.Clone(facts), more...)
}
