package expr

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
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

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func countWords(s string) int {
	n, inWord := 0, false
	for _, r := range s {
		space := unicode.IsSpace(r)
		if !space && !inWord {
			n++
		}
		inWord = !space
	}
	return n
}

// countLines counts "\n", "\r\n" and "\r" as one line break each.
func countLines(s string) int {
	if s == "" {
		return 0
	}
	breaks := strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
	if strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r") {
		return breaks
	}
	return breaks + 1
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

func trim(s string) ref.Val { return types.String(strings.TrimSpace(s)) }

func lowerASCII(s string) ref.Val { return types.String(mapASCII(s, 'A', 'Z', 'a'-'A')) }

func upperASCII(s string) ref.Val { return types.String(mapASCII(s, 'a', 'z', 'A'-'a')) }

func mapASCII(s string, from, to, shift rune) string {
	return strings.Map(func(r rune) rune {
		if r >= from && r <= to {
			return r + shift
		}
		return r
	}, s)
}

func indexOf(s, part string) ref.Val {
	at := strings.Index(s, part)
	if at < 0 {
		return types.Int(-1)
	}
	return types.Int(utf8.RuneCountInString(s[:at]))
}

func substring(_ Limits, args []ref.Val) ref.Val {
	s, ok := args[0].(types.String)
	from, okFrom := args[1].(types.Int)
	to, okTo := args[2].(types.Int)
	if !ok || !okFrom || !okTo {
		return noOverload()
	}
	characters := []rune(string(s))
	if from < 0 || to < from || int(to) > len(characters) {
		return outOfRange()
	}
	return types.String(characters[from:to])
}

func split(s, separator string) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, strings.Split(s, separator))
}

func joinTexts(l Limits, args []ref.Val) ref.Val {
	list, ok := args[0].(traits.Lister)
	separator, okSeparator := args[1].(types.String)
	if !ok || !okSeparator {
		return noOverload()
	}
	var b strings.Builder
	for i := list.Iterator(); i.HasNext() == types.True; {
		part, ok := i.Next().(types.String)
		if !ok {
			return noOverload()
		}
		if b.Len() > 0 {
			b.WriteString(string(separator))
		}
		b.WriteString(string(part))
		if b.Len() > l.MaxText {
			return tooLong()
		}
	}
	return types.String(b.String())
}

func replace(l Limits, args []ref.Val) ref.Val {
	s, ok := args[0].(types.String)
	old, okOld := args[1].(types.String)
	text, okText := args[2].(types.String)
	if !ok || !okOld || !okText {
		return noOverload()
	}
	if len(s)+strings.Count(string(s), string(old))*len(text) > l.MaxText+len(s) {
		return tooLong()
	}
	return types.String(strings.ReplaceAll(string(s), string(old), string(text)))
}

func tooLong() ref.Val { return types.NewErr("text too long") }

var (
	emailForm    = regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~` + "`" + `-]+@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	phoneForm    = regexp.MustCompile(`^\+[1-9]([ -]?[0-9])*$`)
	cardForm     = regexp.MustCompile(`^[0-9]([ -]?[0-9])*$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	// RFC 3339 section 5.6 in its strict form: time.Parse takes more.
	instantForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	dateForm    = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)

const (
	maxEmail = 254 // RFC 5321 section 4.5.3.1.3, without the angle brackets
	maxLocal = 64
)

func isEmail(s string) bool {
	local, _, _ := strings.Cut(s, "@")
	dots := strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..")
	return len(s) <= maxEmail && len(local) <= maxLocal && !dots && emailForm.MatchString(s)
}

func isPhone(s string) bool {
	n := len(digits(s))
	return n >= 7 && n <= 15 && phoneForm.MatchString(s)
}

// isLuhn is the check of ISO/IEC 7812-1 annex B.
func isLuhn(s string) bool {
	d := digits(s)
	if len(d) < 12 || len(d) > 19 || !cardForm.MatchString(s) {
		return false
	}
	sum := 0
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			n *= 2
		}
		sum += n/10 + n%10
	}
	return sum%10 == 0
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func isCurrency(s string) bool { return currencyForm.MatchString(s) }

// cents looks at the shortest decimal that stands for the number, which is the one
// that was written unless it had more than 15 digits.
func cents(_ Limits, args []ref.Val) ref.Val {
	if x, ok := args[0].(exact); ok {
		_, fraction, _ := strings.Cut(x.sum.String(), ".")
		return types.Bool(len(fraction) <= 2)
	}
	f, ok := args[0].(types.Double)
	if !ok {
		return noOverload()
	}
	_, fraction, _ := strings.Cut(strconv.FormatFloat(float64(f), 'f', -1, 64), ".")
	return types.Bool(len(fraction) <= 2)
}

func isInstant(s string) bool {
	_, ok := parseInstant(s)
	return ok
}

func parseInstant(s string) (time.Time, bool) {
	if !instantForm.MatchString(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
	return t, err == nil
}

func isDate(s string) bool {
	_, ok := parseDate(s)
	return ok
}

func parseDate(s string) (time.Time, bool) {
	if !dateForm.MatchString(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}

// parseTime reads an instant or a date; a date is its first moment in UTC.
func parseTime(s string) (time.Time, bool) {
	if t, ok := parseDate(s); ok {
		return t, true
	}
	return parseInstant(s)
}

func before(a, b string) ref.Val {
	return onTimes(a, b, func(x, y time.Time) ref.Val { return types.Bool(x.Before(y)) })
}

func days(a, b string) ref.Val {
	return onTimes(a, b, func(x, y time.Time) ref.Val {
		const day = 24 * 60 * 60
		return types.Int((y.Unix() - x.Unix()) / day)
	})
}

func onTimes(a, b string, f func(x, y time.Time) ref.Val) ref.Val {
	x, okX := parseTime(a)
	y, okY := parseTime(b)
	if !okX || !okY {
		return types.NewErr("not a time")
	}
	return f(x, y)
}
