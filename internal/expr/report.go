package expr

import (
	"regexp"
	re2 "regexp/syntax"
	"slices"
	"sort"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
)

// Every mistake in an expression that parses is reported here: first the rules that the
// walk applies where CEL's type checker sees no mistake, then what the type checker
// found, in the language's words. At most one issue is reported at a place.

// report adds an issue about node e, once.
func (w *walker) report(e ast.Expr, i Issue) { w.reportAt(e, w.extents.of(e), i) }

// reportAt adds an issue about node e that is to be seen at a range, once. A fix that does
// not say what it replaces replaces the range.
func (w *walker) reportAt(e ast.Expr, at span, i Issue) {
	w.flagged[e.ID()] = true
	i.Start, i.End = at.start, at.end
	if i.Fix != nil && i.Fix.End == 0 {
		i.Fix.Start, i.Fix.End = at.start, at.end
	}
	for _, old := range w.issues {
		if old.Code == i.Code && old.Start == i.Start && old.End == i.End {
			return
		}
	}
	if len(w.issues) < maxIssues {
		w.issues = append(w.issues, i)
	}
}

// maxIssues is how many issues of one expression are reported.
const maxIssues = 20

func (w *walker) source(e ast.Expr) string {
	s := w.extents.of(e)
	return w.extents.src[s.start:s.end]
}

func (w *walker) unknownMember(e ast.Expr, s *shape, name string) {
	issue := unknownMember(s, name)
	if e.Kind() == ast.SelectKind && e.AsSelect().Operand().Kind() == ast.IdentKind {
		w.memberOfName(&issue, e, s, e.AsSelect().Operand().AsIdent(), name)
	}
	w.reportAt(e, w.extents.memberName(e), issue)
}

// memberOfName adds what is meant by the member of a name whose value, of shape s, has none.
func (w *walker) memberOfName(issue *Issue, e ast.Expr, s *shape, of, name string) {
	switch {
	case slices.ContainsFunc(w.vars, func(v variable) bool { return v.param != "" && v.name == of }):
		issue.Help = "`" + of + "` is a key; the entry under it is read from the state by an index: `PLACE[" + of + "]." + name + "`"
	case (of == "before" || of == "after") && s != w.env.state:
		issue.Help = "`" + of + "` is the entry itself, as it was and as it is; " + issue.Help
	case of == ir.ActorInput && name == ir.RoleInput:
		at := w.extents.of(e)
		issue.Help = "did you mean `role`?"
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: ir.RoleInput, Title: "change to `role`"}
	case of == ir.ActorInput:
		issue.Help = "`actor` is the name of who asks, a text; in which role stands in `role`"
	}
}

// keyByName warns of a member of a map by the name of a parameter: it is the entry under
// that very name.
func (w *walker) keyByName(e ast.Expr, of *shape, name string) {
	if !of.is(kMap) || e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() ||
		!slices.ContainsFunc(w.vars, func(v variable) bool { return v.param != "" && v.name == name }) {
		return
	}
	at := w.extents.memberName(e)
	w.reportAt(e, at, Issue{
		Code: "literal_segment", Warning: true,
		Message: "this is the one key \"" + name + "\", and no parameter",
		Help:    "did you mean `[" + name + "]`? If the key is meant, write it as `[\"" + name + "\"]`",
		Fix:     &Fix{Start: at.start - 1, End: at.end, Text: "[" + name + "]", Title: "write `[" + name + "]`"},
	})
}

// hasOfNull reports a has() that asks of a member which is always there, and may be null.
func (w *walker) hasOfNull(e ast.Expr, of *shape, name string) {
	m, optional, exists := of.member(name)
	if !exists || optional || m == nil || !of.is(kRecord) || m.kinds&kNull == 0 {
		return
	}
	at, path := w.extents.of(e), w.source(e.AsSelect().Operand())+"."+name
	issue := Issue{Code: NeverHolds, Message: "`has` is always true: `" + name + "` is there, and may be null", Help: "ask whether it is null: `" + path + " != null`"}
	if text := w.extents.src[at.start:at.end]; strings.HasPrefix(text, "has(") && strings.HasSuffix(text, ")") {
		path = strings.TrimSpace(text[len("has(") : len(text)-1])
		issue.Help = "ask whether it is null: `" + path + " != null`"
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: "(" + path + " != null)", Title: "write `" + path + " != null`"}
	}
	w.reportAt(e, at, issue)
}

// unguarded reports a member that may be absent. where says of what literal member its being
// there follows, if it does; never, that what is known rules it out. The fix puts the guard before the
// smallest condition around it.
func (w *walker) unguarded(e ast.Expr, where string, never bool) {
	if len(w.issues) == maxIssues {
		return
	}
	text := w.source(e)
	issue := unguardedMember(text)
	if where != "" {
		issue.Help = "`" + text + "` is there where " + where + ": ask that before it; or guard it: `has(" + text + ") && ...`"
	}
	if never {
		issue.Message = "`" + text + "` is never there, for what is asked before it"
		w.report(e, issue)
		return
	}
	if e.Kind() == ast.SelectKind && w.isTruth(e) {
		issue.Help = "whether it is there is asked by `has(" + text + ")`"
		issue.Fix = &Fix{Text: "has(" + text + ")", Title: "ask whether the member is there"}
		w.report(e, issue)
		return
	}
	if at, ok := w.condition(e); ok && e.Kind() == ast.SelectKind {
		guarded := w.guards(e) + w.extents.src[at.start:at.end]
		if w.afterNot(at.start) {
			guarded = "(" + guarded + ")"
		}
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: guarded, Title: "check that the member is there"}
	}
	w.report(e, issue)
}

// guards is the text of the guards that e lacks, its operand's first.
func (w *walker) guards(e ast.Expr) string {
	before := ""
	if operand := e.AsSelect().Operand(); w.flagged[operand.ID()] && operand.Kind() == ast.SelectKind {
		before = w.guards(operand)
	}
	return before + "has(" + w.source(e) + ") && "
}

// condition is the range of the smallest operand of a logical operator around e, or
// of the whole expression: where `has(...) &&` can be put before. ok is false if a
// macro's body lies between, whose variables are not in scope there.
func (w *walker) condition(e ast.Expr) (at span, ok bool) {
	at, ok = w.extents.of(w.tree.Expr()), true
	parent := ast.Expr(nil)
	for _, step := range trail(w.tree.Expr(), e.ID()) {
		switch {
		case parent != nil && isLogical(parent) && w.tree.GetType(step.ID()).Kind() == types.BoolKind:
			at, ok = w.extents.of(step), true
		case parent != nil && parent.Kind() == ast.ComprehensionKind:
			ok = isBinding(parent.AsComprehension())
		}
		parent = step
	}
	return at, ok
}

func isLogical(e ast.Expr) bool {
	switch callName(e) {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional:
		return true
	}
	return false
}

// afterNot reports whether the token before offset is `!`, which binds tighter than
// the && of a guard.
func (w *walker) afterNot(offset int) bool {
	i := w.extents.tokenAt(offset)
	return i > 0 && w.extents.text(i-1) == "!"
}

// wholeLog reports a log that is used as a value.
func (w *walker) wholeLog(e ast.Expr, v abstract) { w.logUse(e, v, "as a value") }

func (w *walker) logUse(e ast.Expr, v abstract, use string) {
	if v.shape != nil && v.shape.kinds&kLog != 0 {
		w.report(e, logAsValue(w.source(e), use))
	}
}

// needsOrder reports a bag, or a value with one in it, where order would count.
func (w *walker) needsOrder(e ast.Expr, v abstract) {
	if v.holdsBag() {
		w.report(e, noOrder(w.source(e)))
	}
}

// comparesWhole reports a value that cannot be compared since its order would count.
func (w *walker) comparesWhole(e ast.Expr, v abstract) {
	if v.holdsMade() {
		w.report(e, noOrder(w.source(e)))
	}
}

// hasPositions reports a macro that gives the elements of a bag positions.
func (w *walker) hasPositions(e ast.Expr, v abstract) {
	if v.isBag() {
		w.report(e, positionInMacro(w.source(e)))
	}
}

// rangeable reports a macro over something that has no elements.
func (w *walker) rangeable(e ast.Expr, v abstract) {
	switch {
	case v.shape.is(kRecord):
		w.report(e, recordRange(v.shape))
	case v.shape.is(kScalar):
		w.report(e, scalarRange(v.shape.String()))
	}
}

// indexable reports an index that the container does not have.
func (w *walker) indexable(e ast.Expr, args []ast.Expr, v abstract) {
	index := w.kindsOf(args[1], abstract{})
	at := w.extents.operand(args[1])
	switch {
	case v.shape != nil && v.shape.kinds&kLog != 0:
		w.report(e, logAsValue(w.source(args[0]), "with an index"))
	case v.isBag() && index != kString:
		w.reportAt(e, at, noPosition(w.source(args[0])))
	case v.shape.is(kRecord):
		w.recordIndex(e, args, v)
	case v.shape.is(kKeyed) && index&kString == 0 && index != kAny:
		w.reportAt(e, at, keyedIndex(w.source(args[0])))
	case v.shape.is(kMap) && index&kString == 0 && index != kAny:
		w.reportAt(e, at, mapIndex(w.source(args[0])))
	case v.shape.is(kList) && index&kNumeric == 0 && index != kAny:
		w.reportAt(e, at, listIndex(w.source(args[0])))
	case v.shape.is(kList) && strings.HasPrefix(w.source(args[1]), "-") && plainInt.MatchString(w.source(args[1])):
		w.reportAt(e, at, negativeIndex(w.source(args[0])))
	}
}

// recordIndex reports r["m"], with r.m as the fix where that is a name.
func (w *walker) recordIndex(e ast.Expr, args []ast.Expr, v abstract) {
	issue := recordIndex(v.shape)
	at := w.extents.of(e)
	if name, ok := literalOf(args[1]).(types.String); ok && name != "" {
		text := w.source(args[0]) + "." + memberSpelling(string(name))
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: text, Title: "write `" + text + "`"}
	}
	w.reportAt(e, at, issue)
}

// comparable reports an equality whose sides can never be equal.
func (w *walker) comparable(e ast.Expr, args []ast.Expr, sides [2]abstract) {
	a, b := w.kindsOf(args[0], sides[0]), w.kindsOf(args[1], sides[1])
	if mixed(a, b) {
		w.report(e, mixedNumbers())
		return
	}
	if !compatible(a, b) {
		issue := neverEqual(w.sideWords(args[0], sides[0], a), w.sideWords(args[1], sides[1], b), a, b)
		w.nullHabit(&issue, e, args)
		w.report(e, issue)
		return
	}
	w.possibleText(args[0], sides[0], sides[1])
	w.possibleText(args[1], sides[1], sides[0])
}

// possibleText reports a string constant that is none of the strings the other side may
// be.
func (w *walker) possibleText(e ast.Expr, side, other abstract) {
	text, ok := side.constant.(types.String)
	if !ok || e.Kind() != ast.LiteralKind || other.shape == nil || other.shape.literals == nil || other.shape.kinds&kString == 0 || other.shape.kinds&kAny != 0 {
		return
	}
	if slices.Contains(other.shape.literals, string(text)) {
		return
	}
	w.report(e, impossibleText(string(text), other.shape.literals))
}

// possibleElement reports `x in e` that can never hold.
func (w *walker) possibleElement(e ast.Expr, args []ast.Expr, x, v abstract) {
	if args[1].Kind() == ast.ListKind {
		for _, element := range args[1].AsList().Elements() {
			w.possibleText(element, abstract{constant: literalOf(element)}, x)
			w.elementKind(element, args, x, w.kindsOf(element, abstract{}))
		}
		return
	}
	if v.shape == nil || v.optional {
		return
	}
	if v.shape.is(kRecord) {
		w.report(e, recordMembership(v.shape))
		return
	}
	if v.shape.is(kArrays) {
		w.possibleText(args[0], x, abstract{shape: v.shape.elem})
		w.elementKind(args[0], args, x, v.shape.elem.kinds)
		return
	}
	if v.shape.is(kMap | kKeyed) {
		w.elementKind(args[0], args, x, kString)
	}
}

func (w *walker) elementKind(at ast.Expr, args []ast.Expr, x abstract, element kinds) {
	mine := w.kindsOf(args[0], x)
	if mixed(mine, element) {
		w.report(at, mixedNumbers())
	} else if !compatible(mine, element) {
		w.report(at, neverElement(kindWord(mine), kindWord(element)))
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
	return (a|b)&kAny != 0 || a&b != 0 || share(kNumeric|kDecimal) || share(kArrays) || share(kObjects)
}

// mixed reports whether one value may be a decimal and the other a number, which are not
// compared: nobody can say which decimal is meant by a number that was computed.
func mixed(a, b kinds) bool {
	decimals := func(k kinds) bool { return k&kDecimal != 0 && k&^(kExact|kNull) == 0 }
	numbers := func(k kinds) bool { return k&kNumber != 0 && k&(kDecimal|kAny) == 0 }
	return decimals(a) && numbers(b) || numbers(a) && decimals(b)
}

// oneArithmetic reports a list of decimals and numbers, which could not be added up.
func (w *walker) oneArithmetic(list ast.Expr) {
	var all []kinds
	for _, x := range list.AsList().Elements() {
		mine := celKinds(w.tree.GetType(x.ID()))
		if slices.ContainsFunc(all, func(k kinds) bool { return mixed(k, mine) }) {
			w.report(x, mixedNumbers())
			return
		}
		if !slices.Contains(all, mine) {
			all = append(all, mine)
		}
	}
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
	case types.OpaqueKind:
		if k = kAny; isDecimalType(t) {
			k = kDecimal
		}
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

// exactness reports literals of numbers that are none as doubles and stand beside no
// decimal, and texts that are said to be decimals and are none.
func (w *walker) exactness(root ast.Expr) {
	exact := map[int]bool{}
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		v, ok := decimalLiteral(e)
		switch {
		case !ok:
		case types.IsError(v):
			w.report(e, badDecimal())
		default:
			exact[w.extents.of(e).end] = true
		}
	}))
	for _, t := range w.extents.inexact {
		if !exact[t.end] && len(w.issues) < maxIssues {
			w.issues = append(w.issues, inexactLiteral(t))
		}
	}
}

// patterns checks the regular expressions of `matches`: literals in RE2 syntax, whose
// cost is linear in the text and in the size of the program, which is bounded here.
// (cel-go's own bound on the size panics on bounded repetitions.)
func (w *walker) patterns(root ast.Expr, most int) {
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if callName(e) != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		if len(args) == 0 {
			return
		}
		last := args[len(args)-1]
		text, ok := literalOf(last).(types.String)
		if !ok {
			w.report(last, patternNotLiteral())
			return
		}
		if size, err := patternSize(string(text)); err != nil {
			w.report(last, badPattern())
		} else if size > most {
			w.report(last, patternTooLarge(most))
		}
	}))
}

// patternSize is the number of instructions a regular expression compiles to.
func patternSize(text string) (int, error) {
	parsed, err := re2.Parse(text, re2.Perl)
	if err != nil {
		return 0, err
	}
	program, err := re2.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

// translate says in the language's words what CEL's type checker found. Its texts
// are used to tell its findings apart only; the words come from the syntax tree and
// the types. A node that the walk has reported is left alone.
func (w *walker) translate(errs []*common.Error, s Scope) {
	byID := nodes(w.tree.Expr())
	for _, err := range errs {
		e, ok := byID[err.ExprID]
		if !ok {
			e = w.tree.Expr()
		}
		if !w.flagged[e.ID()] {
			w.typeError(e, err.Message, s)
		}
	}
}

func (w *walker) typeError(e ast.Expr, message string, s Scope) {
	for _, known := range typeErrors {
		if strings.HasPrefix(message, known.begins) && strings.Contains(message, known.has) {
			known.report(w, e, s)
			return
		}
	}
	w.report(e, invalid("the types in this expression do not fit together"))
}

// typeErrors tell CEL's type errors apart. The first that fits counts.
var typeErrors = []struct {
	begins, has string
	report      func(w *walker, e ast.Expr, s Scope)
}{
	{"undeclared reference", "", (*walker).undeclared},
	{"undefined field", "", func(w *walker, e ast.Expr, _ Scope) { w.undefinedField(e) }},
	{"found no matching overload", "", func(w *walker, e ast.Expr, _ Scope) { w.noOverload(e) }},
	// An operand of && or ||, or the body of a macro, that is no bool.
	{"expected type 'bool'", "", func(w *walker, e ast.Expr, _ Scope) { w.wrongType(e, "bool") }},
	{"expected type", "", func(w *walker, e ast.Expr, _ Scope) { w.wrongType(e, "value of the same type as the others") }},
	{"type ", "field selection", func(w *walker, e ast.Expr, _ Scope) {
		w.noMembers(e)
	}},
	{"expression of type ", "range of a comprehension", func(w *walker, e ast.Expr, _ Scope) {
		w.report(e, scalarRange(w.typeWords(w.tree.GetType(e.ID()))))
	}},
}

func (w *walker) wrongType(e ast.Expr, want string) {
	w.report(e, wrongType(want, w.typeWords(w.tree.GetType(e.ID()))))
}

func (w *walker) operandType(e ast.Expr) *types.Type {
	if e.Kind() == ast.SelectKind {
		return w.tree.GetType(e.AsSelect().Operand().ID())
	}
	return w.tree.GetType(e.ID())
}

// undeclared is an unknown name or an unknown function.
func (w *walker) undeclared(e ast.Expr, s Scope) {
	if e.Kind() == ast.CallKind {
		w.unknownFunction(e)
		return
	}
	if e.Kind() == ast.StructKind {
		w.report(e, invalid("an expression cannot make a record; name its members one by one"))
		return
	}
	name := w.source(e)
	if e.Kind() == ast.IdentKind {
		name = e.AsIdent()
	}
	at := w.extents.of(e)
	hint, instead := misplaced(name, s.Vars)
	issue := unknownName(name, hint, names(w.vars))
	if slices.Contains(ir.Inputs(), name) && hint != "" {
		issue.Help = "let the stages that write there ask it, each in its `ensure`"
	}
	if instead != "" {
		issue.Fix = &Fix{Text: instead, Title: "change to `" + instead + "`"}
	}
	if hint == "" {
		w.nameHabit(&issue, e, name, s)
	}
	w.reportAt(e, at, issue)
}

// roots says what each kind of expression sees of the state.
var roots = map[ir.Vars]struct {
	who   string
	sees  []string
	words string
}{
	ir.StateVars:  {"an invariant", []string{"state"}, "`state`"},
	ir.GuardVars:  {"a guard", []string{"state"}, "`state`"},
	ir.EachVars:   {"an invariant", []string{"state"}, "`state`"},
	ir.ChangeVars: {"a change rule", []string{"after", "before"}, "`before` and `after`"},
	ir.BindVars:   {"a condition on binding", []string{"state"}, "`state`"},
	ir.BeforeVars: {"require", []string{"before"}, "`before`"},
	ir.AfterVars:  {"ensure", []string{"after", "before"}, "`before` and `after`"},
	ir.SelfVars:   {"where", []string{"self"}, "`self`"},
	ir.ViewVars:   {"expect view", []string{"view"}, "`view`"},
}

// misplaced explains a name that exists in other expressions, and gives the one to
// use instead.
func misplaced(name string, v ir.Vars) (hint, instead string) {
	known := []string{"state", "before", "after", "self", "view", "this"}
	here := roots[v]
	if slices.Contains(ir.Inputs(), name) && here.who != "" {
		return here.who + " holds whoever asks, and whenever: `" + name + "` is known in `require`, `ensure`, guards and conditions on binding only", ""
	}
	if !slices.Contains(known, name) || len(here.sees) == 0 {
		return "", ""
	}
	return here.who + " sees " + here.words + ", not `" + name + "`", here.sees[0]
}

func (w *walker) unknownFunction(e ast.Expr) {
	c := e.AsCall()
	at := w.extents.functionName(e)
	name := c.FunctionName()
	candidates := methodNames()
	if !c.IsMemberFunction() {
		candidates = functionNames()
	}
	namespace, ok := namespaceOf(c)
	if c.IsMemberFunction() && !ok && w.flagged[c.Target().ID()] {
		return // of what is no value there is no method
	}
	if ok {
		name = namespace + "." + name
		at.start = w.extents.of(e).start
		candidates = functionNames()
		w.flagged[c.Target().ID()] = true
		w.dropName(c.Target())
	}
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "@") {
		w.report(e, invalid("this operator cannot be used here"))
		return
	}
	issue := unknownFunction(name, candidates)
	w.functionHabit(&issue, e, name, candidates)
	w.reportAt(e, at, issue)
}

// dropName takes back the report that a namespace is no variable: CEL reports it
// before the function.
func (w *walker) dropName(target ast.Expr) {
	at := w.extents.of(target)
	w.issues = slices.DeleteFunc(w.issues, func(i Issue) bool {
		return i.Code == UnknownName && i.Start == at.start && i.End == at.end
	})
}

// namespaceOf is the namespace of a call such as text.wrods(s).
func namespaceOf(c ast.CallExpr) (string, bool) {
	if !c.IsMemberFunction() || c.Target().Kind() != ast.IdentKind {
		return "", false
	}
	name := c.Target().AsIdent()
	for _, f := range functionNames() {
		if strings.HasPrefix(f, name+".") {
			return name, true
		}
	}
	return "", false
}

// The functions and methods of CEL that are offered as the nearest name.
var (
	celFunctions = []string{"size", "sum", "min", "max", "has", "int", "double", "string", "bool", "type", "timestamp", "duration", "cel.bind", "optional.of", "optional.none", "optional.ofNonZeroValue"}
	celMethods   = []string{"all", "exists", "exists_one", "existsOne", "filter", "map", "size", "sum", "min", "max", "contains", "startsWith", "endsWith", "matches", "orValue", "or", "value", "hasValue", "optMap", "transformList", "transformMap"}
)

func functionNames() []string { return libraryNames(celFunctions, false) }

func methodNames() []string { return libraryNames(celMethods, true) }

func libraryNames(standard []string, methods bool) []string {
	out := slices.Clone(standard)
	for _, f := range Functions {
		if f.Method == methods {
			out = append(out, f.Name)
		}
	}
	sort.Strings(out)
	return out
}

func (w *walker) undefinedField(e ast.Expr) {
	operand := w.operandType(e)
	name := ""
	switch {
	case e.Kind() == ast.SelectKind:
		name = e.AsSelect().FieldName()
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.OptSelect:
		operand = w.tree.GetType(e.AsCall().Args()[0].ID())
		text, _ := e.AsCall().Args()[1].AsLiteral().(types.String)
		name = string(text)
	}
	if len(operand.Parameters()) == 1 {
		operand = operand.Parameters()[0]
	}
	if s := w.env.provider.shapeOf(operand); s != nil {
		w.unknownMember(e, s, name)
		return
	}
	w.report(e, invalid("there is no such member"))
}

func (w *walker) noOverload(e ast.Expr) {
	c := e.AsCall()
	args := operands(c)
	if slices.ContainsFunc(args, func(arg ast.Expr) bool { return w.flagged[arg.ID()] }) {
		return
	}
	name, isOperator := operatorText(c.FunctionName())
	switch {
	case c.FunctionName() == operators.Index:
		name = "[ ]"
	case c.FunctionName() == operators.Conditional:
		if k := celKinds(w.tree.GetType(args[0].ID())); k&(kBool|kAny) == 0 {
			w.report(args[0], wrongType("bool", w.typeWords(w.tree.GetType(args[0].ID()))))
			return
		}
		name, args = "? :", args[1:]
	case !isOperator:
		name = c.FunctionName()
	}
	var words []string
	for _, arg := range args {
		words = append(words, w.typeWords(w.tree.GetType(arg.ID())))
	}
	issue := operandTypes(name, words)
	if name != "%" {
		issue.Fix = w.decimalFix(args, words)
	}
	w.overloadHabit(&issue, e, name, args, words)
	w.report(e, issue)
}

var plainInt = regexp.MustCompile(`^-?[0-9]+$`)

// decimalFix writes an int constant beside a number as a number.
func (w *walker) decimalFix(args []ast.Expr, words []string) *Fix {
	if len(args) != 2 {
		return nil
	}
	for i, arg := range args {
		if text := w.source(arg); words[i] == "int" && words[1-i] == "number" && arg.Kind() == ast.LiteralKind && plainInt.MatchString(text) {
			at := w.extents.of(arg)
			return &Fix{Start: at.start, End: at.end, Text: text + ".0", Title: "write the number `" + text + ".0`"}
		}
	}
	return nil
}

// typeWords names a CEL type in the words of the language.
func (w *walker) typeWords(t *types.Type) string {
	switch t.Kind() {
	case types.ListKind:
		return "list of " + w.typeWords(t.Parameters()[0])
	case types.MapKind:
		return "map of " + w.typeWords(t.Parameters()[1])
	case types.StructKind:
		if s := w.env.provider.shapeOf(t); s != nil {
			return s.String()
		}
	case types.OpaqueKind:
		if t.TypeName() == "optional_type" && len(t.Parameters()) == 1 {
			return "optional " + w.typeWords(t.Parameters()[0])
		}
	case types.BytesKind:
		return "bytes"
	case types.UintKind:
		return "uint"
	case types.TimestampKind:
		return "timestamp"
	case types.DurationKind:
		return "duration"
	case types.TypeKind:
		return "type"
	}
	return kindWord(celKinds(t))
}
