package expr

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// bound finds the one literal of a clause that bounds a number of members: an order
// between size() of a container, or a count, and something else. texts are the
// literals as they stand in the part.
func (t *takeApart) bound(c clause, texts []string, in *frame, p ir.Part) *ir.Bound {
	var out *ir.Bound
	var rest []string
	for i, l := range c.literals {
		of, least, other, ok := t.counted(l, in)
		if !ok {
			rest = append(rest, texts[i])
			continue
		}
		text, fits := t.text(literal{expr: other}, in)
		if out != nil || !fits {
			return nil
		}
		out = &ir.Bound{Of: of, Least: least}
		rest = append(rest, text+" == "+text)
	}
	if out == nil {
		return nil
	}
	for _, text := range rest {
		x, ok := t.check(text, p)
		if !ok {
			return nil
		}
		for _, r := range x.Reads {
			out.Rest = append(out.Rest, r.Pattern)
		}
	}
	return out
}

// orders are the operators by which a number is bounded from above by what follows.
var orders = map[string]bool{operators.LessEquals: true, operators.Less: true, operators.GreaterEquals: false, operators.Greater: false}

// counted reads a literal as a bound: on the number of what a pattern matches, from
// below or above, by another expression.
func (t *takeApart) counted(l literal, in *frame) (of region.Pattern, least bool, other ast.Expr, ok bool) {
	if l.expr.Kind() != ast.CallKind {
		return of, false, nil, false
	}
	most, isOrder := orders[l.expr.AsCall().FunctionName()]
	if !isOrder {
		return of, false, nil, false
	}
	args := l.expr.AsCall().Args()
	if of, ok = t.number(args[0], in); ok {
		return of, most == l.negated, args[1], true
	}
	of, ok = t.number(args[1], in)
	return of, most != l.negated, args[0], ok
}

// number is the pattern of what e counts.
func (t *takeApart) number(e ast.Expr, in *frame) (of region.Pattern, ok bool) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == overloads.Size {
		args := e.AsCall().Args()
		if e.AsCall().IsMemberFunction() {
			args = []ast.Expr{e.AsCall().Target()}
		}
		if len(args) != 1 {
			return of, false
		}
		from, path, ok := in.resolve(args[0])
		if !ok || from != nil && from != in {
			return of, false
		}
		each, _, ok := t.env.container(from, path)
		if !ok {
			return of, false
		}
		of = region.Pattern{Segments: familyPlace(each.Over).segments}
		of.Segments[len(of.Segments)-1] = each.Over.Segments[len(each.Over.Segments)-1]
		return of, true
	}
	path, root, ok := memberPath(e)
	if !ok || in.binds(root) {
		return of, false
	}
	for _, name := range path {
		root += "." + name
	}
	for i := range t.env.measures {
		if m := &t.env.measures[i]; m.name == root && m.count && !hasDepth(m.over) {
			return m.over, true
		}
	}
	return of, false
}
