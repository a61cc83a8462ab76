package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
)

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
