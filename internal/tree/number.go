package tree

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// Numbers keep the literal they were written with and are compared by exact
// decimal value: 1, 1.0 and 1e0 are one number, 2^53 and 2^53+1 are two. Nothing
// here expands an exponent, so that 1e1000 costs what it is long, not what it is.

// NewNumber returns the number written as literal, in the grammar of RFC 8259
// section 6, within DefaultLimits. A negative zero loses its sign, for it equals 0.
func NewNumber(literal string) (*Node, error) {
	if !isNumber(literal) {
		return nil, errors.New("not a JSON number")
	}
	if err := DefaultLimits.checkNumber(literal); err != nil {
		return nil, err
	}
	return numberNode(literal), nil
}

// NewInt returns an integer.
func NewInt(v int64) *Node { return numberNode(strconv.FormatInt(v, 10)) }

func numberNode(literal string) *Node {
	if literal[0] == '-' && decimalOf(literal).digits == "" {
		literal = literal[1:]
	}
	return &Node{kind: ir.Number, text: literal, width: narrow(len(literal))}
}

// isNumber checks the grammar: -? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, s := cutDigits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		var fraction string
		if fraction, s = cutDigits(rest); fraction == "" {
			return false
		}
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	power, s := cutDigits(s)
	return power != "" && s == ""
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// A decimal is a number in its only normal form: ±0.digits × 10^exponent, where
// digits neither begin nor end with 0; zero has no digits and exponent 0.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf reads a literal that is known to be well formed.
func decimalOf(literal string) decimal {
	mantissa, power := literal, 0
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, power = literal[:i], clampedAtoi(literal[i+1:])
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	significant := strings.TrimLeft(digits, "0")
	power += len(whole) - (len(digits) - len(significant))
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		return decimal{}
	}
	return decimal{negative, significant, power}
}

// clampedAtoi reads an exponent; one too large for an int becomes the largest
// that can still be added to.
func clampedAtoi(s string) int {
	const most = 1 << 40
	v, err := strconv.Atoi(strings.TrimPrefix(s, "+"))
	switch {
	case err != nil && strings.HasPrefix(s, "-"):
		return -most
	case err != nil:
		return most
	default:
		return max(-most, min(v, most))
	}
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.digits == "" {
		return c
	}
	c := cmp.Compare(d.exponent, e.exponent)
	if c == 0 {
		c = strings.Compare(d.digits, e.digits)
	}
	return c * d.sign()
}

// append writes d in a form that is the same for equal numbers and different for
// different ones. It is what digests hash.
func (d decimal) append(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, '.'), d.digits...)
	return strconv.AppendInt(append(dst, 'e'), int64(d.exponent), 10)
}

// CompareNumbers compares two numbers by exact value: -1, 0 or 1.
func CompareNumbers(a, b *Node) int {
	if a.text == b.text {
		return 0
	}
	return decimalOf(a.text).compare(decimalOf(b.text))
}

// IsInt64 reports whether n is a number whose value is a 64-bit integer, however
// it is written: 1.0 and 1e3 are.
func IsInt64(n *Node) bool {
	_, ok := n.Int64()
	return ok
}

// Int64 is the exact value of a number that IsInt64.
func (n *Node) Int64() (int64, bool) {
	if n == nil || n.kind != ir.Number {
		return 0, false
	}
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return v, true
	}
	d := decimalOf(n.text)
	const longest = len("9223372036854775808")
	switch {
	case d.digits == "":
		return 0, true
	case d.exponent < len(d.digits) || d.exponent > longest:
		return 0, false
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	v, err := strconv.ParseInt(sign+d.digits+strings.Repeat("0", d.exponent-len(d.digits)), 10, 64)
	return v, err == nil
}

// Float64 is the double nearest to a number, an infinity beyond the largest; 0 for
// anything else.
func (n *Node) Float64() float64 {
	if n == nil || n.kind != ir.Number {
		return 0
	}
	v, _ := strconv.ParseFloat(n.text, 64)
	return v
}
