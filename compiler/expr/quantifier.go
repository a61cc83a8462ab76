package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// A quantifier is a loop that asks the same of every entry of a container.
type quantifier struct {
	over    []string // the members from the state to the container
	vars    []string // one or two
	body    ast.Expr
	negated bool
}

func quantifierOf(e ast.Expr) (quantifier, bool) {
	negated := e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalNot
	if negated {
		e = e.AsCall().Args()[0]
	}
	if e.Kind() != ast.ComprehensionKind {
		return quantifier{}, false
	}
	c := e.AsComprehension()
	path, ok := pathOf(c.IterRange())
	body, all := stepOf(c, operators.LogicalAnd, types.True)
	if negated {
		body, all = stepOf(c, operators.LogicalOr, types.False)
	}
	q := quantifier{over: path, vars: []string{c.IterVar()}, body: body, negated: negated}
	if c.HasIterVar2() {
		q.vars = append(q.vars, c.IterVar2())
	}
	return q, ok && all
}

// stepOf is what a loop asks of an entry if it does nothing but join the answers
// with the operator, from start on.
func stepOf(c ast.ComprehensionExpr, operator string, start types.Bool) (ast.Expr, bool) {
	step, init, result := c.LoopStep(), c.AccuInit(), c.Result()
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operator ||
		init.Kind() != ast.LiteralKind || init.AsLiteral() != start ||
		result.Kind() != ast.IdentKind || result.AsIdent() != c.AccuVar() {
		return nil, false
	}
	args := step.AsCall().Args()
	return args[1], len(args) == 2 && args[0].Kind() == ast.IdentKind && args[0].AsIdent() == c.AccuVar()
}

// pathOf reads state.a.b as the members a and b.
func pathOf(e ast.Expr) ([]string, bool) {
	path, root, ok := memberPath(e)
	return path, ok && root == "state"
}

// memberPath reads root.a.b.
func memberPath(e ast.Expr) (path []string, root string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, e.AsIdent(), true
	case ast.SelectKind:
		s := e.AsSelect()
		path, root, ok = memberPath(s.Operand())
		return append(path, s.FieldName()), root, ok && !s.IsTestOnly()
	default:
		return nil, "", false
	}
}

// container is the pattern of the entries of the container that members lead to,
// their type, and whether they are found by key; ok is false where the types do not
// say that there is always such a container.
func (e *Env) container(path []string) (over region.Pattern, elem ir.TypeID, keyed, ok bool) {
	id := e.root
	for _, name := range path {
		m, declared := e.shapes.types[id].Member(name)
		if e.shapes.types[id].Kind != ir.RecordType || !declared || m.Optional {
			return over, ir.NoType, false, false
		}
		over.Segments = append(over.Segments, region.Segment{Kind: region.KeyLiteral, Text: name})
		id = m.Type
	}
	t := &e.shapes.types[id]
	entry := region.Segment{Kind: region.AnyIndex}
	switch t.Kind {
	case ir.MapType, ir.KeyedType:
		entry.Kind, keyed = region.AnyKey, true
	case ir.ListType, ir.SetType, ir.LogType:
	default:
		return over, ir.NoType, false, false
	}
	over.Segments = append(over.Segments, entry)
	return over, t.Elem, keyed, true
}
