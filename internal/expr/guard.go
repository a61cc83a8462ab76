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
	return w.known(e, in).when(outcome)
}

// known are the facts of a condition: those where it holds, and those where it does not.
// Both come from one pass, which keeps it linear where a condition has conditions in it.
type known struct{ yes, no []string }

func (k known) when(outcome bool) []string {
	if outcome {
		return k.yes
	}
	return k.no
}

func (w *walker) known(e ast.Expr, in *locals) known {
	if w.steps++; w.steps > maxSteps {
		return known{}
	}
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return known{yes: w.fact(e.AsSelect().Operand(), e.AsSelect().FieldName(), in)}
		}
	case ast.ComprehensionKind:
		return w.bindingFacts(e.AsComprehension(), in)
	case ast.CallKind:
		return w.callFacts(e.AsCall(), in)
	}
	return known{}
}

func (w *walker) callFacts(c ast.CallExpr, in *locals) known {
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalNot:
		k := w.known(args[0], in)
		return known{yes: k.no, no: k.yes}
	case operators.LogicalAnd:
		left, right := w.known(args[0], in), w.known(args[1], in)
		return known{yes: withFacts(left.yes, right.yes), no: intersect(left.no, right.no)}
	case operators.LogicalOr:
		left, right := w.known(args[0], in), w.known(args[1], in)
		return known{yes: intersect(left.yes, right.yes), no: withFacts(left.no, right.no)}
	case operators.Conditional:
		test, yes, no := w.known(args[0], in), w.known(args[1], in), w.known(args[2], in)
		outcome := func(b bool) []string {
			holds, fails := withFacts(test.yes, yes.when(b)), withFacts(test.no, no.when(b))
			switch {
			case isConstant(args[2], !b):
				return holds
			case isConstant(args[1], !b):
				return fails
			}
			return intersect(holds, fails)
		}
		return known{yes: outcome(true), no: outcome(false)}
	case operators.Equals:
		switch k := w.known(args[0], in); {
		case isConstant(args[1], true):
			return k
		case isConstant(args[1], false):
			return known{yes: k.no, no: k.yes}
		}
	case "hasValue":
		if c.IsMemberFunction() {
			return known{yes: w.optionalFacts(c.Target(), in)}
		}
	}
	return known{}
}

func isConstant(e ast.Expr, b bool) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.Bool(b)
}

func (w *walker) bindingFacts(c ast.ComprehensionExpr, in *locals) known {
	if !isBinding(c) {
		return known{}
	}
	if path := w.path(c.AccuInit(), in); path != "" {
		return w.known(c.Result(), in.with(c.AccuVar(), abstract{path: path}))
	}
	return known{}
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

// maxPath bounds what is remembered of a path, in bytes: one that a variable stands for
// may occur in the next twice.
const maxPath = 4 << 10

func indexPath(operand, index string, e ast.Expr) string {
	if operand == "" || len(operand)+len(index) > maxPath {
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

// withFacts is the union of two sets of facts. Neither is changed.
func withFacts(facts, more []string) []string {
	out := slices.Clone(facts)
	for _, f := range more {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
