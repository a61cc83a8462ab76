package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
)

// An Issue is one finding about an expression. Offsets are bytes of the source
// that was checked, so a caller adds the place of the expression in its file.
type Issue struct {
	Code       string // stable, snake_case; see the constants
	Warning    bool   // the expression is usable all the same
	Start, End int
	Message    string
	Help       string
	Fix        *Fix
}

// A Fix replaces the bytes from Start to End by Text.
type Fix struct {
	Start, End int
	Text       string
	Title      string
}

// The codes of issues.
const (
	SyntaxError     = "cel_syntax"
	TooLarge        = "cel_too_large"
	UnknownName     = "unknown_name"
	UnknownMember   = "unknown_member"
	UnknownFunction = "unknown_function"
	OperandTypes    = "operand_types"
	NotBool         = "not_bool"
	Unguarded       = "unguarded_optional"
	NeverHolds      = "constant_comparison"
	WholeLog        = "log_value"
	NoIndex         = "no_index"
	BagOrder        = "bag_order"
	NotARange       = "not_a_range"
	BadPattern      = "bad_regexp"

	RecursiveDefinition = "recursive_definition"
)

// HasErrors reports whether an issue keeps the expression from being used.
func HasErrors(issues []Issue) bool {
	for _, i := range issues {
		if !i.Warning {
			return true
		}
	}
	return false
}

// The catalogue of messages. Every text a contract's author may read about an
// expression is made here; CEL's own never gets through.

func syntax(message, help string) Issue {
	return Issue{Code: SyntaxError, Message: message, Help: help}
}

func tooLarge(what string, limit int) Issue {
	return Issue{Code: TooLarge, Message: "the expression has more than " + strconv.Itoa(limit) + " " + what}
}

func tooDeepToFollow() Issue {
	return Issue{
		Code:    TooLarge,
		Message: "the macros of the expression are nested too deeply to tell whether it depends on the order of a set or a log",
		Help:    "split it into several rules",
	}
}

func unknownName(name, hint string, candidates []string) Issue {
	issue := Issue{Code: UnknownName, Message: "`" + name + "` is not defined here"}
	if len(candidates) > 0 {
		issue.Help = "in scope: " + strings.Join(candidates, ", ")
	}
	issue = withNearest(issue, name, candidates)
	if hint != "" {
		issue.Message, issue.Help = hint, ""
	}
	return issue
}

func withNearest(issue Issue, name string, candidates []string) Issue {
	if near := spell.Nearest(name, candidates); near != "" {
		issue.Help = "did you mean `" + near + "`?"
		issue.Fix = &Fix{Text: near, Title: "change to `" + near + "`"}
	}
	return issue
}

// The catalogue of messages. Every text a contract's author may read about an
// expression is made here; CEL's own never gets through.

func unknownMember(s *shape, name string) Issue {
	issue := Issue{Code: UnknownMember}
	switch {
	case s.is(kRecord):
		issue.Message = "`" + name + "` is no member of " + s.String()
		if names := s.memberNames(); len(names) > 0 {
			issue.Help = "its members are " + strings.Join(names, ", ")
		}
	case s.is(kArrays):
		issue.Message = article(s.String()) + " has no members"
		issue.Help = "use an index, or a macro such as `all(x, ...)`"
	default:
		issue.Message = article(s.String()) + " has no member `" + name + "`"
	}
	if (lengths[name] || name == "size") && !s.is(kRecord) {
		issue.Help = "its length is `size(x)`"
		return issue
	}
	issue = withNearest(issue, name, s.memberNames())
	if issue.Fix != nil {
		issue.Fix.Text = memberSpelling(issue.Fix.Text)
	}
	return issue
}

// lengths are what other languages call size.
var lengths = map[string]bool{"len": true, "length": true, "count": true}

func unknownFunction(name string, candidates []string) Issue {
	issue := Issue{Code: UnknownFunction, Message: "there is no function `" + name + "`"}
	if slices.Contains(ir.Inputs(), name) {
		issue.Help = "`" + name + "` is a value: leave out the parentheses"
		return issue
	}
	if lengths[name] {
		issue.Help = "`size(x)` is the length of a text and the number of elements of a list or map"
		if slices.Contains(candidates, "cel.bind") {
			issue.Fix = &Fix{Text: "size", Title: "change to `size`"}
		}
		return issue
	}
	return withNearest(issue, name, candidates)
}

func operandTypes(operator string, operands []string) Issue {
	issue := Issue{Code: OperandTypes, Message: "`" + operator + "` does not take " + strings.Join(operands, " and ")}
	if len(operands) == 0 {
		issue.Message = "`" + operator + "` needs an argument"
	}
	if operator == "%" {
		issue.Help = "`%` takes two ints"
		return issue
	}
	if slices.ContainsFunc(operands, isDecimalWord) {
		switch {
		case operator == "/":
			issue.Help = "the quotient of two decimals may have no end: multiply the other side by the divisor"
		case slices.ContainsFunc(operands, isNumberWord):
			issue.Help = mixedNumbers().Help
		case slices.Contains(operands, "int"):
			issue.Help = "`decimal(n)` makes a decimal of an int"
		}
		if issue.Help != "" {
			return issue
		}
	}
	if isFold(operator) {
		issue.Help = "it takes one list or map of numbers, such as `" + operator + "(x.map(e, e.n))`"
		return issue
	}
	if slices.Contains(operands, "timestamp") && slices.Contains(operands, "string") {
		issue.Help = "`timestamp(text)` makes a timestamp of a text in RFC 3339, such as \"2026-01-31T09:00:00Z\""
		return issue
	}
	if len(operands) == 2 && (operands[0] == "int" && operands[1] == "number" || operands[0] == "number" && operands[1] == "int") {
		issue.Help = "arithmetic needs two ints or two numbers: `1.0` is a number, `double(n)` makes one of an int"
	}
	return issue
}

func isDecimalWord(words string) bool {
	return words == decimalName || words == "optional "+decimalName
}

func isNumberWord(words string) bool { return words == "number" || words == "optional number" }

func mixedNumbers() Issue {
	return Issue{
		Code:    OperandTypes,
		Message: "a decimal does not mix with a number",
		Help:    "a number is computed in doubles and may be rounded: declare both as `decimal`, or write `decimal(n)` for the shortest decimal that the number `n` stands for",
	}
}

func badDecimal() Issue {
	return Issue{Code: OperandTypes, Message: "this text is no decimal", Help: "it is written as a number is in JSON, such as `decimal(\"0.05\")`"}
}

func wrongType(want, got string) Issue {
	return Issue{Code: OperandTypes, Message: "this must be " + article(want) + ", not " + article(got)}
}

func notBool(got string) Issue {
	return Issue{
		Code:    NotBool,
		Message: "the expression is " + article(got) + ", not a bool",
		Help:    "a rule says whether something holds: compare the value with something",
	}
}

func invalid(what string) Issue { return Issue{Code: OperandTypes, Message: what} }

// article puts the indefinite article before a type's name.
func article(kind string) string {
	if kind != "" && strings.IndexByte("aeiou", kind[0]) >= 0 {
		return "an " + kind
	}
	return "a " + kind
}

func unguardedMember(text string) Issue {
	return Issue{
		Code:    Unguarded,
		Message: "`" + text + "` may be absent here",
		Help:    "guard it: `has(" + text + ") && ...`, or give a default with `.?` and `orValue`",
	}
}

func logAsValue(text, use string) Issue {
	return Issue{
		Code:    WholeLog,
		Message: "the log `" + text + "` cannot be used " + use,
		Help:    "the order of a log's entries is no part of the state: use size() and macros such as `exists(e, ...)`",
	}
}

func noOrder(text string) Issue {
	return Issue{
		Code:    BagOrder,
		Message: "the elements of a set or a log have no order, and here the order of `" + text + "` would count",
		Help:    "what a macro makes of a set or a log has no order either: use size(), `in` and macros of one variable",
	}
}

func positionInMacro(text string) Issue {
	return Issue{
		Code:    BagOrder,
		Message: "the elements of `" + text + "` have no position, so a macro over them has one variable",
		Help:    "a set or a log has no order: write `all(x, ...)` in place of `all(i, x, ...)`",
	}
}

func noPosition(text string) Issue {
	return Issue{
		Code:    NoIndex,
		Message: "the elements of `" + text + "` have no position",
		Help:    "a set or a log has no order: use size(), `in` and macros",
	}
}

func recordRange(s *shape) Issue {
	return Issue{
		Code:    NotARange,
		Message: "a macro cannot go over a " + s.String(),
		Help:    "a record's members are known: name them",
	}
}

func scalarRange(kind string) Issue {
	return Issue{
		Code:    NotARange,
		Message: "a macro goes over a list or a map, not over " + article(kind),
	}
}

func recordIndex(s *shape) Issue {
	return Issue{
		Code:    NoIndex,
		Message: "a member of " + s.String() + " is named with a dot, not with an index",
	}
}

func recordMembership(s *shape) Issue {
	return Issue{
		Code:    OperandTypes,
		Message: "`in` looks into lists, sets and maps, not into a " + s.String(),
		Help:    "whether an optional member is there says `has(r.member)`",
	}
}

func keyedIndex(text string) Issue {
	return Issue{
		Code:    NoIndex,
		Message: "the elements of `" + text + "` go by key, not by position",
		Help:    "a list with `by` is a map of its elements: index it by a string",
	}
}

func mapIndex(text string) Issue {
	return Issue{Code: NoIndex, Message: "the keys of `" + text + "` are strings"}
}

func listIndex(text string) Issue {
	return Issue{
		Code:    NoIndex,
		Message: "the elements of `" + text + "` go by position, an int",
		Help:    "a list whose elements go by key is declared `list of T by FIELD`",
	}
}

func negativeIndex(text string) Issue {
	return Issue{
		Code:    NoIndex,
		Message: "positions count from 0: there is none below",
		Help:    "the last element is `" + text + "[size(" + text + ") - 1]`",
	}
}

func neverEqual(left, right string, a, b kinds) Issue {
	issue := Issue{Code: NeverHolds, Message: left + " and " + right + " are never equal"}
	if a == kNull || b == kNull {
		issue.Help = "an absent member is not null: whether it is there says `has(r.member)`"
	}
	return issue
}

func neverElement(left, right string) Issue {
	return Issue{Code: NeverHolds, Message: "a value of type " + left + " is never among values of type " + right}
}

func impossibleText(text string, possible []string) Issue {
	quoted := make([]string, len(possible))
	for i, p := range possible {
		quoted[i] = strconv.Quote(p)
	}
	issue := Issue{
		Code:    NeverHolds,
		Message: "the value is never " + strconv.Quote(text),
		Help:    "it is " + strings.Join(quoted, " or "),
	}
	if near := spell.Nearest(text, possible); near != "" {
		issue.Help = "did you mean " + strconv.Quote(near) + "?"
		issue.Fix = &Fix{Text: strconv.Quote(near), Title: "change to " + strconv.Quote(near)}
	}
	return issue
}

func badPattern() Issue {
	return Issue{Code: BadPattern, Message: "this is no regular expression", Help: "the syntax is RE2: no look-around, no back references"}
}

func patternNotLiteral() Issue {
	return Issue{Code: BadPattern, Message: "the regular expression must be a literal", Help: "a pattern taken from the state could be arbitrarily costly; write it out, or use contains, startsWith or endsWith"}
}

func patternTooLarge(most int) Issue {
	return Issue{Code: BadPattern, Message: "this regular expression is too large: it needs more than " + strconv.Itoa(most) + " instructions", Help: "use smaller repetition counts"}
}
