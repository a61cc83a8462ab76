package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/decimal"
)

// Canonical lists the operands of the outermost && of an expression, each in one
// spelling: white space, comments, parentheses that change nothing, the spelling of
// literals, and the names of bound variables leave no trace. A free name is written as
// name says. Two rules with the same operands hold of the same states. The result is nil
// for what is no expression. Cost: linear in the source.
func Canonical(source string, name func(string) string) []string {
	std, err := standardEnv(standardKey{limits: Default()})
	if err != nil {
		return nil
	}
	tokens := tokenize(source)
	tree, errs := std.parser.Parse(common.NewTextSource(hideNames(source, tokens)))
	at := newExtents(source, tokens, tree.SourceInfo())
	if len(errs.GetErrors()) > 0 || !showNames(tree, at) {
		return nil
	}
	var out []string
	for _, operand := range conjuncts(tree.Expr()) {
		c := canonical{at: at, name: name}
		c.write(operand)
		out = append(out, c.text.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A canonical writes one expression as nested lists.
type canonical struct {
	at    *extents
	name  func(string) string
	bound []string // the variables in scope, outermost first
	text  strings.Builder
}

func (c *canonical) write(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		c.ident(e.AsIdent())
	case ast.LiteralKind:
		c.literal(e)
	case ast.SelectKind:
		s := e.AsSelect()
		c.list(fmt.Sprintf("select %q %t", s.FieldName(), s.IsTestOnly()), s.Operand())
	case ast.CallKind:
		call := e.AsCall()
		c.list(fmt.Sprintf("call %q %t", call.FunctionName(), call.IsMemberFunction()), operands(call)...)
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

// literal writes one by its value. A number is the decimal that it is written as, since
// beside a decimal it stands for that, and not for the double that is nearest.
func (c *canonical) literal(e ast.Expr) {
	switch v := e.AsLiteral().(type) {
	case types.String:
		fmt.Fprintf(&c.text, "%q", string(v))
	case types.Double:
		text := string(decimal.Parse(jsonNumber(c.at, e)).Append(nil))
		if math.Signbit(float64(v)) && !strings.HasPrefix(text, "-") { // -0.0
			text = "-" + text
		}
		c.text.WriteString("double:" + text)
	default:
		fmt.Fprintf(&c.text, "%s:%v", v.Type().TypeName(), v.Value())
	}
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

// A Qualified is an expression of a library as the importing contract has to
// write it: the library calls its measures by their own names, the contract by
// its alias for the library as well.
type Qualified struct {
	Text string

	prefix string
	places []int // of the source, where prefix was put in; in order
}

// Qualify puts prefix before every use of the names, which may have dots, except
// where a macro of the expression, or own, gives their first part another meaning.
// What cannot be parsed stays as it is.
func (e *Env) Qualify(src, prefix string, names []string, own ...string) Qualified {
	q := qualifier{names: names}
	if tree, extents, _ := e.parse(src); tree != nil {
		q.extents = extents
		q.walk(tree.Expr(), own)
	}
	slices.Sort(q.places)
	out := Qualified{prefix: prefix, places: slices.Compact(q.places)}
	var text strings.Builder
	from := 0
	for _, place := range out.places {
		text.WriteString(src[from:place] + prefix)
		from = place
	}
	text.WriteString(src[from:])
	out.Text = text.String()
	return out
}

// A qualifier collects where names are used.
type qualifier struct {
	names   []string
	extents *extents
	places  []int
}

func (q *qualifier) walk(e ast.Expr, bound []string) {
	if path, root, ok := memberPath(e); ok && !slices.Contains(bound, root) {
		if slices.Contains(q.names, strings.Join(append([]string{root}, path...), ".")) {
			q.places = append(q.places, q.extents.of(e).start)
			return
		}
	}
	if e.Kind() != ast.ComprehensionKind {
		for _, child := range children(e) {
			q.walk(child, bound)
		}
		return
	}
	c := e.AsComprehension()
	q.walk(c.IterRange(), bound)
	q.walk(c.AccuInit(), bound)
	inner := append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
	for _, child := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
		q.walk(child, inner)
	}
}

// Issue places an issue about Text in the source.
func (q Qualified) Issue(i Issue) Issue {
	i.Start, i.End = q.start(i.Start), q.end(i.End)
	if i.Fix != nil {
		fix := *i.Fix
		fix.Start, fix.End = q.start(fix.Start), q.end(fix.End)
		i.Fix = &fix
	}
	return i
}

// start is the offset in the source of what starts at an offset of Text; what
// starts within a prefix starts at the name after it.
func (q Qualified) start(offset int) int {
	for i, place := range q.places {
		if at := place + i*len(q.prefix); offset < at+len(q.prefix) {
			return min(offset, at) - i*len(q.prefix)
		}
	}
	return offset - len(q.places)*len(q.prefix)
}

// end is the offset in the source of what ends at an offset of Text.
func (q Qualified) end(offset int) int {
	for i, place := range q.places {
		if at := place + i*len(q.prefix); offset <= at+len(q.prefix) {
			return min(offset, at) - i*len(q.prefix)
		}
	}
	return offset - len(q.places)*len(q.prefix)
}

// ParamUses says which of some parameters an expression mentions, and which of them
// it uses as a value: for something else than to pick the member of that key, or to compare
// what they pick with one another. Nothing
// if it does not parse.
func (e *Env) ParamUses(src string, params []string) (mentioned, values []string) {
	tree, _, _ := e.parse(src)
	if tree == nil {
		return nil, nil
	}
	keys := map[int64]bool{}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() == ast.CallKind && slices.Contains([]string{operators.Index, operators.OptIndex}, x.AsCall().FunctionName()) {
			keys[x.AsCall().Args()[1].ID()] = true
		}
		if comparesArguments(x, params) {
			values = append(values, namesIn(x, params)...)
		}
		if x.Kind() != ast.IdentKind || !slices.Contains(params, x.AsIdent()) {
			return
		}
		mentioned = append(mentioned, x.AsIdent())
		if !keys[x.ID()] {
			values = append(values, x.AsIdent())
		}
	}))
	return mentioned, values
}

// comparesArguments reports whether e compares what has to do with one parameter with
// what has to do with another one.
func comparesArguments(e ast.Expr, params []string) bool {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In:
	default:
		return false
	}
	a, b := namesIn(e.AsCall().Args()[0], params), namesIn(e.AsCall().Args()[1], params)
	return len(a) > 0 && len(b) > 0 && !slices.Equal(a, b)
}

// namesIn lists the parameters that an expression mentions, in order, each once.
func namesIn(e ast.Expr, params []string) []string {
	var out []string
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() == ast.IdentKind && slices.Contains(params, x.AsIdent()) {
			out = append(out, x.AsIdent())
		}
	}))
	slices.Sort(out)
	return slices.Compact(out)
}
