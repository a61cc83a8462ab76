package expr

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
)

// Habits of other languages: what is written there, and how it is written here. A fix is
// given where it is certain to be an expression of what was meant.

// operatorHabits are marks of other languages that CEL has not, by how the text goes on.
// The first that fits counts; to "" there is no fix.
var operatorHabits = []struct{ mark, to, message, help string }{
	{"!==", "!=", "`!==` is no operator", "`!=` compares values"},
	{"===", "==", "`===` is no operator", "`==` compares values"},
	{"=~", "", "`=~` is no operator", "whether a text fits a regular expression is asked by `text.matches(\"...\")`"},
	{"=>", "", "`=>` is no operator", "`if A then B` is written `!A || B`; a condition on elements is a macro: `xs.exists(x, CONDITION)`"},
	{":=", "", "an expression sets nothing: `:=` is no operator", "write the value out, or name an expression with `define`"},
	{"+=", "", "an expression sets nothing: `+=` is no operator", "compare what is there after with what was before: `after.n == before.n + 1`"},
	{"-=", "", "an expression sets nothing: `-=` is no operator", "compare what is there after with what was before: `after.n == before.n - 1`"},
	{"<>", "!=", "`<>` is no operator", "`!=` compares values"},
	{"??", "", "`??` is no operator", "a default for what may be absent is given by `x.?member.orValue(DEFAULT)`"},
	{"?.", "", "`?.` is no operator", "what may be absent is read by `x.?member.orValue(DEFAULT)`, and asked for by `has(x.member)`"},
	{"**", "", "`**` is no operator", "numbers are added, subtracted, multiplied and divided: `+`, `-`, `*`, `/`, `%`"},
	{"<<", "", "`<<` is no operator", "numbers are added, subtracted, multiplied and divided: `+`, `-`, `*`, `/`, `%`"},
	{">>", "", "`>>` is no operator", "numbers are added, subtracted, multiplied and divided: `+`, `-`, `*`, `/`, `%`"},
	{"++", "", "`++` is no operator", "an expression sets nothing: write `x + 1`"},
	{"->", "", "`->` is no operator", "`if A then B` is written `!A || B`; a function over elements is a macro: `xs.map(x, x + 1)`"},
}

// strangeOperator finds a mark of another language at or just before token i.
func strangeOperator(src string, tokens []token, i int) (Issue, bool) {
	start := tokens[i].start
	for start > 0 && start > tokens[i].start-2 && strings.IndexByte("!=<>:+-?*.", src[start-1]) >= 0 {
		start--
	}
	for _, h := range operatorHabits {
		for at := start; at <= tokens[i].start; at++ {
			if !strings.HasPrefix(src[at:], h.mark) || at+len(h.mark) < tokens[i].end && at < tokens[i].start && len(h.mark) < 2 {
				continue
			}
			issue := syntax(h.message, h.help)
			issue.Start, issue.End = at, at+len(h.mark)
			if h.to != "" {
				issue.Fix = &Fix{Start: issue.Start, End: issue.End, Text: h.to, Title: "change to `" + h.to + "`"}
			}
			return issue, true
		}
	}
	return Issue{}, false
}

// standing says more of a token that cannot stand where it does.
func standing(src string, tokens []token, i int) Issue {
	text := src[tokens[i].start:tokens[i].end]
	issue := syntax("`"+text+"` cannot stand here", "")
	switch text {
	case "implies":
		issue.Help = "`A implies B` is written `!A || B`"
	case "like", "match", "matches":
		issue.Help = "whether a text fits a regular expression is asked by `text.matches(\"...\")`; there are `contains`, `startsWith` and `endsWith` too"
	case "for":
		issue.Help = "what holds of all elements is written `xs.all(x, CONDITION)`, of some `xs.exists(x, CONDITION)`"
	case "if", "else", "then", "unless":
		issue.Help = "a choice is written `condition ? one : other`"
	case "between":
		issue.Help = "that a number lies in a range is written `a <= x && x <= b`"
	case "/":
		issue.Help = "an expression reads a member with dots: `state.name`; a regular expression is a string"
	case ",":
		issue.Help = "a list stands in brackets: `[\"a\", \"b\"]`"
		if !slices.ContainsFunc(tokens[:i], func(t token) bool { return t.mate >= 0 && t.mate >= len(tokens) || t.mate > i }) {
			issue.Help = "there is one expression; conditions are joined by `&&`"
			issue.Fix = &Fix{Start: tokens[i].start, End: tokens[i].end, Text: " &&", Title: "change to ` &&`"}
		}
	default:
		if len(text) > 1 && text[0] == '.' && i > 0 && strings.HasSuffix(src[:tokens[i].start], ".") {
			issue.Help = "that a number lies in a range is written `a <= x && x <= b`"
			break
		}
		ends := func(t token) bool { return t.kind != punctuation || strings.Contains(")]}", src[t.start:t.end]) }
		switch {
		case plainDigits.MatchString(text):
			digits := strings.ReplaceAll(text, "_", "")
			issue.Help = "the digits of a number stand together"
			issue.Fix = &Fix{Start: tokens[i].start, End: tokens[i].end, Text: digits, Title: "write `" + digits + "`"}
		case i > 0 && ends(tokens[i-1]) && tokens[i].kind != punctuation:
			issue.Help = "an operator is missing before it; two conditions are joined by `&&`"
			if strings.Contains(src[tokens[i-1].end:tokens[i].start], "\n") {
				issue.Fix = &Fix{Start: tokens[i].start, End: tokens[i].start, Text: "&& ", Title: "join the two with `&&`"}
			}
		}
	}
	return issue
}

var plainDigits = regexp.MustCompile(`^[0-9]+(_[0-9]+)+$`)

// nameHabits are names that other languages have for what is known here, if it is.
var nameHabits = map[string][]string{
	"old": {"before"}, "prev": {"before"}, "previous": {"before"}, "original": {"before"}, "pre": {"before"}, "current": {"before", "state"},
	"new": {"after"}, "next": {"after"}, "updated": {"after"}, "result": {"after"}, "post": {"after"},
	"input": {"before", "state"}, "resource": {"before", "state"}, "data": {"before", "state"}, "doc": {"before", "state"}, "document": {"before", "state"}, "root": {"before", "state"}, "context": {"before", "state"},
	"user": {"actor"}, "principal": {"actor"}, "subject": {"actor"}, "caller": {"actor"}, "sender": {"actor"}, "me": {"actor"}, "username": {"actor"},
	"value": {"self"}, "it": {"self"}, "val": {"self"}, "v": {"self"}, "x": {"self"}, "_": {"self"}, "item": {"self"},
	"time": {"now"}, "today": {"now"}, "clock": {"now"},
	"True": {"true"}, "TRUE": {"true"}, "False": {"false"}, "FALSE": {"false"},
}

// nothings are what other languages call null.
var nothings = []string{"undefined", "None", "nil", "NULL", "Null"}

// nameHabit says what an unknown name may have meant: what another language calls so, a
// member of the state, or a text without its quotation marks.
func (w *walker) nameHabit(issue *Issue, e ast.Expr, name string, s Scope) {
	known := append(names(w.vars), "true", "false")
	propose := func(text, help string) {
		issue.Help = help
		issue.Fix = &Fix{Text: text, Title: "change to `" + text + "`"}
	}
	for _, meant := range nameHabits[name] {
		if slices.Contains(known, meant) {
			propose(meant, "did you mean `"+meant+"`?")
			return
		}
	}
	if slices.Contains(nothings, name) {
		issue.Help, issue.Fix = "nothing is compared with a member that is absent: whether `r.m` is there is asked by `has(r.m)`", nil
		return
	}
	for _, root := range roots[s.Vars].sees {
		i := slices.IndexFunc(w.vars, func(v variable) bool { return v.name == root })
		if i < 0 || w.vars[i].shape == nil || w.vars[i].shape.members[name] == nil {
			continue
		}
		text := root + "." + memberSpelling(name)
		if root == "self" && w.vars[i].shape.is(kRecord) || root != "self" {
			propose(text, "did you mean `"+text+"`?")
			return
		}
	}
	if text, ok := w.comparedText(e, name); ok {
		propose(strconv.Quote(text), "did you mean the text "+strconv.Quote(text)+"? It stands in quotation marks")
		return
	}
	if s.Vars == ir.SelfVars && issue.Fix == nil {
		issue.Help = "what the condition is about is called `self`"
	}
}

// comparedText is the text that the other side of a comparison may hold and name spells.
func (w *walker) comparedText(e ast.Expr, name string) (string, bool) {
	steps := trail(w.tree.Expr(), e.ID())
	if len(steps) < 2 {
		return "", false
	}
	parent := steps[len(steps)-2]
	switch callName(parent) {
	case operators.Equals, operators.NotEquals:
	default:
		return "", false
	}
	for _, other := range parent.AsCall().Args() {
		if other.ID() == e.ID() {
			continue
		}
		v := w.quietly(other)
		if v.shape != nil && slices.Contains(v.shape.literals, name) {
			return name, true
		}
	}
	return "", false
}

// quietly is the value of a part that depends on no variable of a macro, without findings.
func (w *walker) quietly(e ast.Expr) abstract {
	issues := w.issues
	defer func() { w.issues = issues }()
	return w.walk(e, w.globals(), nil)
}

// functionHabits are functions and methods of other languages.
var functionHabits = map[string]struct{ to, help string }{
	"every": {"all", "what holds of all elements is written `xs.all(x, CONDITION)`"}, "forall": {"all", "what holds of all elements is written `xs.all(x, CONDITION)`"},
	"forEach": {"all", "what holds of all elements is written `xs.all(x, CONDITION)`"}, "each": {"all", "what holds of all elements is written `xs.all(x, CONDITION)`"},
	"some": {"exists", "what holds of some element is written `xs.exists(x, CONDITION)`"}, "any": {"exists", "what holds of some element is written `xs.exists(x, CONDITION)`"},
	"find": {"", "what holds of some element is written `xs.exists(x, CONDITION)`"}, "reduce": {"", "numbers are added up by `sum(xs)`"},
	"includes": {"", "whether a list, a set or the keys of a map have something is asked by `x in xs`"}, "has_key": {"", "whether a map has a key is asked by `\"key\" in m`"},
	"hasOwnProperty": {"", "whether a map has a key is asked by `\"key\" in m`"}, "hasKey": {"", "whether a map has a key is asked by `\"key\" in m`"}, "contains": {"", "whether a list, a set or the keys of a map have something is asked by `x in xs`"},
	"values": {"", "a macro over a map has two variables, the key and its entry: `m.all(k, v, CONDITION)`"}, "keys": {"", "a macro over a map goes over its keys: `m.all(k, CONDITION)`"},
	"items": {"", "a macro over a map has two variables, the key and its entry: `m.all(k, v, CONDITION)`"}, "entries": {"", "a macro over a map has two variables, the key and its entry: `m.all(k, v, CONDITION)`"},
	"startswith": {"startsWith", ""}, "starts_with": {"startsWith", ""}, "hasPrefix": {"startsWith", ""}, "endswith": {"endsWith", ""}, "ends_with": {"endsWith", ""}, "hasSuffix": {"endsWith", ""},
	"match": {"matches", ""}, "test": {"matches", ""}, "regex_match": {"", "whether a text fits a regular expression is asked by `text.matches(\"...\")`"}, "regexMatch": {"", "whether a text fits a regular expression is asked by `text.matches(\"...\")`"},
	"lower": {"lowerAscii", ""}, "toLowerCase": {"lowerAscii", ""}, "toLower": {"lowerAscii", ""}, "upper": {"upperAscii", ""}, "toUpperCase": {"upperAscii", ""}, "toUpper": {"upperAscii", ""},
	"strip": {"trim", ""}, "trimSpace": {"trim", ""},
	"Number": {"double", ""}, "float": {"double", ""}, "parseInt": {"int", ""}, "parseFloat": {"double", ""}, "str": {"string", ""}, "String": {"string", ""}, "toString": {"", "`string(x)` makes a text of a number"},
	"unique": {"", "that values are different is an invariant of its own: `invariant NAME unique /PATH/*/member`"}, "distinct": {"", "that values are different is an invariant of its own: `invariant NAME unique /PATH/*/member`"},
	"avg": {"", "a mean is `sum(xs) / size(xs)`, or two measures"}, "average": {"", "a mean is `sum(xs) / size(xs)`, or two measures"}, "mean": {"", "a mean is `sum(xs) / size(xs)`, or two measures"},
	"exist": {"exists", ""}, "coalesce": {"", "a default for what may be absent is given by `x.?member.orValue(DEFAULT)`"}, "get": {"", "what may be absent is read by `x.?member.orValue(DEFAULT)`, or `m[?\"key\"].orValue(DEFAULT)`"},
	"defined": {"has", ""}, "isset": {"has", ""}, "isNull": {"", "whether a member is there is asked by `has(r.member)`"}, "abs": {"", "write `x < 0 ? -x : x`"},
	"now": {"", "`now` is a name, without parentheses"}, "date": {"timestamp", ""}, "Date": {"timestamp", ""},
}

// macroLike are functions of other languages whose first argument names an element.
var macroLike = []string{"every", "forall", "forEach", "each", "some", "any", "find", "filter", "map", "reduce", "all", "exists"}

// functionHabit says what an unknown function may have meant.
func (w *walker) functionHabit(issue *Issue, e ast.Expr, name string, candidates []string) {
	c := e.AsCall()
	args := c.Args()
	if slices.Contains(macroLike, name) {
		for _, arg := range args {
			if arg.Kind() == ast.IdentKind {
				w.dropNames(arg.AsIdent(), w.extents.of(e))
			}
		}
	}
	habit, ok := functionHabits[name]
	if !ok {
		return
	}
	if habit.help != "" {
		issue.Help, issue.Fix = habit.help, nil
	}
	switch {
	case name == "now" && len(args) == 0:
		at := w.extents.of(e)
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: "now", Title: "change to `now`"}
	case habit.to == "" || !slices.Contains(candidates, habit.to):
		if (name == "includes" || name == "has_key" || name == "hasKey" || name == "hasOwnProperty") && c.IsMemberFunction() && len(args) == 1 {
			at, text := w.extents.of(e), w.source(args[0])+" in "+w.source(c.Target())
			issue.Fix = &Fix{Start: at.start, End: at.end, Text: text, Title: "write `" + text + "`"}
		}
		if habit.to != "" && habit.help == "" {
			issue.Help = "it is called `" + habit.to + "`"
		}
	case c.IsMemberFunction() == slices.Contains(methodNames(), habit.to) && (!slices.Contains(macroLike, name) || len(args) == 2):
		if issue.Help == "" || habit.help == "" {
			issue.Help = "did you mean `" + habit.to + "`?"
		}
		issue.Fix = &Fix{Text: habit.to, Title: "change to `" + habit.to + "`"}
	}
}

// dropNames takes back that a name is unknown, within a range.
func (w *walker) dropNames(name string, in span) {
	w.unnamed = append(w.unnamed, unnamed{name, in})
}

// unnamed is a name that something unknown would bind.
type unnamed struct {
	name string
	in   span
}

// withoutFollowing leaves out what only follows from another finding: names that an unknown
// macro would bind, and the absence of what is compared with null.
func (w *walker) withoutFollowing() {
	w.issues = slices.DeleteFunc(w.issues, func(i Issue) bool {
		return slices.ContainsFunc(w.unnamed, func(u unnamed) bool {
			return u.in.start <= i.Start && i.End <= u.in.end &&
				(i.Code == UnknownName && w.extents.src[i.Start:i.End] == u.name || u.name == "" && i.Code == Unguarded)
		})
	})
}

// overloadHabit says what operands that do not fit were meant to be.
func (w *walker) overloadHabit(issue *Issue, e ast.Expr, name string, args []ast.Expr, words []string) {
	at := w.extents.of(e)
	write := func(text string) *Fix {
		return &Fix{Start: at.start, End: at.end, Text: text, Title: "write `" + text + "`"}
	}
	isList := func(i int) bool {
		return strings.HasPrefix(words[i], "list of") || strings.HasPrefix(words[i], "map of")
	}
	for i, arg := range args {
		if m, ok := w.lengthOf(arg); ok {
			issue.Help = "the number of its entries is `size(" + m + ")`"
			part := w.extents.of(arg)
			issue.Fix = &Fix{Start: part.start, End: part.end, Text: "size(" + m + ")", Title: "write `size(" + m + ")`"}
			return
		}
		if i < len(words) && strings.HasPrefix(words[i], "optional ") && issue.Help == "" {
			issue.Help = "an optional is read with a default: `.orValue(DEFAULT)`"
		}
	}
	if len(args) != 2 || len(words) != 2 {
		return
	}
	switch {
	case name == "contains" && isList(0):
		issue.Help = "whether a list, a set or the keys of a map have something is asked by `x in xs`"
		issue.Fix = write(w.source(args[1]) + " in " + w.source(args[0]))
	case name == "in" && isList(0) && !isList(1):
		issue.Help = "the element stands first: `x in xs`"
		issue.Fix = write(w.source(args[1]) + " in " + w.source(args[0]))
	case name == "in" && words[0] == "string" && words[1] == "string":
		issue.Help = "whether a text is in another is asked by `text.contains(part)`"
		issue.Fix = write(w.source(args[1]) + ".contains(" + w.source(args[0]) + ")")
	case slices.Contains([]string{"<", "<=", ">", ">="}, name) && words[0] == "bool" && (words[1] == "int" || words[1] == "number"):
		issue.Help = "that a number lies in a range is written `a <= x && x <= b`"
		if args[0].Kind() == ast.CallKind && len(args[0].AsCall().Args()) == 2 {
			middle := w.source(args[0].AsCall().Args()[1])
			issue.Fix = write(w.source(args[0]) + " && " + middle + " " + name + " " + w.source(args[1]))
		}
	case name == "+" && (words[0] == "string" || words[1] == "string"):
		issue.Help = "`string(n)` makes a text of a number"
	case words[0] == "string" || words[1] == "string":
		for i, arg := range args {
			text, ok := literalOf(arg).(types.String)
			if ok && arg.Kind() == ast.LiteralKind && plainInt.MatchString(string(text)) && (words[1-i] == "int" || words[1-i] == "number") {
				part, number := w.extents.of(arg), string(text)
				if words[1-i] == "number" {
					number += ".0"
				}
				issue.Help = "a number stands without quotation marks"
				issue.Fix = &Fix{Start: part.start, End: part.end, Text: number, Title: "write `" + number + "`"}
			}
		}
	}
}

// lengthOf is what m.length, where m is a map, was meant to be the size of.
func (w *walker) lengthOf(e ast.Expr) (string, bool) {
	if e.Kind() != ast.SelectKind || !lengths[e.AsSelect().FieldName()] && e.AsSelect().FieldName() != "size" {
		return "", false
	}
	operand := e.AsSelect().Operand()
	return w.source(operand), w.tree.GetType(operand.ID()).Kind() == types.MapKind
}

// nullHabit turns a comparison with null into a question whether the member is there.
func (w *walker) nullHabit(issue *Issue, e ast.Expr, args []ast.Expr) {
	for i, arg := range args {
		other := args[1-i]
		if arg.Kind() != ast.LiteralKind || arg.AsLiteral() != types.NullValue || other.Kind() != ast.SelectKind {
			continue
		}
		at, text := w.extents.of(e), "has("+w.source(other)+")"
		absent := slices.ContainsFunc(w.issues, func(i Issue) bool {
			o := w.extents.of(other)
			return i.Code == Unguarded && i.Start == o.start && i.End == o.end
		})
		if !absent {
			issue.Help = "it is always there: an absent member is not null, and neither is it"
			return
		}
		w.unnamed = append(w.unnamed, unnamed{"", at})
		if callName(e) == operators.Equals {
			text = "!" + text
		}
		issue.Fix = &Fix{Start: at.start, End: at.end, Text: text, Title: "write `" + text + "`"}
	}
}

// isTruth reports whether e stands as an operand of a logical operator and is no bool.
func (w *walker) isTruth(e ast.Expr) bool {
	steps := trail(w.tree.Expr(), e.ID())
	return len(steps) > 1 && isLogical(steps[len(steps)-2]) && callName(steps[len(steps)-2]) != operators.Conditional && w.tree.GetType(e.ID()).Kind() != types.BoolKind && w.tree.GetType(e.ID()).Kind() != types.DynKind
}

// noMembers reports a member of a scalar: mostly of a key, taken for its entry.
func (w *walker) noMembers(e ast.Expr) {
	issue := invalid(article(w.typeWords(w.operandType(e))) + " has no members")
	if e.Kind() == ast.SelectKind {
		operand := e.AsSelect().Operand()
		name := w.source(operand)
		switch {
		case name == "actor" && e.AsSelect().FieldName() == "role":
			at := w.extents.of(e)
			issue.Help, issue.Fix = "the role stands in a name of its own", &Fix{Start: at.start, End: at.end, Text: "role", Title: "write `role`"}
		case operand.Kind() == ast.IdentKind && w.operandType(e).Kind() == types.StringKind:
			issue.Help = "`" + name + "` is a key; its entry is read by an index, such as `state.entries[" + name + "]`, or is the second variable of a macro over a map: `m.all(k, v, CONDITION)`"
		}
	}
	w.reportAt(e, w.extents.memberName(e), issue)
}
