package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
)

// The names of an expression, for tools: what each stands for, and of which type every
// part is.

// NameKind is what a name in an expression stands for.
type NameKind uint8

// The kinds of names.
const (
	FreeName     NameKind = iota // of the scope: state, a parameter, a measure with its dots
	BoundName                    // a macro's variable
	MemberName                   // a member of what stands before it, as a name or as a text
	FunctionName                 // a function or macro
	PhaseName                    // the text of a phase that the phase is compared with, with its quotes
)

// A Name is a name in an expression. Offsets are bytes of the source.
type Name struct {
	Kind       NameKind
	Text       string
	Start, End int
	Binding    int         // of a BoundName: where the variable is named first
	Records    []ir.TypeID // of a MemberName: the types of which it may be a member
	Type       string      // of a BoundName
}

// A TypedPart is a part of an expression with its type in words; Records are the records that
// its value may be.
type TypedPart struct {
	Start, End int
	Type       string
	Records    []ir.TypeID
}

// Names lists the names of an expression and the types of its parts, each in the order of
// the text; of one that does not parse nothing is known. Cost: that of Check.
func (e *Env) Names(src string, s Scope) ([]Name, []TypedPart) {
	tree, extents, _ := e.parse(src)
	if tree == nil {
		return nil, nil
	}
	check, err := e.checkerFor(s)
	if err != nil {
		return nil, nil
	}
	checked, _ := e.typed(tree, extents, check)
	w := newWalker(e, s, checked, extents)
	w.seen = map[int64]*shape{}
	w.outcome()
	n := namer{walker: w, typed: map[span]bool{}, named: map[span]bool{}}
	n.visit(checked.Expr(), nil)
	n.functions()
	slices.SortStableFunc(n.names, func(a, b Name) int { return a.Start - b.Start })
	slices.SortStableFunc(n.parts, func(a, b TypedPart) int { return a.Start - b.Start })
	return n.names, n.parts
}

// A namer goes over a tree that was walked.
type namer struct {
	*walker
	names []Name
	parts []TypedPart
	typed map[span]bool
	named map[span]bool
}

// bindings are the variables of macros in scope, innermost first.
type bindings struct {
	name  string
	at    int
	outer *bindings
}

func (b *bindings) find(name string) *bindings {
	for ; b != nil && b.name != name; b = b.outer {
	}
	return b
}

func (n *namer) visit(e ast.Expr, in *bindings) {
	n.part(e)
	switch e.Kind() {
	case ast.IdentKind:
		n.ident(e, in)
	case ast.SelectKind:
		n.member(n.extents.memberName(e), e.AsSelect().FieldName(), e.AsSelect().Operand())
	case ast.CallKind:
		args := operands(e.AsCall())
		switch e.AsCall().FunctionName() {
		case operators.OptSelect:
			if name, ok := args[1].AsLiteral().(types.String); ok {
				n.member(n.extents.memberName(e), string(name), args[0])
			}
			args = args[:1]
		case operators.Index, operators.OptIndex:
			if name, ok := args[1].AsLiteral().(types.String); ok && args[1].Kind() == ast.LiteralKind && len(n.shapeOf(args[0]).recordTypes()) > 0 {
				at := n.extents.of(args[1])
				n.add(Name{Kind: MemberName, Text: string(name), Start: at.start, End: at.end, Records: n.shapeOf(args[0]).recordTypes()})
			}
		case operators.Equals, operators.NotEquals, operators.In:
			for i, arg := range args {
				if arg.Kind() == ast.IdentKind && arg.AsIdent() == "phase" && in.find("phase") == nil {
					n.phases(args[1-i])
				}
			}
		}
		for _, arg := range args {
			n.visit(arg, in)
		}
		return
	case ast.ComprehensionKind:
		n.loop(e, in)
		return
	}
	for _, child := range children(e) {
		n.visit(child, in)
	}
}

// loop goes over a macro: its variables stand behind its parenthesis.
func (n *namer) loop(e ast.Expr, in *bindings) {
	c := e.AsComprehension()
	n.visit(c.IterRange(), in)
	n.visit(c.AccuInit(), in)
	open := n.extents.mark(e.ID())
	vars := []string{c.IterVar()}
	if c.HasIterVar2() {
		vars = append(vars, c.IterVar2())
	}
	if isBinding(c) {
		vars = []string{c.AccuVar()}
	}
	inner := in
	for i, name := range vars {
		if at := open + 1 + 2*i; at < len(n.extents.tokens) && n.extents.text(at) == name {
			t := n.extents.tokens[at]
			inner = &bindings{name, t.start, inner}
			n.add(Name{Kind: BoundName, Text: name, Start: t.start, End: t.end, Binding: t.start})
		}
	}
	for _, child := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
		n.visit(child, inner)
	}
}

func (n *namer) ident(e ast.Expr, in *bindings) {
	x, name := n.extents, e.AsIdent()
	i := x.mark(e.ID())
	if x.tokens[i].kind != nameToken && x.text(i) != "." {
		return // the accumulator of a macro
	}
	first, last := i, i
	for dots := len(name) - len(x.text(first)); dots > 0 && first > 0 && x.text(first) == "."; first-- {
	}
	for x.src[x.tokens[first].start:x.tokens[last].end] != name && last+1 < len(x.tokens) && x.tokens[last].end-x.tokens[first].start < len(name) {
		last++
	}
	start, end := x.tokens[first].start, x.tokens[last].end
	if x.src[start:end] != name {
		return
	}
	out := Name{Kind: FreeName, Text: name, Start: start, End: end}
	if b := in.find(name); b != nil {
		out.Kind, out.Binding, out.Type = BoundName, b.at, n.words(e)
	}
	n.add(out)
}

func (n *namer) member(at span, name string, of ast.Expr) {
	if text := n.extents.src[at.start:at.end]; text == name || strings.HasPrefix(text, "`") {
		n.add(Name{Kind: MemberName, Text: name, Start: at.start, End: at.end, Records: n.shapeOf(of).recordTypes()})
	}
}

// phases notes the texts that the phase is compared with.
func (n *namer) phases(e ast.Expr) {
	if text, ok := e.AsLiteral().(types.String); ok && e.Kind() == ast.LiteralKind {
		at := n.extents.of(e)
		n.add(Name{Kind: PhaseName, Text: string(text), Start: at.start, End: at.end})
	}
	if e.Kind() == ast.ListKind {
		for _, x := range e.AsList().Elements() {
			n.phases(x)
		}
	}
}

// functions notes the names before a parenthesis, with what qualifies them.
func (n *namer) functions() {
	x := n.extents
	for i, t := range x.tokens {
		if t.kind != nameToken || i+1 == len(x.tokens) || x.text(i+1) != "(" || x.text(i) == "in" {
			continue
		}
		first := i
		if i >= 2 && x.text(i-1) == "." && x.tokens[i-2].kind == nameToken && !n.named[span{x.tokens[i-2].start, x.tokens[i-2].end}] {
			first = i - 2
		}
		start := x.tokens[first].start
		n.add(Name{Kind: FunctionName, Text: x.src[start:t.end], Start: start, End: t.end})
	}
}

func (n *namer) add(name Name) {
	if at := (span{name.Start, name.End}); !n.named[at] {
		n.named[at] = true
		n.names = append(n.names, name)
	}
}

// part notes the type of e; of what a macro was expanded to only the macro itself.
func (n *namer) part(e ast.Expr) {
	at := n.extents.of(e)
	if at.start >= at.end || n.typed[at] {
		return
	}
	n.typed[at] = true
	n.parts = append(n.parts, TypedPart{Start: at.start, End: at.end, Type: n.words(e), Records: n.shapeOf(e).recordTypes()})
}

// shapeOf is the type of a part of the state, nil of what the expression makes.
func (n *namer) shapeOf(e ast.Expr) *shape {
	if s := n.seen[e.ID()]; s != nil {
		return s
	}
	if t := n.tree.GetType(e.ID()); t.Kind() == types.StructKind {
		return n.env.provider.shapeOf(t)
	}
	return nil
}

func (n *namer) words(e ast.Expr) string {
	if s := n.shapeOf(e); s != nil {
		return s.String()
	}
	return n.typeWords(n.tree.GetType(e.ID()))
}

// recordTypes are the records that a value of s may be.
func (s *shape) recordTypes() []ir.TypeID {
	var out []ir.TypeID
	seen := map[*shape]bool{}
	var collect func(*shape)
	collect = func(s *shape) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.sumOf == nil && s.id != ir.NoType {
			out = append(out, s.id)
		}
		for _, part := range s.sumOf {
			collect(part)
		}
	}
	collect(s)
	return out
}
