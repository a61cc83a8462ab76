package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
)

// Canonical lists the operands of the outermost && of an expression, each in one
// spelling: white space, comments, parentheses that change nothing, the spelling of
// literals, and the names of bound variables leave no trace. A free name is written as
// name says. Two rules with the same operands hold of the same states. The result is nil
// for what is no expression. Cost: linear in the source.
func Canonical(source string, name func(string) string) []string {
	std, err := standardEnv(Default())
	if err != nil {
		return nil
	}
	tree, errs := std.parser.Parse(common.NewTextSource(source))
	if len(errs.GetErrors()) > 0 {
		return nil
	}
	var out []string
	for _, operand := range conjuncts(tree.Expr()) {
		c := canonical{name: name}
		c.write(operand)
		out = append(out, c.text.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A canonical writes one expression as nested lists.
type canonical struct {
	name  func(string) string
	bound []string // the variables in scope, outermost first
	text  strings.Builder
}

func (c *canonical) write(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		c.ident(e.AsIdent())
	case ast.LiteralKind:
		c.literal(e.AsLiteral())
	case ast.SelectKind:
		s := e.AsSelect()
		c.list(fmt.Sprintf("select %q %t", s.FieldName(), s.IsTestOnly()), s.Operand())
	case ast.CallKind:
		call := e.AsCall()
		operands := call.Args()
		if call.IsMemberFunction() {
			operands = append([]ast.Expr{call.Target()}, operands...)
		}
		c.list(fmt.Sprintf("call %q %t", call.FunctionName(), call.IsMemberFunction()), operands...)
	case ast.ListKind:
		l := e.AsList()
		c.list(fmt.Sprint("list ", l.OptionalIndices()), l.Elements()...)
	case ast.MapKind:
		c.list("map")
		for _, entry := range e.AsMap().Entries() {
			m := entry.AsMapEntry()
			c.list(fmt.Sprint("entry ", m.IsOptional()), m.Key(), m.Value())
		}
	case ast.StructKind:
		c.list("struct " + e.AsStruct().TypeName())
		for _, field := range e.AsStruct().Fields() {
			f := field.AsStructField()
			c.list(fmt.Sprintf("field %q %t", f.Name(), f.IsOptional()), f.Value())
		}
	case ast.ComprehensionKind:
		c.comprehension(e.AsComprehension())
	}
}

func (c *canonical) list(head string, operands ...ast.Expr) {
	c.text.WriteString("(" + head)
	for _, x := range operands {
		c.text.WriteByte(' ')
		c.write(x)
	}
	c.text.WriteByte(')')
}

// ident writes a bound variable by how far out it is bound, and any other by its name.
func (c *canonical) ident(name string) {
	for i := len(c.bound) - 1; i >= 0; i-- {
		if c.bound[i] == name {
			fmt.Fprintf(&c.text, "#%d", len(c.bound)-i)
			return
		}
	}
	c.text.WriteString(c.name(name))
}

func (c *canonical) literal(v ref.Val) {
	if s, ok := v.Value().(string); ok {
		fmt.Fprintf(&c.text, "%q", s)
		return
	}
	fmt.Fprintf(&c.text, "%s:%v", v.Type().TypeName(), v.Value())
}

func (c *canonical) comprehension(x ast.ComprehensionExpr) {
	c.text.WriteString("(over ")
	c.write(x.IterRange())
	c.text.WriteString(" from ")
	c.write(x.AccuInit())
	c.bound = append(c.bound, x.AccuVar())
	outside := len(c.bound)
	c.bound = append(c.bound, x.IterVar())
	if x.HasIterVar2() {
		c.bound = append(c.bound, x.IterVar2())
	}
	c.list("while", x.LoopCondition(), x.LoopStep())
	c.bound = c.bound[:outside]
	c.list("then", x.Result())
	c.bound = c.bound[:outside-1]
	c.text.WriteByte(')')
}
