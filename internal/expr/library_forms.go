package expr

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

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
