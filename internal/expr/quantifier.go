package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A quantifier is a loop that asks the same of every entry of a container.
type quantifier struct {
	over ast.Expr // the container
	vars []string // one or two
	body ast.Expr
}

// quantifierOf reads e as all(), or where it is negated, as exists().
func quantifierOf(e ast.Expr, negated bool) (quantifier, bool) {
	if e.Kind() != ast.ComprehensionKind {
		return quantifier{}, false
	}
	c := e.AsComprehension()
	body, all := stepOf(c, operators.LogicalAnd, types.True)
	if negated {
		body, all = stepOf(c, operators.LogicalOr, types.False)
	}
	q := quantifier{over: c.IterRange(), vars: []string{c.IterVar()}, body: body}
	if c.HasIterVar2() {
		q.vars = append(q.vars, c.IterVar2())
	}
	return q, all
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

// container is the entries of the container that members lead to from an entry, or
// from the state, and whether they are found by key; ok is false where the types do not
// say that there is always such a container.
func (e *Env) container(from *frame, path []string) (each *ir.Each, keyed, ok bool) {
	id, over := e.root, region.Pattern{}
	if from != nil {
		id, over.Segments = from.each.Type, slices.Clone(from.each.Over.Segments)
	}
	for _, name := range path {
		t := e.typeOf(id)
		m, declared := t.Member(name)
		if t.Kind != ir.RecordType || !declared || m.Optional {
			return nil, false, false
		}
		over.Segments = append(over.Segments, region.Segment{Kind: region.KeyLiteral, Text: name})
		id = m.Type
	}
	t := e.typeOf(id)
	entry := region.Segment{Kind: region.AnyIndex}
	switch t.Kind {
	case ir.MapType, ir.KeyedType:
		entry.Kind, keyed = region.AnyKey, true
	case ir.ListType, ir.SetType, ir.LogType:
	default:
		return nil, false, false
	}
	over.Segments = append(over.Segments, entry)
	return &ir.Each{Over: over, Type: t.Elem}, keyed, wildcards(over) <= ir.MaxFamilyKeys
}

// typeOf is the type with an id, one of no kind if the environment was made without it.
func (e *Env) typeOf(id ir.TypeID) *ir.Type {
	if int(id) >= len(e.shapes.types) {
		return &ir.Type{}
	}
	return &e.shapes.types[id]
}
