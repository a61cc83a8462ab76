package expr

import (
	"sort"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// A span is a range of bytes of the source.
type span struct{ start, end int }

// extents finds the exact range of every node of a syntax tree.
type extents struct {
	src    string
	tokens []token
	info   *ast.SourceInfo
	bytes  []int // byte offset of every code point, and the end
}

func newExtents(src string, tokens []token, info *ast.SourceInfo) *extents {
	x := &extents{src: src, tokens: tokens, info: info}
	for i := range src {
		x.bytes = append(x.bytes, i)
	}
	x.bytes = append(x.bytes, len(src))
	return x
}

// byteOffset turns the parser's code point offset into a byte offset.
func (x *extents) byteOffset(codePoint int) int {
	return x.bytes[max(0, min(codePoint, len(x.bytes)-1))]
}

// mark is the index of the token that the parser noted for a node, or of the
// nearest one before it.
func (x *extents) mark(id int64) int {
	r, _ := x.info.GetOffsetRange(id)
	return x.tokenAt(x.byteOffset(int(r.Start)))
}

func (x *extents) tokenAt(offset int) int {
	i := sort.Search(len(x.tokens), func(i int) bool { return x.tokens[i].start > offset })
	return max(i-1, 0)
}

// of is the range of e, without parentheses around it.
func (x *extents) of(e ast.Expr) span {
	if len(x.tokens) == 0 {
		return span{0, len(x.src)}
	}
	mark := x.mark(e.ID())
	if x.text(mark) == "(" && isMade(e) {
		return x.call(mark, nil)
	}
	switch e.Kind() {
	case ast.SelectKind:
		sel := e.AsSelect()
		if sel.IsTestOnly() {
			return x.call(mark, nil)
		}
		return span{x.operand(sel.Operand()).start, x.tokens[min(mark+1, len(x.tokens)-1)].end}
	case ast.CallKind:
		return x.callNode(e, mark)
	case ast.ListKind, ast.MapKind, ast.StructKind:
		return span{x.tokens[mark].start, x.closing(mark)}
	case ast.ComprehensionKind:
		return x.fold(e, mark)
	case ast.LiteralKind:
		end := x.tokens[mark].end
		if x.text(mark) == "-" {
			end = x.tokens[min(mark+1, len(x.tokens)-1)].end
		}
		return span{x.tokens[mark].start, end}
	}
	t := x.tokens[mark]
	return span{t.start, t.end}
}

// isMade reports whether e, noted at a parenthesis, was made by a macro: its range
// is the macro's then. Calls, has() and macros themselves are noted there as well.
func isMade(e ast.Expr) bool {
	switch e.Kind() {
	case ast.CallKind:
		_, operator := operatorText(e.AsCall().FunctionName())
		return operator
	case ast.SelectKind:
		return !e.AsSelect().IsTestOnly()
	case ast.ComprehensionKind:
		return false
	}
	return true
}

func (x *extents) text(i int) string { return x.src[x.tokens[i].start:x.tokens[i].end] }

// closing is where the bracket at token i ends.
func (x *extents) closing(i int) int {
	if mate := x.tokens[i].mate; mate >= 0 {
		return x.tokens[mate].end
	}
	return x.tokens[i].end
}

// operand is the range of e with the parentheses around it.
func (x *extents) operand(e ast.Expr) span {
	s := x.of(e)
	for {
		before, after := x.tokenAt(s.start)-1, x.tokenAt(s.end-1)+1
		if before < 0 || after >= len(x.tokens) || x.text(before) != "(" || x.tokens[before].mate != after {
			return s
		}
		if before > 0 && x.tokens[before-1].kind == nameToken && x.text(before-1) != "in" {
			return s // the parentheses of a call
		}
		s = span{x.tokens[before].start, x.tokens[after].end}
	}
}

func (x *extents) callNode(e ast.Expr, mark int) span {
	c := e.AsCall()
	args := c.Args()
	switch f := c.FunctionName(); f {
	case operators.Index, operators.OptIndex:
		return span{x.operand(args[0]).start, x.closing(mark)}
	case operators.OptSelect:
		return span{x.operand(args[0]).start, x.tokens[min(mark+2, len(x.tokens)-1)].end}
	case operators.LogicalNot, operators.Negate:
		return span{x.tokens[mark].start, x.operand(args[0]).end}
	case operators.Conditional:
		return span{x.operand(args[0]).start, x.operand(args[2]).end}
	default:
		if _, binary := operatorText(f); binary && len(args) == 2 {
			return span{x.operand(args[0]).start, x.operand(args[1]).end}
		}
	}
	if c.IsMemberFunction() {
		return x.call(mark, c.Target())
	}
	return x.call(mark, nil)
}

// call is the range of a call whose opening parenthesis is at token open. Without
// a target it begins with the (qualified) name before the parenthesis.
func (x *extents) call(open int, target ast.Expr) span {
	end := x.closing(open)
	if target != nil {
		return span{x.operand(target).start, end}
	}
	first := open
	for first > 0 && (x.tokens[first-1].kind == nameToken || x.text(first-1) == ".") {
		first--
	}
	return span{x.tokens[first].start, end}
}

// fold is the range of a macro that was expanded to a comprehension.
func (x *extents) fold(e ast.Expr, mark int) span {
	c := e.AsComprehension()
	if c.IterRange().Kind() == ast.ListKind && c.IterRange().AsList().Size() == 0 {
		return x.call(mark, nil)
	}
	return x.call(mark, c.IterRange())
}

// functionName is the range of the name in a call.
func (x *extents) functionName(e ast.Expr) span {
	mark := x.mark(e.ID())
	if mark > 0 && x.tokens[mark-1].kind == nameToken {
		return span{x.tokens[mark-1].start, x.tokens[mark-1].end}
	}
	return x.of(e)
}

// memberName is the range of the name after the dot of a selection.
func (x *extents) memberName(e ast.Expr) span {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
		close := x.tokens[x.mark(e.ID())].mate
		if close > 0 {
			return span{x.tokens[close-1].start, x.tokens[close-1].end}
		}
		return x.of(e)
	}
	end := x.of(e).end
	t := x.tokens[x.tokenAt(end-1)]
	return span{t.start, t.end}
}

// operatorText is how an operator is written.
func operatorText(function string) (string, bool) {
	if text, found := operators.FindReverseBinaryOperator(function); found {
		return text, true
	}
	text, found := operators.FindReverse(function)
	return text, found && text != ""
}
