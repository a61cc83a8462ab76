package expr

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A Function is one function that contracts may call beside the operators and
// macros of CEL. All are pure: same arguments, same result, on every machine.
type Function struct {
	Name      string // with its namespace, or the method's name
	Method    bool   // called on its first argument: s.trim()
	Signature string // in the words of the language
	Doc       string

	args   []*types.Type
	result *types.Type
	call   func(l Limits, args []ref.Val) ref.Val
}

// Functions is the library, in the order documentation lists it.
var Functions = []Function{
	{Name: "text.blank", Signature: "(string) bool", Doc: "nothing but white space",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isBlank(s)) })},
	{Name: "text.words", Signature: "(string) int", Doc: "runs of characters between white space",
		args: oneString, result: types.IntType, call: onString(func(s string) ref.Val { return types.Int(countWords(s)) })},
	{Name: "text.lines", Signature: "(string) int", Doc: "lines; a line break at the end opens no further line; the empty text has none",
		args: oneString, result: types.IntType, call: onString(func(s string) ref.Val { return types.Int(countLines(s)) })},
	{Name: "text.letters", Signature: "(string) int", Doc: "letters of any script",
		args: oneString, result: types.IntType, call: onString(func(s string) ref.Val { return types.Int(countLetters(s)) })},

	{Name: "time.instant", Signature: "(string) bool", Doc: "an RFC 3339 date and time with its offset",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isInstant(s)) })},
	{Name: "time.date", Signature: "(string) bool", Doc: "an RFC 3339 full-date",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isDate(s)) })},
	{Name: "time.before", Signature: "(string, string) bool", Doc: "the first instant or date is earlier than the second; an error if either is neither",
		args: twoStrings, result: types.BoolType, call: onStrings(before)},
	{Name: "time.days", Signature: "(string, string) int", Doc: "whole days from the first instant or date to the second; negative if the second is earlier",
		args: twoStrings, result: types.IntType, call: onStrings(days)},

	{Name: "money.cents", Signature: "(number) bool", Doc: "no fraction of a cent: at most two decimals",
		args: []*types.Type{types.DoubleType}, result: types.BoolType, call: cents},
	{Name: "money.currency", Signature: "(string) bool", Doc: "three capital letters, the form of an ISO 4217 code",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isCurrency(s)) })},

	{Name: "pii.email", Signature: "(string) bool", Doc: "an e-mail address: local part, @, a domain with a dot",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isEmail(s)) })},
	{Name: "pii.phone", Signature: "(string) bool", Doc: "an international telephone number: +, then 7 to 15 digits, grouped by spaces or hyphens",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isPhone(s)) })},
	{Name: "pii.luhn", Signature: "(string) bool", Doc: "12 to 19 digits, grouped by spaces or hyphens, with a right check digit",
		args: oneString, result: types.BoolType, call: onString(func(s string) ref.Val { return types.Bool(isLuhn(s)) })},
	{Name: "pii.digits", Signature: "(string) string", Doc: "the decimal digits of a text, everything else left out",
		args: oneString, result: types.StringType, call: onString(func(s string) ref.Val { return types.String(digits(s)) })},

	{Name: "trim", Method: true, Signature: "string.() string", Doc: "without white space at both ends",
		args: oneString, result: types.StringType, call: onString(trim)},
	{Name: "lowerAscii", Method: true, Signature: "string.() string", Doc: "A to Z in lower case",
		args: oneString, result: types.StringType, call: onString(lowerASCII)},
	{Name: "upperAscii", Method: true, Signature: "string.() string", Doc: "a to z in upper case",
		args: oneString, result: types.StringType, call: onString(upperASCII)},
	{Name: "indexOf", Method: true, Signature: "string.(string) int", Doc: "where the argument first occurs, counted in characters; -1 if nowhere",
		args: twoStrings, result: types.IntType, call: onStrings(indexOf)},
	{Name: "substring", Method: true, Signature: "string.(int, int) string", Doc: "the characters from the first position up to before the second",
		args: []*types.Type{types.StringType, types.IntType, types.IntType}, result: types.StringType, call: substring},
	{Name: "split", Method: true, Signature: "string.(string) list of string", Doc: "the parts between occurrences of the argument",
		args: twoStrings, result: types.NewListType(types.StringType), call: onStrings(split)},
	{Name: "join", Method: true, Signature: "list of string.(string) string", Doc: "the elements with the argument between them",
		args: []*types.Type{types.NewListType(types.StringType), types.StringType}, result: types.StringType, call: joinTexts},
	{Name: "replace", Method: true, Signature: "string.(string, string) string", Doc: "with every occurrence of the first argument replaced by the second",
		args: []*types.Type{types.StringType, types.StringType, types.StringType}, result: types.StringType, call: replace},
}

var (
	oneString  = []*types.Type{types.StringType}
	twoStrings = []*types.Type{types.StringType, types.StringType}
)

func onString(f func(string) ref.Val) func(Limits, []ref.Val) ref.Val {
	return func(_ Limits, args []ref.Val) ref.Val {
		s, ok := args[0].(types.String)
		if !ok {
			return noOverload()
		}
		return f(string(s))
	}
}

func onStrings(f func(a, b string) ref.Val) func(Limits, []ref.Val) ref.Val {
	return func(_ Limits, args []ref.Val) ref.Val {
		a, okA := args[0].(types.String)
		b, okB := args[1].(types.String)
		if !okA || !okB {
			return noOverload()
		}
		return f(string(a), string(b))
	}
}

// option declares the function to CEL.
func (f *Function) option(l Limits) cel.EnvOption {
	var binding cel.OverloadOpt
	switch call := f.call; len(f.args) {
	case 1:
		binding = cel.UnaryBinding(func(a ref.Val) ref.Val { return call(l, []ref.Val{a}) })
	case 2:
		binding = cel.BinaryBinding(func(a, b ref.Val) ref.Val { return call(l, []ref.Val{a, b}) })
	default:
		binding = cel.FunctionBinding(func(args ...ref.Val) ref.Val { return call(l, args) })
	}
	if f.Method {
		return cel.Function(f.Name, cel.MemberOverload("poptic_"+f.Name, f.args, f.result, binding))
	}
	return cel.Function(f.Name, cel.Overload("poptic_"+f.Name, f.args, f.result, binding))
}
