package expr

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
)

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
	switch {
	case strings.HasPrefix(message, "undeclared reference"):
		w.undeclared(e, s)
	case strings.HasPrefix(message, "undefined field"):
		w.undefinedField(e)
	case strings.HasPrefix(message, "found no matching overload"):
		w.noOverload(e)
	case strings.HasPrefix(message, "expected type"):
		w.expectedType(e, message)
	case strings.Contains(message, "field selection"):
		w.report(e, w.extents.memberName(e), invalid(article(w.typeWords(w.operandType(e)))+" has no members"))
	case strings.Contains(message, "range of a comprehension"):
		w.report(e, w.extents.of(e), scalarRange(w.typeWords(w.tree.GetType(e.ID()))))
	default:
		w.report(e, w.extents.of(e), invalid("the types in this expression do not fit together"))
	}
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
		w.report(e, w.extents.of(e), invalid("an expression cannot make a record; name its members one by one"))
		return
	}
	name := w.source(e)
	if e.Kind() == ast.IdentKind {
		name = e.AsIdent()
	}
	at := w.extents.of(e)
	hint, instead := misplaced(name, s.Vars)
	issue := unknownName(name, hint, names(w.vars))
	if instead != "" {
		issue.Fix = &Fix{Text: instead, Title: "change to `" + instead + "`"}
	}
	if issue.Fix != nil {
		issue.Fix.Start, issue.Fix.End = at.start, at.end
	}
	w.report(e, at, issue)
}

// roots says what each kind of expression sees of the state.
var roots = map[ir.Vars]struct {
	who   string
	sees  []string
	words string
}{
	ir.StateVars:  {"an invariant or guard", []string{"state"}, "`state`"},
	ir.EachVars:   {"an invariant", []string{"state"}, "`state`"},
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
		w.report(e, w.extents.of(e), invalid("this operator cannot be used here"))
		return
	}
	issue := unknownFunction(name, candidates)
	if issue.Fix != nil {
		issue.Fix.Start, issue.Fix.End = at.start, at.end
	}
	w.report(e, at, issue)
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
	celFunctions = []string{"size", "has", "int", "double", "string", "bool", "type", "timestamp", "duration", "cel.bind", "optional.of", "optional.none", "optional.ofNonZeroValue"}
	celMethods   = []string{"all", "exists", "exists_one", "existsOne", "filter", "map", "size", "contains", "startsWith", "endsWith", "matches", "orValue", "or", "value", "hasValue", "optMap", "transformList", "transformMap"}
)

func functionNames() []string { return libraryNames(celFunctions, false) }
func methodNames() []string   { return libraryNames(celMethods, true) }

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
	w.report(e, w.extents.of(e), invalid("there is no such member"))
}

func (w *walker) noOverload(e ast.Expr) {
	c := e.AsCall()
	args := c.Args()
	if c.IsMemberFunction() {
		args = append([]ast.Expr{c.Target()}, args...)
	}
	if slices.ContainsFunc(args, func(arg ast.Expr) bool { return w.flagged[arg.ID()] }) {
		return
	}
	name, isOperator := operatorText(c.FunctionName())
	switch {
	case c.FunctionName() == operators.Index:
		name = "[ ]"
	case c.FunctionName() == operators.Conditional:
		if k := celKinds(w.tree.GetType(args[0].ID())); k&(kBool|kAny) == 0 {
			w.report(args[0], w.extents.of(args[0]), wrongType("bool", w.typeWords(w.tree.GetType(args[0].ID()))))
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
	w.report(e, w.extents.of(e), issue)
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

// expectedType is an operand of && or ||, or the body of a macro, that is no bool,
// or two elements of different types.
func (w *walker) expectedType(e ast.Expr, message string) {
	want := "bool"
	if !strings.Contains(message, "'bool'") {
		want = "value of the same type as the others"
	}
	w.report(e, w.extents.of(e), wrongType(want, w.typeWords(w.tree.GetType(e.ID()))))
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
