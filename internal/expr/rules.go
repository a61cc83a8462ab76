package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// The rules that the walk applies where CEL's type checker sees no mistake. Each
// reports at most one issue at a place.

// maxIssues is how many issues of one expression are reported.
const maxIssues = 20

// report adds an issue about node e, once.
func (w *walker) report(e ast.Expr, at span, i Issue) {
	w.flagged[e.ID()] = true
	i.Start, i.End = at.start, at.end
	for _, old := range w.issues {
		if old.Code == i.Code && old.Start == i.Start && old.End == i.End {
			return
		}
	}
	if len(w.issues) < maxIssues {
		w.issues = append(w.issues, i)
	}
}

func (w *walker) source(e ast.Expr) string {
	s := w.extents.of(e)
	return w.extents.src[s.start:s.end]
}

func (w *walker) unknownMember(e ast.Expr, s *shape, name string) {
	at := w.extents.memberName(e)
	issue := unknownMember(s, name)
	if issue.Fix != nil {
		issue.Fix.Start, issue.Fix.End = at.start, at.end
	}
	w.report(e, at, issue)
}

// unguarded reports a member that may be absent. The fix puts the guard before the
// smallest condition around it.
func (w *walker) unguarded(e ast.Expr) {
	if len(w.issues) == maxIssues {
		return
	}
	text := w.source(e)
	issue := unguardedMember(text)
	if at, ok := w.condition(e); ok && e.Kind() == ast.SelectKind {
		guarded := w.guards(e) + w.extents.src[at.start:at.end]
		if w.afterNot(at.start) {
			guarded = "(" + guarded + ")"
		}
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: guarded, Title: "check that the member is there"}
	}
	w.report(e, w.extents.of(e), issue)
}

// guards is the text of the guards that e lacks, its operand's first.
func (w *walker) guards(e ast.Expr) string {
	before := ""
	if operand := e.AsSelect().Operand(); w.flagged[operand.ID()] && operand.Kind() == ast.SelectKind {
		before = w.guards(operand)
	}
	return before + "has(" + w.source(e) + ") && "
}

// wholeLog reports a log that is used as a value.
func (w *walker) wholeLog(e ast.Expr, v abstract) {
	if v.shape != nil && v.shape.kinds&kLog != 0 {
		w.report(e, w.extents.of(e), logAsValue(w.source(e), "as a value"))
	}
}

func (w *walker) logOperand(e ast.Expr, v abstract, use string) {
	if v.shape != nil && v.shape.kinds&kLog != 0 {
		w.report(e, w.extents.of(e), logAsValue(w.source(e), "with "+use))
	}
}

// rangeable reports a macro over something that has no elements.
func (w *walker) rangeable(e ast.Expr, v abstract) {
	switch {
	case v.shape.is(kRecord):
		w.report(e, w.extents.of(e), recordRange(v.shape))
	case v.shape.is(kScalar):
		w.report(e, w.extents.of(e), scalarRange(v.shape.String()))
	}
}

// indexable reports an index that the container does not have.
func (w *walker) indexable(e ast.Expr, args []ast.Expr, v abstract) {
	index := w.kindsOf(args[1], abstract{})
	at := w.extents.operand(args[1])
	switch {
	case v.shape != nil && v.shape.kinds&kLog != 0:
		w.report(e, w.extents.of(e), logAsValue(w.source(args[0]), "with an index"))
	case v.isBag() && index != kString:
		w.report(e, at, noPosition(w.source(args[0])))
	case v.shape.is(kRecord):
		w.recordIndex(e, args, v)
	case v.shape.is(kKeyed) && index&kString == 0 && index != kAny:
		w.report(e, at, keyedIndex(w.source(args[0])))
	case v.shape.is(kMap) && index&kString == 0 && index != kAny:
		w.report(e, at, mapIndex(w.source(args[0])))
	case v.shape.is(kList) && index&kNumeric == 0 && index != kAny:
		w.report(e, at, listIndex(w.source(args[0])))
	}
}

// recordIndex reports r["m"], with r.m as the fix where that is a name.
func (w *walker) recordIndex(e ast.Expr, args []ast.Expr, v abstract) {
	issue := recordIndex(v.shape)
	at := w.extents.of(e)
	if name, ok := w.constant(args[1]).(types.String); ok && isName(string(name)) {
		text := w.source(args[0]) + "." + string(name)
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: text, Title: "write `" + text + "`"}
	}
	w.report(e, at, issue)
}

func (w *walker) constant(e ast.Expr) any {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral()
	}
	return nil
}

// comparable reports an equality whose sides can never be equal.
func (w *walker) comparable(e ast.Expr, args []ast.Expr, sides [2]abstract) {
	a, b := w.kindsOf(args[0], sides[0]), w.kindsOf(args[1], sides[1])
	if !compatible(a, b) {
		w.report(e, w.extents.of(e), neverEqual(w.sideWords(args[0], sides[0], a), w.sideWords(args[1], sides[1], b), a, b))
		return
	}
	w.spelling(args[0], sides[0], sides[1])
	w.spelling(args[1], sides[1], sides[0])
}

// spelling reports a string constant that is none of the strings the other side may
// be.
func (w *walker) spelling(e ast.Expr, side, other abstract) {
	text, ok := side.constant.(types.String)
	if !ok || e.Kind() != ast.LiteralKind || other.shape == nil || other.shape.literals == nil || other.shape.kinds&kString == 0 || other.shape.kinds&kAny != 0 {
		return
	}
	if slices.Contains(other.shape.literals, string(text)) {
		return
	}
	at := w.extents.of(e)
	issue := impossibleText(string(text), other.shape.literals)
	if issue.Fix != nil {
		issue.Fix.Start, issue.Fix.End = at.start, at.end
	}
	w.report(e, at, issue)
}

// possibleElement reports `x in e` that can never hold.
func (w *walker) possibleElement(e ast.Expr, args []ast.Expr, x, v abstract) {
	if args[1].Kind() == ast.ListKind {
		for _, element := range args[1].AsList().Elements() {
			w.spelling(element, w.literal(element), x)
			w.elementKind(element, args, x, w.kindsOf(element, abstract{}))
		}
		return
	}
	if v.shape == nil || v.optional {
		return
	}
	if v.shape.is(kRecord) {
		w.report(e, w.extents.of(e), recordMembership(v.shape))
		return
	}
	if v.shape.is(kArrays) {
		w.spelling(args[0], x, abstract{shape: v.shape.elem})
		w.elementKind(args[0], args, x, v.shape.elem.kinds)
		return
	}
	if v.shape.is(kMap | kKeyed) {
		w.elementKind(args[0], args, x, kString)
	}
}

func (w *walker) literal(e ast.Expr) abstract {
	if e.Kind() == ast.LiteralKind {
		return abstract{constant: e.AsLiteral()}
	}
	return abstract{}
}

func (w *walker) elementKind(at ast.Expr, args []ast.Expr, x abstract, element kinds) {
	if mine := w.kindsOf(args[0], x); !compatible(mine, element) {
		w.report(at, w.extents.of(at), neverElement(kindWord(mine), kindWord(element)))
	}
}

// sideWords names one side of a comparison: its text and its type.
func (w *walker) sideWords(e ast.Expr, v abstract, k kinds) string {
	words := kindWord(k)
	if v.shape != nil && v.shape.kinds == k {
		words = v.shape.String()
	}
	return "`" + w.source(e) + "` (" + words + ")"
}

// compatible reports whether a value of a may equal a value of b.
func compatible(a, b kinds) bool {
	share := func(group kinds) bool { return a&group != 0 && b&group != 0 }
	return (a|b)&kAny != 0 || a&b != 0 || share(kNumeric) || share(kArrays) || share(kObjects)
}

// kindsOf is what is known of the kinds of e's value v.
func (w *walker) kindsOf(e ast.Expr, v abstract) kinds {
	if v.shape != nil && !v.optional {
		return v.shape.kinds
	}
	return celKinds(w.tree.GetType(e.ID()))
}

func celKinds(t *types.Type) kinds {
	k := kAny
	switch t.Kind() {
	case types.StringKind:
		k = kString
	case types.IntKind, types.UintKind:
		k = kInt
	case types.DoubleKind:
		k = kNumber
	case types.BoolKind:
		k = kBool
	case types.NullTypeKind:
		return kNull
	case types.ListKind:
		return kList
	case types.MapKind:
		return kMap
	default:
		return kAny
	}
	if t.IsAssignableType(types.NullType) {
		k |= kNull
	}
	return k
}
